import { expect, test } from "../support/browser";
import { porticoUrl, setting } from "../support/env";
import { send } from "../support/http";
import { interactive } from "../support/interactive";
import * as path from "../support/paths";
import { account, cookieHeader, enter, signIn, signedIn } from "../support/sign-in";
import { signOut } from "../support/sign-out";

const prometheus = () => setting("PROMETHEUS_URL");

test("Prometheus opens without signing in again", async ({ page }) => {
  await signIn(page, "devi", path.project());
  const opened = page.waitForEvent("popup").catch(() => undefined);
  await page.getByRole("link", { name: /Prometheus/ }).first().click();
  const app = (await Promise.race([opened, page.waitForURL(/prometheus\.apps/).then(() => page)])) ?? page;
  await expect(app).toHaveURL(new RegExp(`^${prometheus().replace(/\/$/, "")}`));
  await expect(app.getByText(/Prometheus/).first()).toBeVisible();
  const answer = await app.evaluate(async () => (await fetch("/api/v1/query?query=up")).json());
  expect(answer.status).toBe("success");
  expect(answer.data.result.length).toBeGreaterThan(0);
});

test("a link straight to an app leads through sign-in and back", async ({ page }) => {
  const target = new URL("/graph?g0.expr=up", prometheus()).href;
  await page.goto(target);
  await expect(page).toHaveURL(/\/oauth2\/sign_in/);
  await enter(page, account("ada"));
  await expect(page).toHaveURL(new RegExp(`^${new URL(prometheus()).origin}/.*g0\\.expr=up`));
});

test("vera sees Prometheus on the launchpad, shut, and which roles open it", async ({ page }) => {
  await signIn(page, "vera", path.project());
  const card = page.getByRole("listitem").filter({ hasText: "Prometheus" });
  await expect(card).toContainText("k8s_admin");
  await expect(card).toContainText("k8s_developer");
  await expect(card.getByRole("link", { name: /open/i })).toHaveCount(0);
  const answer = await page.goto(prometheus());
  expect(answer?.status()).toBe(403);
  await expect(page.getByRole("heading", { name: "You may not open Prometheus" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("k8s_developer");
});

test("a part of Prometheus that a rule closes shows the rule, and who may pass", async ({ page }) => {
  const closed = new URL("/api/v1/admin/tsdb/snapshot", prometheus()).href;
  await signIn(page, "devi", prometheus());
  const answer = await page.goto(closed);
  expect(answer?.status()).toBe(403);
  await expect(page.getByRole("main")).toContainText("admin API");
  await expect(page.getByRole("main")).toContainText("k8s_admin");
  // the rest stays open
  expect((await page.goto(new URL("/graph", prometheus()).href))?.status()).toBe(200);
});

for (const user of ["otto", "nora"] as const) {
  test(`${user} gets 403 at acme's Prometheus`, async ({ page }) => {
    await signIn(page, user);
    const answer = await page.goto(prometheus());
    expect(answer?.status()).toBe(403);
  });
}

test("otto sees none of acme's apps", async ({ page }) => {
  await signIn(page, "otto");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("main").getByText("globex-dev").first()).toBeVisible();
  await expect(page.getByText("Prometheus")).toHaveCount(0);
});

test("Alertmanager has a list of alerts, the registry one of repositories and tags", async ({ page }) => {
  await signIn(page, "devi", `${path.project()}/apps/alertmanager`);
  await expect(page.getByRole("heading", { level: 1, name: /Alertmanager|Alerts/ })).toBeVisible();
  await expect(page.getByRole("main")).toContainText(/active|no alerts|nothing is firing/i);
  await page.goto(`${path.project()}/apps/registry`);
  await expect(page.getByRole("heading", { level: 1, name: /registry/i })).toBeVisible();
  const repository = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "acme/checkout" }) });
  await expect(repository).toContainText("2.4.1");
});

test("finding_p23 the registry's page copies a reference that names the registry", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, "devi", `${path.project()}/apps/registry`);
  const reference = `${new URL(setting("REGISTRY_URL")).host}/acme/checkout:2.5.0`;
  const repository = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "acme/checkout" }) });
  await expect(repository).toContainText(reference);
  await interactive(page);
  await repository.getByRole("button", { name: /^Copy/ }).click();
  await expect(repository.getByRole("status").filter({ hasText: "Copied to the clipboard" })).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference);
});

test("sign-out ends the apps' sessions too", async ({ browser }) => {
  const page = await signedIn(browser, "devi", path.project());
  await page.goto(prometheus());
  await expect(page).toHaveURL(new RegExp(`^${new URL(prometheus()).origin}`));
  const cookie = await cookieHeader(page.context(), prometheus());
  const query = new URL("/api/v1/query?query=up", prometheus()).href;
  const headers = { cookie, "sec-fetch-mode": "cors" };
  expect((await send(query, { headers })).status).toBe(200);
  await page.goto(porticoUrl);
  await signOut(page);
  expect((await send(query, { headers })).status).toBe(401);
  await page.context().close();
});

test("the panel's cookie opens no app, an app's cookie no panel", async ({ browser }) => {
  const page = await signedIn(browser, "devi", path.project());
  await page.goto(prometheus());
  await expect(page).toHaveURL(new RegExp(`^${new URL(prometheus()).origin}`));
  const context = page.context();
  const call = { "sec-fetch-mode": "cors", accept: "application/json" };
  const panelCookie = await cookieHeader(context, porticoUrl);
  const appCookie = await cookieHeader(context, prometheus());
  expect(panelCookie).not.toBe(appCookie);
  const query = new URL("/api/v1/query?query=up", prometheus()).href;
  expect((await send(query, { headers: { ...call, cookie: panelCookie } })).status).toBe(401);
  expect((await send(path.project(), { headers: { ...call, cookie: appCookie } })).status).toBe(401);
  await context.close();
});

test("finding_p14 the panel's address of Prometheus leads to it", async ({ page }) => {
  await signIn(page, "devi", `${path.project()}/apps/prometheus`);
  await expect(page).toHaveURL(new RegExp(`^${prometheus().replace(/\/$/, "")}`));
  await page.goto(`${porticoUrl}/apps/prometheus`);
  await expect(page).toHaveURL(new RegExp(`^${prometheus().replace(/\/$/, "")}`));
  await page.goto(`${porticoUrl}/apps/registry`);
  await expect(page).toHaveURL(new RegExp(`${path.project()}/apps/registry$`));
});
