// "Your sessions", and the pages that say why something about signing in went wrong.
import type { Browser, Page } from "@playwright/test";
import { axe, setColorScheme } from "../support/accessibility";
import { expect, newContext, test } from "../support/browser";
import { send } from "../support/http";
import { createUser, deleteUser, giveRole } from "../support/keystone";
import * as path from "../support/paths";
import { porticoUrl } from "../support/env";
import { record } from "../support/secrets";
import { account, enter, signedIn, type Account } from "../support/sign-in";
import { signOut } from "../support/sign-out";
import { podOf, unique } from "../support/workloads";

const list = "/oauth2/sessions";

interface TemporaryUser extends Account {
  id: string;
}

/** Runs `work` with a new user, whose sessions no other test ends, and deletes the user. */
async function withUser(work: (who: TemporaryUser) => Promise<void>) {
  const who = { name: unique("session"), password: `${unique("pass")}-${Math.random().toString(36).slice(2)}` };
  record("password", who.password);
  const id = await createUser(who.name, who.password);
  try {
    await giveRole(id, "acme", "k8s_developer");
    await work({ ...who, id });
  } finally {
    await deleteUser(id);
  }
}

/** What the page says about what has just been done; it may say more. */
function notice(page: Page, text: string) {
  return page.getByRole("status").filter({ hasText: text });
}

/** Signed in, and at the list. */
async function atList(browser: Browser, who: Parameters<typeof signedIn>[1], options?: Parameters<typeof signedIn>[3]) {
  const page = await signedIn(browser, who, path.project(), options);
  await page.goto(list);
  return page;
}

const entries = (page: Page) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { level: 2 }) });

test("the user menu leads to the list, which marks this session and ends another", async ({ browser }) => {
  await withUser(async (who) => {
    const lost = await signedIn(browser, who, path.project());
    const page = await signedIn(browser, who, path.project());
    await page.getByRole("button", { name: who.name }).click();
    await page.getByRole("link", { name: "Your sessions" }).click();
    await expect(page.getByRole("heading", { name: "Your sessions" })).toBeVisible();
    await expect(entries(page)).toHaveCount(2);
    await expect(entries(page).filter({ hasText: "This session" })).toHaveCount(1);
    await expect(entries(page).first()).toContainText(/Chrom(e|ium) on Linux/);

    // a session that ends before its socket is open has none that could be closed
    const socket = lost.waitForEvent("websocket");
    const answered = socket.then((opened) => opened.waitForEvent("framereceived"));
    await lost.goto(path.list("core/v1/pods", "namespace=shop"));
    await answered;
    const closed = (await socket).waitForEvent("close", { timeout: 10_000 });
    await page.getByRole("button", { name: /^End session: / }).click();
    await expect(notice(page, "The session has ended")).toBeVisible();
    await expect(entries(page)).toHaveCount(1);
    await closed;
    await lost.goto(path.project());
    await expect(lost.getByText("Your session was ended from another browser or device")).toBeVisible();
    await page.goto(path.project());
    await expect(page).not.toHaveURL(/\/oauth2\//);
    await lost.context().close();
    await page.context().close();
  });
});

test("a terminal closes within a second when its session is ended in another browser, with the reason", async ({ browser }) => {
  await withUser(async (who) => {
    const pod = await podOf("checkout");
    const lost = await signedIn(browser, who, path.pod("shop", pod, "terminal"));
    await expect(lost.locator("portico-terminal")).toContainText("$", { timeout: 15_000 });
    const page = await atList(browser, who);
    const end = page.getByRole("button", { name: /^End session: / });
    await Promise.all([
      expect(lost.locator("#terminal-status")).toContainText("ended from another browser or device", { timeout: 1_500 }),
      end.click(),
    ]);
    const dialog = lost.getByRole("dialog");
    await expect(dialog).toContainText("Your session has ended");
    await expect(dialog.getByRole("link", { name: "Sign in again" })).toBeVisible();
    await lost.context().close();
    await page.context().close();
  });
});

test("all others end after a question, without scripts too", async ({ browser }) => {
  await withUser(async (who) => {
    const others = [await signedIn(browser, who, path.project()), await signedIn(browser, who, path.project())];
    const page = await signedIn(browser, who, path.project(), { javaScriptEnabled: false });
    await page.goto(list);
    await expect(page.locator("time").first()).toContainText("UTC");
    await page.getByRole("link", { name: "End all other sessions" }).click();
    await expect(page.getByText("2 other sessions")).toBeVisible();
    await page.getByRole("button", { name: "End 2 sessions" }).click();
    await expect(notice(page, "2 sessions have ended")).toBeVisible();
    for (const other of others) {
      await other.goto(path.project());
      await expect(other).toHaveURL(/reason=revoked/);
      await other.context().close();
    }
    await page.context().close();
  });
});

test("times are shown in the viewer's zone", async ({ browser }) => {
  const page = await atList(browser, "vera", { timezoneId: "Asia/Kolkata", locale: "en-GB" });
  const time = page.locator("time").first();
  await expect(time).toHaveAttribute("title", /UTC$/);
  await expect(time).not.toContainText("UTC");
  await page.context().close();
});

test("the list reads well at any width, light and dark", async ({ browser }) => {
  await withUser(async (who) => {
    const other = await signedIn(browser, who, path.project());
    const page = await atList(browser, who);
    await expect(entries(page)).toHaveCount(2);
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(sideways, `${width} px`).toBeLessThanOrEqual(0);
      for (const colorScheme of ["light", "dark"] as const) {
        await setColorScheme(page, colorScheme);
        const { violations } = await axe(page).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
        expect(found, `${width} px, ${colorScheme}`).toEqual([]);
      }
    }
    await other.context().close();
    await page.context().close();
  });
});

test("the list works with the keyboard alone", async ({ browser }) => {
  await withUser(async (who) => {
    const other = await signedIn(browser, who, path.project());
    const page = await atList(browser, who);
    const end = page.getByRole("button", { name: /^End session: / });
    for (let press = 0; press < 20 && !(await end.evaluate((button) => button === document.activeElement)); press += 1) {
      await page.keyboard.press("Tab");
    }
    await expect(end).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(notice(page, "The session has ended")).toBeVisible();
    await other.context().close();
    await page.context().close();
  });
});

test("another user's sessions are not shown to every user", async ({ browser }) => {
  const page = await signedIn(browser, "vera", path.project());
  const answer = await page.goto(`${list}?user=ada`);
  expect(answer?.status()).toBe(403);
  await expect(page.getByRole("heading", { name: "Not permitted" })).toBeVisible();
  await page.context().close();
});

test("the back button shows nothing of before after sign-out", async ({ browser }) => {
  const page = await signedIn(browser, "vera", path.list("core/v1/pods", "namespace=shop"));
  await expect(page.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
  await signOut(page);
  for (let step = 0; step < 3; step += 1) {
    await page.goBack();
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(0);
  }
  await page.context().close();
});

test("a browser that drops the session's cookie gets an error page", async ({ browser }) => {
  // what the test fetches itself is not the browser's, which trusts our authority
  const context = await newContext(browser, { ignoreHTTPSErrors: true });
  const page = await context.newPage();
  // Chromium keeps every cookie that it is sent: in place of a browser that does not, the real answer without it
  await page.route("**/oauth2/sign_in", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const response = await route.fetch({ maxRedirects: 0 });
    await context.clearCookies({ name: /^(__Host-)?portico$/ });
    const headers = response.headers();
    delete headers["set-cookie"];
    await route.fulfill({ status: response.status(), headers, body: "" });
  });
  await page.goto("/oauth2/sign_in");
  await enter(page, account("vera"));
  await expect(page.getByRole("heading", { name: "Your browser did not keep the cookie" })).toBeVisible();
  await expect(page.getByText("private windows")).toBeVisible();
  await expect(page.getByText(/^Request /)).toBeVisible();
  await page.unroute("**/oauth2/sign_in");
  await page.getByRole("link", { name: "Sign in again" }).click();
  await enter(page, account("vera"));
  await expect(page).not.toHaveURL(/\/oauth2\/|portico_signed_in/);
  await context.close();
});

test("a wrong host name gets a page, and no names of ours", async () => {
  const answer = await send(`${porticoUrl}/`, { headers: { host: "other.example", accept: "text/html" }, servername: "localhost" });
  expect(answer.status).toBe(421);
  expect(answer.body).toContain("Unknown host name");
  expect(answer.body).not.toContain(new URL(porticoUrl).host);
});
