import { expect, type Page } from "@playwright/test";

/** Signs out on the page that asks for it, whatever page is open. */
export async function signOut(page: Page) {
  await page.goto("/oauth2/sign_out");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "You are signed out" })).toBeVisible();
}
