// The working day of a user who may work in two of 200 namespaces, by keyboard alone: a failing pod is found by the palette,
// the list of pods is filtered by its status, and three workloads are restarted at once.
import type { Locator, Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { roleId } from "../support/env";
import { createUser, deleteUser, giveRole } from "../support/keystone";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { screenshot } from "../support/screenshots";
import { record } from "../support/secrets";
import { signIn, type Account } from "../support/sign-in";
import { deploymentManifest, unique } from "../support/workloads";

test.describe.configure({ mode: "serial" });

const name = "globex-dev";
const story = unique("story");
const namespaces = Array.from({ length: 200 }, (_, number) => `${story}-${String(number).padStart(3, "0")}`);
const own = [namespaces[61], namespaces[142]] as [string, string];
const failing = "payments-7d9c";
const workloads = ["cart", "orders", "stock", "tax"];

let who: Account & { id: string };

const list = (items: object[]) => admin(name).apply({ apiVersion: "v1", kind: "List", items });

const mayListPods = (groups: string[], namespace: string) => admin(name).permits(groups, "list", { group: "", resource: "pods", namespace });

/** A pod that no node runs, in the state that the test gives it. It needs no token, which a new service account lacks. */
async function pod(namespace: string, podName: string, status: object) {
  const container = { name: "main", image: "localhost/none" };
  await admin(name).apply({ apiVersion: "v1", kind: "Pod", metadata: { name: podName, namespace, labels: { app: podName } }, spec: { schedulerName: "none", automountServiceAccountToken: false, containers: [container] } });
  await admin(name).patch("merge", "pods", podName, { status }, namespace, "status");
}

const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }], containerStatuses: [{ name: "main", image: "x", imageID: "x", ready: true, restartCount: 0, state: { running: { startedAt: "2026-01-01T00:00:00Z" } } }] };
const crashing = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [
    {
      name: "main",
      image: "x",
      imageID: "x",
      ready: false,
      restartCount: 12,
      state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" } },
      lastState: { terminated: { exitCode: 1, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" } },
    },
  ],
};

test.beforeAll(async () => {
  test.setTimeout(300_000);
  const password = unique("password");
  record("password", password);
  const id = await createUser(story, password);
  who = { name: story, password, id };
  await giveRole(id, "globex", "member");
  // the stack's own bindings stay out, so that the user's are the only ones
  await list(namespaces.map((namespace) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: { story, "portico.dev/bind": "false" } } })));
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `portico:user:${id}` }];
  const roleRef = (role: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role });
  await list([
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: story },
      rules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] }],
    },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: story }, roleRef: roleRef(story), subjects },
    ...own.map((namespace) => ({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: story, namespace }, roleRef: roleRef("edit"), subjects })),
    ...workloads.map((workload, number) => deploymentManifest(own[number % 2] as string, workload, 0)),
    // what the user may not see
    deploymentManifest(namespaces[7] as string, "foreign", 0),
  ]);
  for (const namespace of own) await expect.poll(() => admin(name).find("serviceaccounts", "default", namespace)).toBeDefined();
  await pod(own[0], "cart-6f5b", running);
  await pod(own[0], "orders-5c4d", running);
  await pod(own[1], failing, crashing);
  await pod(own[1], "stock-8a7e", running);
  // the API server's authorizer hears of a binding a moment later
  await expect.poll(() => mayListPods([`portico:user:${id}`], own[1])).toBe(true);
});

test.afterAll(async () => {
  test.setTimeout(120_000);
  if (who) await deleteUser(who.id);
  for (const resource of ["clusterroles", "clusterrolebindings"] as const) await admin(name).delete(resource, story, { ignoreNotFound: true });
  await admin(name).deleteSelected("namespaces", { labels: `story=${story}` }, { wait: false });
});

const palette = (page: Page) => page.getByRole("dialog", { name: "Search" });
const field = (page: Page) => palette(page).getByRole("combobox");
const chosen = (page: Page) => palette(page).getByRole("option", { selected: true });
const row = (page: Page, text: string) => page.getByRole("main").getByRole("row").filter({ hasText: text });

/** Searches with the palette, and opens the first result once it is the wanted one. */
async function find(page: Page, text: string, result: string | RegExp) {
  await expect(async () => {
    if (!(await palette(page).isVisible())) await page.keyboard.press("Control+k");
    await expect(field(page)).toBeFocused({ timeout: 1_000 });
  }).toPass();
  await page.keyboard.type(text);
  // the rights in 200 namespaces are reviewed first, and the palette searches on meanwhile
  await expect(chosen(page)).toContainText(result, { timeout: 60_000 });
}

/** Moves the focus with Tab until it is on an element. */
async function tabTo(page: Page, target: Locator, key = "Tab") {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches ${target}`);
}

// the schemes differ in colours only: each step has a picture in both
for (const width of [1440, 390]) {
  test(`at ${width} px, a failing pod is found, filtered for, and three workloads are restarted, by keyboard alone`, async ({ browser }) => {
    test.setTimeout(180_000);
    const context = await newContext(browser, { viewport: { width, height: 900 } });
    const page = await context.newPage();
    const picture = async (what: string) => {
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        await screenshot(page, `story-${what}-${colorScheme}-${width}`);
      }
    };
    await signIn(page, who, path.clusterPage(name));
    // from here on no pointer

    // the failing pod, by a part of its name
    await find(page, "payments", failing);
    await expect(chosen(page)).toContainText("CrashLoopBackOff");
    await picture("palette");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/namespaces/${own[1]}/core/v1/pods/${failing}$`));
    await expect(page.getByRole("main").getByText("CrashLoopBackOff").first()).toBeVisible();
    await picture("pod");

    // all pods of the two namespaces, and of no other
    await find(page, "pods", "Pods");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/resources\/core\/v1\/pods/);
    for (const podName of ["cart-6f5b", "orders-5c4d", failing, "stock-8a7e"]) await expect(row(page, podName)).toBeVisible();
    await expect(page.getByRole("main")).toContainText(/2 of \d+ namespaces/);
    await picture("pods");

    // those that fail
    await tabTo(page, page.getByRole("button", { name: /^Status: / }));
    await page.keyboard.press("Enter");
    const failed = page.getByRole("checkbox", { name: /^CrashLoopBackOff/ });
    await tabTo(page, failed);
    await page.keyboard.press("Space");
    await expect(page).toHaveURL(/status=CrashLoopBackOff/);
    await expect(row(page, failing)).toBeVisible();
    await expect(row(page, "cart-6f5b")).toHaveCount(0);
    await page.keyboard.press("Escape");
    await picture("filtered");

    // three workloads, restarted at once
    await find(page, "deployments", "Deployments");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/resources\/apps\/v1\/deployments/);
    for (const workload of workloads) await expect(row(page, workload)).toBeVisible();
    await expect(row(page, "foreign")).toHaveCount(0);
    const before = await restarts();
    for (let chosenRows = 1; chosenRows <= 3; chosenRows++) {
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await expect(page.getByRole("main").getByText(`${chosenRows} selected`, { exact: true })).toBeVisible();
    }
    await picture("selected");
    const bar = page.getByRole("group", { name: "Selected rows" });
    await tabTo(page, bar.getByRole("button", { name: "Restart" }));
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Restart 3 Deployments" });
    await expect(dialog).toBeVisible();
    await picture("question");
    await tabTo(page, dialog.getByRole("button", { name: "Restart" }));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("main").getByText("3 Deployments restarted")).toBeVisible();
    await picture("restarted");
    const changed = (await restarts()).filter((one) => !before.includes(one));
    expect(changed.length).toBe(3);
    await context.close();
  });
}

/** Each workload with the time of its last restart. */
async function restarts(): Promise<string[]> {
  const all = await Promise.all(own.map((namespace) => admin(name).list("deployments", { namespace })));
  return all.flat().map(({ metadata, spec }) => `${metadata.name} ${spec.template.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"] ?? ""}`);
}

// the role that the user has in the project opens nothing by itself
test("the user of this story has no right besides those two namespaces", async () => {
  const groups = [`portico:user:${who.id}`, roleId("member")];
  for (const [namespace, expected] of [[own[0], true], [namespaces[7] as string, false], ["shop", false]] as const) {
    expect(await mayListPods(groups, namespace), namespace).toBe(expected);
  }
});
