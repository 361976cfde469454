// The pages of cluster templates, against the real Magnum with simulated drivers.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, isAccessible, main, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { clustersPage, createColleague, createTenant, hasMagnum, magnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const row = (page: Page, name: string) => main(page).locator(`tr[data-template="${name}"]`);

interface Template {
  uuid: string;
  name: string;
  public: boolean;
  hidden: boolean;
  labels: Record<string, string>;
}

/** The template with a name, as Magnum has it for the member. */
async function templateNamed(name: string): Promise<Template | undefined> {
  const answer = await magnum(tenant, "GET", "/clustertemplates");
  expect(answer.status, answer.body).toBe(200);
  const all = JSON.parse(answer.body).clustertemplates as Template[];
  return all.find((one) => one.name === name);
}

/** Creates a copy of the stack's template through the form; its page is open afterwards. Returns its UUID. */
async function copy(page: Page, name: string): Promise<string> {
  await page.goto(clustersPage(tenant, "templates"));
  await row(page, template).getByRole("link", { name: template, exact: true }).click();
  await expect(title(page)).toHaveText("Cluster template");
  const form = part(page, "copy");
  await form.getByLabel("Name", { exact: true }).fill(name);
  const labels = form.getByLabel("Labels");
  await labels.fill(`${await labels.inputValue()}\nsim_seconds=1`);
  await form.getByRole("button", { name: "Create template" }).click();
  await expect(part(page, "template").getByRole("heading", { name, exact: true })).toBeVisible();
  const made = await templateNamed(name);
  expect(made, "Magnum has the copy").toBeDefined();
  return made?.uuid ?? "";
}

test("the list leads from the clusters to a template, with its version, driver and labels", async ({ page }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  await main(page).getByRole("link", { name: "Templates" }).click();
  await expect(title(page)).toHaveText("Cluster templates");
  const shown = row(page, template);
  await expect(shown).toContainText("v1.31.4");
  await expect(shown).toContainText("Public, of another project");
  await expect(shown).toContainText("no cluster of this project");
  await isAccessible(page);
  await shown.getByRole("link", { name: template, exact: true }).click();
  await expect(title(page)).toHaveText("Cluster template");
  await expect(part(page, "labels")).toContainText("kube_tag");
  await expect(part(page, "capabilities")).toContainText("What its driver can do");
  await expect(part(page, "deletion")).toContainText("It belongs to another project");
  await isAccessible(page);
});

test("case_54 a copy is made, and deleted when no cluster uses it any longer", async ({ page }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const name = unique("copy");
  const uuid = await copy(page, name);
  const made = await templateNamed(name);
  expect(made).toMatchObject({ public: false, hidden: false });
  expect(made?.labels).toMatchObject({ sim_seconds: "1" });
  await expect(part(page, "template")).toContainText("Private");
  await isAccessible(page);

  const cluster = unique("user");
  const id = await createCluster(page, tenant, cluster, {}, name);
  await waitForStatus(tenant, id, "CREATE_COMPLETE");
  await page.goto(clustersPage(tenant, "templates"));
  await expect(row(page, name)).toContainText("1 cluster");
  await expect(row(page, name)).toContainText(cluster);
  await page.goto(`${clustersPage(tenant, "templates")}?view=${uuid}`);
  await expect(part(page, "template").getByRole("link", { name: cluster })).toBeVisible();
  await expect(part(page, "deletion")).toContainText(`It is used by ${cluster}`);
  await expect(page.locator("[data-action=delete-template]")).toHaveAttribute("aria-disabled", "true");
  const api = await PanelApi.inProject(page, tenant.project);
  const forced = await api.post("/api/managed_clusters/delete_template", { template: uuid, typed: name });
  expect(forced.body).toContain('"refused"');

  await magnum(tenant, "DELETE", `/clusters/${id}`);
  await waitForStatus(tenant, id, undefined);
  await page.reload();
  const remove = part(page, "deletion").getByRole("button", { name: "Delete template" });
  await expect(remove).toBeDisabled();
  await part(page, "deletion").getByLabel(`Type ${name} to confirm`).fill(name);
  await remove.click();
  await expect(title(page)).toHaveText("Cluster templates");
  await expect(row(page, template)).toBeVisible();
  await expect(row(page, name)).toHaveCount(0);
  expect(await templateNamed(name)).toBeUndefined();
});

test("case_55 a member sees why templates are not published, and an administrator hides and publishes", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const name = unique("flags");
  const uuid = await copy(page, name);
  const address = `${clustersPage(tenant, "templates")}?view=${uuid}`;
  for (const action of ["publish-template", "hide-template"]) {
    await expect(page.locator(`[data-action=${action}]`)).toHaveAttribute("aria-disabled", "true");
  }
  await expect(part(page, "flags")).toContainText("clustertemplate:publish");
  const api = await PanelApi.inProject(page, tenant.project);
  const forced = await api.post("/api/managed_clusters/set_template_flag", { template: uuid, flag: "public", is_on: true });
  expect(forced.status, forced.body).toBe(403);
  expect(await templateNamed(name)).toMatchObject({ public: false });

  const root = await signedIn(browser, await createColleague(tenant, "admin"), address);
  const flags = part(root, "flags");
  const rights = await PanelApi.inProject(root, tenant.project);
  try {
    await flags.getByRole("button", { name: "Publish" }).click();
    await expect(part(root, "template")).toContainText("Public");
    await flags.getByRole("button", { name: "Make private" }).click();
    await expect(part(root, "template")).toContainText("Private");
  } catch (error) {
    // a template that stays public is offered to the projects of all tests
    await rights.post("/api/managed_clusters/set_template_flag", { template: uuid, flag: "public", is_on: false });
    throw error;
  }
  await flags.getByRole("button", { name: "Hide" }).click();
  await expect(part(root, "template")).toContainText("Private, hidden");
  await isAccessible(root);
  await flags.getByRole("button", { name: "Show again" }).click();
  await expect(flags.getByRole("button", { name: "Hide" })).toBeVisible();
  await part(root, "deletion").getByLabel(`Type ${name} to confirm`).fill(name);
  await part(root, "deletion").getByRole("button", { name: "Delete template" }).click();
  await expect(title(root)).toHaveText("Cluster templates");
  await root.context().close();
});

test("case_13 a reader sees the templates, and each change is refused", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const name = unique("read");
  const uuid = await copy(page, name);
  const reader = await signedIn(browser, await createColleague(tenant, "reader"), `${clustersPage(tenant, "templates")}?view=${uuid}`);
  await expect(part(reader, "template").getByRole("heading", { name, exact: true })).toBeVisible();
  for (const action of ["copy-template", "delete-template", "publish-template", "hide-template"]) {
    await expect(reader.locator(`[data-action=${action}]`)).toHaveAttribute("aria-disabled", "true");
  }
  await isAccessible(reader);
  const api = await PanelApi.inProject(reader, tenant.project);
  const none = { flavor: "", control_plane_flavor: "", keypair: "", external_network: "", network: "", subnet: "", labels: {} };
  const calls = {
    copy_template: { template: uuid, values: { name: `${name}-forced`, image: "ubuntu", ...none } },
    set_template_flag: { template: uuid, flag: "hidden", is_on: true },
    delete_template: { template: uuid, typed: name },
  };
  for (const [call, body] of Object.entries(calls)) {
    const answer = await api.post(`/api/managed_clusters/${call}`, body);
    expect(answer.status, `${call}: ${answer.body}`).toBe(403);
  }
  await reader.context().close();
  expect(await templateNamed(`${name}-forced`)).toBeUndefined();
  await magnum(tenant, "DELETE", `/clustertemplates/${uuid}`);
  expect(await templateNamed(name)).toBeUndefined();
});

test("a template of another project that is private does not exist here", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const uuid = await copy(page, unique("private"));
  const elsewhere = await createTenant();
  const other = await signedIn(browser, await createColleague(elsewhere, "admin"), `${clustersPage(elsewhere, "templates")}?view=${uuid}`);
  await expect(main(other)).toContainText("This project has no such cluster template");
  await other.context().close();
  await removeTenant(elsewhere);
  await magnum(tenant, "DELETE", `/clustertemplates/${uuid}`);
});
