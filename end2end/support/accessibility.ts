// axe-core, for its violations only: what passed is not looked at, and to describe it takes longer than most of the rules.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

export const axe = (page: Page) => new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
