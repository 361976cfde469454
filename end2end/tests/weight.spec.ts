// What a page costs a browser that has nothing in its cache, and how its parts are loaded.
import type { Browser, BrowserContext, Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { podThatRuns } from "../support/page-check";
import { casesOf } from "../support/page-states";
import * as path from "../support/paths";
import { routes } from "../support/routes";
import { signIn } from "../support/shared-sign-in";

interface Gate {
  /** All bytes as transferred, headers included. */
  kilobytes: number;
  requests: number;
}

/**
 * A page must not become heavier. The overview of a cluster is the first page that most users see; it may never cost more
 * than 350 kB. The requests of the other pages are mostly small files of code that several lazy parts share; all of them are
 * requested at once.
 */
const gates: Record<string, Gate> = {
  start: { kilobytes: 348, requests: 8 },
  launchpad: { kilobytes: 348, requests: 8 },
  cluster: { kilobytes: 350, requests: 8 },
  namespaces: { kilobytes: 704, requests: 38 },
  kinds: { kilobytes: 704, requests: 38 },
  create: { kilobytes: 693, requests: 41 },
  list: { kilobytes: 708, requests: 40 },
  object: { kilobytes: 567, requests: 40 },
  cluster_object: { kilobytes: 567, requests: 40 },
  access: { kilobytes: 578, requests: 40 },
  authentication: { kilobytes: 575, requests: 40 },
  app: { kilobytes: 699, requests: 38 },
  // with the code of the pages of administration, not with that of a cluster's pages
  managed_clusters: { kilobytes: 640, requests: 40 },
  managed_cluster: { kilobytes: 796, requests: 40 },
};

async function signedIn(browser: Browser, user: "ada" | "devi" | "vera"): Promise<Page> {
  const page = await (await newContext(browser)).newPage();
  await signIn(page, user);
  return page;
}

/** Signed-in browsers, in which pages are weighed one after the other. */
const browsers = new Map<string, BrowserContext>();

async function pageOf(browser: Browser, user: "ada" | "devi" | "vera"): Promise<Page> {
  const known = browsers.get(user);
  if (known) return known.newPage();
  const page = await signedIn(browser, user);
  browsers.set(user, page.context());
  return page;
}

/** Opens a page without a cache; returns what was transferred until it was interactive. */
async function weigh(page: Page, address: string) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const requests = new Map<string, { path: string; sent: number; bytes: number }>();
  session.on("Network.requestWillBeSent", ({ requestId, request, wallTime }) =>
    requests.set(requestId, { path: new URL(request.url).pathname, sent: wallTime * 1000, bytes: 0 }),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const request = requests.get(requestId);
    // otherwise a file of the page before
    if (request) request.bytes = encodedDataLength;
  });
  await page.goto(address, { waitUntil: "networkidle" });
  const end = await interactive(page);
  await session.detach();
  // data that scripts read once they have started arrives before the click or after it, by chance
  const before = [...requests.values()].filter(({ path, sent, bytes }) => sent < end && bytes > 0 && !path.startsWith("/api/"));
  const bytes = before.reduce((sum, request) => sum + request.bytes, 0);
  return { kilobytes: bytes / 1000, files: before.map((request) => `${request.path} ${request.bytes}`) };
}

test("every page of the route table has its gate", async () => {
  const table = await routes();
  expect(table.map(({ name }) => name).sort()).toEqual(Object.keys(gates).sort());
});

for (const [name, gate] of Object.entries(gates)) {
  test(`page ${name} costs at most ${gate.kilobytes} kB in ${gate.requests} requests`, async ({ browser }) => {
    const [wanted] = casesOf(await podThatRuns())[name] ?? [];
    if (!wanted || wanted.user === "without-role") throw new Error(`no case of ${name}`);
    const page = await pageOf(browser, wanted.user as "ada");
    const { kilobytes, files } = await weigh(page, wanted.path);
    test.info().annotations.push({ type: "weight", description: `${kilobytes.toFixed(1)} kB, ${files.length} requests` });
    expect.soft(kilobytes, files.join("\n")).toBeLessThanOrEqual(gate.kilobytes);
    expect.soft(files.length, files.join("\n")).toBeLessThanOrEqual(gate.requests);
    await page.close();
  });
}

test("a second visit transfers no script, module or style again", async ({ browser }) => {
  const page = await signedIn(browser, "vera");
  await page.goto(path.clusterPage(), { waitUntil: "networkidle" });
  const caching: (string | undefined)[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/pkg/")) caching.push(response.headers()["cache-control"]);
  });
  await page.goto(path.clusterPage(), { waitUntil: "networkidle" });
  const transferred = await page.evaluate(() =>
    performance.getEntriesByType("resource")
      .filter((entry): entry is PerformanceResourceTiming => entry.name.includes("/pkg/"))
      .map(({ name, transferSize }) => `${name} ${transferSize}`),
  );
  expect(caching.length).toBeGreaterThan(2);
  expect(new Set(caching)).toEqual(new Set(["public, max-age=31536000, immutable"]));
  expect(transferred.filter((line) => !line.endsWith(" 0"))).toEqual([]);
  await page.context().close();
});

test("a page whose files are gone after an upgrade is loaded anew", async ({ browser }) => {
  const page = await signedIn(browser, "vera");
  await page.goto(path.clusterPage(), { waitUntil: "networkidle" });
  await interactive(page);
  // the server has the files of the new version only: those of a document that is loaded from now on
  let missing = 0;
  let isOld = true;
  page.on("request", (request) => {
    if (request.isNavigationRequest()) isOld = false;
  });
  await page.route(/\/pkg\/(?!app\.|__wasm_split).*\.wasm$/, async (route) => {
    if (isOld) missing += 1;
    await (isOld ? route.fulfill({ status: 404, body: "" }) : route.continue());
  });
  await page.getByRole("link", { name: "Access", exact: true }).first().click();
  await expect(page.getByRole("heading", { level: 1, name: "Access" })).toBeVisible();
  expect(missing).toBeGreaterThan(0);
  await interactive(page);
  await page.context().close();
});
