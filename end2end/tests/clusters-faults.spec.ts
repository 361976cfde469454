// Clusters while Magnum or its conductor is stopped: no other test of clusters runs meanwhile.
import { expect, test } from "../support/browser";
import { continuesWithout, create, creation, named, openList } from "../support/cluster-faults";
import { main } from "../support/managed-clusters";
import { without, withoutConductor } from "../support/stack";
import { clustersPage, createTenant, hasMagnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");
test.setTimeout(180_000);

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

test("a page of a creation shows that magnum is gone, and continues when it is back", async ({ page }) => {
  await continuesWithout("magnum", page, tenant);
});

test("without Magnum every step explains it, sends nothing, and works once it is back", async ({ page }) => {
  const api = await openList(page, tenant);
  const existing = unique("existing");
  const cluster = await create(api, creation(existing, 1));
  const body = creation(unique("later"), 1);
  const inventory = { cluster, options: { services_first: false, claims_first: false } };
  const deletion = { ...inventory, typed: existing };
  await without("magnum", async () => {
    await page.goto(clustersPage(tenant));
    await expect(main(page).locator("[data-state=error]")).toBeVisible({ timeout: 30_000 });
    await expect(main(page).locator("[data-state=error]").getByRole("button").first()).toBeVisible();
    for (const [path, request] of [
      ["options", {}],
      ["review", { form: body.form }],
      ["create", body],
      ["inventory", inventory],
      ["delete", deletion],
    ] as const) {
      const answer =
        path === "options"
          ? await api.postForm("/api/managed_clusters/options", {})
          : await api.post(`/api/managed_clusters/${path}`, request);
      expect(answer.status, `${path}: ${answer.body}`).toBe(503);
      expect(answer.body, path).toMatch(/Magnum/);
    }
  });
  await expect
    .poll(async () => (await api.post("/api/managed_clusters/create", body)).status, { timeout: 30_000 })
    .toBe(200);
  expect(await named(tenant, body.form.name)).toHaveLength(1);
  // nothing was deleted meanwhile
  expect(await named(tenant, existing)).toHaveLength(1);
  const answer = await api.post("/api/managed_clusters/delete", deletion);
  expect(answer.status, answer.body).toBe(200);
  await expect.poll(async () => (await named(tenant, existing)).length, { timeout: 30_000 }).toBe(0);
});

test("case_59 a creation that no conductor takes is found later, and is not requested again", async ({ page }) => {
  const api = await openList(page, tenant);
  const body = creation(unique("waits"), 1);
  await withoutConductor(async () => {
    const answer = await api.post("/api/managed_clusters/create", body);
    // Magnum has accepted it, and has no record
    expect(answer.status, answer.body).toBe(200);
    expect(JSON.parse(answer.body), answer.body).toHaveProperty("unknown");
    await page.goto(clustersPage(tenant));
    await expect(main(page).getByRole("link", { name: `Continue ${body.form.name}` })).toBeVisible();
  });
  const again = async () => JSON.parse((await api.post("/api/managed_clusters/create", body)).body);
  await expect.poll(again, { timeout: 60_000 }).toHaveProperty("already_created");
  expect(await named(tenant, body.form.name)).toHaveLength(1);
  await page.goto(clustersPage(tenant));
  await expect(main(page).getByRole("link", { name: body.form.name, exact: true })).toBeVisible();
  await expect(main(page).getByRole("link", { name: `Continue ${body.form.name}` })).toHaveCount(0);
});
