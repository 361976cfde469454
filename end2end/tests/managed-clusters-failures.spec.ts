// Clusters whose creation fails, is refused or stalls, and clusters that are deleted: what the pages show, against the real Magnum.
import { randomUUID } from "node:crypto";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/sign-in";
import { clustersOf, clustersPage, createTenant, deleteVolumesAndBalancers, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(async () => {
  await deleteVolumesAndBalancers(tenant);
  await removeTenant(tenant);
});

const main = (page: Page) => page.getByRole("main");
const title = (page: Page) => main(page).getByRole("heading", { level: 1 });
const failure = (page: Page) => page.locator("[data-part=failure]");

/** Creates a cluster with labels for the simulated driver, and opens its page. */
async function create(page: Page, name: string, labels: Record<string, string>): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const api = await PanelApi.inProject(page, tenant.project);
  const form = { name, template, keypair: "ops", labels: { sim_seconds: "1", ...labels }, groups: [{ name: "default-worker", count: 1 }] };
  const answer = await api.post("/api/managed_clusters/create", { form, attempt: randomUUID() });
  expect(answer.status, answer.body).toBe(200);
  const cluster = (JSON.parse(answer.body) as { accepted: { cluster: string } }).accepted.cluster;
  await page.goto(clustersPage(tenant, cluster));
  await expect(title(page)).toHaveText(name);
  return cluster;
}

async function isAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).include("main").analyze();
  expect(violations).toEqual([]);
}

/** Types the name and deletes the cluster, from its page for that. */
async function remove(page: Page, cluster: string, name: string) {
  await page.goto(`${clustersPage(tenant, cluster)}?view=delete`);
  await expect(title(page)).toHaveText("Delete cluster");
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  await main(page).getByRole("button", { name: "Delete cluster" }).click();
}

test("case_19 a creation that fails is explained: what, why, whose responsibility, what remains, what to do", async ({ page }) => {
  const name = unique("fails");
  await create(page, name, { sim_fail: "create" });
  await expect(failure(page)).toBeVisible({ timeout: 60_000 });
  await expect(failure(page).getByRole("heading").first()).toContainText(/failed/i);
  await expect(failure(page)).toContainText("The quota of cores is used up");
  await expect(failure(page)).toContainText("Responsibility");
  await expect(failure(page)).toContainText("Still running");
  await expect(failure(page).getByRole("list", { name: "Node groups" })).toContainText("default-worker");
  await expect(failure(page).getByRole("list", { name: "Next steps" }).getByRole("link", { name: "Edit and retry" })).toBeVisible();
  await failure(page).getByText("Message of Magnum").click();
  await expect(failure(page)).toContainText("Quota exceeded for cores");
  await isAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(sideways).toBe(0);
});

test("case_20 a driver that refuses is shown within five seconds, and the form to retry has the values", async ({ page }) => {
  const name = unique("refused");
  await signIn(page, tenant.member, clustersPage(tenant, "create"));
  const file = { apiVersion: "portico.dev/v1alpha1", kind: "Cluster", metadata: { name }, spec: { template, keypair: "ops", labels: { sim_raise: "create" } } };
  await main(page).getByText("Start from a file").click();
  await main(page).getByLabel("File or request body").fill(JSON.stringify(file));
  await main(page).getByRole("button", { name: "Use this text in the form" }).click();
  await main(page).getByRole("button", { name: /Review/ }).click();
  await main(page).getByRole("button", { name: "Create cluster" }).click();
  await expect(page).toHaveURL(/managed-clusters\/[0-9a-f-]{36}$/);
  await expect(failure(page)).toBeVisible({ timeout: 5_000 });
  await failure(page).getByRole("link", { name: "Edit and retry" }).click();
  await expect(page).toHaveURL(/create\?from=/);
  await expect(main(page).getByLabel("Name", { exact: true })).toHaveValue(name);
  await main(page).getByRole("button", { name: /Network and access/ }).click();
  await expect(main(page).getByLabel("Further labels")).toHaveValue(/sim_raise=create/);
});

test("case_21 a creation that stalls shows the same step and its start to a page that is opened again", async ({ page, browser }) => {
  const name = unique("stalls");
  const cluster = await create(page, name, { sim_stall: "network" });
  const current = (one: Page) => one.getByRole("list", { name: "Steps" }).locator("[aria-current=step]");
  await expect(current(page)).toContainText("Network and security groups", { timeout: 30_000 });
  const seconds = async (one: Page) => Number(/for (\d+)s/.exec((await current(one).textContent()) ?? "")?.[1] ?? -1);
  await expect.poll(() => seconds(page)).toBeGreaterThan(4);
  await page.reload();
  await expect(current(page)).toContainText("Network and security groups");
  // it continues from the same time
  expect(await seconds(page)).toBeGreaterThan(4);
  // a colleague sees the same
  const other = await browser.newPage();
  await signIn(other, tenant.member, clustersPage(tenant, cluster));
  await expect(current(other)).toContainText("Network and security groups");
  expect(await seconds(other)).toBeGreaterThan(4);
  await other.close();
});

test("case_50 volumes and load balancers of workloads are named before the deletion, and listed afterwards", async ({ page }) => {
  const name = unique("leaves");
  const cluster = await create(page, name, { sim_workload: "lbs,volumes", sim_leave: "lbs,volumes" });
  await expect.poll(async () => (await clustersOf(tenant)).find((one) => one.uuid === cluster)?.status, { timeout: 30_000 }).toBe("CREATE_COMPLETE");
  await page.goto(`${clustersPage(tenant, cluster)}?view=delete`);
  const depends = main(page).locator(".card", { has: page.getByRole("heading", { name: /^Depends on/ }) });
  await expect(depends).toContainText("kube_service_");
  await expect(depends).toContainText("data-postgres-0");
  // case_49: nothing can be sent without the name
  const send = main(page).getByRole("button", { name: "Delete cluster" });
  await main(page).getByLabel(`Type ${name} to confirm`).fill("other");
  await expect(send).toBeDisabled();
  await isAccessible(page);
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  await send.click();
  await expect(page).toHaveURL(/view=leftovers$/, { timeout: 60_000 });
  await expect(title(page)).toHaveText("Leftovers");
  await expect(main(page)).toContainText("kube_service_", { timeout: 30_000 });
  await expect(main(page)).toContainText("data-postgres-0");
  await expect(main(page)).toContainText(/openstack volume delete [0-9a-f-]+/);
  await expect(main(page)).toContainText(/openstack loadbalancer delete --cascade [0-9a-f-]+/);
  await isAccessible(page);
});

test("case_51 a deletion that fails is explained, and can be repeated", async ({ page }) => {
  const name = unique("stays");
  const cluster = await create(page, name, { sim_fail: "delete" });
  await expect.poll(async () => (await clustersOf(tenant)).find((one) => one.uuid === cluster)?.status, { timeout: 30_000 }).toBe("CREATE_COMPLETE");
  await remove(page, cluster, name);
  await expect(failure(page)).toBeVisible({ timeout: 60_000 });
  await expect(main(page)).toContainText("DELETE_FAILED");
  await remove(page, cluster, name);
  // the label makes it fail again: the request was accepted
  await expect(page).toHaveURL(new RegExp(`${cluster}$`), { timeout: 30_000 });
  await expect(failure(page)).toBeVisible({ timeout: 60_000 });
});
