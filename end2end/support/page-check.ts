// What is asked of a page in any of its states: it settles, fits, is accessible, and its console says nothing.
import type { Browser, BrowserContext, Page } from "@playwright/test";
import { axe } from "./accessibility";
import { expect, newContext, takeComplaints } from "./browser";
import type { Case, State, Viewer } from "./page-states";
import { screenshot, takesScreenshots } from "./screenshots";
import { signIn, type Account } from "./sign-in";
import { podOf } from "./workloads";

/** Signed-in browsers, one for each viewer. */
export class Viewers {
  readonly #contexts = new Map<Viewer, BrowserContext>();

  /** `withoutRole` is the account for the viewer `without-role`, which has no role in any project. */
  constructor(private readonly withoutRole?: Account) {}

  async contextOf(browser: Browser, viewer: Viewer): Promise<BrowserContext> {
    const known = this.#contexts.get(viewer);
    if (known) return known;
    const context = await newContext(browser);
    const page = await context.newPage();
    if (viewer !== "without-role") await signIn(page, viewer);
    else if (this.withoutRole) await signIn(page, this.withoutRole, "/");
    else throw new Error("there is no account without a role here");
    await page.close();
    this.#contexts.set(viewer, context);
    return context;
  }
}

export const podThatRuns = () => podOf("checkout");

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
  const indicator = main.locator(signs[state]).first();
  await (state === "full" ? expect(indicator).toHaveCount(0) : expect(indicator).toBeVisible());
}

/**
 * Each scheme has the same colours at any width, and each width the same sizes in any scheme: two are analyzed, the others are only
 * photographed. Each change of the width lays the page out again, so that the order matters.
 */
const appearances = [
  { colorScheme: "light", width: 1440, isAnalyzed: false },
  { colorScheme: "dark", width: 1440, isAnalyzed: true },
  { colorScheme: "dark", width: 390, isAnalyzed: false },
  { colorScheme: "light", width: 390, isAnalyzed: true },
] as const;

export async function examine(page: Page, name: string) {
  for (const { colorScheme, width, isAnalyzed } of appearances) {
    if (!isAnalyzed && !takesScreenshots) continue;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const what = `${name} ${colorScheme} ${width}`;
    await screenshot(page, `${name}-${colorScheme}-${width}`, { fullPage: true });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect.soft(sideways, `${what}: pixels of sideways scroll`).toBe(0);
    if (!isAnalyzed) continue;
    const { violations } = await axe(page).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect.soft(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`), `${what}: axe`).toEqual([]);
  }
}

/** Chromium reports the page's own status as an error of the console; that is not one of ours. */
export const ofTheBrowser = /Failed to load resource: the server responded with a status of (4\d\d|503)/;

/** Reaches a page by `go` (by its address when nothing else is asked for) and checks it. */
export async function check(page: Page, name: string, { state, path }: Case, go = (to: string): Promise<unknown> => page.goto(to)) {
  takeComplaints(page.context());
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await go(path);
  await settled(page, state);
  await examine(page, name);
  const complaints = takeComplaints(page.context()).filter((text) => state === "full" || !ofTheBrowser.test(text));
  expect.soft(complaints, `${name}: console`).toEqual([]);
}
