// What pages show while they wait for a cluster: its API server takes calls and does not answer.
import type { Page } from "@playwright/test";
import { test } from "../support/browser";
import { interactive } from "../support/interactive";
import { check, podThatRuns, Viewers } from "../support/page-check";
import { loadingCases } from "../support/page-states";
import * as address from "../support/paths";
import { frozen } from "../support/stack";

const viewers = new Viewers();
// as in pages.spec.ts
test.use({ trace: "off" });

/** Opens a page that scripts have taken over, and follows a link on it, without loading another document. */
async function follow(page: Page, path: string) {
  await page.goto(`${address.project()}/apps/registry`);
  await interactive(page);
  await page.evaluate((href) => {
    const link = document.createElement("a");
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
}

for (const [route, wanted] of Object.entries(loadingCases("POD"))) {
  test(`page ${route} while it loads`, async ({ browser }) => {
    test.setTimeout(60_000);
    const path = wanted.path.replace("POD", await podThatRuns());
    const page = await (await viewers.contextOf(browser, wanted.user)).newPage();
    await frozen("acme-prod/kube-apiserver", () => check(page, `${route}-loading`, { ...wanted, path }, (to) => follow(page, to)));
    await page.close();
  });
}
