// Health, delete protection and quotas of clusters, on their pages and against the real Magnum with simulated drivers.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, isAccessible, main, waitForStatus } from "../support/managed-clusters";
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

/** Makes a cluster that is complete, and opens its page. */
async function complete(page: Page, name: string, labels: Record<string, string> = {}): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, labels);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  await page.goto(clustersPage(tenant, cluster));
  return cluster;
}

test("case_46 health that Magnum does not measure is not shown as bad", async ({ page }) => {
  await complete(page, unique("unmeasured"), { sim_health: "none" });
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
