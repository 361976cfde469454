// Pages whose scripts are late.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { userId } from "../support/env";
import { interactive } from "../support/interactive";
import * as path from "../support/paths";
import { section } from "../support/sections";
import { signIn } from "../support/sign-in";

/** Holds back the code of pages until the returned function is called. */
async function holdCode(page: Page) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/pkg\/.*\.wasm$/, async (route) => {
    await released;
    await route.continue();
  });
  return () => release();
}

test("what is entered before scripts start is kept and sent", async ({ page }) => {
  // of a session of its own: a form shows what the session tested last
  await signIn(page, "ada", path.authenticationPage());
  const release = await holdCode(page);
  await page.goto(path.authenticationPage(), { waitUntil: "domcontentloaded" });
  const card = section(page, "Test a user");
  await card.getByLabel("Keystone user ID").fill(userId("vera"));
  await card.getByLabel("k8s_viewer").check();
  await card.getByLabel("Namespace").selectOption("shop");
  release();
  await interactive(page);
  await expect(card.getByLabel("Keystone user ID")).toHaveValue(userId("vera"));
  await expect(card.getByLabel("k8s_viewer")).toBeChecked();
  await expect(card.getByLabel("Namespace")).toHaveValue("shop");
  await card.getByRole("button", { name: "Test this user" }).click();
  const answers = card.getByRole("region", { name: "What this user may do" }).getByRole("row");
  await expect(answers.filter({ hasText: "List pods" })).toContainText("list pods in shop");
});

test("a filter that is typed before scripts start applies", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  const release = await holdCode(page);
  await page.goto(`${path.clusterPage()}/kinds`, { waitUntil: "domcontentloaded" });
  await page.getByLabel("Kind or group").fill("configmap");
  release();
  await expect(page).toHaveURL(/[?&]q=configmap/);
  await expect(page.getByLabel("Kind or group")).toHaveValue("configmap");
});
