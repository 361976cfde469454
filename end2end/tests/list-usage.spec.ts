// The columns of lists for CPU and memory in use.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, remove } from "../support/workloads";

const main = (page: Page) => page.getByRole("main");
const rows = (page: Page) => main(page).locator("tbody tr[data-uid]");
const row = (page: Page, name: string) => rows(page).filter({ has: page.getByRole("link", { name, exact: true }) });
const live = (page: Page) => expect(main(page).getByText("Live", { exact: true })).toBeVisible();

test("need_07 rows show what they use, read with one request for all of them", async ({ page }) => {
  test.setTimeout(180_000);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/resources/usage")) asked.push(request.postData() ?? "");
  });
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop&q=checkout"));
  await live(page);
  const cpu = rows(page).first().getByRole("meter", { name: /^CPU: .+ of 170m requested/ });
  // of a new container, Prometheus has a value after two scrapes
  await expect(async () => {
    await page.reload();
    asked.length = 0;
    await expect(cpu).toBeVisible({ timeout: 5_000 });
  }).toPass({ timeout: 100_000, intervals: [5_000] });
  expect(asked).toHaveLength(1);
  expect(JSON.parse(asked[0] ?? "{}").rows).toHaveLength(await rows(page).count());
  await expect(rows(page).first().getByRole("meter", { name: /^Memory: .+ of 192 MiB allowed by the limits/ })).toBeVisible();
  for (const head of ["CPU", "Memory"]) {
    const column = main(page).getByRole("columnheader", { name: head, exact: true });
    await expect(column).toBeVisible();
    await expect(column.getByRole("link"), "only rows in the page are known").toHaveCount(0);
  }

  await page.getByRole("button", { name: "Columns and density" }).click();
  await page.getByRole("checkbox", { name: "CPU", exact: true }).uncheck();
  await expect(cpu).toHaveCount(0);
  await expect(page).toHaveURL(/columns=[^&]*memory/);

  for (const [kind, query, name, meter] of [
    ["apps/v1/deployments", "namespace=shop", "checkout", /^CPU: .+ requested/],
    ["core/v1/nodes", "", "acme-node-1", /^Memory: .+ allocatable$/],
  ] as const) {
    await page.goto(path.list(kind, query));
    await expect(row(page, name).getByRole("meter", { name: meter })).toBeVisible();
  }
});

test("need_07 rows without usage have the reason, and without a source there are no columns for it", async ({ page }) => {
  const namespace = await createNamespace("unused");
  await admin("acme-prod").apply(deploymentManifest(namespace, "idle", 0));
  await signIn(page, "vera", path.list("apps/v1/deployments", `namespace=${namespace}`));
  await live(page);
  await expect(row(page, "idle").getByTitle("CPU unknown: No pod is running.")).toHaveText(/^—/);

  // stand-in answers: the stack's Prometheus serves the other tests meanwhile, and may not be stopped or closed to a user
  await page.route("**/api/resources/usage", (route) => route.fulfill({ json: { unavailable: "Prometheus cannot be reached." } }));
  await page.reload();
  await live(page);
  const note = main(page).locator("[data-part=usage-note]");
  await expect(note).toHaveText("CPU and memory are not shown. Prometheus cannot be reached.");
  await expect(main(page).getByRole("columnheader", { name: "CPU", exact: true })).toHaveCount(0);
  await expect(row(page, "idle")).toBeVisible();

  const missing = { verb: "get", group: "", resource: "pods", subresource: "", namespace, name: null };
  await page.route("**/api/resources/usage", (route) => route.fulfill({ json: { not_permitted: { reason: "Not permitted.", missing } } }));
  await page.reload();
  await expect(note).toContainText("CPU and memory are not shown. Not permitted.");
  const whoCan = new RegExp(`/access\\?verb=get&resource=pods&namespace=${namespace}#who-can$`);
  await expect(note.getByRole("link", { name: "Who can?" })).toHaveAttribute("href", whoCan);
  await remove(namespace);
});

test("need_07 rows that appear one after another are read together", async ({ page }) => {
  const namespace = await createNamespace("appearing");
  await admin("acme-prod").apply(deploymentManifest(namespace, "idle-0", 0));
  const asked: { at: number; rows: number }[] = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/api/resources/usage")) return;
    asked.push({ at: Date.now(), rows: JSON.parse(request.postData() ?? "{}").rows.length });
  });
  await signIn(page, "vera", path.list("apps/v1/deployments", `namespace=${namespace}`));
  await live(page);
  await expect.poll(() => asked.length).toBe(1);
  for (let number = 1; number <= 6; number += 1) {
    await admin("acme-prod").apply(deploymentManifest(namespace, `idle-${number}`, 0));
    // the pause between them is what is tested
    await page.waitForTimeout(300);
  }
  await expect.poll(() => asked.at(-1)?.rows, { timeout: 20_000 }).toBe(7);
  const pauses = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  expect(pauses.filter((pause) => pause < 2_500)).toEqual([]);
  await remove(namespace);
});
