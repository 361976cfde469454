// How things end: each test has an account of its own, so that no other user's rights move.
import { readFileSync } from "node:fs";
import type { Browser } from "@playwright/test";
import { expect, test } from "../support/browser";
import { person } from "../support/cli";
import { cluster, optionalSetting, type ClusterName } from "../support/env";
import { send } from "../support/http";
import { createUser, deleteUser, giveRole, recordedTokens, takeRole, tokenOwner, tokenStatus } from "../support/keystone";
import * as path from "../support/paths";
import { record } from "../support/secrets";
import { signedIn, type Account } from "../support/sign-in";
import { signOut } from "../support/sign-out";
import { unique } from "../support/workloads";

/** The bound that Portico states: kube-auth's cache, the API server's with our flag, and slack. */
const bound = 50_000;

interface Temporary extends Account {
  id: string;
}

async function developer(): Promise<Temporary> {
  const who = { name: unique("ending"), password: `${unique("pass")}-${Math.random().toString(36).slice(2)}` };
  record("password", who.password);
  const id = await createUser(who.name, who.password);
  await giveRole(id, "acme", "k8s_developer");
  return { ...who, id };
}

async function apiStatus(token: string, name: ClusterName = "acme-prod"): Promise<number> {
  const { apiUrl, authority } = cluster(name);
  const answer = await send(`${apiUrl}/api/v1/namespaces/shop/pods?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    authority: readFileSync(authority),
  });
  return answer.status;
}

/** The Keystone tokens of a user's session, as the recorder saw them; the unscoped one and the project's at least. */
async function ownTokens(who: Temporary, earlier: Set<string>): Promise<string[]> {
  if (!optionalSetting("KEYSTONE_RECORDING")) return [];
  const own: string[] = [];
  for (const token of recordedTokens()) {
    if (!earlier.has(token) && (await tokenOwner(token)) === who.id) own.push(token);
  }
  expect(own.length, "the recorder saw this session's tokens").toBeGreaterThan(1);
  return own;
}

async function during(browser: Browser, work: (who: Temporary) => Promise<void>) {
  const who = await developer();
  const others = new Set(browser.contexts());
  try {
    await work(who);
  } finally {
    await deleteUser(who.id);
    for (const context of browser.contexts()) if (!others.has(context)) await context.close();
  }
}

test("sign-out ends cluster tokens within the bound, and every Keystone token at once", async ({ browser }) => {
  test.setTimeout(120_000);
  await during(browser, async (who) => {
    const earlier = new Set(recordedTokens());
    const { page, terminal } = await person(browser, who, "acme-prod");
    await page.goto(path.clusterPage());
    const token = await terminal.clusterToken("acme-prod");
    expect(await apiStatus(token)).toBe(200);
    expect(await apiStatus(token, "globex-dev")).toBe(401);

    const tokens = await ownTokens(who, earlier);
    await signOut(page);
    const left = Date.now();
    for (const keystoneToken of tokens) {
      record("keystone token", keystoneToken);
      await expect.poll(() => tokenStatus(keystoneToken), { timeout: 5_000 }).toBe(404);
    }
    await expect.poll(() => apiStatus(token), { timeout: bound, intervals: [1_000] }).toBe(401);
    expect(Date.now() - left).toBeLessThan(bound);
    expect((await terminal.kubectl("acme-prod", ["get", "pods", "-n", "shop"])).code).not.toBe(0);
  });
});

test("a role taken away ends rights within the bound; given back, they return", async ({ browser }) => {
  test.setTimeout(240_000);
  await during(browser, async (who) => {
    const { page, terminal } = await person(browser, who, "acme-prod");
    const pods = async () => (await terminal.kubectl("acme-prod", ["get", "pods", "-n", "shop"])).code;
    expect(await pods()).toBe(0);
    await giveRole(who.id, "acme", "member");
    await takeRole(who.id, "acme", "k8s_developer");
    await expect.poll(pods, { timeout: bound, intervals: [1_000] }).not.toBe(0);
    await giveRole(who.id, "acme", "k8s_developer");
    await expect.poll(pods, { timeout: bound, intervals: [1_000] }).toBe(0);
    await page.goto(path.list("core/v1/pods", "namespace=shop"));
    await expect(page.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
  });
});

test("sign-out closes open streams and terminals within two seconds", async ({ browser }) => {
  await during(browser, async (who) => {
    const page = await signedIn(browser, who, path.list("core/v1/pods", "namespace=shop"));
    await expect(page.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
    const second = await page.context().newPage();
    const [socket] = await Promise.all([
      second.waitForEvent("websocket"),
      second.goto(path.list("apps/v1/deployments", "namespace=shop")),
    ]);
    const closed = socket.waitForEvent("close").then(() => Date.now());
    await signOut(page);
    const left = Date.now();
    expect((await closed) - left).toBeLessThan(2_000);
    await expect(second.getByText(/session has ended|signed out/i).first()).toBeVisible();
  });
});

test("deleting a user in Keystone ends their session", async ({ browser }) => {
  test.setTimeout(150_000);
  await during(browser, async (who) => {
    const page = await signedIn(browser, who, path.project());
    await deleteUser(who.id);
    await expect
      .poll(
        async () => {
          await page.goto(path.project());
          return page.url();
        },
        { timeout: 120_000, intervals: [2_000] },
      )
      .toContain("/oauth2/sign_in");
  });
});

test("nothing of a session survives its end", async ({ browser }) => {
  await during(browser, async (who) => {
    const page = await signedIn(browser, who, path.project());
    const cookies = await page.context().cookies();
    await signOut(page);
    // a client that kept a copy of the cookie
    await page.context().addCookies(cookies);
    await page.goto(path.project());
    await expect(page).toHaveURL(/\/oauth2\/sign_in/);
  });
});

