// Every page of the program, in each of its states, in light and dark, narrow and wide.
import { mkdirSync } from "node:fs";
import nodePath from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "@playwright/test";
import { expect, newContext, takeComplaints, test } from "../support/browser";
import { projectRoot } from "../support/env";
import { createUser, deleteUser } from "../support/keystone";
import { admin } from "../support/kubectl";
import { casesOf, gatewayPages, type Case, type State, type Viewer } from "../support/page-states";
import { project as projectPath } from "../support/paths";
import { routes } from "../support/routes";
import { signIn } from "../support/sign-in";
import { frozen } from "../support/stack";
import { unique } from "../support/workloads";

const pictures = nodePath.join(projectRoot, "end2end/screenshots");
mkdirSync(pictures, { recursive: true });

const people = new Map<Viewer, BrowserContext>();

/** A user whom Keystone knows, and who has no role anywhere. */
const nobody = { name: unique("nobody"), password: `pass-${unique("word")}` };
let nobodyId: string;
// every page is photographed in each state anyway, and a trace of it all would take twice as long
test.use({ trace: "off" });

test.beforeAll(async () => {
  nobodyId = await createUser(nobody.name, nobody.password);
});
test.afterAll(() => deleteUser(nobodyId));

async function contextOf(browser: Browser, user: Viewer): Promise<BrowserContext> {
  const known = people.get(user);
  if (known) return known;
  const context = await newContext(browser);
  const page = await context.newPage();
  await (user === "nobody" ? signIn(page, nobody, "/") : signIn(page, user));
  await page.close();
  people.set(user, context);
  return context;
}

async function podThatRuns(): Promise<string> {
  return admin("acme-prod", "get", "pods", "-n", "shop", "-l", "app=checkout", "-o", "jsonpath={.items[0].metadata.name}");
}

const signs: Record<State, string> = {
  full: "[data-state=error], [data-state=not-found]",
  empty: "[data-state=empty], [data-state=no-match]",
  error: "[data-state=error], [data-state=not-found]",
  "not-permitted": "[data-state=not-permitted], [data-state=no-rights]",
  loading: "[data-state=loading]",
};

/** The page shows its state: content, or the words that stand in its place. */
async function settled(page: Page, state: State) {
  const main = page.getByRole("main");
  await expect(main).toBeVisible();
  if (state === "loading") {
    await expect(main.locator(signs.loading).first()).toBeVisible();
    return;
  }
  await expect(page.locator(signs.loading)).toHaveCount(0, { timeout: 20_000 });
  const said = main.locator(signs[state]).first();
  await (state === "full" ? expect(said).toHaveCount(0) : expect(said).toBeVisible());
}

async function examine(page: Page, name: string) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const what = `${name} ${colorScheme} ${width}`;
      await page.screenshot({ path: nodePath.join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true, animations: "disabled" });
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect.soft(sideways, `${what}: pixels of sideways scroll`).toBe(0);
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect.soft(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`), `${what}: axe`).toEqual([]);
    }
  }
}

/** Opens a page that scripts have taken over, and goes on from it by a link, without loading another document. */
async function follow(page: Page, path: string) {
  await page.goto(`${projectPath()}/apps/registry`);
  const help = page.getByRole("dialog");
  await expect(async () => {
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await expect(help).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
  await page.evaluate((href) => {
    const link = document.createElement("a");
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}

/** Chromium reports the page's own status as an error of the console; that is not one of ours. */
const ofTheBrowser = /Failed to load resource: the server responded with a status of (4\d\d|503)/;

async function open(page: Page, name: string, { state, path }: Case) {
  takeComplaints(page.context());
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await (state === "loading" ? follow(page, path) : page.goto(path));
  await settled(page, state);
  await examine(page, name);
  const complaints = takeComplaints(page.context()).filter((text) => state === "full" || !ofTheBrowser.test(text));
  expect.soft(complaints, `${name}: console`).toEqual([]);
}

test("every page of the route table has its states here", async () => {
  const table = await routes();
  expect(table.map(({ name }) => name).sort()).toEqual(Object.keys(casesOf("pod")).sort());
});

for (const [route, cases] of Object.entries(casesOf("POD"))) {
  test(`page ${route}`, async ({ browser }) => {
    test.setTimeout(30_000 + cases.length * 30_000);
    const pod = await podThatRuns();
    for (const [index, wanted] of cases.entries()) {
      const name = `${route}-${index + 1}-${wanted.state}`;
      await test.step(`${name} for ${wanted.user}`, async () => {
        const context = await contextOf(browser, wanted.user);
        const page = await context.newPage();
        const work = () => open(page, name, { ...wanted, path: wanted.path.replace("POD", pod) });
        await (wanted.frozen ? frozen(wanted.frozen, work) : work());
        await page.close();
      });
    }
  });
}

for (const { name, path, user } of gatewayPages) {
  test(`page of the gateway: ${name}`, async ({ browser, page: anonymous }) => {
    const page = user ? await (await contextOf(browser, user)).newPage() : anonymous;
    takeComplaints(page.context());
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await examine(page, `gateway-${name}`);
    const complaints = takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text));
    expect.soft(complaints).toEqual([]);
  });
}

test("answers carry the headers that keep pages safe", async ({ browser }) => {
  const page = await (await contextOf(browser, "vera")).newPage();
  const answer = await page.goto("/");
  const headers = answer?.headers() ?? {};
  expect(headers["content-security-policy"]).toMatch(/script-src [^;]*'nonce-/);
  expect(headers["content-security-policy"]).not.toMatch(/'unsafe-(inline|eval)'|\*/);
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["cache-control"]).toContain("no-store");
});

test("the browser speaks HTTP/2", async ({ browser }) => {
  const page = await (await contextOf(browser, "vera")).newPage();
  await page.goto("/");
  const protocol = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    return entry?.nextHopProtocol;
  });
  expect(protocol).toBe("h2");
});
