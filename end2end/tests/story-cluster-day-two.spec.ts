// What a member does with a cluster after the first day: a node group, its size, a node in the place of another, an upgrade, the
// certificates, and the journal of all of it. Magnum is the stack's own, with a simulated driver that can do everything.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, main, progress, title, waitForStatus } from "../support/managed-clusters";
import { examine } from "../support/page-check";
import { signIn } from "../support/sign-in";
import { clustersPage, createTenant, hasMagnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const viewOf = (cluster: string, view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;
const rows = (page: Page, text: string) => main(page).getByRole("row").filter({ hasText: text });
const entries = (page: Page, text: string) => main(page).getByRole("listitem").filter({ hasText: text });

/** Looks at the page in both schemes and widths, and returns it to those of the story. */
async function look(page: Page, what: string) {
  await page.evaluate(() => window.scrollTo(0, 0));
  await examine(page, `story-day-two-${what}`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
}

test("need_cluster a cluster is changed, upgraded and explained by its journal", async ({ page }) => {
  test.setTimeout(300_000);
  const name = unique("day");
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");

  // a node group, and its size
  await page.goto(viewOf(cluster, "node-groups"));
  await main(page).getByRole("button", { name: "Add a node group" }).click();
  await main(page).getByLabel("Name of the group").fill("gpu");
  await main(page).getByLabel("Reason").fill("CHG-1");
  await expect(part(page, "steps")).toContainText("Adds the node group gpu");
  await look(page, "1-node-group");
  await part(page, "change").getByRole("button", { name: "Add the node group" }).click();
  const done = main(page).getByText("The change of gpu is complete.");
  await expect(done).toBeVisible({ timeout: 60_000 });
  await rows(page, "gpu").getByRole("button", { name: "Resize" }).click();
  await main(page).getByLabel("Number of nodes").fill("2");
  await expect(part(page, "steps")).toContainText("(1 to 2)");
  await look(page, "2-resize");
  await part(page, "change").getByRole("button", { name: "Resize", exact: true }).click();
  await expect(done).toBeVisible({ timeout: 60_000 });

  // a node in the place of another
  await page.goto(viewOf(cluster, "nodes"));
  await expect(rows(page, "gpu")).toHaveCount(2);
  const node = (await rows(page, "gpu").first().getByRole("rowheader").innerText()).split("\n")[0] ?? "";
  await look(page, "3-nodes");
  await rows(page, node).getByRole("button", { name: "Replace" }).click();
  await part(page, "replacing").getByRole("button", { name: "Add the new node" }).click();
  const card = part(page, "replacement");
  const remove = card.getByRole("button", { name: "Remove the old node" });
  await expect(remove).toBeVisible({ timeout: 60_000 });
  await look(page, "4-replacement");
  await remove.click();
  const removal = part(page, "removal");
  // Portico does not see into the cluster: it cannot be drained
  await removal.getByLabel(`Type ${node} to confirm`).fill(`${node} without draining`);
  await removal.getByRole("button", { name: "Remove the node" }).click();
  await expect(card).toHaveCount(0, { timeout: 60_000 });

  // an upgrade, which Magnum refuses while the removal runs
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await page.goto(viewOf(cluster, "upgrade"));
  await main(page).getByLabel("Upgrade to").selectOption({ label: "kubernetes-1.32 (v1.32.1)" });
  await expect(part(page, "effect")).toContainText("v1.32.1");
  await look(page, "5-upgrade");
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  await main(page).getByRole("button", { name: "Upgrade cluster" }).click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await expect(progress(page)).toBeVisible({ timeout: 30_000 });
  await look(page, "6-progress");
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");

  // certificates and health
  await page.goto(viewOf(cluster, "certificates"));
  await expect(part(page, "authority")).toContainText(/\d+ days left/);
  await look(page, "7-certificates");
  await page.goto(clustersPage(tenant, cluster));
  await expect(main(page).getByText("v1.32.1").first()).toBeVisible({ timeout: 60_000 });
  await expect(part(page, "reported")).toBeVisible();
  await look(page, "8-cluster");

  // the journal has all of it, and none of it from outside
  await main(page).getByRole("link", { name: "Journal" }).click();
  await expect(title(page)).toHaveText("Journal");
  for (const request of ["Create the cluster", "Create the node group gpu", "Resize the node group gpu to 2", `Replace the node ${node}`, "Upgrade to"])
    await expect(entries(page, request).first()).toContainText("Accepted");
  await expect(entries(page, "Reason: CHG-1")).toHaveCount(1);
  await expect(main(page)).not.toContainText("Outside of Portico");
  await look(page, "9-journal");
});
