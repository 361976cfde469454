// Clusters of the simulated driver, made through the panel, and the parts of their pages.
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { axe } from "./accessibility";
import { expect } from "./browser";
import { PanelApi } from "./panel-api";
import { clustersOf, clustersPage, template, type Tenant } from "./tenant";

export const main = (page: Page) => page.getByRole("main");
export const title = (page: Page) => main(page).getByRole("heading", { level: 1 });
export const failure = (page: Page) => page.locator("[data-part=failure]");
export const progress = (page: Page) => page.locator("[data-part=progress]");

/** Creates a cluster with labels for the simulated driver, for the user who is signed in, and opens its page. Returns its UUID. */
export async function createCluster(
  page: Page,
  tenant: Tenant,
  name: string,
  labels: Record<string, string> = {},
  from: string = template,
): Promise<string> {
  const api = await PanelApi.inProject(page, tenant.project);
  const form = { name, template: from, keypair: "ops", labels: { sim_seconds: "1", ...labels }, groups: [{ name: "default-worker", count: 1 }] };
  const answer = await api.post("/api/managed_clusters/create", { form, attempt: randomUUID() });
  expect(answer.status, answer.body).toBe(200);
  expect(answer.body).toContain('"accepted"');
  const cluster = (JSON.parse(answer.body) as { accepted: { cluster: string } }).accepted.cluster;
  await page.goto(clustersPage(tenant, cluster));
  await expect(title(page)).toHaveText(name);
  return cluster;
}

/** The status that Magnum has for a cluster; `undefined`: Magnum does not have it. */
export async function statusOf(tenant: Tenant, cluster: string): Promise<string | undefined> {
  return (await clustersOf(tenant)).find(({ uuid }) => uuid === cluster)?.status;
}

export async function waitForStatus(tenant: Tenant, cluster: string, status: string | undefined) {
  await expect.poll(() => statusOf(tenant, cluster), { timeout: 60_000 }).toBe(status);
}

export async function isAccessible(page: Page) {
  const { violations } = await axe(page).include("main").analyze();
  expect(violations).toEqual([]);
}
