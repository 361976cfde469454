// Nodes of a cluster on their page, and against the real Magnum with a simulated driver, which makes servers.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, isAccessible, main, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { clustersPage, createColleague, createTenant, hasMagnum, magnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

interface Node {
  name: string | null;
  group: string | null;
  server: string | null;
}

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const viewOf = (cluster: string, view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;
const rows = (page: Page, group: string) => main(page).getByRole("row").filter({ hasText: group });
const workers = "default-worker";

/** Makes a cluster that is complete and has two workers. */
async function complete(page: Page, name: string): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  const groups = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(groups.body) as { nodegroups: { name: string; uuid: string }[] };
  const nodegroup = nodegroups.find((group) => group.name === workers)?.uuid;
  const resized = await magnum(tenant, "POST", `/clusters/${cluster}/actions/resize`, { node_count: 2, nodegroup });
  expect(resized.status, resized.body).toBe(202);
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  return cluster;
}

/** The cluster of the tests that change nothing of it. */
let unchanged: string | undefined;

async function openUnchanged(page: Page): Promise<string> {
  if (unchanged) await signIn(page, tenant.member, clustersPage(tenant, unchanged));
  else unchanged = await complete(page, unique("unchanged"));
  return unchanged;
}

async function nodesOf(api: PanelApi, cluster: string): Promise<Node[]> {
  const answer = await api.post("/api/managed_clusters/nodes", { cluster });
  expect(answer.status, answer.body).toBe(200);
  return (JSON.parse(answer.body) as { nodes: Node[] }).nodes;
}

test("the nodes of a cluster are listed with group, server and state, and are filtered", async ({ page }) => {
  const cluster = await openUnchanged(page);
  await page.goto(clustersPage(tenant, cluster));
  await main(page).getByRole("link", { name: "Nodes", exact: true }).click();
  await expect(title(page)).toHaveText("Nodes");
  await expect(rows(page, workers)).toHaveCount(2);
  await expect(rows(page, "default-master")).toHaveCount(1);
  await expect(rows(page, workers).first()).toContainText("ACTIVE");
  // the cluster is not enrolled
  await expect(part(page, "notes")).toContainText("Enrol the cluster");
  await isAccessible(page);
  // on a narrow screen the state is beside its label, and not off-screen
  await page.setViewportSize({ width: 390, height: 844 });
  const state = rows(page, workers).first().getByRole("cell").filter({ hasText: "ACTIVE" });
  const box = await state.locator(".status").boundingBox();
  if (!box) throw new Error("no state");
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(390);
  expect(await main(page).getByRole("region", { name: "Nodes" }).evaluate((region) => region.scrollWidth - region.clientWidth)).toBe(0);
  await isAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  const filter = main(page).getByLabel("Name, group, state or address");
  await filter.fill("default-master");
  await expect(rows(page, workers)).toHaveCount(0);
  await expect(rows(page, "default-master")).toHaveCount(1);
  await filter.fill("there-is-no-such-node");
  await expect(main(page).locator("[data-state=no-match]")).toBeVisible();
  await isAccessible(page);
  await main(page).getByRole("button", { name: "Clear the filter" }).click();
  await expect(rows(page, workers)).toHaveCount(2);
  // the control plane's nodes are not chosen
  const refused = rows(page, "default-master").locator("[aria-disabled=true]");
  await expect(refused.filter({ hasText: "Remove" })).toBeVisible();
  await expect(refused.filter({ hasText: "Replace" })).toBeVisible();
  await main(page).getByRole("link", { name: "Node groups" }).click();
  await expect(title(page)).toHaveText("Node groups");
});

test("the chosen node is removed after its name, and the journal has it", async ({ page }) => {
  const cluster = await complete(page, unique("chosen"));
  const api = await PanelApi.inProject(page, tenant.project);
  // the oldest: without a choice, the newest would leave
  const before = (await nodesOf(api, cluster)).filter(({ group }) => group === workers);
  expect(before).toHaveLength(2);
  const leaves = before[0];
  const name = leaves?.name ?? "";
  await page.goto(viewOf(cluster, "nodes"));
  await rows(page, name).getByRole("button", { name: "Remove" }).click();
  const removal = part(page, "removal");
  await expect(removal.getByRole("heading", { name: `Remove ${name}` })).toBeFocused();
  await expect(removal.locator("[data-part=steps]")).toContainText("(2 to 1)");
  const send = removal.getByRole("button", { name: "Remove the node" });
  await expect(send).toBeDisabled();
  // another node of the group can leave with it, and the text to type has the number
  const other = removal.getByRole("checkbox", { name: before[1]?.name ?? "" });
  await other.check();
  await expect(removal.getByLabel(`Type ${name} and 1 more to confirm`)).toBeVisible();
  await isAccessible(page);
  await other.uncheck();
  // Portico does not see into the cluster: it cannot be drained
  await removal.getByLabel(`Type ${name} to confirm`).fill(`${name} without draining`);
  await removal.getByLabel("Reason").fill("CHG-13");
  await send.click();
  await expect(part(page, "outcome")).toContainText("Magnum accepted the change.");
  await expect(async () => {
    const after = (await nodesOf(api, cluster)).filter(({ group }) => group === workers);
    expect(after.map(({ server }) => server)).toEqual([before[1]?.server]);
  }).toPass({ timeout: 60_000 });
  await page.goto(viewOf(cluster, "journal"));
  const entry = main(page).getByRole("listitem").filter({ hasText: `Remove the node ${name}` });
  await expect(entry).toContainText("Accepted");
  await expect(entry).toContainText("Reason: CHG-13");
});

test("a node is replaced: another tab continues, and no second replacement is begun", async ({ page, browser }) => {
  const cluster = await complete(page, unique("replace"));
  const api = await PanelApi.inProject(page, tenant.project);
  const before = (await nodesOf(api, cluster)).filter(({ group }) => group === workers);
  const name = before[0]?.name ?? "";
  await page.goto(viewOf(cluster, "nodes"));
  await rows(page, name).getByRole("button", { name: "Replace" }).click();
  const form = part(page, "replacing");
  await expect(form.locator("[data-part=steps]").getByRole("listitem")).toHaveCount(2);
  await expect(form).toContainText("(3 to 2)");
  await isAccessible(page);
  await form.getByRole("button", { name: "Add the new node" }).click();
  await expect(part(page, "outcome")).toContainText("Magnum accepted the change.");
  // nothing of it is left in the browser
  await page.goto(clustersPage(tenant));

  const other = await signedIn(browser, tenant.member, viewOf(cluster, "nodes"));
  const card = part(other, "replacement");
  await expect(card).toContainText(`Replacement of ${name}`);
  await expect(card.getByRole("button", { name: "Remove the old node" })).toBeVisible({ timeout: 60_000 });
  await expect(card).toContainText("Waiting for you");
  await isAccessible(other);
  // not begun twice, also if it is asked
  const again = await PanelApi.inProject(other, tenant.project);
  const body = { cluster, server: before[1]?.server, reason: "" };
  const forced = await again.post("/api/managed_clusters/replace_node", body);
  expect(forced.body).toContain("is being replaced");

  await card.getByRole("button", { name: "Remove the old node" }).click();
  const removal = part(other, "removal");
  // Portico does not see into the cluster: it cannot be drained
  await removal.getByLabel(`Type ${name} to confirm`).fill(`${name} without draining`);
  await removal.getByRole("button", { name: "Remove the node" }).click();
  await expect(part(other, "outcome")).toContainText("Magnum accepted the change.");
  await expect(card).toHaveCount(0, { timeout: 60_000 });
  const after = (await nodesOf(again, cluster)).filter(({ group }) => group === workers);
  expect(after).toHaveLength(2);
  expect(after.map((node) => node.name)).not.toContain(name);
  await other.goto(viewOf(cluster, "journal"));
  const entries = main(other).getByRole("listitem").filter({ hasText: `Replace the node ${name}` });
  await expect(entries.filter({ hasText: "one node more" })).toContainText("Accepted");
  await expect(entries.filter({ hasText: "remove it" })).toContainText("Accepted");
  await other.context().close();
});

test("a node is replaced in place: it leaves first, and another tab adds the new one", async ({ page, browser }) => {
  const cluster = await complete(page, unique("in-place"));
  const api = await PanelApi.inProject(page, tenant.project);
  const before = (await nodesOf(api, cluster)).filter(({ group }) => group === workers);
  const name = before[0]?.name ?? "";
  await page.goto(viewOf(cluster, "nodes"));
  await rows(page, name).getByRole("button", { name: "Replace" }).click();
  await part(page, "replacing").getByRole("button", { name: "Replace in place" }).click();
  const form = part(page, "replacing-in-place");
  await expect(form.getByRole("heading", { name: `Replace ${name} in place` })).toBeFocused();
  await expect(form.locator("[data-part=steps]")).toContainText("(2 to 1)");
  await isAccessible(page);
  // Portico does not see into the cluster: it cannot be drained
  await form.getByLabel(`Type ${name} to confirm`).fill(`${name} without draining`);
  await form.getByRole("button", { name: "Remove the node first" }).click();
  await expect(part(page, "outcome")).toContainText("Magnum accepted the change.");
  // nothing of it is left in the browser
  await page.goto(clustersPage(tenant));

  const other = await signedIn(browser, tenant.member, viewOf(cluster, "nodes"));
  const card = part(other, "replacement");
  const add = card.getByRole("button", { name: "Add the new node" });
  await expect(add).toBeVisible({ timeout: 60_000 });
  await expect(card).toContainText("Waiting for you");
  await isAccessible(other);
  await add.click();
  await expect(part(other, "outcome")).toContainText("Magnum accepted the change.");
  await expect(card).toHaveCount(0, { timeout: 60_000 });
  const again = await PanelApi.inProject(other, tenant.project);
  // a request that is repeated adds no second node
  const forced = await again.post("/api/managed_clusters/add_replacing_node", { cluster, reason: "" });
  expect(forced.body).toContain("No node of this cluster is being replaced in place");
  await expect(async () => {
    const after = (await nodesOf(again, cluster)).filter(({ group }) => group === workers);
    expect(after).toHaveLength(2);
    expect(after.map((node) => node.name)).not.toContain(name);
  }).toPass({ timeout: 60_000 });
  await other.goto(viewOf(cluster, "journal"));
  const entries = main(other).getByRole("listitem").filter({ hasText: `Replace the node ${name} in place` });
  await expect(entries.filter({ hasText: "remove it first" })).toContainText("Accepted");
  await expect(entries.filter({ hasText: "one node more" })).toContainText("Accepted");
  await other.context().close();
});

test("a reader sees the nodes and removes none, also if it is asked", async ({ page, browser }) => {
  const cluster = await openUnchanged(page);
  const colleague = await createColleague(tenant, "reader");
  const other = await signedIn(browser, colleague, viewOf(cluster, "nodes"));
  // "Replace" and "Remove" of two nodes
  await expect(rows(other, workers).locator("[aria-disabled=true]")).toHaveCount(4);
  const api = await PanelApi.inProject(other, tenant.project);
  const [node] = (await nodesOf(api, cluster)).filter(({ group }) => group === workers);
  const removal = { server: node?.server, typed: node?.name, accepted_pods: [] };
  const body = { cluster, node: removal, reason: "" };
  const forced = await api.post("/api/managed_clusters/remove_node", body);
  expect(forced.body).toContain('"refused"');
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await other.context().close();
});
