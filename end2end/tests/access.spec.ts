import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { person } from "../support/cli";
import { cluster, projectId, roleId, userId } from "../support/env";
import { interactive } from "../support/interactive";
import { admin, type KubernetesObject } from "../support/kubernetes-api";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { section } from "../support/sections";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("access");
});
test.afterAll(() => remove(namespace));

const subjects = (binding?: KubernetesObject): string[] => (binding?.subjects ?? []).map(({ name }: { name: string }) => name);
const groups = async (name: string) => subjects(await admin("acme-prod").find("rolebindings", name, namespace));

async function bind(names: string[], role = "portico-viewer"): Promise<string> {
  const name = unique("binding");
  await admin("acme-prod").apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name, namespace, labels: { "kept-by": "undo" }, annotations: { note: "as it was" } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: names.map((group) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group })),
  });
  return name;
}

async function open(page: Page) {
  await signIn(page, "ada", path.accessPage());
  await expect(page.getByRole("heading", { level: 1, name: "Access" })).toBeVisible();
  // buttons do nothing before
  await interactive(page);
}

interface Grant {
  place: string;
  role: string;
  toWhom: "All users with a Keystone role" | "One Keystone user" | "All users in a Keystone project";
  id: string;
}

async function fill(page: Page, { place, role, toWhom, id }: Grant) {
  await page.getByRole("button", { name: "Grant access" }).click();
  await page.getByLabel("Where").selectOption({ label: place });
  await page.getByLabel("Role", { exact: true }).selectOption({ label: role });
  await page.getByLabel(toWhom).check();
  if (toWhom !== "One Keystone user") await page.getByLabel("Name", { exact: true }).selectOption("other");
  await page.getByLabel(/^Keystone (user name or )?ID$/).fill(id);
  await page.getByRole("button", { name: "See what this gives" }).click();
}

const rows = (page: Page, binding: string) => page.getByRole("row").filter({ hasText: `by ${binding}` });

test("each subject has a row, with the name that Keystone gives it", async ({ page }) => {
  const binding = await bind([roleId("k8s_admin"), `portico:user:${userId("ada")}`, `portico:project:${projectId("acme")}`]);
  await open(page);
  await expect(rows(page, binding)).toHaveCount(3);
  await expect(rows(page, binding).filter({ hasText: "Keystone role" })).toContainText("k8s_admin");
  await expect(rows(page, binding).filter({ hasText: "Keystone user" })).toContainText("ada");
  await expect(rows(page, binding).filter({ hasText: "Keystone project" })).toContainText("acme");
});

test("an ID whose name the viewer may not know is shown as such", async ({ page }) => {
  const binding = await bind(["0123456789abcdef0123456789abcdef"]);
  await open(page);
  await expect(rows(page, binding)).toContainText("Name unknown");
});

for (const [what, toWhom, id, group] of [
  ["a Keystone role", "All users with a Keystone role", () => roleId("member"), () => roleId("member")],
  ["one user", "One Keystone user", () => userId("nora"), () => `portico:user:${userId("nora")}`],
  ["a project", "All users in a Keystone project", () => projectId("acme"), () => `portico:project:${projectId("acme")}`],
] as const) {
  test(`a ClusterRole is granted to ${what}, after a look at what it gives`, async ({ page }) => {
    await open(page);
    await fill(page, { place: namespace, role: "portico-viewer", toWhom, id: id() });
    const gained = page.getByRole("region", { name: "Rights gained" });
    await expect(gained.getByRole("row").filter({ hasText: "configmaps" }).first()).toContainText("get, list, watch");
    await expect(section(page, "Grant access")).toContainText(`namespace ${namespace} only`);
    await expect(section(page, "Grant access")).toContainText(group());
    const holders = async () => {
      const all = await admin("acme-prod").list("rolebindings", { namespace });
      return all.flatMap(subjects).filter((name) => name === group()).length;
    };
    const before = await holders();
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await expect(page.getByText(/^Granted portico-viewer/)).toBeVisible();
    expect(await holders()).toBe(before + 1);
    await page.getByRole("button", { name: /^Undo/ }).click();
    await expect(page.getByText("The grant was revoked.")).toBeVisible();
    expect(await holders()).toBe(before);
  });
}

test("dangerous grants are red, and require the role's name", async ({ page }) => {
  await open(page);
  await fill(page, { place: namespace, role: "cluster-admin", toWhom: "One Keystone user", id: userId("nora") });
  for (const danger of ["Reads secrets", "Runs commands in pods", "Can give itself more rights", "Can hand out roles", "Can impersonate other users", "Everything, also what is added later"]) {
    await expect(page.getByText(danger)).toBeVisible();
  }
  await page.getByLabel("Type cluster-admin to confirm").fill("cluster");
  await page.getByRole("button", { name: "Grant", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText(/dangerous/);
  const bound = await admin("acme-prod").list("rolebindings", { namespace });
  expect(bound.map(({ roleRef }) => roleRef.name)).not.toContain("cluster-admin");
});

test("a name that Keystone does not let one look up is refused, with the way to find the ID", async ({ page }) => {
  await open(page);
  await fill(page, { place: namespace, role: "portico-viewer", toWhom: "One Keystone user", id: "nora" });
  await expect(page.getByRole("alert")).toContainText(/32 digits/);
});

test("what is granted works at once, and what is revoked stops", async ({ page, browser }) => {
  // not where the tests above grant to all of acme, which nora is a member of
  const namespace = await createNamespace("granted");
  try {
    const nora = await person(browser, "nora", "acme-prod");
    const pods = async () => (await nora.terminal.kubectl("acme-prod", ["get", "pods", "-n", namespace])).code;
    expect(await pods()).not.toBe(0);
    await open(page);
    await fill(page, { place: namespace, role: "portico-viewer", toWhom: "One Keystone user", id: userId("nora") });
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await expect.poll(pods).toBe(0);
    await page.getByRole("row").filter({ hasText: namespace }).filter({ hasText: userId("nora") }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(pods).not.toBe(0);
  } finally {
    // nora, who has nothing in the other tests, loses what a failed try has granted
    await remove(namespace);
  }
});

test.describe("revoking", () => {
  test("one subject of several, undone within ten seconds, restores the same object", async ({ page }) => {
    const names = [roleId("member"), `portico:user:${userId("nora")}`];
    const binding = await bind(names);
    const saved = async () => {
      const object = await admin("acme-prod").get("rolebindings", binding, namespace);
      return { ...object, metadata: { ...object.metadata, resourceVersion: "", managedFields: [] } };
    };
    const before = await saved();
    await open(page);
    await rows(page, binding).filter({ hasText: "Keystone user" }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => groups(binding)).toEqual([names[0]]);
    await page.getByRole("button", { name: /^Undo/ }).click();
    await expect.poll(saved).toEqual(before);
  });

  test("the only subject deletes the binding, and undone it is there as it was", async ({ page }) => {
    const binding = await bind([roleId("member")]);
    const saved = async () => {
      const object = await admin("acme-prod").find("rolebindings", binding, namespace);
      if (!object) return undefined;
      const { metadata, roleRef, subjects } = object;
      return { name: metadata.name, labels: metadata.labels, note: metadata.annotations?.note, roleRef, subjects };
    };
    const before = await saved();
    await open(page);
    await rows(page, binding).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(saved).toBeUndefined();
    await page.getByRole("button", { name: /^Undo/ }).click();
    await expect.poll(saved).toEqual(before);
  });

  test("after another user's edit is a conflict, and no subject is lost", async ({ page }) => {
    const binding = await bind([roleId("member"), `portico:user:${userId("nora")}`]);
    await open(page);
    await rows(page, binding).filter({ hasText: "Keystone user" }).getByRole("button", { name: "Revoke" }).click();
    const added = `portico:user:${userId("vera")}`;
    const patch = [{ op: "add", path: "/subjects/-", value: { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: added } }];
    await admin("acme-prod").patch("json", "rolebindings", binding, patch, namespace);
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect(page.getByRole("dialog").getByRole("alert")).toContainText(/Another user or controller has changed/);
    expect(await groups(binding)).toEqual([roleId("member"), `portico:user:${userId("nora")}`, added]);
  });

  test("the last administrator wants the binding's name typed", async ({ page }) => {
    await open(page);
    await rows(page, "portico-admin").filter({ hasText: "cluster-admin" }).getByRole("button", { name: "Revoke" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Type portico-admin to confirm").fill("portico");
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await expect(dialog.getByText(/The name is portico-admin/)).toBeVisible();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(subjects(await admin("acme-prod").get("clusterrolebindings", "portico-admin"))).toEqual([roleId("k8s_admin")]);
  });

  test("is offered to be undone for ten seconds, and not any later", async ({ page }) => {
    const [binding, later] = [await bind([roleId("member")]), await bind([roleId("member")])];
    await open(page);
    await rows(page, binding).getByRole("button", { name: "Revoke" }).click();
    const [answer] = await Promise.all([
      page.waitForResponse(/\/api\/access\/revoke/),
      page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click(),
    ]);
    const { undo } = (await answer.json()) as { undo: string };
    const revoked = Date.now();
    // the offer of a later change outlives the first one
    await rows(page, later).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    const offers = page.getByRole("button", { name: /^Undo/ });
    await expect(offers).toHaveCount(2);
    await expect(offers).toHaveCount(0, { timeout: 15_000 });
    // the server takes a little longer, for what was clicked in time and is on its way
    await page.waitForTimeout(Math.max(0, revoked + 13_000 - Date.now()));
    const api = await PanelApi.of(page, "acme");
    const late = await api.post("/api/access/undo", { cluster: cluster("acme-prod").id, undo });
    expect(late.status).toBe(409);
    expect(late.body).toContain("ten seconds are over");
    expect(await groups(binding)).toEqual([]);
  });
});

for (const user of ["devi", "vera"] as const) {
  test(`${user} may not grant, and learns why`, async ({ page }) => {
    await signIn(page, user, path.accessPage());
    await expect(page.getByRole("main").locator("[data-state=not-permitted]").first()).toBeVisible();
    await expect(page.getByRole("button", { name: "Grant access" })).toHaveCount(0);
  });
}

test("finding_p4 vera, who may read no bindings, does not read that there are none", async ({ page }) => {
  await signIn(page, "vera", path.accessPage());
  const bindings = section(page, "Who has access");
  await expect(bindings).toContainText("You can't read role bindings");
  await expect(bindings).toContainText("Ask a project administrator");
  await expect(page.getByText(/no role bindings yet|nobody has been granted/i)).toHaveCount(0);
  await expect(page.getByLabel("Subject, role or namespace")).toHaveCount(0);
});

test("finding_p17 the preview of a grant to a valid ID shows that it could not be verified, and why", async ({ page }) => {
  await open(page);
  await fill(page, { place: namespace, role: "portico-viewer", toWhom: "One Keystone user", id: userId("nora") });
  const card = section(page, "Grant access");
  await expect(card).toContainText("Couldn't verify this ID");
  await expect(card).toContainText("Keystone does not let you look up this user");
  await expect(card).not.toContainText("does not know");
  // her own ID needs no looking up
  await page.getByRole("button", { name: "Back" }).click();
  await page.getByLabel(/^Keystone (user name or )?ID$/).fill(userId("ada"));
  await page.getByRole("button", { name: "See what this gives" }).click();
  await expect(card).toContainText("ada");
  await expect(card.getByText("Couldn't verify this ID")).toHaveCount(0);
});

test("finding_p18 revoking one's own cluster-admin shows what is lost before the first click", async ({ page }) => {
  await open(page);
  const row = rows(page, "portico-admin").filter({ hasText: "cluster-admin" });
  await expect(row).toContainText("Yours");
  await row.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("alert")).toContainText("you lose cluster-admin in the whole cluster");
  await expect(dialog.getByLabel("Type portico-admin to confirm")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // the control case: another's grant is one click
  const binding = await bind([`portico:user:${userId("nora")}`]);
  await page.reload();
  await interactive(page);
  await rows(page, binding).getByRole("button", { name: "Revoke" }).click();
  await expect(dialog).toContainText("loses");
  await expect(dialog.getByRole("alert")).toHaveCount(0);
  await expect(dialog.getByLabel(/^Type/)).toHaveCount(0);
});
