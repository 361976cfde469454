// Clusters whose creation fails, is refused or stalls, and a page that is closed during a creation, against the real Magnum.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, failure, isAccessible, main, progress, title, waitForStatus } from "../support/managed-clusters";
import { signIn } from "../support/shared-sign-in";
import { signedIn } from "../support/sign-in";
import { clustersOf, clustersPage, createColleague, createTenant, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const steps = (page: Page) => progress(page).getByRole("list", { name: "Steps" });
const formStep = (page: Page, name: string) => main(page).getByRole("navigation", { name: "Steps" }).getByRole("button", { name });

test("case_19 a creation that fails is explained: what, why, whose responsibility, what remains, what to do", async ({ page }) => {
  const name = unique("fails");
  await signIn(page, tenant.member, clustersPage(tenant));
  await createCluster(page, tenant, name, { sim_fail: "create" });
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

test("case_20 a driver that refuses is shown within five seconds, and is created under another name with its values", async ({ page }) => {
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
  const labels = main(page).getByLabel("Further labels");
  await expect(labels).toHaveValue(/sim_raise=create/);
  await labels.fill("sim_seconds=1");
  await formStep(page, "Template").click();
  const corrected = unique("corrected");
  await main(page).getByLabel("Name", { exact: true }).fill(corrected);
  await formStep(page, "Review").click();
  await main(page).getByRole("button", { name: "Create cluster" }).click();
  await expect(title(page)).toHaveText(corrected);
  const found = (await clustersOf(tenant)).find((one) => one.name === corrected);
  await waitForStatus(tenant, found?.uuid ?? "", "CREATE_COMPLETE");
});

test("case_21 a creation that stalls is reported with its step, and its start is the same to other users", async ({ page, browser }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  // without an observed creation, a step counts as stalled after 20 minutes
  await createCluster(page, tenant, unique("usual"));
  await expect(progress(page)).toContainText("Complete", { timeout: 60_000 });
  const cluster = await createCluster(page, tenant, unique("stalls"), { sim_stall: "network" });
  const current = (one: Page) => steps(one).locator("[aria-current=step]");
  await expect(current(page)).toContainText("Network and security groups", { timeout: 30_000 });
  const stalled = /Stalled at "Network and security groups" for \d+ (seconds|minutes)/;
  await expect(progress(page)).toContainText(stalled, { timeout: 60_000 });
  const seconds = async (one: Page) => Number(/for (\d+)s/.exec((await current(one).textContent()) ?? "")?.[1] ?? -1);
  await expect.poll(() => seconds(page)).toBeGreaterThan(4);
  await page.reload();
  await expect(progress(page)).toContainText(stalled);
  // it continues from the same time
  expect(await seconds(page)).toBeGreaterThan(4);
  const colleague = await createColleague(tenant, "member");
  const other = await signedIn(browser, colleague, clustersPage(tenant, cluster));
  await expect(progress(other)).toContainText(stalled);
  expect(await seconds(other)).toBeGreaterThan(4);
  await other.context().close();
});

test("case_22 a creation continues while its page is closed, and the page shows the same steps when it is opened again", async ({ page }) => {
  const name = unique("closed");
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, { sim_seconds_create: "15" });
  // how long the step took, which is observed once
  const took = async (one: Page) => {
    const row = steps(one).getByRole("listitem").filter({ hasText: "Network and security groups" });
    return /in (\d+s)/.exec((await row.textContent()) ?? "")?.[1];
  };
  await expect.poll(() => took(page), { timeout: 30_000 }).toBeDefined();
  const before = await took(page);
  const context = page.context();
  await page.close();
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  const again = await context.newPage();
  await again.goto(clustersPage(tenant, cluster));
  await expect(title(again)).toHaveText(name);
  await expect(progress(again)).toContainText("Complete", { timeout: 60_000 });
  expect(await took(again)).toBe(before);
  expect((await clustersOf(tenant)).filter((one) => one.name === name)).toHaveLength(1);
});
