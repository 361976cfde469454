// After Apply, objects that reach their purpose only later are followed, and what is missing is named.
import { expect, test } from "../support/browser";
import { content, documents, paste, reviewChanges } from "../support/editor";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("created");
});
test.afterAll(() => remove(namespace));

test("a created claim, Service and Ingress name what they wait for", async ({ page }) => {
  const [claim, service, ingress] = [unique("claim"), unique("service"), unique("ingress")];
  await signIn(page, "devi", path.createPage(`namespace=${namespace}`));
  await expect(content(page)).toBeVisible();
  const backend = { service: { name: service, port: { number: 80 } } };
  await paste(page, documents(
    {
      apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: claim },
      spec: { storageClassName: "local-disk", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    {
      apiVersion: "v1", kind: "Service", metadata: { name: service },
      spec: { type: "LoadBalancer", selector: { app: service }, ports: [{ port: 80, protocol: "TCP" }] },
    },
    {
      apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name: ingress },
      spec: { rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
    },
  ));
  await reviewChanges(page);
  await page.getByRole("button", { name: /^Apply / }).click();
  const progress = (name: string) =>
    page.locator("[data-part=outcome]").getByRole("listitem").filter({ has: page.getByRole("link", { name }) }).locator("[data-part=progress]");
  await expect(progress(claim)).toContainText("when the first pod uses it");
  await expect(progress(service)).toContainText("Waiting for an external address");
  await expect(progress(ingress)).toContainText(`The Service ${service} has no ready endpoints`);
});
