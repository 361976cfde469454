// Pages whose scripts do not start.
import { expect, test } from "../support/browser";
import { interactive } from "../support/interactive";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";

const modules = /\/pkg\/.*\.wasm$/;

test("a page whose scripts fail shows a notice with a link that loads it again", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  await page.route(modules, (route) => route.abort());
  await page.goto(path.clusterPage(), { waitUntil: "domcontentloaded" });
  const notice = page.getByRole("alert").filter({ hasText: "The scripts of this page could not start." });
  await expect(notice).toBeVisible();
  await page.unroute(modules);
  await notice.getByRole("link", { name: "Reload the page" }).click();
  await interactive(page);
  await expect(notice).toHaveCount(0);
});
