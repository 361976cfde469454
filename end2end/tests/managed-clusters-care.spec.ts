// Health, delete protection and quotas of clusters, on their pages and against the real Magnum with simulated drivers.
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, isAccessible, main, statusOf, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { clustersPage, createColleague, createTenant, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);

/** Makes a cluster that is complete, and opens its page. */
async function complete(page: Page, name: string, labels: Record<string, string> = {}): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, labels);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  await page.goto(clustersPage(tenant, cluster));
  return cluster;
}

/** Creates a protected cluster, as from a file with `protection: true`. */
async function createProtected(page: Page, name: string): Promise<string> {
  const api = await PanelApi.inProject(page, tenant.project);
  const groups = [{ name: "default-worker", count: 1 }];
  const form = { name, template, keypair: "ops", labels: { sim_seconds: "1" }, groups, protection: true };
  const answer = await api.post("/api/managed_clusters/create", { form, attempt: randomUUID() });
  expect(answer.status, answer.body).toBe(200);
  return (JSON.parse(answer.body) as { accepted: { cluster: string } }).accepted.cluster;
}

test("case_46 health that Magnum does not measure is not shown as bad, in the list and on the page", async ({ page }) => {
  const name = unique("unmeasured");
  await complete(page, name, { sim_health: "none" });
  await page.goto(clustersPage(tenant));
  const row = main(page).getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await expect(row).toContainText("Running");
  await expect(row).toContainText("Health: Not measured");
  await expect(row.locator(".is-bad, .is-warn")).toHaveCount(0);
  await row.getByRole("link", { name, exact: true }).click();
  await expect(title(page)).toHaveText(name);
  const reported = part(page, "reported");
  await expect(reported).toContainText("Not measured");
  await expect(reported).toContainText("Magnum has no report about this cluster");
  await expect(reported.locator(".is-bad, .is-warn")).toHaveCount(0);
  await isAccessible(page);
});

test("case_47 Magnum's report and Portico's own request are beside each other, each with its age", async ({ page }) => {
  await complete(page, unique("reported"));
  // the conductor polls the health every few seconds
  await expect(async () => {
    await main(page).getByRole("button", { name: "Measure again" }).click();
    await expect(part(page, "reported")).toContainText("Healthy", { timeout: 1_000 });
  }).toPass({ timeout: 60_000 });
  await expect(part(page, "reported")).toContainText(/changed its record .* ago|age not known/);
  // Portico asks the API servers of enrolled clusters, of which this is none
  await expect(part(page, "measured")).toContainText("Not measured");
  await expect(part(page, "measured")).toContainText("Enrol the cluster first");
  await expect(part(page, "disagreement")).toHaveCount(0);
  await expect(part(page, "health-history")).toBeVisible();
  await isAccessible(page);
});

test("case_48 auto-healing is shown with its label, and cannot be changed", async ({ page }) => {
  await complete(page, unique("healing"), { auto_healing_enabled: "false" });
  await expect(part(page, "healing")).toContainText("Off (label auto_healing_enabled=false)");
  await expect(part(page, "healing")).toContainText("Magnum cannot change it later");
});

test("case_53 a protected cluster is not deleted until the protection is removed with its name", async ({ page }) => {
  const name = unique("protected");
  const cluster = await complete(page, name);
  const protection = part(page, "protection");
  await expect(protection).toContainText("Not protected");
  await expect(protection).toContainText("The protection is Portico's own");
  await protection.getByLabel("Reason").fill("CHG-53");
  await protection.getByRole("button", { name: "Protect from deletion" }).click();
  await expect(protection).toContainText("Protected from deletion");
  await expect(protection).toContainText("set by you");
  await isAccessible(page);
  await page.goto(`${clustersPage(tenant, cluster)}?view=delete`);
  await expect(title(page)).toHaveText("Delete cluster");
  await expect(part(page, "checks")).toContainText("protected from deletion");
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  const send = main(page).getByRole("button", { name: "Delete cluster" });
  await expect(send).toBeDisabled();
  // the server refuses too, also to remove the protection without the name
  const api = await PanelApi.inProject(page, tenant.project);
  const options = { services_first: false, claims_first: false };
  const forced = await api.post("/api/managed_clusters/delete", { cluster, typed: name, options });
  expect(forced.body).toContain('"refused"');
  const unnamed = await api.post("/api/managed_clusters/set_protection", { cluster, is_on: false, typed: `${name}-other` });
  expect(unnamed.status, unnamed.body).toBeGreaterThanOrEqual(400);
  expect(await statusOf(tenant, cluster)).toBe("CREATE_COMPLETE");
  await protection.getByText("Remove the protection").first().click();
  const remove = protection.getByRole("button", { name: "Remove the protection" });
  await expect(remove).toBeDisabled();
  await protection.getByLabel(`Type ${name} to remove the protection`).fill(name);
  await isAccessible(page);
  await remove.click();
  await expect(protection).toContainText("Not protected");
  // the inventory is read again, and the typed name has stayed
  await expect(send).toBeEnabled({ timeout: 30_000 });
  await page.goto(`${clustersPage(tenant, cluster)}?view=journal`);
  await expect(main(page)).toContainText("Protect the cluster from deletion");
  await expect(main(page)).toContainText("Remove the protection from deletion");
  // that of the protection does not stay for its removal
  await expect(main(page).locator("li[data-source]").filter({ hasText: "Reason: CHG-53" })).toHaveCount(1);
});

test("a cluster is protected from its creation on, and a reader cannot change that", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createProtected(page, unique("from-file"));
  await page.goto(clustersPage(tenant, cluster));
  await expect(part(page, "protection")).toContainText("Protected from deletion");
  const reader = await createColleague(tenant, "reader");
  const other = await signedIn(browser, reader, clustersPage(tenant, cluster));
  await expect(part(other, "protection")).toContainText("set by another user of the project");
  await expect(other.locator("[data-action=protection]")).toHaveAttribute("aria-disabled", "true");
  await isAccessible(other);
  const api = await PanelApi.inProject(other, tenant.project);
  const forced = await api.post("/api/managed_clusters/set_protection", { cluster, is_on: true, typed: "" });
  expect(forced.status, forced.body).toBe(403);
  await other.context().close();
});

test("the list has what the project uses of its quotas, and Magnum's own count", async ({ page }) => {
  await complete(page, unique("counted"));
  await page.goto(clustersPage(tenant));
  const usage = part(page, "usage");
  await expect(usage).toContainText(/Magnum counts \d+ clusters? with \d+ nodes?/);
  for (const resource of ["clusters", "instances", "cores", "MiB of RAM"]) {
    await expect(usage.locator(".meter-label", { hasText: resource })).toContainText(/\d+ of \d+|no limit/);
  }
  await isAccessible(page);
});
