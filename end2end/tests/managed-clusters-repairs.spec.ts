// A failed change is settled, and the ownership of a cluster is taken, against the real Magnum with simulated drivers.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, failure, isAccessible, main, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { setQuota, usedQuota } from "../support/stand-in";
import { clustersPage, createColleague, createTenant, hasMagnum, magnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

const NEXT = "kubernetes-1.32";
const HEAT = "kubernetes-1.31-heat";
const CLUSTER_API = "kubernetes-1.31-cluster-api";

// the tests change quotas of the project
test.describe.configure({ mode: "serial" });

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const typed = (page: Page, name: string) => main(page).getByLabel(`Type ${name} to confirm`);
const viewOf = (cluster: string, view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;

async function complete(page: Page, name: string, template?: string): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, {}, template);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  return cluster;
}

async function workersOf(cluster: string) {
  const groups = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(groups.body) as { nodegroups: { name: string; uuid: string; node_count: number }[] };
  const found = nodegroups.find(({ name }) => name === "default-worker");
  if (!found) throw new Error(groups.body);
  return found;
}

async function ownerOf(cluster: string): Promise<string> {
  const answer = await magnum(tenant, "GET", `/clusters/${cluster}`);
  return (JSON.parse(answer.body) as { user_id: string }).user_id;
}

test("case_35 a cluster in UPDATE_FAILED is settled in the panel, and can be upgraded then", async ({ page, browser }) => {
  test.setTimeout(240_000);
  const name = unique("settle");
  const cluster = await complete(page, name);
  await setQuota(tenant, "instances", await usedQuota(tenant, "instances"));
  // the panel would refuse it: another client asks for a node for which there is no room
  const { uuid: nodegroup } = await workersOf(cluster);
  const resized = await magnum(tenant, "POST", `/clusters/${cluster}/actions/resize`, { node_count: 2, nodegroup });
  expect(resized.status, resized.body).toBe(202);
  await waitForStatus(tenant, cluster, "UPDATE_FAILED");
  const wanted = (await workersOf(cluster)).node_count;

  // the way out is on the page of the cluster, of its node groups and of its upgrade
  await page.goto(viewOf(cluster, "upgrade"));
  await expect(part(page, "refusal")).toContainText("Settle the cluster first");
  await expect(part(page, "settle").getByRole("link", { name: "Settle the cluster" })).toBeVisible();
  await page.goto(viewOf(cluster, "node-groups"));
  await expect(part(page, "settle").getByRole("link", { name: "Settle the cluster" })).toBeVisible();
  await page.goto(clustersPage(tenant, cluster));
  await expect(failure(page)).toBeVisible({ timeout: 30_000 });
  await failure(page).getByRole("link", { name: /^Settle the cluster/ }).click();
  await expect(title(page)).toHaveText("Settle cluster");
  await expect(title(page)).toBeFocused();
  await expect(part(page, "present")).toContainText("Change failed");
  await expect(part(page, "settlement")).toContainText("/actions/resize");
  await expect(part(page, "settlement")).toContainText(`"node_count": ${wanted}`);
  await expect(part(page, "settlement")).toContainText("no size changes");
  await isAccessible(page);

  // a reader sees it, and sends nothing
  const reader = await signedIn(browser, await createColleague(tenant, "reader"), viewOf(cluster, "settle"));
  await expect(reader.locator("[data-action=settle]")).toHaveAttribute("aria-disabled", "true");
  await expect(part(reader, "settlement")).toContainText("cluster:resize");
  const reviewed = { group: "default-worker", nodes: wanted };
  const forced = await (await PanelApi.inProject(reader, tenant.project)).post("/api/managed_clusters/settle", { cluster, reviewed, reason: "" });
  expect(forced.body).toContain('"refused"');
  await reader.context().close();
  // another size than the one that was reviewed is not requested
  const outdated = { group: "default-worker", nodes: wanted + 1 };
  const api = await PanelApi.inProject(page, tenant.project);
  const refused = await api.post("/api/managed_clusters/settle", { cluster, reviewed: outdated, reason: "" });
  expect(refused.body).toContain("as when it was reviewed");

  await setQuota(tenant, "instances", 100);
  await main(page).getByLabel("Reason").fill("CHG-35");
  await main(page).getByRole("button", { name: "Settle the cluster" }).click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  expect((await workersOf(cluster)).node_count).toBe(wanted);
  await page.goto(viewOf(cluster, "upgrade"));
  await expect(part(page, "settle")).toHaveCount(0);
  await main(page).getByLabel("Upgrade to").selectOption({ label: `${NEXT} (v1.32.1)` });
  await expect(part(page, "effect")).toContainText("v1.32.1");
  await typed(page, name).fill(name);
  await main(page).getByRole("button", { name: "Upgrade cluster" }).click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await expect(main(page).getByText("v1.32.1").first()).toBeVisible({ timeout: 60_000 });
  await page.goto(viewOf(cluster, "journal"));
  const entries = main(page).getByRole("list", { name: "Entries, the newest first" }).getByRole("listitem");
  await expect(entries.filter({ hasText: "Settle the cluster" }).first()).toContainText("Reason: CHG-35");
});

test("a cluster whose change has not failed has nothing to settle", async ({ page }) => {
  const cluster = await complete(page, unique("settled"));
  await page.goto(viewOf(cluster, "settle"));
  await expect(part(page, "nothing")).toContainText("nothing to settle");
  await expect(main(page).getByRole("button", { name: "Settle the cluster" })).toHaveCount(0);
  const api = await PanelApi.inProject(page, tenant.project);
  const forced = await api.post("/api/managed_clusters/settle", { cluster, reviewed: { group: "default-worker", nodes: 1 }, reason: "" });
  expect(forced.body).toContain('"refused"');
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
});

test("case_44 a colleague takes the ownership after the name, and both users read it", async ({ page, browser }) => {
  const name = unique("owned");
  const cluster = await complete(page, name, CLUSTER_API);
  const before = await ownerOf(cluster);
  await page.goto(clustersPage(tenant, cluster));
  await main(page).getByRole("link", { name: "Ownership" }).click();
  await expect(title(page)).toHaveText("Credential and ownership");
  await expect(part(page, "owner")).toContainText(`${tenant.member.name} (you)`);
  await expect(part(page, "dependencies")).toContainText("certificate requests");
  await isAccessible(page);

  const colleague = await createColleague(tenant, "member");
  const other = await signedIn(browser, colleague, viewOf(cluster, "ownership"));
  const sentence = `Ownership passes from ${tenant.member.name} to you.`;
  await expect(part(other, "rotation")).toContainText(sentence);
  await isAccessible(other);
  const send = other.getByRole("button", { name: "Take ownership" });
  await expect(send).toBeDisabled();
  await typed(other, name).fill(`${name}-other`);
  await expect(send).toBeDisabled();
  // the server compares the name too
  const api = await PanelApi.inProject(other, tenant.project);
  const forced = await api.post("/api/managed_clusters/rotate_credential", { cluster, typed: `${name}-other`, reason: "" });
  expect(forced.body).toContain('"refused"');
  expect(await ownerOf(cluster)).toBe(before);
  await typed(other, name).fill(name);
  await send.click();
  await expect(part(other, "done")).toContainText("Magnum has made the new credential");
  await expect(part(other, "owner")).toContainText(`${colleague.name} (you)`);
  expect(await ownerOf(cluster)).not.toBe(before);
  // the owner before reads it too
  await page.goto(viewOf(cluster, "ownership"));
  await expect(part(page, "owner")).toContainText(`Ownership passed from ${tenant.member.name} to ${colleague.name}.`);
  await page.goto(viewOf(cluster, "journal"));
  await expect(main(page)).toContainText(`ownership passes from ${tenant.member.name} to ${colleague.name}`);
  await other.context().close();
});

test("case_44 where the driver cannot, the credential stays, also if it is asked", async ({ page }) => {
  const name = unique("heat");
  const cluster = await complete(page, name, HEAT);
  const before = await ownerOf(cluster);
  await page.goto(viewOf(cluster, "ownership"));
  await expect(main(page).locator("[data-action=rotate-credential]")).toHaveAttribute("aria-disabled", "true");
  await expect(part(page, "rotation")).toContainText("does not rotate the credential");
  await isAccessible(page);
  const api = await PanelApi.inProject(page, tenant.project);
  const forced = await api.post("/api/managed_clusters/rotate_credential", { cluster, typed: name, reason: "" });
  expect(forced.body).toContain('"refused"');
  expect(await ownerOf(cluster)).toBe(before);
});

test("an owner who left the project is shown where Keystone lists the roles, before anything fails", async ({ page, browser }) => {
  const leaver = await createColleague(tenant, "member");
  const made = await signedIn(browser, leaver, clustersPage(tenant));
  const name = unique("orphan");
  const cluster = await createCluster(made, tenant, name, {}, CLUSTER_API);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  await made.context().close();
  const { deleteUser } = await import("../support/keystone");
  await deleteUser(await ownerOf(cluster));
  // Keystone lists the roles of a project for its administrators
  const root = await createColleague(tenant, "admin");
  await signIn(page, root, clustersPage(tenant, cluster));
  await expect(part(page, "owner-left")).toContainText("Owner left the project", { timeout: 30_000 });
  await part(page, "owner-left").getByRole("link", { name: "Credential and ownership" }).click();
  await expect(part(page, "owner")).toContainText("Owner left the project");
  await expect(part(page, "orphaned")).toBeVisible();
  await isAccessible(page);
});
