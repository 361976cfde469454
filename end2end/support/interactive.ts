import { expect, type Page } from "@playwright/test";
import { takeComplaints } from "./browser";

/**
 * Waits until scripts have taken the page over: a dialog that only they can open has opened, and is closed again. Returns the
 * time of the click that opened it, in Unix milliseconds: what is requested later belongs to the dialog.
 */
export async function interactive(page: Page): Promise<number> {
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  let clicked = 0;
  await expect(async () => {
    // a click that has opened it late is not followed by one on the page below it, which the dialog blocks
    if (!(await help.isVisible())) {
      clicked = Date.now();
      await page.getByRole("button", { name: "Keyboard shortcuts" }).click({ timeout: 2_000 });
    }
    await expect(help).toBeVisible({ timeout: 500 });
  })
    .toPass({ timeout: 60_000 })
    .catch((error: unknown) => {
      // a page that is never taken over has failed before; its console has the reason
      throw new Error([String(error), "Console:", ...takeComplaints(page.context())].join("\n"));
    });
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
  return clicked;
}
