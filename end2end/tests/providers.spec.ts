// Signing in with the stack's two OpenID Providers, and what ends there and here.
import type { Browser, Page } from "@playwright/test";
import { axe } from "../support/accessibility";
import { expect, newContext, test } from "../support/browser";
import { setting } from "../support/env";
import { record } from "../support/secrets";
import { account, enter } from "../support/sign-in";

type Provider = "Corp" | "Partner";

const issuer = (provider: Provider) => setting(`OIDC_${provider.toUpperCase()}_ISSUER`);

async function enterAtProvider(page: Page, user: string) {
  record("password", `${user}-pw`);
  await page.getByLabel("Name").fill(user);
  await page.getByLabel("Password").fill(`${user}-pw`);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function signInWith(page: Page, provider: Provider, user: string, path = "/") {
  await page.goto(path);
  await page.getByRole("link", { name: `Sign in with ${provider}` }).click();
  await enterAtProvider(page, user);
  await expect(page).not.toHaveURL(/\/oauth2\/(sign_in|callback)/);
}

async function signedInWith(browser: Browser, provider: Provider, user: string, path?: string) {
  const page = await (await newContext(browser)).newPage();
  await signInWith(page, provider, user, path);
  return page;
}

test("both providers and the cloud are on one page, and each signs in", async ({ browser }) => {
  const page = await (await newContext(browser)).newPage();
  await page.goto("/");
  await expect(page.getByRole("link", { name: /^Sign in with / })).toHaveCount(2);
  await expect(page.getByLabel("User name")).toBeVisible();
  expect((await axe(page).analyze()).violations).toEqual([]);
  await signInWith(page, "Corp", "alice");
  await expect(page.getByText("You are signed in as alice by Corp.")).toBeVisible();
  const partner = await signedInWith(browser, "Partner", "bob");
  await expect(partner.getByText("You are signed in as bob by Partner.")).toBeVisible();
  await page.context().close();
  await partner.context().close();
});

test("a user without an account in the cloud gets apps by group and sees why there are no clusters", async ({ browser }) => {
  // carol is in no group, and the cloud does not know her
  const page = await signedInWith(browser, "Partner", "carol");
  await expect(page.getByText("You see no clusters here")).toBeVisible();
  expect((await axe(page).analyze()).violations).toEqual([]);
  await page.context().close();
  // alice is in the group ops of Corp, which opens Prometheus
  const alice = await signedInWith(browser, "Corp", "alice", setting("PROMETHEUS_URL"));
  await expect(alice).toHaveURL(/prometheus\./);
  await expect(alice).toHaveTitle(/Prometheus/);
  await alice.context().close();
});

test("several tabs sign in with a provider at once, and all arrive", async ({ browser }) => {
  const context = await newContext(browser);
  const tabs = await Promise.all([1, 2, 3].map(() => context.newPage()));
  for (const [n, tab] of tabs.entries()) {
    await tab.goto(`/oauth2/sign_in?rd=${encodeURIComponent(`/oauth2/sessions?tab=${n}`)}`);
    await tab.getByRole("link", { name: "Sign in with Corp" }).click();
    await expect(tab.getByRole("heading", { name: "Corp" })).toBeVisible();
  }
  for (const [n, tab] of tabs.entries()) {
    await enterAtProvider(tab, "bob");
    await expect(tab).toHaveURL(new RegExp(`/oauth2/sessions\\?tab=${n}`));
  }
  await context.close();
});

test("a sign-in that a user cancels at the provider shows it and can be repeated", async ({ browser }) => {
  const page = await (await newContext(browser)).newPage();
  await page.goto("/");
  await page.getByRole("link", { name: "Sign in with Corp" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page).toHaveURL(/\/oauth2\//);
  await expect(page.locator("b", { hasText: "the user" })).toHaveCount(0);
  await page.goto("/");
  await enter(page, account("vera"));
  await expect(page).not.toHaveURL(/\/oauth2\/sign_in/);
  await page.context().close();
});

test("sign-out here leads to the provider's own sign-out, and back", async ({ browser }) => {
  const page = await signedInWith(browser, "Corp", "bob");
  await page.goto("/oauth2/sign_out");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign out of Corp?" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/oauth2\/signed_out/);
  await expect(page.getByRole("heading", { name: "You are signed out" })).toBeVisible();
  // the provider asks for the password again
  await page.goto("/");
  await page.getByRole("link", { name: "Sign in with Corp" }).click();
  await expect(page.getByLabel("Password")).toBeVisible();
  await page.context().close();
});

test("sign-out at the provider ends the session here within seconds, with the reason", async ({ browser }) => {
  const page = await signedInWith(browser, "Corp", "bob", "/oauth2/sessions");
  await expect(page.getByRole("heading", { name: "Your sessions" })).toBeVisible();
  const there = await page.context().newPage();
  await there.goto(`${issuer("Corp")}/session/end`);
  await there.getByRole("button", { name: "Sign out" }).click();
  await expect
    .poll(
      async () => {
        await page.goto("/oauth2/sessions");
        return page.url();
      },
      { timeout: 10_000 },
    )
    .toMatch(/\/oauth2\/sign_in\?.*reason=/);
  await expect(page.getByText(/signed out|ended/i).first()).toBeVisible();
  await page.context().close();
});
