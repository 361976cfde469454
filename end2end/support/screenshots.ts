// Pictures of pages, for people to look at. No test compares them.
import nodePath from "node:path";
import type { Page } from "@playwright/test";
import { projectRoot } from "./env";

const directory = nodePath.join(projectRoot, "end2end/screenshots");

/** PORTICO_SCREENSHOTS=0 takes no pictures, which saves time. */
export const takesScreenshots = process.env.PORTICO_SCREENSHOTS !== "0";

/** Writes `end2end/screenshots/NAME.png`. */
export async function screenshot(page: Page, name: string, options: { fullPage?: boolean } = {}) {
  if (!takesScreenshots) return;
  await page.screenshot({ path: nodePath.join(directory, `${name}.png`), animations: "disabled", ...options });
}
