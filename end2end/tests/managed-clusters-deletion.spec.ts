// Clusters that are deleted: what the pages show before and afterwards, against the real Magnum.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, failure, isAccessible, main, statusOf, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/shared-sign-in";
import { deleteVolumesAndBalancers, refuseToDeleteNetwork } from "../support/stand-in";
import { clustersPage, createTenant, hasMagnum, removeTenant, type Tenant } from "../support/tenant";
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

const typed = (page: Page, name: string) => main(page).getByLabel(`Type ${name} to confirm`);
const send = (page: Page) => main(page).getByRole("button", { name: "Delete cluster" });
const group = (page: Page, name: RegExp) => main(page).locator(".card", { has: page.getByRole("heading", { name }) });

/** Makes a cluster that is complete, and opens the page that deletes it. */
async function openDeletion(page: Page, name: string, labels: Record<string, string> = {}): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, labels);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  await page.goto(`${clustersPage(tenant, cluster)}?view=delete`);
  await expect(title(page)).toHaveText("Delete cluster");
  return cluster;
}

test("case_49 nothing is deleted without the typed name", async ({ page }) => {
  const name = unique("kept");
  const cluster = await openDeletion(page, name);
  for (const heading of [/^Will be deleted \([1-9]/, /^Depends on .* \(/, /^Remains and may incur costs \(/]) {
    await expect(group(page, heading)).toBeVisible();
  }
  await expect(group(page, /^Will be deleted/)).toContainText("Server");
  let requests = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/managed_clusters/delete") requests += 1;
  });
  await expect(send(page)).toBeDisabled();
  await typed(page, name).fill(`${name}-other`);
  await expect(send(page)).toBeDisabled();
  await typed(page, name).press("Enter");
  // the server compares the name too
  const api = await PanelApi.inProject(page, tenant.project);
  const options = { services_first: false, claims_first: false };
  const answer = await api.post("/api/managed_clusters/delete", { cluster, typed: `${name}-other`, options });
  expect(answer.body).toContain('"refused"');
  expect(requests).toBe(0);
  expect(await statusOf(tenant, cluster)).toBe("CREATE_COMPLETE");
  // control case: with the name it is deleted
  await typed(page, name).fill(name);
  // the card of the protection has a reason of its own
  await main(page).locator("[data-part=confirmation]").getByLabel("Reason").fill("CHG-49");
  await send(page).click();
  await waitForStatus(tenant, cluster, undefined);
  expect(requests).toBe(1);
  // the journal outlives the cluster
  await page.goto(`${clustersPage(tenant, cluster)}?view=journal`);
  const entry = main(page).locator("li[data-source]").filter({ hasText: "Reason: CHG-49" });
  await expect(entry).toHaveCount(1);
  await expect(entry).toContainText("Delete the cluster");
});

test("case_50 volumes and load balancers of workloads are named before the deletion, and listed afterwards", async ({ page }) => {
  const name = unique("leaves");
  await openDeletion(page, name, { sim_workload: "lbs,volumes", sim_leave: "lbs,volumes" });
  const depends = group(page, /^Depends on/);
  await expect(depends.getByRole("listitem").filter({ hasText: "kube_service_" }).first()).toContainText("Load balancer of a Service");
  await expect(depends.getByRole("listitem").filter({ hasText: "data-postgres-0" })).toContainText("Persistent volume");
  await isAccessible(page);
  await typed(page, name).fill(name);
  await send(page).click();
  await expect(page).toHaveURL(/view=leftovers$/, { timeout: 60_000 });
  await expect(title(page)).toHaveText("Leftovers");
  const left = (text: string) => main(page).getByRole("listitem").filter({ hasText: text });
  await expect(left("data-postgres-0")).toContainText("Persistent volume", { timeout: 30_000 });
  await expect(left("data-postgres-0")).toContainText(/openstack volume delete [0-9a-f-]+/);
  const balancer = left("Load balancer of a Service").filter({ hasText: "kube_service_" }).first();
  await expect(balancer).toContainText(/openstack loadbalancer delete --cascade [0-9a-f-]+/);
  await isAccessible(page);
  await deleteVolumesAndBalancers(tenant);
  await main(page).getByRole("button", { name: "Refresh" }).click();
  await expect(main(page).getByRole("heading", { name: "Nothing is left" })).toBeVisible();
});

test("case_51 a deletion that fails is explained, and works when it is repeated", async ({ page }) => {
  const name = unique("in-use");
  // long enough for the page to follow the second deletion
  const cluster = await openDeletion(page, name, { sim_seconds: "4" });
  await refuseToDeleteNetwork(tenant, cluster);
  await typed(page, name).fill(name);
  await send(page).click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await expect(failure(page)).toBeVisible({ timeout: 60_000 });
  await expect(failure(page).getByRole("heading").first()).toContainText("Deletion failed");
  await expect(failure(page)).toContainText("ports still use it");
  await expect(failure(page)).toContainText("What is not deleted yet still exists");
  await failure(page).getByText("Message of Magnum").click();
  await expect(failure(page)).toContainText("One or more ports are still in use on the network.");
  await isAccessible(page);
  await failure(page).getByRole("link", { name: "Retry" }).click();
  await expect(title(page)).toHaveText("Delete cluster");
  await typed(page, name).fill(name);
  await send(page).click();
  await expect(page).toHaveURL(/view=leftovers$/, { timeout: 60_000 });
  expect(await statusOf(tenant, cluster)).toBeUndefined();
});
