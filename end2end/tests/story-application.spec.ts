// Two stories of a developer. An application of four objects is created from pasted YAML, gets another image in the form, and is
// followed through its rollout and its logs. A workload that crashes after a change is found in the list, explained by its page, and rolled back.
import type { Page } from "@playwright/test";
import { expect, newContext, takeComplaints, test } from "../support/browser";
import { content, paste, planned, review, reviewChanges } from "../support/editor";
import { admin } from "../support/kubernetes-api";
import { ofTheBrowser } from "../support/page-check";
import * as path from "../support/paths";
import { screenshot } from "../support/screenshots";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, image as firstImage, nextImage, remove } from "../support/workloads";

const application = `apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-settings
data:
  CURRENCY: EUR
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  labels:
    app: shop
spec:
  replicas: 2
  selector:
    matchLabels:
      app: shop
  template:
    metadata:
      labels:
        app: shop
    spec:
      terminationGracePeriodSeconds: 0
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
      containers:
        - name: web
          image: localhost/busybox:1.35
          imagePullPolicy: Never
          command: ["sh", "-c", "n=0; while true; do n=$((n+1)); echo $GREETING order=$n currency=$CURRENCY; sleep 1; done"]
          env:
            - name: GREETING
              value: hello
          envFrom:
            - configMapRef:
                name: shop-settings
          ports:
            - containerPort: 8080
              protocol: TCP
          resources:
            requests:
              cpu: 10m
              memory: 16Mi
            limits:
              memory: 64Mi
---
apiVersion: v1
kind: Service
metadata:
  name: shop
spec:
  selector:
    app: shop
  ports:
    - port: 80
      protocol: TCP
      targetPort: 8080
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
spec:
  rules:
    - host: shop.example.org
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: shop
                port:
                  number: 80
`;

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const tab = (page: Page, name: string) => page.getByRole("navigation", { name: "Parts of this object" }).getByRole("link", { name });
const dialog = (page: Page) => page.getByRole("dialog");
const complete = (replicas: number) => `Complete: ${replicas} of ${replicas} replicas run the newest revision and are available.`;

async function fits(page: Page) {
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect.soft(sideways, `pixels of sideways scroll at ${page.url()}`).toBe(0);
}

// the schemes differ in colours only: each step has a picture in both
for (const width of [1440, 390]) {
  test.describe(`at ${width} px`, () => {
    let namespace: string;
    let page: Page;
    const picture = async (what: string, fullPage = true) => {
      await fits(page);
      // the sticky header of a page that was scrolled would be in the middle of its picture
      if (fullPage) await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        await screenshot(page, `story-application-${what}-${colorScheme}-${width}`, { fullPage });
      }
    };

    test.beforeEach(async ({ browser }) => {
      namespace = await createNamespace("story");
      const context = await newContext(browser, { viewport: { width, height: 900 } });
      page = await context.newPage();
    });
    test.afterEach(async () => {
      await remove(namespace);
      expect(takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text))).toEqual([]);
      await page.context().close();
    });

    test("need_application a developer creates an application, changes it, and follows its rollout and its logs", async () => {
      test.setTimeout(180_000);
      await signIn(page, "devi", path.createPage(`namespace=${namespace}`));
      await expect(content(page)).toBeVisible();
      await paste(page, application);
      await reviewChanges(page);
      for (const name of ["ConfigMap", "Deployment", "Service", "Ingress"]) await expect(planned(page, new RegExp(`^${name} `))).toHaveAttribute("data-effect", "create");
      await picture("1-review");
      await page.getByRole("button", { name: "Apply 4 objects" }).click();
      const outcome = part(page, "outcome");
      await expect(outcome.getByRole("heading", { name: "4 created" })).toBeVisible();
      await picture("2-applied");

      await outcome.getByRole("link", { name: /^Deployment .*shop$/ }).click();
      await expect(part(page, "rollout")).toContainText(complete(2));
      for (const [relation, name] of [["Selected by Services", "shop"], ["Uses", "shop-settings"]] as const) {
        await expect(page.getByRole("region", { name: relation }).getByRole("link", { name, exact: true })).toBeVisible();
      }
      await picture("3-running");

      // the form: the image of the container, and a variable of its environment
      await tab(page, "Edit").click();
      const image = page.getByRole("group", { name: "Container web", exact: true }).getByLabel("Image", { exact: true });
      await expect(image).toHaveValue(firstImage);
      await image.fill(nextImage);
      await page.getByRole("group", { name: "Environment of web", exact: true }).getByLabel("GREETING", { exact: true }).fill("good-morning");
      await reviewChanges(page);
      const difference = review(page).getByRole("region", { name: /^Difference of / });
      for (const line of [`image: ${nextImage}`, "value: good-morning"]) await expect(difference.locator("ins").filter({ hasText: line })).toBeVisible();
      await expect(difference.locator("del").filter({ hasText: "value: hello" })).toBeVisible();
      await picture("4-edit");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await expect(page.getByText("shop was saved.")).toBeVisible();

      // the same page shows the rollout until it is complete
      await expect(part(page, "revisions").getByRole("row").nth(1)).toContainText(/^2 Current/);
      await expect(part(page, "rollout")).toContainText(complete(2));
      await expect(part(page, "pods").getByRole("heading", { name: "Pods (2)" })).toBeVisible();
      const shopPods = () => admin("acme-prod").list("pods", { namespace, labels: "app=shop" });
      const images = async () => (await shopPods()).flatMap(({ spec }) => spec.containers.map(({ image }: { image: string }) => image));
      await expect.poll(images).toEqual([nextImage, nextImage]);
      await picture("5-rolled-out");

      await tab(page, "Logs").click();
      const pods = (await shopPods()).map(({ metadata }) => metadata.name);
      const lines = page.getByRole("log");
      for (const pod of pods) await expect(lines).toContainText(new RegExp(`\\[${pod}\\] good-morning order=\\d+ currency=EUR`));
      await picture("6-logs");
    });

    test("need_rollback a developer finds a workload that crashes, reads why, and rolls it back", async () => {
      test.setTimeout(240_000);
      const healthy = deploymentManifest(namespace, "payments", 2, "echo connected; sleep infinity");
      await admin("acme-prod").apply(healthy);
      await admin("acme-prod").waitForRollout(namespace, "payments");
      await admin("acme-prod").apply(deploymentManifest(namespace, "payments", 2, "echo cannot reach the database; exit 3"));

      await signIn(page, "devi", path.list("core/v1/pods", `namespace=${namespace}`));
      const row = page.getByRole("main").getByRole("row").filter({ hasText: "CrashLoopBackOff" }).first();
      await expect(row).toBeVisible({ timeout: 60_000 });
      await picture("7-list-failing");
      await row.getByRole("link", { name: /^payments-/ }).click();
      await expect(page.locator("[data-reason]")).toContainText("exit code 3", { timeout: 60_000 });
      await picture("8-reason");

      // by its ReplicaSet to the Deployment
      const owner = page.getByRole("region", { name: "Owned by" }).getByRole("link");
      await owner.click();
      await expect(page).toHaveURL(/\/replicasets\//);
      await owner.click();
      await expect(page).toHaveURL(/\/deployments\/payments$/);
      const failing = part(page, "pods").getByRole("row").filter({ hasText: /CrashLoopBackOff|Error/ });
      await expect(failing.first()).toBeVisible({ timeout: 60_000 });
      await expect(part(page, "rollout")).not.toContainText("Complete");
      await picture("9-failing");

      await part(page, "revisions").getByRole("button", { name: "Roll back to revision 1" }).click();
      const difference = dialog(page).getByRole("region", { name: "Changes of the pod template" });
      await expect(difference.locator("del").filter({ hasText: "cannot reach the database" })).toBeVisible();
      await expect(difference.locator("ins").filter({ hasText: "connected" })).toBeVisible();
      await picture("10-roll-back", false);
      await dialog(page).getByRole("button", { name: "Roll back", exact: true }).click();
      await expect(dialog(page)).toHaveCount(0);

      await expect(part(page, "rollout")).toContainText(complete(2), { timeout: 60_000 });
      await expect(failing).toHaveCount(0);
      await expect(page.locator("[data-reason]")).toHaveCount(0);
      await picture("11-recovered");
      const { spec } = await admin("acme-prod").get("deployments", "payments", namespace);
      expect(spec.template.spec.containers[0].command[2]).toBe("echo connected; sleep infinity");
    });
  });
}
