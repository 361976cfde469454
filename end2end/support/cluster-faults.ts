// Creations of clusters while a service is stopped.
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expect } from "./browser";
import { main } from "./managed-clusters";
import { PanelApi } from "./panel-api";
import { signIn } from "./sign-in";
import { without } from "./stack";
import { clustersOf, clustersPage, template, type Tenant } from "./tenant";
import { unique } from "./workloads";

/** The body of a creation that takes some seconds. */
export const creation = (name: string, seconds: number) => ({
  form: { name, template, keypair: "ops", labels: { sim_seconds: "1", sim_seconds_create: String(seconds) }, groups: [{ name: "default-worker", count: 1 }] },
  attempt: randomUUID(),
});

/** Signs the tenant's member in, on the list of clusters. */
export async function openList(page: Page, tenant: Tenant): Promise<PanelApi> {
  await signIn(page, tenant.member, clustersPage(tenant));
  return PanelApi.inProject(page, tenant.project);
}

/** Sends a creation, which is accepted. Returns the UUID of the cluster. */
export async function create(api: PanelApi, body: ReturnType<typeof creation>): Promise<string> {
  const answer = await api.post("/api/managed_clusters/create", body);
  expect(answer.status, answer.body).toBe(200);
  const { accepted } = JSON.parse(answer.body) as { accepted?: { cluster: string } };
  expect(accepted, answer.body).toBeTruthy();
  return accepted?.cluster ?? "";
}

/** The tenant's clusters of this name, as Magnum has them. */
export const named = async (tenant: Tenant, name: string) => (await clustersOf(tenant)).filter((cluster) => cluster.name === name);

/** A page that follows a creation shows that a service is stopped, and follows it further afterwards. */
export async function continuesWithout(service: "magnum" | "keystone", page: Page, tenant: Tenant) {
  const api = await openList(page, tenant);
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
  expect(await named(tenant, name)).toHaveLength(1);
}
