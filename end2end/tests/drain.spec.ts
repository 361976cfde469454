// The drain of a node: an operation of the tab that survives navigation, waits for the user after a reload, and continues.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
import { createNamespace, remove, unique } from "../support/workloads";

let namespace: string;
let node: string;
test.beforeAll(async () => {
  namespace = await createNamespace("drain");
  node = unique("drained");
  // no kubelet belongs to it: its pods leave as soon as they are evicted
  await admin("acme-prod").apply({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: node },
    spec: { taints: [{ key: "portico.dev/test", effect: "NoSchedule" }] },
  });
  await admin("acme-prod").apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "single", namespace },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: "Exists" }],
      containers: [{ name: "c", image: "none" }],
    },
  });
});
test.afterAll(async () => {
  await admin("acme-prod").delete("nodes", node, { ignoreNotFound: true });
  await remove(namespace);
});

const nodePage = () => `${path.clusterPage()}/cluster-scoped/core/v1/nodes/${node}`;
const dialog = (page: Page) => page.getByRole("dialog");
const operations = (page: Page) => page.getByRole("region", { name: "Operations" });
const openDialog = async (page: Page) => {
  await page.getByRole("main").getByRole("button", { name: "Drain", exact: true }).click();
  await expect(dialog(page)).toContainText("its pods are evicted, as far as their PodDisruptionBudgets allow it");
};
const confirm = (page: Page) => dialog(page).getByRole("button", { name: "Drain", exact: true }).click();

test("need_22 a node is drained across pages and a reload", async ({ page }) => {
  await signIn(page, "ada", nodePage());
  await interactive(page);
  await openDialog(page);
  await expect(dialog(page)).toContainText(`${namespace}/single: It has no controller: nothing creates it again.`);
  await confirm(page);
  await expect(operations(page)).toContainText("Waiting for you. What is left needs a decision of yours.");
  expect((await admin("acme-prod").get("nodes", node)).spec.unschedulable).toBe(true);

  // it is shown on other pages, and after a reload it does nothing before the user resumes it
  await page.getByRole("navigation", { name: "Cluster" }).getByRole("link", { name: "Events", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Events", level: 1 })).toBeVisible();
  await expect(operations(page)).toContainText("Waiting for you.");
  await page.reload();
  await expect(operations(page)).toContainText("Waiting for you. The page was loaded again.");
  await operations(page).getByRole("button", { name: "Resume" }).click();
  await expect(operations(page)).toContainText("What is left needs a decision of yours.");

  await operations(page).getByRole("link", { name: node }).click();
  await openDialog(page);
  await dialog(page).getByLabel("Evict pods without a controller too.").check();
  await expect(dialog(page)).toContainText("1 pod will be evicted.");
  await confirm(page);
  await expect(operations(page)).toContainText("Drained.");
  expect(await admin("acme-prod").find("pods", "single", namespace)).toBeUndefined();
  await operations(page).getByRole("button", { name: "Close" }).click();
  await expect(operations(page)).toBeHidden();
  await page.reload();
  await expect(page.getByRole("heading", { name: node, level: 1 })).toBeVisible();
  await expect(operations(page)).toHaveCount(0);
});

test("a viewer sees that they cannot drain a node", async ({ page }) => {
  await signIn(page, "vera", nodePage());
  const drain = page.getByRole("main").getByRole("button", { name: "Drain", exact: true });
  await expect(drain).toBeVisible();
  await expect(drain).toHaveAttribute("aria-disabled", "true");
});
