// Node groups and journal of a cluster, on their pages and against the real Magnum with a simulated driver.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { createCluster, isAccessible, main, progress, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { setQuota, usedQuota } from "../support/stand-in";
import { clustersOf, clustersPage, createColleague, createTenant, hasMagnum, magnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});

/** The cluster of the last tests of this file, which change nothing of it. */
let unchanged: string | undefined;
const changed = async () => (await clustersOf(tenant)).filter(({ uuid }) => uuid !== unchanged);

// the quotas of the project are those of a small one: what is deleted here is gone before the next is created
test.afterEach(async () => {
  for (const { uuid } of await changed()) await magnum(tenant, "DELETE", `/clusters/${uuid}`);
});
const othersGone = () => expect.poll(async () => (await changed()).length, { timeout: 60_000 }).toBe(0);

test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const viewOf = (cluster: string, view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;
const row = (page: Page, group: string) =>
  main(page).getByRole("row").filter({ has: page.getByRole("rowheader", { name: group }) });
const entries = (page: Page) => main(page).getByRole("list", { name: "Entries, the newest first" }).getByRole("listitem");

async function complete(page: Page, name: string): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  await othersGone();
  const cluster = await createCluster(page, tenant, name);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  return cluster;
}

async function openUnchanged(page: Page): Promise<string> {
  if (unchanged) await signIn(page, tenant.member, clustersPage(tenant, unchanged));
  else unchanged = await complete(page, unique("unchanged"));
  return unchanged;
}

/** The number of nodes that Magnum has for a group; `undefined`: it has no such group. */
async function nodesOf(cluster: string, group: string): Promise<number | undefined> {
  const answer = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(answer.body) as { nodegroups: { name: string; node_count: number; status: string }[] };
  return nodegroups.find(({ name, status }) => name === group && status !== "DELETE_COMPLETE")?.node_count;
}

test("a node group is added, resized beyond its maximum and deleted, and the journal has each request", async ({ page }) => {
  const cluster = await complete(page, unique("groups"));
  await page.reload();
  await main(page).getByRole("link", { name: "Node groups" }).click();
  await expect(title(page)).toHaveText("Node groups");
  await expect(row(page, "default-worker")).toBeVisible();
  await isAccessible(page);

  await main(page).getByRole("button", { name: "Add a node group" }).click();
  // the form is below the table: it takes the keyboard focus, and the table gets it back
  await expect(part(page, "change").getByRole("heading", { name: "New node group" })).toBeFocused();
  await part(page, "change").getByRole("button", { name: "Cancel" }).click();
  await expect(main(page).getByRole("region", { name: "Node groups" })).toBeFocused();
  await main(page).getByRole("button", { name: "Add a node group" }).click();
  await main(page).getByLabel("Name of the group").fill("gpu");
  await main(page).getByLabel("Maximum nodes").fill("2");
  await main(page).getByLabel("Reason").fill("CHG-12");
  await expect(part(page, "steps")).toContainText("Adds the node group gpu");
  await expect(part(page, "quotas")).toContainText("cores");
  await isAccessible(page);
  await part(page, "change").getByRole("button", { name: "Add the node group" }).click();
  await expect(part(page, "progress").last()).toContainText("The change of gpu is complete.", { timeout: 60_000 });
  expect(await nodesOf(cluster, "gpu")).toBe(1);

  // two steps: the bounds, then the size
  await row(page, "gpu").getByRole("button", { name: "Resize" }).click();
  await main(page).getByLabel("Number of nodes").fill("3");
  await expect(part(page, "change")).toContainText("3 nodes are above the maximum 2.");
  const send = part(page, "change").getByRole("button", { name: "Resize", exact: true });
  await expect(send).toBeDisabled();
  await main(page).getByLabel("Maximum nodes").fill("4");
  await expect(part(page, "steps").getByRole("listitem")).toHaveCount(2);
  await send.click();
  await expect(part(page, "progress").last()).toContainText("complete", { timeout: 60_000 });
  expect(await nodesOf(cluster, "gpu")).toBe(3);
  expect(await nodesOf(cluster, "default-worker")).toBe(1);

  await row(page, "gpu").getByRole("button", { name: "Delete" }).click();
  const remove = part(page, "change").getByRole("button", { name: "Delete the node group" });
  await expect(part(page, "steps")).toContainText("Deletes the node group gpu");
  await expect(remove).toBeDisabled();
  await main(page).getByLabel("Type gpu to confirm").fill("gpu");
  await remove.click();
  await expect(part(page, "progress").last()).toContainText("complete", { timeout: 60_000 });
  expect(await nodesOf(cluster, "gpu")).toBeUndefined();

  await page.goto(viewOf(cluster, "journal"));
  await expect(title(page)).toHaveText("Journal");
  const of = (text: string) => entries(page).filter({ hasText: text });
  await expect(of("Delete the node group gpu")).toContainText("Accepted");
  await expect(of("Create the node group gpu")).toContainText("Reason: CHG-12");
  await expect(of("Create the node group gpu")).toContainText(`${tenant.member.name} (you)`);
  // two requests: bounds and size
  await expect(of("Resize the node group gpu to 3")).toHaveCount(2);
  await expect(of("Create the cluster")).toHaveCount(1);
  await expect(main(page)).not.toContainText("Outside of Portico");
  await isAccessible(page);
});

test("a resize is not sent from another size than the form has shown", async ({ page }) => {
  const cluster = await complete(page, unique("overtaken"));
  await page.goto(viewOf(cluster, "node-groups"));
  await row(page, "default-worker").getByRole("button", { name: "Resize" }).click();
  await main(page).getByLabel("Number of nodes").fill("3");
  await expect(part(page, "steps")).toContainText("(1 to 3)");
  // another client is faster
  const groups = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(groups.body) as { nodegroups: { name: string; uuid: string }[] };
  const nodegroup = nodegroups.find(({ name }) => name === "default-worker")?.uuid;
  const resized = await magnum(tenant, "POST", `/clusters/${cluster}/actions/resize`, { node_count: 2, nodegroup });
  expect(resized.status, resized.body).toBe(202);
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  const send = part(page, "change").getByRole("button", { name: "Resize", exact: true });
  await send.click();
  await expect(main(page)).toContainText("has 2 nodes now, and not 1");
  await expect(part(page, "steps")).toContainText("(2 to 3)");
  expect(await nodesOf(cluster, "default-worker")).toBe(2);
  // the user decides again
  await send.click();
  await expect(part(page, "progress").last()).toContainText("complete", { timeout: 60_000 });
  expect(await nodesOf(cluster, "default-worker")).toBe(3);
});

test("a change of another client is in the journal as one from outside of Portico", async ({ page }) => {
  const cluster = await complete(page, unique("outside"));
  await page.reload();
  await expect(main(page).getByText("Running").first()).toBeVisible();
  const groups = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(groups.body) as { nodegroups: { name: string; uuid: string }[] };
  const nodegroup = nodegroups.find(({ name }) => name === "default-worker")?.uuid;
  const resized = await magnum(tenant, "POST", `/clusters/${cluster}/actions/resize`, { node_count: 2, nodegroup });
  expect(resized.status, resized.body).toBe(202);
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await page.reload();
  await expect(row(page, "default-worker")).toContainText("2", { timeout: 60_000 });
  await page.goto(viewOf(cluster, "journal"));
  const outside = entries(page).filter({ hasText: "Outside of Portico" });
  await expect(outside.first()).toContainText("Nodes of default-worker: 1 → 2", { timeout: 30_000 });
  // the choice of sources, which only scripts take
  await interactive(page);
  await main(page).getByLabel("Changes in Magnum").uncheck();
  await expect(outside).toHaveCount(0);
  await expect(entries(page).filter({ hasText: "Create the cluster" })).toHaveCount(1);
  await expect(page).toHaveURL(/hide=observation/);
  await main(page).getByLabel("Changes in Magnum").check();
  await expect(outside.first()).toBeVisible();
});

test("the entries of a journal are filtered, and the address and the file have the filter", async ({ page }) => {
  const cluster = await complete(page, unique("filtered"));
  await page.goto(viewOf(cluster, "journal"));
  await expect(entries(page).filter({ hasText: "Create the cluster" })).toHaveCount(1);
  // with the keyboard
  await expect(async () => {
    await page.keyboard.press("/");
    await expect(main(page).getByLabel("Text")).toBeFocused({ timeout: 500 });
  }).toPass();
  await page.keyboard.type("create the");
  await expect(entries(page)).toHaveCount(1);
  await expect(page).toHaveURL(/text=create%20the/);
  await expect(main(page).getByLabel("Text")).toBeFocused();
  await isAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    main(page).getByRole("link", { name: "Download as JSON lines" }).click(),
  ]);
  const { readFileSync } = await import("node:fs");
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  expect(lines.map(({ content }) => content.action)).toEqual(["create_cluster"]);
  // another user opens the address
  await page.reload();
  await expect(main(page).getByLabel("Text")).toHaveValue("create the");
  await expect(entries(page)).toHaveCount(1);
  await interactive(page);
  await main(page).getByLabel("User").fill("no such user");
  await expect(main(page)).toContainText("No entries match the filter");
  await main(page).getByRole("button", { name: "Clear the filter" }).click();
  await expect(main(page).getByLabel("Text")).toHaveValue("");
  await main(page).getByLabel("User").fill(tenant.member.name);
  await expect(entries(page).filter({ hasText: "Create the cluster" })).toHaveCount(1);
  await expect(entries(page).filter({ hasText: "First seen" })).toHaveCount(0);
  // nothing was requested so long ago
  await main(page).getByLabel("To (UTC)").fill("2020-01-01T00:00:00");
  await expect(main(page)).toContainText("No entries match the filter");
});

test("the journal remains after the deletion, and can be downloaded", async ({ page }) => {
  const name = unique("kept");
  const cluster = await complete(page, name);
  const api = await PanelApi.inProject(page, tenant.project);
  const options = { services_first: false, claims_first: false };
  const answer = await api.post("/api/managed_clusters/delete", { cluster, typed: name, options });
  expect(answer.status, answer.body).toBe(200);
  await page.goto(clustersPage(tenant, cluster));
  await waitForStatus(tenant, cluster, undefined);
  await page.goto(viewOf(cluster, "journal"));
  await expect(entries(page).filter({ hasText: "Delete the cluster" })).toContainText("Accepted");
  await expect(entries(page).filter({ hasText: "Deleted" }).first()).toBeVisible({ timeout: 30_000 });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    main(page).getByRole("link", { name: "Download as JSON lines" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`journal-${cluster}.jsonl`);
  const { readFileSync } = await import("node:fs");
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index + 1));
  const actions = lines.filter(({ source }) => source === "request").map(({ content }) => content.action);
  expect(actions).toContain("delete_cluster");
});

test("case_29 a second change is queued behind the running one, which is named, and is sent when that has finished", async ({ page, browser }) => {
  test.setTimeout(240_000);
  await signIn(page, tenant.member, clustersPage(tenant));
  await othersGone();
  const cluster = await createCluster(page, tenant, unique("queued"), { sim_seconds_update: "15" });
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  // Portico has seen it too: what it has not seen to end could still be what runs
  await expect(progress(page)).toContainText("Complete", { timeout: 30_000 });
  const api = await PanelApi.inProject(page, tenant.project);
  const first = { resize: { group: "default-worker", from: 1, nodes: 2, min: null, max: null } };
  const sent = await api.post("/api/managed_clusters/change_node_group", { cluster, change: first, reason: "" });
  expect(sent.body).toContain("accepted");
  await waitForStatus(tenant, cluster, "UPDATE_IN_PROGRESS");
  await page.goto(viewOf(cluster, "node-groups"));
  await row(page, "default-worker").getByRole("button", { name: "Resize" }).click();
  await main(page).getByLabel("Number of nodes").fill("3");
  const queue = part(page, "queue");
  await expect(queue).toContainText("Another change of the cluster is running: Resize the node group default-worker to 2, requested by");
  await expect(queue).toContainText(`${tenant.member.name} (you)`);
  await expect(part(page, "change").getByRole("button", { name: "Resize", exact: true })).toBeDisabled();
  await isAccessible(page);
  await queue.getByRole("button", { name: "Send when it has finished" }).click();
  await expect(part(page, "waiting")).toContainText("Resize default-worker to 3");
  await expect(part(page, "waiting")).toContainText("Waits until the cluster is settled");
  // a colleague sees it too, and a third change is refused
  const other = await signedIn(browser, await createColleague(tenant, "member"), viewOf(cluster, "node-groups"));
  await expect(part(other, "waiting")).toContainText(tenant.member.name);
  const third = { resize: { group: "default-worker", from: 2, nodes: 4, min: null, max: null } };
  const forced = await (await PanelApi.inProject(other, tenant.project)).post("/api/managed_clusters/queue_change", { cluster, change: third, reason: "" });
  expect(forced.body).toContain("Another change waits already: Resize default-worker to 3");
  await other.context().close();
  await expect.poll(() => nodesOf(cluster, "default-worker"), { timeout: 60_000 }).toBe(3);
  await expect(part(page, "waiting")).toHaveCount(0, { timeout: 60_000 });
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await page.goto(viewOf(cluster, "journal"));
  await expect(entries(page).filter({ hasText: "Queue the change of the node group default-worker to 3" })).toHaveCount(1);
});

test("a change with two steps waits for a user after its page was left, and is continued or discarded in another browser", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  await othersGone();
  const cluster = await createCluster(page, tenant, unique("resumed"), { sim_seconds: "3" });
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  const api = await PanelApi.inProject(page, tenant.project);
  const change = { resize: { group: "default-worker", from: 1, nodes: 2, min: 1, max: 3 } };
  // the bounds only: no page is open that continues
  const begun = await api.post("/api/managed_clusters/change_node_group", { cluster, change, reason: "CHG-8" });
  expect(begun.body).toContain("accepted");
  const colleague = await createColleague(tenant, "member");
  const other = await signedIn(browser, colleague, viewOf(cluster, "node-groups"));
  const card = part(other, "waiting");
  await expect(card).toContainText("Waiting for you", { timeout: 60_000 });
  await expect(card).toContainText("Resize default-worker to 2");
  await expect(card).toContainText("CHG-8");
  await isAccessible(other);
  expect(await nodesOf(cluster, "default-worker")).toBe(1);
  await card.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => nodesOf(cluster, "default-worker"), { timeout: 60_000 }).toBe(2);
  await expect(card).toHaveCount(0, { timeout: 60_000 });
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");

  const again = { resize: { group: "default-worker", from: 2, nodes: 4, min: 1, max: 5 } };
  await api.post("/api/managed_clusters/change_node_group", { cluster, change: again, reason: "" });
  await other.reload();
  await expect(card).toContainText("Waiting for you", { timeout: 60_000 });
  await card.getByRole("button", { name: "Discard" }).click();
  await expect(card).toHaveCount(0);
  await other.reload();
  await expect(row(other, "default-worker")).toBeVisible();
  await expect(card).toHaveCount(0);
  expect(await nodesOf(cluster, "default-worker")).toBe(2);
  await other.context().close();
});

test("case_32 the default group cannot be deleted, also if it is asked", async ({ page }) => {
  const cluster = await openUnchanged(page);
  await page.goto(viewOf(cluster, "node-groups"));
  const group = row(page, "default-worker");
  await expect(group.locator("[aria-disabled=true]").filter({ hasText: "Delete" })).toBeVisible();
  const api = await PanelApi.inProject(page, tenant.project);
  const change = { delete: { group: "default-worker", typed: "default-worker" } };
  const forced = await api.post("/api/managed_clusters/change_node_group", { cluster, change, reason: "" });
  expect(forced.body).toContain('"refused"');
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
});

test("a reader sees the node groups and the journal, and changes nothing", async ({ page, browser }) => {
  const cluster = await openUnchanged(page);
  const colleague = await createColleague(tenant, "reader");
  const other = await signedIn(browser, colleague, viewOf(cluster, "node-groups"));
  await expect(row(other, "default-worker").locator("[aria-disabled=true]")).toHaveCount(3);
  await other.goto(viewOf(cluster, "journal"));
  await expect(entries(other).filter({ hasText: "Create the cluster" })).toContainText(tenant.member.name);
  const api = await PanelApi.inProject(other, tenant.project);
  const change = { resize: { group: "default-worker", from: 1, nodes: 2, min: null, max: null } };
  const forced = await api.post("/api/managed_clusters/change_node_group", { cluster, change, reason: "" });
  expect(forced.body).toContain('"refused"');
  expect(await nodesOf(cluster, "default-worker")).toBe(1);
  await other.context().close();
});

test("case_28 a size beyond the quota has red bars in the form, and cannot be sent", async ({ page }) => {
  const cluster = await openUnchanged(page);
  // what they use would become free
  await othersGone();
  await setQuota(tenant, "cores", await usedQuota(tenant, "cores"));
  try {
    await page.goto(viewOf(cluster, "node-groups"));
    await row(page, "default-worker").getByRole("button", { name: "Resize" }).click();
    await main(page).getByLabel("Number of nodes").fill("3");
    const cores = part(page, "quotas").locator(".meter-row").filter({ has: page.locator(".meter-label", { hasText: /^cores/ }) });
    await expect(cores).toContainText("→");
    await expect(cores.locator(".is-bad")).toBeVisible();
    // full: the part of the bar above its upper mark is red
    await expect(cores.locator("meter")).toHaveJSProperty("value", 100);
    await expect(part(page, "change").getByRole("button", { name: "Resize", exact: true })).toBeDisabled();
    await isAccessible(page);
    const api = await PanelApi.inProject(page, tenant.project);
    const change = { resize: { group: "default-worker", from: 1, nodes: 3, min: null, max: null } };
    const forced = await api.post("/api/managed_clusters/change_node_group", { cluster, change, reason: "" });
    expect(forced.body).toContain('"refused"');
    expect(await nodesOf(cluster, "default-worker")).toBe(1);
  } finally {
    await setQuota(tenant, "cores", 1_000);
  }
});

test("case_33 a restricted label is marked beside its field, and nothing can be sent", async ({ page }) => {
  const cluster = await openUnchanged(page);
  await page.goto(viewOf(cluster, "node-groups"));
  await main(page).getByRole("button", { name: "Add a node group" }).click();
  const labels = main(page).getByLabel("Labels of the nodes");
  await expect(labels).not.toHaveAttribute("aria-invalid", "true");
  await labels.fill("kubernetes.io/role=gpu");
  await expect(labels).toHaveAttribute("aria-invalid", "true");
  const described = await labels.getAttribute("aria-describedby");
  await expect(page.locator(`[id="${described ?? ""}"]`)).toContainText("kubernetes.io/ are restricted");
  await expect(main(page).getByLabel("Name of the group")).not.toHaveAttribute("aria-invalid", "true");
  const send = part(page, "change").getByRole("button", { name: "Add the node group" });
  await expect(send).toBeDisabled();
  await isAccessible(page);
  await labels.fill("example.org/role=gpu");
  await expect(labels).not.toHaveAttribute("aria-invalid", "true");
  await expect(send).toBeEnabled();
});
