import type { Locator, Page } from "@playwright/test";

/** The part of a page below a heading. */
export const section = (page: Page, heading: string | RegExp): Locator =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: heading }) });
