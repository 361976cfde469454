import { expect, test } from "../support/browser";
import * as path from "../support/paths";
import { section } from "../support/sections";
import { signIn } from "../support/shared-sign-in";

test("what needs attention is first, each with its reason", async ({ page }) => {
  await signIn(page, "devi", path.project());
  const attention = section(page, "Needs attention");
  await expect(attention).toBeVisible();
  await expect(attention.getByRole("listitem").filter({ hasText: "recommender" })).toContainText(/CrashLoopBackOff|exit code 1/);
  await expect(attention.getByRole("listitem").filter({ hasText: "video-encoder" })).toContainText(/too little free CPU/);
  await expect(attention.getByRole("listitem").filter({ hasText: "thumbnailer" })).toContainText(/image/);
  const first = await attention.boundingBox();
  const clusters = await section(page, "Clusters").boundingBox();
  expect(first?.y).toBeLessThan(clusters?.y ?? 0);
});

test("an entry leads to the object that it is about", async ({ page }) => {
  await signIn(page, "devi", path.project());
  await page.getByRole("link", { name: /recommender/ }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("recommender");
});

for (const [user, words] of [
  ["ada", /everything/i],
  ["devi", /read and change/i],
  ["vera", /\bread\b(?! and change)/i],
] as const) {
  test(`${user} reads what they may in the cluster, and how it is`, async ({ page }) => {
    await signIn(page, user, path.project());
    const card = section(page, "Clusters");
    await expect(card).toContainText("acme-prod");
    await expect(card).toContainText("v1.20");
    await expect(card).toContainText(words);
    await expect(card).not.toContainText("globex-dev");
  });
}

test("nora, who has nothing, learns what to ask for and of whom", async ({ page }) => {
  await signIn(page, "nora", path.project());
  const main = page.getByRole("main");
  await expect(main).toContainText(/k8s_viewer|k8s_developer/);
  await expect(main).toContainText("your cloud's administrators");
});

test("apps show whether they answer, and refused ones which role opens them", async ({ page }) => {
  await signIn(page, "vera", path.project());
  const apps = section(page, "Apps");
  await expect(apps.getByRole("listitem").filter({ hasText: "Registry" })).toBeVisible();
  const shut = apps.getByRole("listitem").filter({ hasText: "Prometheus" });
  await expect(shut).toContainText("k8s_developer");
});

test("devi goes from one project to the other and back", async ({ page }) => {
  await signIn(page, "devi", path.project("acme"));
  await page.getByRole("button", { name: /Project/ }).click();
  await page.getByRole("link", { name: /globex/ }).click();
  await expect(page).toHaveURL(new RegExp(path.project("globex")));
  await expect(page.getByRole("main").getByText("globex-dev").first()).toBeVisible();
  await expect(page.getByText("acme-prod")).toHaveCount(0);
  await page.goBack();
  await expect(page.getByRole("main").getByText("acme-prod").first()).toBeVisible();
});

test("the page reads without scripts", async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "devi", path.project());
  await expect(page.getByRole("main").getByText("acme-prod").first()).toBeVisible();
  await expect(page.getByRole("link", { name: /recommender/ }).first()).toBeVisible();
  await context.close();
});

test("finding_p10 alerts of other projects and those that ask for nothing are not there, and each row leads somewhere", async ({ page }) => {
  // the control case: Alertmanager has them
  await signIn(page, "devi", `${path.project()}/apps/alertmanager`);
  await expect(page.getByRole("row").filter({ hasText: "Watchdog" })).toBeVisible();
  await page.goto(path.project());
  const attention = section(page, "Needs attention");
  await expect(attention.getByRole("listitem").first()).toBeVisible();
  for (const fold of await attention.locator("details").all()) await fold.evaluate((details: HTMLDetailsElement) => (details.open = true));
  await expect(attention).not.toContainText("Watchdog");
  await expect(attention).not.toContainText("globex-dev");
  const items = attention.locator("li:has(.attention)");
  const subjects: string[] = [];
  for (const item of await items.all()) {
    const link = item.locator("a[data-row]");
    await expect(link).toHaveCount(1);
    const href = (await link.getAttribute("href")) ?? "";
    if (!href.includes("/apps/")) subjects.push(href);
  }
  expect(new Set(subjects).size, "one row for each object").toBe(subjects.length);
});
