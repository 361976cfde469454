// Namespaces of a user who may not list them: nora has no Kubernetes role.
import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { roleId, userId } from "../support/env";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
import { createNamespace, remove } from "../support/workloads";

const namespacesPage = () => `${path.clusterPage()}/namespaces`;
const link = (page: Page, name: string) => page.getByRole("main").getByRole("link", { name, exact: true });

// after a failure too: nora has nothing in the other tests
const created: string[] = [];
test.afterEach(async () => {
  for (const namespace of created.splice(0)) await remove(namespace);
});

async function create(prefix: string): Promise<string> {
  const namespace = await createNamespace(prefix);
  created.push(namespace);
  return namespace;
}

/** Grants a role to nora with the form of the panel. */
async function grant(page: Page, namespace: string) {
  await signIn(page, "ada", path.accessPage());
  await interactive(page);
  await page.getByRole("button", { name: "Grant access" }).click();
  await page.getByLabel("Where").selectOption({ label: namespace });
  await page.getByLabel("Role", { exact: true }).selectOption({ label: "portico-viewer" });
  await page.getByLabel("One Keystone user").check();
  await page.getByLabel(/^Keystone (user name or )?ID$/).fill(userId("nora"));
  await page.getByRole("button", { name: "See what this gives" }).click();
  await page.getByRole("button", { name: "Grant", exact: true }).click();
  await expect(page.getByText(/^Granted portico-viewer/).first()).toBeVisible();
}

/** The ConfigMap of a namespace. That of a try that failed may still be there. */
const of = (namespace: string) => `of-${namespace}`;

/** Gives a user rights without Portico. */
async function bind(namespace: string, group: string) {
  await admin("acme-prod").apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "made-elsewhere", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "portico-viewer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group }],
  });
}

async function configMap(namespace: string, name: string) {
  await admin("acme-prod").apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { a: "b" } });
}

test("a user who may not list namespaces sees those that were granted", async ({ page, browser }) => {
  const namespace = await create("granted");
  await configMap(namespace, of(namespace));
  await grant(page, namespace);

  const context = await newContext(browser);
  const nora = await context.newPage();
  await signIn(nora, "nora", namespacesPage());
  await expect(link(nora, namespace)).toBeVisible();
  await expect(nora.getByText("others may exist")).toBeVisible();
  // the list of all namespaces is made of the known ones, and there may be more
  await nora.goto(path.list("core/v1/configmaps"));
  await expect(link(nora, of(namespace))).toBeVisible();
  await nora.getByText(/^\d+( of \d+)? namespaces?$/).click();
  await expect(nora.getByText("there may be others")).toBeVisible();

  // the API server confirms each: without the binding it is gone
  await page.getByRole("row").filter({ hasText: namespace }).filter({ hasText: userId("nora") }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(async () => {
    await nora.goto(namespacesPage());
    await expect(nora.getByLabel("Add a namespace by its name")).toBeVisible();
    await expect(link(nora, namespace)).toHaveCount(0, { timeout: 1_000 });
  }).toPass();
  await context.close();
});

test("a namespace that was added by its name stays", async ({ page }) => {
  const [namespace, other] = await Promise.all([create("added"), create("not-added")]);
  await Promise.all([configMap(namespace, of(namespace)), configMap(other, of(other))]);
  await bind(namespace, `portico:user:${userId("nora")}`);
  await bind(other, roleId("k8s_developer"));
  await signIn(page, "nora", namespacesPage());
  await expect(link(page, namespace)).toHaveCount(0);
  // before, the form opens a list without adding the namespace
  await interactive(page);
  const name = page.getByLabel("Add a namespace by its name");
  const add = page.getByRole("button", { name: "Add and open" });

  // without a right in it, or without the namespace, it is refused with the reason
  await name.fill(other);
  await add.click();
  await expect(page.getByRole("alert")).toContainText(`no rights in the namespace ${other}`);

  await name.fill(namespace);
  await add.click();
  await expect(page).toHaveURL(new RegExp(`/pods\\?.*namespace=${namespace}`));
  await page.goto(namespacesPage());
  await expect(link(page, namespace)).toBeVisible();
  await expect(link(page, other)).toHaveCount(0);
  await page.goto(path.list("core/v1/configmaps"));
  await expect(link(page, of(namespace))).toBeVisible();
  await expect(link(page, of(other))).toHaveCount(0);
});

test("without scripts a namespace is opened by its name", async ({ browser }) => {
  const namespace = await create("opened");
  await bind(namespace, `portico:user:${userId("nora")}`);
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "nora", namespacesPage());
  await page.getByLabel("Add a namespace by its name").fill(namespace);
  await page.getByRole("button", { name: "Add and open" }).click();
  await expect(page).toHaveURL(new RegExp(`/pods\\?namespace=${namespace}$`));
  await expect(page.getByText("No pods yet").or(page.getByText(`No pods in ${namespace}`)).or(page.getByText(/^No Pods in/))).toBeVisible();
  await context.close();
});

test("rows leave the screen without a reload when the right to list them ends", async ({ page }) => {
  const namespace = await create("revoked");
  await Promise.all([configMap(namespace, of(namespace)), bind(namespace, `portico:user:${userId("nora")}`)]);
  await signIn(page, "nora", path.list("core/v1/configmaps", `namespace=${namespace}`));
  await expect(link(page, of(namespace))).toBeVisible();
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await page.evaluate(() => ((window as { marker?: boolean }).marker = true));

  await admin("acme-prod").delete("rolebindings", "made-elsewhere", { namespace });
  await expect(link(page, of(namespace))).toHaveCount(0, { timeout: 75_000 });
  await expect(page.locator("[data-state=not-permitted]")).toBeVisible();
  expect(await page.evaluate(() => (window as { marker?: boolean }).marker)).toBe(true);
});
