// What Portico says and does while a part of it is away. The services are the real ones, stopped and started again.
import { readFileSync } from "node:fs";
import { expect, test } from "../support/browser";
import { person } from "../support/cli";
import { account, enter, fields, signIn } from "../support/sign-in";
import { adminUrl, cluster } from "../support/env";
import { send } from "../support/http";
import * as path from "../support/paths";
import { frozen, without } from "../support/stack";

test.setTimeout(180_000);

async function apiStatus(token: string): Promise<number> {
  const { apiUrl, authority } = cluster("acme-prod");
  const answer = await send(`${apiUrl}/api/v1/namespaces/shop/pods?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    authority: readFileSync(authority),
  });
  return answer.status;
}

test("while Keystone does not respond, pages show it, the rest works, no user is signed out, and it recovers", async ({ page, browser }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  const storefront = page.getByRole("link", { name: /^storefront-/ }).first();
  await expect(storefront).toBeVisible();
  const other = await (await browser.newContext()).newPage();
  await without("keystone", async () => {
    const stopped = Date.now();
    await other.goto("/oauth2/sign_in");
    await enter(other, account("devi"));
    await expect(other.getByText(/Keystone/).first()).toBeVisible({ timeout: 5_000 });
    await expect(other.getByText(/wrong|incorrect/i)).toHaveCount(0);
    await expect(fields(other).name).toHaveValue("devi");
    expect(Date.now() - stopped).toBeLessThan(10_000);

    // the page that is open stays, and so does the session
    await page.reload({ timeout: 10_000 });
    await expect(page).not.toHaveURL(/\/oauth2\//);
    await expect(page.getByRole("main")).toBeVisible();
    await expect(page.getByText(/Keystone/).first()).toBeVisible({ timeout: 5_000 });
  });
  await expect
    .poll(
      async () => {
        await page.goto(path.list("core/v1/pods", "namespace=shop"));
        return storefront.isVisible();
      },
      { timeout: 15_000, intervals: [500] },
    )
    .toBe(true);
  await enter(other, account("devi"));
  await expect(other).not.toHaveURL(/\/oauth2\/sign_in/);
  await other.context().close();
});

test("Keystone that takes calls and never answers keeps no user waiting", async ({ page, browser }) => {
  await signIn(page, "vera", path.project());
  const other = await (await browser.newContext()).newPage();
  await frozen("keystone", async () => {
    const since = Date.now();
    await other.goto("/oauth2/sign_in");
    await enter(other, account("devi"));
    await expect(other.getByText(/Keystone/).first()).toBeVisible({ timeout: 10_000 });
    expect(Date.now() - since).toBeLessThan(12_000);
    await page.reload({ timeout: 15_000 });
    await expect(page).not.toHaveURL(/\/oauth2\//);
  });
  await other.context().close();
});

test("kube-auth away: nothing is allowed", async ({ browser }) => {
  const { terminal } = await person(browser, "devi");
  const known = await terminal.clusterToken("acme-prod");
  const unknown = `${known.slice(0, -4)}AAAA`;
  expect(await apiStatus(known)).toBe(200);
  await without("portico", async () => {
    expect(await apiStatus(unknown)).toBe(401);
    // the API server remembers a bearer for the ten seconds of our flag
    await expect.poll(() => apiStatus(known), { timeout: 30_000, intervals: [1_000] }).toBe(401);
  });
  await expect.poll(() => apiStatus(known), { timeout: 30_000, intervals: [1_000] }).toBe(200);
});

test("a restart signs no user out", async ({ page }) => {
  await signIn(page, "vera", path.project());
  await without("portico", async () => {});
  await page.reload();
  await expect(page).not.toHaveURL(/\/oauth2\//);
  await expect(page.getByText("vera").first()).toBeVisible();
});

test("afterwards everything is well", async () => {
  await expect.poll(async () => (await send(`${adminUrl}/ready`)).status, { timeout: 20_000 }).toBe(200);
});
