// What many viewers of one creation cost. No other test follows a cluster of Magnum meanwhile.
import { expect, test } from "../support/browser";
import { create, creation, openList } from "../support/cluster-faults";
import { adminUrl } from "../support/env";
import { send } from "../support/http";
import { createTenant, hasMagnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");
test.setTimeout(180_000);

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

/** How often Portico has read followed clusters from Magnum. */
async function polls(): Promise<number> {
  const { body } = await send(`${adminUrl}/metrics`);
  const values = [...body.matchAll(/^portico_managed_cluster_polls_total\{[^}]*\} (\d+)/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

test("case_18 fifty viewers of a creation cost Magnum one read in two seconds", async ({ page }) => {
  const api = await openList(page, tenant);
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
