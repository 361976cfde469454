// The activity of a tab: what was done in it, with outcome, link and command, across pages and a reload.
import type { Page } from "@playwright/test";
import { expect, takeComplaints, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import { ofTheBrowser } from "../support/page-check";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("activity");
});
test.afterAll(() => remove(namespace));

async function deployed(): Promise<string> {
  const name = unique("web");
  await admin("acme-prod").apply(deploymentManifest(namespace, name, 0));
  return name;
}

const main = (page: Page) => page.getByRole("main");
const activity = (page: Page) => page.getByRole("dialog", { name: "Activity of this tab" });

async function openActivity(page: Page) {
  const palette = page.getByRole("dialog", { name: "Search" });
  const field = palette.getByRole("combobox");
  await expect(async () => {
    if (!(await palette.isVisible())) await page.keyboard.press("Control+k");
    await expect(field).toBeFocused({ timeout: 500 });
  }).toPass();
  await field.fill("activity of this tab");
  await expect(palette.getByRole("option", { selected: true })).toContainText("Activity of this tab");
  await page.keyboard.press("Enter");
  await expect(activity(page)).toBeVisible();
}

test("need_29 a change is listed with its outcome, link and command, across pages and a reload", async ({ page }) => {
  const name = await deployed();
  await signIn(page, "devi", path.deployment(namespace, name));
  await openActivity(page);
  await expect(activity(page)).toContainText("Nothing yet");
  await activity(page).getByRole("button", { name: "Close" }).click();
  await main(page).getByRole("button", { name: "Pause rollout" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause rollout" }).click();
  await expect(main(page).getByRole("button", { name: "Resume rollout" })).toBeVisible();

  await page.goto(path.list("core/v1/pods", `namespace=${namespace}`));
  await page.reload();
  await openActivity(page);
  const entry = activity(page).getByRole("listitem").filter({ hasText: name });
  await expect(entry).toHaveAttribute("data-outcome", "done");
  await entry.getByText("Command line").click();
  await expect(entry.getByRole("region", { name: "Equivalent command" })).toContainText(`kubectl rollout pause deployment/${name} -n ${namespace}`);
  await entry.getByRole("link", { name }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(activity(page)).toBeHidden();
});

test("need_29 a change that failed is listed with the reason", async ({ page }) => {
  const name = await deployed();
  await signIn(page, "devi", path.deployment(namespace, name));
  await interactive(page);
  await main(page).getByRole("button", { name: "Scale" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Replicas").fill("0");
  await admin("acme-prod").delete("deployments", name, { namespace });
  await dialog.getByRole("button", { name: /^Scale/ }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).or(dialog.getByRole("link", { name: "Cancel" })).click();
  await openActivity(page);
  const entry = activity(page).getByRole("listitem").filter({ hasText: name });
  await expect(entry).toHaveAttribute("data-outcome", "failed");
  await expect(entry).toContainText("no longer has it");
  // what Chromium says about the statuses of answers
  expect(takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text))).toEqual([]);
});

test("need_29 a change of many is listed once, with its commands", async ({ page }) => {
  const [one, two] = [await deployed(), await deployed()];
  await signIn(page, "devi", path.list("apps/v1/deployments", `namespace=${namespace}`));
  await interactive(page);
  for (const name of [one, two]) await main(page).getByRole("row").filter({ hasText: name }).getByRole("checkbox").click();
  await main(page).locator(".bulk-bar").getByRole("button", { name: "Restart" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
  await expect(main(page).getByText("2 Deployments restarted")).toBeVisible({ timeout: 20_000 });
  await openActivity(page);
  const entry = activity(page).getByRole("listitem").filter({ hasText: "Restart 2 Deployments" });
  await expect(entry).toContainText("2 of 2 restarted.");
  await entry.getByText("Command line").click();
  await expect(entry.getByRole("region", { name: "Equivalent command" })).toContainText("kubectl rollout restart deployment");
});
