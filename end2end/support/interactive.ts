import { expect, type Page } from "@playwright/test";

/** Waits until scripts have taken the page over: a dialog that only they can open has opened, and is closed again. */
export async function interactive(page: Page) {
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(async () => {
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await expect(help).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
}
