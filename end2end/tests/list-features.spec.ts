// What a list can do beside showing rows: windows, filters, facets, selection, changes of many objects, columns.
import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, podManifest, remove } from "../support/workloads";

const main = (page: Page) => page.getByRole("main");
const rows = (page: Page) => main(page).locator("tbody tr[data-uid]");
const row = (page: Page, name: string) => rows(page).filter({ has: page.getByRole("link", { name, exact: true }) });
const count = (page: Page) => main(page).locator("[data-count]");
const live = (page: Page) => expect(main(page).getByText("Live", { exact: true })).toBeVisible();

const numbered = (at: number) => `entry-${String(at).padStart(4, "0")}`;

/** ConfigMaps cost a cluster least. */
async function createMany(namespace: string, size: number, labels: (at: number) => Record<string, string> = () => ({})) {
  const items = Array.from({ length: size }, (_, at) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: numbered(at), namespace, labels: labels(at) },
  }));
  await admin("acme-prod").apply({ apiVersion: "v1", kind: "List", items });
}

test.describe("a long list", () => {
  let namespace: string;
  const size = 700;

  test.beforeAll(async () => {
    namespace = await createNamespace("long");
    await createMany(namespace, size, (at) => ({ group: at % 2 ? "odd" : "even" }));
  });
  test.afterAll(() => remove(namespace));

  const open = async (page: Page, query = "") => {
    await signIn(page, "devi", path.list("core/v1/configmaps", `namespace=${namespace}&q=entry${query}`));
    await live(page);
  };

  test("scrolls through all rows with few of them in the page", async ({ page }) => {
    await open(page);
    const table = main(page).getByRole("table");
    await expect(table).toHaveAttribute("aria-rowcount", String(size + 1));
    await expect(row(page, numbered(0))).toBeVisible();
    const region = main(page).locator(".list-region");
    const nodes = () => main(page).evaluate((part) => part.querySelectorAll("*").length);
    for (const share of [0.25, 0.5, 0.75, 1]) {
      await region.evaluate((part, share) => (part.scrollTop = part.scrollHeight * share), share);
      await expect(row(page, numbered(Math.min(size * share + 2, size - 1)))).toBeInViewport();
      expect(await nodes(), "elements of the page").toBeLessThan(1_500);
    }
    await expect(row(page, numbered(size - 1))).toHaveAttribute("aria-rowindex", String(size + 1));
    await region.evaluate((part) => (part.scrollTop = 0));
    await expect(row(page, numbered(0))).toBeInViewport();
  });

  test("continues by keyboard beyond what was loaded", async ({ page }) => {
    await open(page);
    await row(page, numbered(0)).getByRole("link").focus();
    for (let at = 0; at < 90; at++) await page.keyboard.press("j");
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? "");
    expect(Number.parseInt(focused.replace("entry-", ""), 10)).toBeGreaterThan(60);
  });

  test("is found at the same place after going back", async ({ page }) => {
    await open(page);
    const region = main(page).locator(".list-region");
    await region.evaluate((part) => (part.scrollTop = part.scrollHeight / 2));
    await expect(page).toHaveURL(/offset=3\d\d/);
    const link = rows(page).locator("visible=true").nth(12).getByRole("link");
    const name = await link.innerText();
    expect(name).toMatch(/^entry-03\d\d$/);
    await link.click();
    await expect(page).toHaveURL(new RegExp(`configmaps/${name}$`));
    await page.goBack();
    await expect(row(page, name)).toBeInViewport();
  });

  test("has pages without scripts", async ({ browser }) => {
    const context = await newContext(browser, { javaScriptEnabled: false });
    const page = await context.newPage();
    await signIn(page, "devi", path.list("core/v1/configmaps", `namespace=${namespace}&q=entry`));
    const pages = main(page).getByRole("navigation", { name: "Pages of the list" });
    await expect(pages).toContainText(`1–50 of ${size}`);
    await expect(pages.getByRole("link", { name: "Previous" })).toHaveCount(0);
    await pages.getByRole("link", { name: "Next" }).click();
    await expect(page).toHaveURL(/offset=50/);
    await expect(row(page, numbered(50))).toBeVisible();
    await expect(row(page, numbered(49))).toHaveCount(0);
    await pages.getByRole("link", { name: "Previous" }).click();
    await expect(row(page, numbered(0))).toBeVisible();
    await context.close();
  });

  test("finding_p22 is requested once by a navigation, and filters go over the stream", async ({ page }) => {
    await signIn(page, "devi", path.list("core/v1/services", `namespace=${namespace}`));
    await expect(main(page).getByRole("heading", { level: 1, name: "Services" })).toBeVisible();
    await live(page);
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/resources/list")) calls.push(request.url());
    });
    await page.getByRole("link", { name: "ConfigMaps", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "ConfigMaps" })).toBeVisible();
    await live(page);
    expect(calls).toHaveLength(1);
    await page.getByRole("searchbox", { name: "Search" }).fill(`entry-0123 ${namespace}`);
    await expect(rows(page)).toHaveCount(1);
    await expect(page).toHaveURL(/q=entry-0123/);
    await page.getByRole("columnheader", { name: "Age" }).getByRole("link").click();
    await expect(page).toHaveURL(/sort=age/);
    expect(calls).toHaveLength(1);
  });

  test("suggests labels with their numbers", async ({ page }) => {
    await open(page);
    const field = page.getByRole("combobox", { name: "Labels" });
    await field.click();
    await field.pressSequentially("gro");
    const options = page.getByRole("listbox", { name: "Labels of this list" }).getByRole("option");
    await expect(options.filter({ hasText: "group" })).toContainText(String(size));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect(field).toHaveValue("group=");
    await options.filter({ hasText: "group=odd" }).click();
    await expect(field).toHaveValue("group=odd");
    await expect(count(page)).toContainText(String(size / 2));
    await expect(page).toHaveURL(/labels=group%3Dodd/);
    await page.getByRole("link", { name: "Remove the filter labels group=odd" }).click();
    await expect(field).toHaveValue("");
    await expect(count(page)).toContainText(String(size));
  });

  test("keeps its selection while it scrolls and filters", async ({ page }) => {
    await open(page);
    const selected = main(page).locator("[data-selected]");
    await row(page, numbered(1)).getByRole("checkbox").click();
    await row(page, numbered(4)).getByRole("checkbox").click({ modifiers: ["Shift"] });
    await expect(selected).toHaveText("4 selected");
    await main(page).locator(".list-region").evaluate((part) => (part.scrollTop = part.scrollHeight));
    await expect(row(page, numbered(size - 1))).toBeVisible();
    await row(page, numbered(size - 1)).getByRole("checkbox").click();
    await expect(selected).toHaveText("5 selected");
    await page.getByRole("searchbox", { name: "Search" }).fill("entry-0002");
    await expect(rows(page)).toHaveCount(1);
    await expect(row(page, numbered(2)).getByRole("checkbox")).toBeChecked();
    await expect(selected).toHaveText("5 selected");
    await page.getByRole("searchbox", { name: "Search" }).fill("entry");
    await page.getByRole("button", { name: `Select all ${size} that match` }).click();
    await expect(selected).toHaveText(`${size} selected`);
    await page.getByRole("button", { name: "Clear selection" }).click();
    await expect(selected).toHaveCount(0);
  });

  test("can be shown with other columns and lower rows, and remembers both", async ({ page }) => {
    await open(page);
    const heads = main(page).getByRole("columnheader");
    await page.getByRole("button", { name: "Columns and density" }).click();
    await page.getByRole("checkbox", { name: "Data" }).uncheck();
    await page.getByRole("textbox", { name: "Label as a column" }).fill("group");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expect(heads.filter({ hasText: "group" })).toBeVisible();
    await expect(heads.filter({ hasText: "Data" })).toHaveCount(0);
    await expect(page).toHaveURL(/columns=[^&]*label:group/);
    const height = async () => (await row(page, numbered(0)).boundingBox())?.height ?? 0;
    const comfortable = await height();
    await page.getByRole("checkbox", { name: "Compact rows" }).check();
    await expect.poll(height).toBeLessThan(comfortable);
    await expect(page).toHaveURL(/density=compact/);
    await page.goto(path.list("core/v1/configmaps", `namespace=${namespace}`));
    await expect(heads.filter({ hasText: "group" })).toBeVisible();
    await expect(page).toHaveURL(/columns=/);
    await page.getByRole("button", { name: "Columns and density" }).click();
    await page.getByRole("button", { name: "Reset" }).click();
    await expect(heads.filter({ hasText: "group" })).toHaveCount(0);
    await expect(page).not.toHaveURL(/columns=|density=/);
    await page.goto(path.list("core/v1/configmaps", `namespace=${namespace}&density=compact`));
    await expect.poll(height).toBeLessThan(comfortable);
  });

  test("can be paused, and shows how much has changed", async ({ page }) => {
    await open(page);
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(main(page).getByText("Paused", { exact: true })).toBeVisible();
    await admin("acme-prod").create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "entry-0000-new", namespace } });
    await expect(page.getByRole("button", { name: "Resume · 1 change" })).toBeVisible();
    await expect(row(page, "entry-0000-new")).toHaveCount(0);
    await page.getByRole("button", { name: /^Resume/ }).click();
    await expect(row(page, "entry-0000-new")).toBeVisible();
    await admin("acme-prod").delete("configmaps", "entry-0000-new", { namespace });
    await expect(row(page, "entry-0000-new")).toHaveCount(0);
  });

  test("deletes many after their number was typed, and can take it back", async ({ page }) => {
    const doomed = Array.from({ length: 8 }, (_, at) => `doomed-${at}`);
    const items = doomed.map((name) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } }));
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "List", items });
    await signIn(page, "ada", path.list("core/v1/configmaps", `namespace=${namespace}&q=doomed`));
    await live(page);
    await page.getByRole("checkbox", { name: "Select the loaded rows" }).click();
    const ask = async () => {
      await main(page).locator(".bulk-bar").getByRole("button", { name: "Delete" }).click();
      const dialog = page.getByRole("dialog", { name: "Delete 8 ConfigMaps" });
      await expect(dialog).toContainText(`${namespace}/doomed-0`);
      const confirm = dialog.getByRole("button", { name: "Delete 8 ConfigMaps" });
      await confirm.click();
      await expect(dialog.getByRole("alert")).toBeVisible();
      await dialog.getByLabel("Type 8 to confirm").fill("8");
      await confirm.click();
    };
    await ask();
    await page.getByRole("button", { name: "Undo" }).click();
    // longer than the five seconds in which it could be undone: nothing was sent
    await page.waitForTimeout(6_000);
    await expect(rows(page)).toHaveCount(8);
    await ask();
    await expect(main(page).getByText("Deleting 8 ConfigMaps")).toBeVisible();
    await expect(main(page).getByText("8 ConfigMaps deleted")).toBeVisible();
    await expect(main(page).locator("[data-state=no-match]")).toBeVisible();
  });

  test("deletes namespaces only after their number was typed", async ({ page }) => {
    const doomed = [`${namespace}-doomed-a`, `${namespace}-doomed-b`];
    const items = doomed.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "List", items });
    await signIn(page, "ada", path.list("core/v1/namespaces", `q=${namespace}-doomed`));
    await live(page);
    await page.getByRole("checkbox", { name: "Select the loaded rows" }).click();
    await main(page).locator(".bulk-bar").getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 2 Namespaces" });
    await expect(dialog).toContainText("Everything in a namespace is deleted with it.");
    await dialog.getByLabel("Type 2 to confirm").fill("2");
    await dialog.getByRole("button", { name: "Delete 2 Namespaces" }).click();
    await expect(main(page).getByText("2 Namespaces deleted")).toBeVisible();
    await expect(main(page).locator("[data-state=no-match]")).toBeVisible();
  });
});

test("need_26 statuses have their numbers, and filter", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await live(page);
  await page.getByRole("button", { name: /^Status: / }).click();
  const pending = page.locator("label.option").filter({ hasText: "Pending" });
  const number = await pending.locator(".option-count").innerText();
  await pending.getByRole("checkbox").check();
  await expect(page).toHaveURL(/status=Pending/);
  await expect(rows(page)).toHaveCount(Number(number));
  for (const text of await rows(page).allInnerTexts()) expect(text).toContain("Pending");
  await expect(count(page)).toContainText(" of ");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Clear all" }).click();
  await expect(page).not.toHaveURL(/status=/);
});

test("need_25 a view is saved under a name, opened from it and deleted", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await live(page);
  await page.getByRole("searchbox", { name: "Search by name, namespace or column" }).fill("checkout");
  await expect(page).toHaveURL(/q=checkout/);
  const button = page.getByRole("button", { name: /^Saved views/ });
  await button.click();
  await page.getByLabel("Name of the view").fill("Checkout");
  await page.getByLabel("Name of the view").press("Enter");
  const view = page.getByRole("list", { name: "Saved views" }).getByRole("link", { name: "Checkout" });
  await expect(view).toHaveAttribute("aria-current", "true");

  // it is there after a reload, on the list without filters, and for this kind only
  await page.goto(path.list("core/v1/pods"));
  await live(page);
  await button.click();
  await view.click();
  await expect(page).toHaveURL(/namespace=shop&q=checkout$/);
  await expect(rows(page).first()).toContainText("checkout");
  await page.goto(path.list("apps/v1/deployments"));
  await live(page);
  await button.click();
  await expect(page.getByText("No saved views yet.")).toBeVisible();
  await page.goto(path.list("core/v1/pods"));
  await live(page);
  await button.click();
  await page.getByRole("button", { name: "Delete the view Checkout" }).click();
  await expect(page.getByText("No saved views yet.")).toBeVisible();
});

test("a field selector is marked while it is wrong, and the list stays", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await live(page);
  const before = await count(page).innerText();
  const field = page.getByRole("searchbox", { name: "Fields" });
  await field.fill("unicorns=1");
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(/There is no column.*Example: status=Running/);
  await expect(count(page)).toHaveText(before);
  await field.fill("name=storefront*");
  await expect(field).not.toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(0);
});

test("need_08 several namespaces can be chosen by keyboard", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods"));
  await live(page);
  const button = page.getByRole("button", { name: /^Namespace: / });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("sho");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await expect(page).toHaveURL(/namespace=shop/);
  await page.getByRole("searchbox", { name: "Find a namespace" }).fill("data");
  await page.getByRole("checkbox", { name: "data", exact: true }).check();
  await expect(page).toHaveURL(/namespace=data%2Cshop/);
  await expect(button).toHaveAccessibleName(/2 namespaces/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("searchbox", { name: "Find a namespace" })).toBeHidden();
});

test("need_10 three workloads are restarted at once, and one by its menu", async ({ page }) => {
  test.setTimeout(180_000);
  // its name answers no search of another test: "restart" is a command of the palette
  const namespace = await createNamespace("three");
  const names = ["alpha", "beta", "gamma"];
  for (const name of names) await admin("acme-prod").apply(deploymentManifest(namespace, name));
  await signIn(page, "devi", path.list("apps/v1/deployments", `namespace=${namespace}`));
  await live(page);
  for (const name of names) await row(page, name).getByRole("checkbox").click();
  await main(page).locator(".bulk-bar").getByRole("button", { name: "Restart" }).click();
  await page.getByRole("dialog", { name: "Restart 3 Deployments" }).getByRole("button", { name: "Restart" }).click();
  await expect(main(page).getByText("3 Deployments restarted")).toBeVisible();
  const deployments = await admin("acme-prod").list("deployments", { namespace });
  expect(deployments.filter(({ spec }) => spec.template.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"])).toHaveLength(3);
  await page.getByRole("button", { name: `Actions for alpha in ${namespace}` }).click();
  await page.getByRole("menuitem", { name: "Scale" }).click();
  await page.getByRole("dialog", { name: "Scale alpha" }).getByLabel("Replicas").fill("0");
  await page.getByRole("dialog").getByRole("button", { name: "Scale" }).click();
  await expect(main(page).getByText("1 Deployment scaled")).toBeVisible();
  expect((await admin("acme-prod").get("deployments", "alpha", namespace)).spec.replicas).toBe(0);
  await remove(namespace);
});

test("a change that is refused names the reason for each object", async ({ page }) => {
  const namespace = await createNamespace("refused");
  await admin("acme-prod").apply(podManifest(namespace, "kept"));
  await signIn(page, "vera", path.list("core/v1/pods", `namespace=${namespace}`));
  await live(page);
  await row(page, "kept").getByRole("checkbox").click();
  await expect(main(page).locator(".bulk-bar").getByRole("button", { name: "Delete" })).toHaveAttribute("aria-disabled", "true");
  await page.getByRole("button", { name: `Actions for kept in ${namespace}` }).click();
  await expect(page.getByRole("menuitem", { name: /^Delete/ })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByRole("menuitem", { name: "Logs" })).toHaveAttribute("href", /\/pods\/kept\/logs$/);
  await remove(namespace);
});

test("finding_p24 on a narrow screen a row is a card with the status beside the name", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await live(page);
  const first = rows(page).first();
  const name = await first.getByRole("link").boundingBox();
  const status = await first.locator(".status").first().boundingBox();
  if (!name || !status) throw new Error("no row");
  expect(Math.abs(name.y + name.height / 2 - status.y - status.height / 2)).toBeLessThan(12);
  expect(status.x + status.width).toBeLessThanOrEqual(390);
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth), String(width)).toBeLessThanOrEqual(width);
  }
});
