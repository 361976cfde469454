// axe-core, for its violations only: what passed is not looked at, and to describe it takes longer than most of the rules.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

// axe-core is a dependency of the builder's
const builder = createRequire(import.meta.url).resolve("@axe-core/playwright");
const source = readFileSync(createRequire(builder).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Sends the source to a document once. The builder sends 1.3 MB of it twice for each analysis, or thrice, and then opens a further
 * tab; with the legacy mode it runs in the page, whose frames it would leave out: no page has any.
 */
class AxeOfPage extends AxeBuilder {
  readonly #tab: Page;

  constructor(page: Page) {
    // evaluated in place of the source
    super({ page, axeSource: "undefined" });
    this.#tab = page;
    this.setLegacyMode().options({ resultTypes: ["violations"] });
  }

  override async analyze() {
    await settleColors(this.#tab);
    if (await this.#tab.evaluate(() => !("axe" in window))) await this.#tab.evaluate(source);
    return super.analyze();
  }
}

export const axe = (page: Page): AxeBuilder => new AxeOfPage(page);

/** Waits until no colour is on its way to another: rules of contrast would measure what is between. */
async function settleColors(page: Page) {
  await page.evaluate(async () => {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.all(transitions.map(({ finished }) => finished.catch(() => undefined)));
  });
}

/** Changes the colour scheme, and waits until its colours are shown. */
export async function setColorScheme(page: Page, colorScheme: "light" | "dark") {
  await page.emulateMedia({ colorScheme });
  await settleColors(page);
}
