// Clusters while Magnum, Keystone or the conductor is stopped, and many viewers of one creation. No other test runs meanwhile.
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { adminUrl } from "../support/env";
import { send } from "../support/http";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/sign-in";
import { without, withoutConductor } from "../support/stack";
import { clustersOf, clustersPage, createTenant, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");
test.setTimeout(180_000);

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const main = (page: Page) => page.getByRole("main");

/** The body of a creation that takes some seconds. */
const creation = (name: string, seconds: number) => ({
  form: { name, template, keypair: "ops", labels: { sim_seconds: "1", sim_seconds_create: String(seconds) }, groups: [{ name: "default-worker", count: 1 }] },
  attempt: randomUUID(),
});

async function openList(page: Page): Promise<PanelApi> {
  await signIn(page, tenant.member, clustersPage(tenant));
  return PanelApi.inProject(page, tenant.project);
}

async function create(api: PanelApi, body: ReturnType<typeof creation>): Promise<string> {
  const answer = await api.post("/api/managed_clusters/create", body);
  expect(answer.status, answer.body).toBe(200);
  const { accepted } = JSON.parse(answer.body) as { accepted?: { cluster: string } };
  expect(accepted, answer.body).toBeTruthy();
  return accepted?.cluster ?? "";
}

const named = async (name: string) => (await clustersOf(tenant)).filter((cluster) => cluster.name === name);

/** How often Portico has read followed clusters from Magnum. */
async function polls(): Promise<number> {
  const { body } = await send(`${adminUrl}/metrics`);
  const values = [...body.matchAll(/^portico_managed_cluster_polls_total\{[^}]*\} (\d+)/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

test("case_18 fifty viewers of a creation cost Magnum one read in two seconds", async ({ page }) => {
  const api = await openList(page);
  const cluster = await create(api, creation(unique("viewers"), 30));
  const look = async () => {
    const answer = await api.post("/api/managed_clusters/progress", { cluster, version: null });
    expect(answer.status, answer.body).toBe(200);
    return (JSON.parse(answer.body) as { changed: { position: number } }).changed.position;
  };
  await look();
  const [before, since] = [await polls(), Date.now()];
  const viewers = Array.from({ length: 50 }, async () => {
    const seen: number[] = [];
    while (Date.now() - since < 10_000) {
      seen.push(await look());
      // each viewer asks more often than the page does
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return seen;
  });
  const seen = await Promise.all(viewers);
  const reads = (await polls()) - before;
  const seconds = (Date.now() - since) / 1_000;
  expect(seen.flat().length).toBeGreaterThan(500);
  expect(reads).toBeGreaterThan(1);
  expect(reads).toBeLessThanOrEqual(Math.ceil(seconds / 2) + 1);
});

for (const service of ["magnum", "keystone"] as const) {
  test(`a page of a creation shows that ${service} is gone, and continues when it is back`, async ({ page }) => {
    const api = await openList(page);
    const name = unique("outage");
    const cluster = await create(api, creation(name, 12));
    await page.goto(clustersPage(tenant, cluster));
    const steps = main(page).getByRole("list", { name: "Steps" });
    // the driver has begun: what it has not stored is lost with its process
    await expect(steps.locator("[aria-current=step]")).toContainText(/Network|Address|Control plane|Workers/, { timeout: 30_000 });
    await without(service, async () => {
      await expect(page.locator("[data-part=outdated]")).toBeVisible({ timeout: 30_000 });
      await expect(page.locator("[data-part=outdated]")).toContainText("Not updated since");
      await expect(main(page).getByRole("list", { name: "Steps" })).toBeVisible();
    });
    await expect(page.locator("[data-part=outdated]")).toHaveCount(0, { timeout: 60_000 });
    await expect(main(page)).toContainText(/CREATE_COMPLETE|Ready|Complete/, { timeout: 60_000 });
    expect(await named(name)).toHaveLength(1);
  });
}

test("without Magnum every step explains it, sends nothing, and works once it is back", async ({ page }) => {
  const api = await openList(page);
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
  expect(await named(body.form.name)).toHaveLength(1);
  // nothing was deleted meanwhile
  expect(await named(existing)).toHaveLength(1);
  const answer = await api.post("/api/managed_clusters/delete", deletion);
  expect(answer.status, answer.body).toBe(200);
  await expect.poll(async () => (await named(existing)).length, { timeout: 30_000 }).toBe(0);
});

test("case_59 a creation that no conductor takes is found later, and is not requested again", async ({ page }) => {
  const api = await openList(page);
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
  expect(await named(body.form.name)).toHaveLength(1);
  await page.goto(clustersPage(tenant));
  await expect(main(page).getByRole("link", { name: body.form.name, exact: true })).toBeVisible();
  await expect(main(page).getByRole("link", { name: `Continue ${body.form.name}` })).toHaveCount(0);
});
