// One browser, several tabs: signing in at once, too late, and beside one another.
import { expect, newContext, test } from "../support/browser";
import { projectId } from "../support/env";
import * as path from "../support/paths";
import { account, enter, fields, signIn } from "../support/sign-in";
import { signOut } from "../support/sign-out";

const away = /\/oauth2\//;

test("several tabs that were sent to sign-in at once all arrive where they were going", async ({ browser }) => {
  const context = await newContext(browser);
  const targets = [
    path.project(),
    path.list("core/v1/pods", "namespace=shop"),
    path.list("apps/v1/deployments", "namespace=shop"),
    path.clusterPage(),
  ];
  const tabs = await Promise.all(targets.map(() => context.newPage()));
  await Promise.all(tabs.map((tab, n) => tab.goto(targets[n]!)));
  for (const tab of tabs) await expect(fields(tab).password).toBeVisible();
  // all forms are filled before the first is sent
  const who = account("vera");
  for (const tab of tabs) {
    await fields(tab).name.fill(who.name);
    await fields(tab).password.fill(who.password);
  }
  await Promise.all(tabs.map((tab) => fields(tab).submit.click()));
  for (const [n, tab] of tabs.entries()) {
    await expect(tab, `tab ${n}`).not.toHaveURL(away, { timeout: 20_000 });
    expect(new URL(tab.url()).pathname, `tab ${n}`).toBe(new URL(targets[n]!, tab.url()).pathname);
  }
  // whichever came last, one session is left, and every tab continues with it
  for (const tab of tabs) {
    await tab.reload();
    await expect(tab).not.toHaveURL(away);
  }
  const [first] = tabs;
  await first!.goto("/oauth2/sessions");
  await expect(first!.getByText("This session")).toHaveCount(1);
  await context.close();
});

test("a tab whose form waited while another signed in continues without signing in again", async ({ browser }) => {
  const context = await newContext(browser);
  const late = await context.newPage();
  await late.goto(path.list("core/v1/pods", "namespace=shop"));
  await expect(fields(late).password).toBeVisible();
  const other = await context.newPage();
  await signIn(other, "vera", path.project());
  // what the late tab's user does first: go back to it and load it again
  await late.reload();
  await expect(late).not.toHaveURL(away);
  await expect(late.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
  await other.reload();
  await expect(other).not.toHaveURL(away);
  await context.close();
});

test("a late tab that sends its old form signs in, and no tab is signed out", async ({ browser }) => {
  const context = await newContext(browser);
  const late = await context.newPage();
  await late.goto(path.project());
  await expect(fields(late).password).toBeVisible();
  const other = await context.newPage();
  await signIn(other, "vera", path.project());
  await enter(late, account("vera"));
  // the form of a sign-in that another tab has finished may have to be sent once more
  if (away.test(late.url())) {
    await expect(late.getByText(/open for too long|Try again/).or(fields(late).password).first()).toBeVisible();
    await enter(late, account("vera"));
  }
  await expect(late).not.toHaveURL(away);
  expect(new URL(late.url()).pathname).toBe(`/projects/${projectId("acme")}`);
  await other.reload();
  await expect(other).not.toHaveURL(away);
  await context.close();
});

test("a tab left open when another signs out shows it and leads back", async ({ browser }) => {
  const context = await newContext(browser);
  const left = await context.newPage();
  await signIn(left, "vera", path.list("core/v1/pods", "namespace=shop"));
  await expect(left.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
  const other = await context.newPage();
  await signOut(other);
  await expect(left.getByText(/session has ended|signed out/i).first()).toBeVisible({ timeout: 5_000 });
  await left.reload();
  await expect(left).toHaveURL(/\/oauth2\/sign_in/);
  await enter(left, account("vera"));
  await expect(left).toHaveURL(/pods/);
  await context.close();
});

test("finding_s12 a tab beyond the session's limit shows it, and is live when there is room", async ({ page, context }) => {
  await signIn(page, "vera", path.project());
  const streams = `${path.project()}/stream`;
  await page.evaluate(async (address) => {
    const sockets = Array.from({ length: 16 }, () => new WebSocket(`${location.origin.replace(/^http/, "ws")}${address}`));
    await Promise.all(sockets.map((socket) => new Promise((opened, failed) => ((socket.onopen = opened), (socket.onerror = failed)))));
    Object.assign(window, { sockets });
  }, streams);
  const list = await context.newPage();
  await list.goto(path.list("core/v1/pods", "namespace=shop"));
  await expect(list.getByText(/16 live tabs open, which is the limit/)).toBeVisible();
  await expect(list.getByRole("row").nth(1)).toBeVisible();
  await page.close();
  await expect(list.getByText("Live", { exact: true })).toBeVisible({ timeout: 40_000 });
});
