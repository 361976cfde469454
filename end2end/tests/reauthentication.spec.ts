// The password is asked for again before a session ends. Only the browser's clock is moved; the session is a real one.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { content, documents, paste, reviewChanges, textOf } from "../support/editor";
import { password } from "../support/env";
import { admin } from "../support/kubernetes-api";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
import { createNamespace, remove, unique } from "../support/workloads";

async function session(page: Page): Promise<{ now: number; session_expires_at: number }> {
  const api = await PanelApi.of(page, "acme");
  const answer = await api.postForm("/api/session/get", {});
  expect(answer.status, answer.body).toBe(200);
  return JSON.parse(answer.body);
}

/** The page as it is `seconds` before the session ends. */
async function shortlyBefore(page: Page, seconds: number) {
  await page.clock.install();
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await expect(page.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
  await page.evaluate(() => Object.assign(window, { marker: "still here" }));
  return moveClock(page, seconds);
}

/** Moves the browser's clock to `seconds` before the session ends. */
async function moveClock(page: Page, seconds: number) {
  const before = await session(page);
  await page.clock.fastForward((before.session_expires_at - before.now - seconds) * 1_000);
  return before;
}

const dialog = (page: Page) => page.getByRole("dialog");
const marker = (page: Page) => page.evaluate(() => (window as unknown as { marker?: string }).marker);

test("some minutes before the end the password is asked for, and the page stays", async ({ page }) => {
  const before = await shortlyBefore(page, 300);
  await expect(dialog(page)).toContainText("Stay signed in");

  await dialog(page).getByLabel("Password").fill("not the password");
  await dialog(page).getByRole("button", { name: "Stay signed in" }).click();
  await expect(dialog(page).getByRole("alert")).toContainText("not right");

  await dialog(page).getByLabel("Password").fill(password());
  await dialog(page).getByRole("button", { name: "Stay signed in" }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect((await session(page)).session_expires_at).toBeGreaterThan(before.session_expires_at);
  expect(await marker(page)).toBe("still here");
  await expect(page.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
});

test("postponed, it returns when two minutes are left", async ({ page }) => {
  await shortlyBefore(page, 300);
  await dialog(page).getByRole("button", { name: "Later" }).click();
  await expect(dialog(page)).toHaveCount(0);
  await page.clock.fastForward(200 * 1_000);
  await expect(dialog(page)).toContainText("Stay signed in");
});

test("at the end the page shows it and leads back to itself", async ({ page }) => {
  await shortlyBefore(page, -1);
  await expect(dialog(page)).toContainText("Your session has ended");
  await expect(dialog(page).getByRole("link", { name: "Sign in again" })).toHaveAttribute("href", /rd=.*pods/);
});

test("need_02 the text of the editor stays while the session is continued, and is applied afterwards", async ({ page }) => {
  const namespace = await createNamespace("continued");
  try {
    const name = unique("continued");
    const text = documents({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { key: "value" } });
    await page.clock.install();
    await signIn(page, "devi", path.createPage(`namespace=${namespace}`));
    await expect(content(page)).toBeVisible();
    await paste(page, text);
    const before = await moveClock(page, 300);
    await expect(dialog(page)).toContainText("Stay signed in");
    await dialog(page).getByLabel("Password").fill(password());
    await dialog(page).getByRole("button", { name: "Stay signed in" }).click();
    await expect(dialog(page)).toHaveCount(0);
    expect((await session(page)).session_expires_at).toBeGreaterThan(before.session_expires_at);
    expect(await textOf(page)).toBe(text);
    await reviewChanges(page);
    await page.getByRole("button", { name: "Apply 1 object" }).click();
    await expect(page.locator("[data-part=outcome]").getByRole("heading", { name: "1 created" })).toBeVisible();
    expect((await admin("acme-prod").get("configmaps", name, namespace)).data.key).toBe("value");
  } finally {
    await remove(namespace);
  }
});
