// What goes along from page to page, the choice of a cluster, the command palette and the announcement of pages.
import type { Page } from "@playwright/test";
import { axe, setColorScheme } from "../support/accessibility";
import { expect, test } from "../support/browser";
import { cluster, projectId } from "../support/env";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, createPod, remove, unique } from "../support/workloads";

const main = (page: Page) => page.getByRole("main");
const menu = (page: Page) => page.getByRole("navigation", { name: "Cluster" });
const palette = (page: Page) => page.getByRole("dialog", { name: "Search" });
const field = (page: Page) => palette(page).getByRole("combobox");
const active = (page: Page) => palette(page).getByRole("option", { selected: true });

/** Opens the palette by its key, once scripts have taken the page over. */
async function openPalette(page: Page) {
  await expect(async () => {
    if (!(await palette(page).isVisible())) await page.keyboard.press("Control+k");
    await expect(field(page)).toBeFocused({ timeout: 500 });
  }).toPass();
}

/** Holds back the code of the pages, without which hydration waits, until the returned function is called. */
async function holdCode(page: Page) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/pkg\/(?!app\.)[^/]*\.wasm$/, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** A list whose rows are there. */
async function rows(page: Page) {
  await expect(main(page).locator("[data-row]").first()).toBeVisible();
}

test.describe("finding_p25 the chosen namespace", () => {
  test("finding_p25 goes along through menu, breadcrumb, keys and palette", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    await rows(page);
    await menu(page).getByRole("link", { name: "Deployments", exact: true }).click();
    await expect(page).toHaveURL(/\/deployments\?namespace=shop$/);
    // a kind without namespaces has none, and takes none away; nor does a page that is not a list
    await menu(page).getByRole("link", { name: "Nodes", exact: true }).click();
    await expect(page).toHaveURL(/\/nodes$/);
    await menu(page).getByRole("link", { name: "Overview", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("acme-prod");
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await expect(page).toHaveURL(/\/pods\?namespace=shop$/);
    await openPalette(page);
    await field(page).fill("cm");
    await expect(active(page)).toContainText("ConfigMaps");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/configmaps\?namespace=shop$/);
    // all namespaces are a choice too
    await page.goto(path.list("core/v1/services"));
    await rows(page);
    await menu(page).getByRole("link", { name: "Pods", exact: true }).click();
    await expect(page).toHaveURL(/\/pods$/);
  });

  test("finding_p25 is in the links of a page without scripts", async ({ browser }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    await expect(menu(page).getByRole("link", { name: "Services", exact: true })).toHaveAttribute("href", /\/services\?namespace=shop$/);
    await context.close();
  });

  test("finding_p25 is chosen in the palette by its name", async ({ page }) => {
    await signIn(page, "vera", path.list("apps/v1/deployments", "sort=-age"));
    await rows(page);
    await openPalette(page);
    await field(page).fill("shop");
    await expect(palette(page).getByRole("group", { name: "Namespaces" }).getByRole("option").first()).toContainText("shop");
    await palette(page).getByRole("option", { name: /^shop/ }).first().click();
    await expect(page).toHaveURL(/\/deployments\?namespace=shop&sort=-age$/);
  });
});

test("finding_p25 the way back from an object leads to its list as it was left", async ({ page }) => {
  const query = "namespace=shop&q=checkout&sort=-age";
  await signIn(page, "vera", path.list("core/v1/pods", query));
  await main(page).locator("[data-row]").first().click();
  await expect(page).toHaveURL(/\/pods\/checkout-[^/]+$/);
  const back = page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Pods" });
  await expect(back).toHaveAttribute("href", path.list("core/v1/pods", query));
  await back.click();
  await expect(page).toHaveURL(path.list("core/v1/pods", query));
  // the menu's own entry of this kind keeps them as well
  await expect(menu(page).getByRole("link", { name: "Pods", exact: true })).toHaveAttribute("href", path.list("core/v1/pods", query));
});

test.describe("the choice of a cluster", () => {
  test("shows the state of the current one, and is left by Escape", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods"));
    // what is typed before scripts take the menu over finds nothing
    await interactive(page);
    const button = page.getByRole("button", { name: /^Cluster: acme-prod/ });
    await expect(button).toContainText(/Ready|Degraded/);
    await button.press("Enter");
    const search = page.getByRole("searchbox", { name: "Find a cluster" });
    await expect(search).toBeFocused();
    await expect(page.getByRole("list", { name: "Clusters" }).getByRole("link", { name: /acme-prod/ })).toContainText(/Ready|Degraded/);
    await search.fill("no such cluster");
    await expect(page.getByText("No cluster of this project has such a name.")).toBeVisible();
    // a search field is cleared first
    await page.keyboard.press("Escape");
    await expect(search).toHaveValue("");
    await page.keyboard.press("Escape");
    await expect(search).toBeHidden();
    await expect(button).toBeFocused();
  });

  test("is offered on pages without a cluster", async ({ page }) => {
    await signIn(page, "vera");
    await page.getByRole("button", { name: "Cluster: Choose a cluster" }).click();
    await page.getByRole("list", { name: "Clusters" }).getByRole("link", { name: /acme-prod/ }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("acme-prod");
  });

  test("keeps the kind of page and its filter", async ({ page }) => {
    // the stack has one cluster for each project: the session names another one, with the same right to be chosen
    await page.addInitScript((id) => {
      const { fetch } = window;
      window.fetch = async (request, init) => {
        const response = await fetch(request, init);
        if (!(request instanceof Request ? request.url : String(request)).endsWith("/api/session/get")) return response;
        const session = (await response.json()) as { clusters: { id: string; name: string }[] };
        session.clusters.push({ id, name: "other" });
        return new Response(JSON.stringify(session), response);
      };
    }, cluster("globex-dev").id);
    await signIn(page, "devi", path.project("globex"));
    await interactive(page);
    await page.getByRole("button", { name: /^Project:/ }).click();
    await page.locator(`#projects-menu a[href$="${projectId("acme")}"]`).click();
    await page.getByRole("link", { name: /acme-prod/ }).first().click();
    await menu(page).getByRole("link", { name: "Deployments", exact: true }).click();
    await rows(page);
    const other = `${path.project("acme")}/clusters/${cluster("globex-dev").id}`;
    const link = page.locator("#clusters-menu").getByRole("link", { name: "other", includeHidden: true });
    await expect(link).toHaveAttribute("href", `${other}/resources/apps/v1/deployments`);
    // an object's page leads to its list
    await main(page).locator("[data-row]").first().click();
    await expect(page).toHaveURL(/\/namespaces\/[^/]+\/apps\/v1\/deployments\//);
    await expect(link).toHaveAttribute("href", `${other}/resources/apps/v1/deployments`);
    // by the keyboard alone
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await expect(page.getByRole("searchbox", { name: "Find a cluster" })).toBeFocused();
    await page.keyboard.type("oth");
    await page.keyboard.press("ArrowDown");
    await expect(link).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`${other}/resources/apps/v1/deployments`);
  });
});

test.describe("the command palette", () => {
  test("finds kinds, pages and actions by the keyboard alone, and gives the focus back", async ({ page }) => {
    await signIn(page, "vera", path.clusterPage());
    const button = page.getByRole("button", { name: "Search…" });
    await expect(async () => {
      if (!(await palette(page).isVisible())) await button.press("Enter");
      await expect(field(page)).toBeFocused({ timeout: 500 });
    }).toPass();
    await page.keyboard.press("Escape");
    await expect(palette(page)).toBeHidden();
    await expect(button).toBeFocused();
    // a short name, and the best match is active
    await openPalette(page);
    await page.keyboard.type("sts");
    await expect(active(page)).toContainText("StatefulSets");
    await expect(field(page)).toHaveAttribute("aria-activedescendant", (await active(page).getAttribute("id")) ?? "none");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/apps\/v1\/statefulsets$/);
    await openPalette(page);
    await page.keyboard.type("authent");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/authentication$/);
    await openPalette(page);
    await page.keyboard.type("> dark");
    await expect(active(page)).toHaveText(/Appearance: dark/);
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  });

  test("takes what is typed while the rest of it is loading", async ({ page }) => {
    await signIn(page, "vera", path.clusterPage());
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("acme-prod");
    await page.waitForLoadState("networkidle");
    // a slow line: the real files, a second later
    await page.route(/\/pkg\/.*\.wasm$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await route.continue();
    });
    await openPalette(page);
    await page.keyboard.type("all kinds");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/kinds$/);
  });

  test("opens in a field too, and a new tab on request", async ({ page, context }) => {
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    await rows(page);
    await main(page).locator("[data-filter]").focus();
    await openPalette(page);
    await page.keyboard.type("deployments");
    await expect(active(page)).toContainText("Deployments");
    const [opened] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("Control+Enter")]);
    await opened.waitForURL(/\/deployments\?namespace=shop$/);
    await expect(palette(page)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(main(page).locator("[data-filter]")).toBeFocused();
  });

  test("offers the changes of an object, with the reason for one that this user may not make", async ({ page, browser }) => {
    await signIn(page, "ada", path.deployment("shop", "checkout"));
    await expect(main(page).getByRole("button", { name: "Restart" })).toBeVisible();
    await openPalette(page);
    await page.keyboard.type("restart");
    await expect(active(page)).toContainText("Restart checkout…");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog").getByRole("heading", { name: "Restart checkout?" })).toBeVisible();
    const other = await (await browser.newContext()).newPage();
    await signIn(other, "vera", path.deployment("shop", "checkout"));
    await expect(main(other).getByRole("button", { name: "Restart" })).toBeVisible();
    await openPalette(other);
    await other.keyboard.type("restart");
    await expect(active(other)).toHaveAttribute("aria-disabled", "true");
    await other.context().close();
  });

  test("works when its key is pressed while the page is still being hydrated", async ({ page }) => {
    const release = await holdCode(page);
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    const pressed = () =>
      page.evaluate(() => {
        const event = new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true });
        return !document.documentElement.dispatchEvent(event);
      });
    await expect.poll(pressed).toBe(true);
    release();
    await expect(field(page)).toBeVisible();
    await field(page).fill("shop");
    await expect(palette(page).getByRole("option").first()).toContainText("shop");
    await page.keyboard.press("Escape");
    await menu(page).getByRole("link", { name: "Deployments", exact: true }).click();
    await expect(page).toHaveURL(/\/deployments\?namespace=shop$/);
  });

  test("finds a cluster with its state, on a page without one", async ({ page }) => {
    await signIn(page, "vera");
    await openPalette(page);
    await page.keyboard.type("acme-pr");
    const found = palette(page).getByRole("group", { name: "Clusters" }).getByRole("option");
    await expect(found).toHaveCount(1);
    await expect(found).toContainText(/acme-prod\s*(Ready|Degraded)/);
    await expect(active(page)).toContainText("acme-prod");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(path.clusterPage());
  });

  test("need_09 finds an object by its name, and only those of a named kind", async ({ page }) => {
    const namespace = await createNamespace("palette");
    const name = unique("needle");
    await createPod(namespace, name);
    await admin("acme-prod").create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } });
    await signIn(page, "ada", path.clusterPage());
    await openPalette(page);
    await page.keyboard.type(name);
    const found = palette(page).getByRole("group", { name: "Objects" }).getByRole("option");
    await expect(found).toHaveCount(2);
    await field(page).fill(`pods ${name}`);
    await expect(found).toHaveCount(1);
    await expect(active(page)).toContainText(`Pods with “${name}”`);
    await page.keyboard.press("ArrowDown");
    await expect(active(page)).toContainText(namespace);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(path.pod(namespace, name));
    // it is offered again as a recent one
    await openPalette(page);
    await expect(palette(page).getByRole("group", { name: "Recent" }).getByRole("option").first()).toContainText(name);
    await remove(namespace);
  });

  test("a search that a slow cluster does not answer in time continues by itself, and can be repeated", async ({ page }) => {
    const namespace = await createNamespace("palette");
    const name = unique("late");
    await createPod(namespace, name);
    await signIn(page, "ada", path.clusterPage());
    // stand-in answers: nothing slows the stack's API server down without slowing the other tests
    let asked = 0;
    let isLate = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/api/resources/search", async (route) => {
      asked += 1;
      if (asked === 1 || isLate) {
        await route.fulfill({ json: { hits: [], total: 0, failures: [], late: ["Pods", "Jobs"] } });
      } else {
        await released;
        await route.fallback();
      }
    });
    await openPalette(page);
    // as a whole: the late answer is not for the first letters of a slow typist
    await field(page).fill(name);
    const status = palette(page).getByRole("status");
    await expect(status).toContainText("Still searching Pods, Jobs…");
    release();
    await expect(palette(page).getByRole("option").filter({ hasText: name })).toBeVisible();
    await expect(status).not.toContainText("Still searching");

    isLate = true;
    await field(page).fill(`${name} pod`);
    await expect(status).toContainText("Not read in time: Pods, Jobs.");
    isLate = false;
    await palette(page).getByRole("button", { name: "Search again" }).click();
    await expect(palette(page).getByRole("option").filter({ hasText: name })).toBeVisible();
    await remove(namespace);
  });

  for (const width of [1440, 390, 320]) {
    test(`is accessible and fits at ${width} px, light and dark`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 });
      await signIn(page, "vera", path.list("core/v1/pods"));
      const sideways = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      for (const name of [/^Project:/, /^Cluster: acme-prod/, "Search…"]) {
        await expect(page.getByRole("banner").getByRole("button", { name })).toBeInViewport({ ratio: 1 });
      }
      expect(await sideways()).toBe(0);
      await openPalette(page);
      await page.keyboard.type("po");
      await expect(active(page)).toContainText("Pods");
      for (const colorScheme of ["light", "dark"] as const) {
        await setColorScheme(page, colorScheme);
        expect(await sideways()).toBe(0);
        await expect(palette(page)).toBeInViewport({ ratio: 1 });
        const { violations } = await axe(page).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`), colorScheme).toEqual([]);
      }
    });
  }
});

test("finding_p24 a change of the page is announced, and its heading has the focus", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await rows(page);
  const heading = page.getByRole("heading", { level: 1 });
  const announced = page.locator("#page-announcement");
  // not when the page is loaded, nor when only its query changes
  await expect(main(page).getByText("Live", { exact: true })).toBeVisible();
  await expect(announced).toBeEmpty();
  const filter = main(page).locator("[data-filter]");
  await filter.fill("checkout");
  await expect(page).toHaveURL(/q=checkout/);
  await expect(filter).toBeFocused();
  await expect(announced).toBeEmpty();
  await menu(page).getByRole("link", { name: "Deployments", exact: true }).click();
  await expect(heading).toHaveText("Deployments");
  await expect(heading).toBeFocused();
  await expect(announced).toHaveText("Deployments · acme-prod");
  await expect(page).toHaveTitle("Deployments · acme-prod · Portico");
  await main(page).getByRole("link", { name: "checkout", exact: true }).click();
  await expect(heading).toBeFocused();
  await expect(announced).toHaveText("checkout · Deployments · acme-prod");
  // a tab is a part of the same page
  await page.getByRole("link", { name: "Events", exact: true }).last().click();
  await expect(page).toHaveURL(/\/events$/);
  await expect(heading).not.toBeFocused();
  await page.keyboard.press("[");
  await expect(page).toHaveURL(/\/yaml$/);
});

test("a page that is shown late leaves the focus in a menu that was opened meanwhile", async ({ page }) => {
  await signIn(page, "vera", path.list("apps/v1/deployments", "namespace=shop"));
  await rows(page);
  await interactive(page);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/objects\/get/, async (route) => {
    await released;
    await route.continue();
  });
  await main(page).getByRole("link", { name: "checkout", exact: true }).click();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await expect(page.getByRole("searchbox", { name: "Find a cluster" })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  const first = page.locator("#clusters-menu a.menu-item").first();
  await expect(first).toBeFocused();
  await expect(page.locator("#page-announcement")).toBeEmpty();
  release();
  await expect(page.locator("#page-announcement")).toHaveText("checkout · Deployments · acme-prod");
  // the focus would move in the next frame
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await expect(first).toBeFocused();
});

test("arrow keys move between rows as j and k do", async ({ page }) => {
  await signIn(page, "vera", `${path.clusterPage()}/kinds`);
  await rows(page);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  const all = await main(page).locator("[data-row]").allInnerTexts();
  await expect(async () => {
    await page.keyboard.press("j");
    expect(await focused()).toBe(all[0]);
  }).toPass();
  await page.keyboard.press("ArrowDown");
  expect(await focused()).toBe(all[1]);
  await page.keyboard.press("ArrowUp");
  expect(await focused()).toBe(all[0]);
});

test.describe("a page that is still being hydrated", () => {
  const ways = {
    link: (page: Page) => menu(page).getByRole("link", { name: "Deployments", exact: true }).click(),
    keys: async (page: Page) => {
      await page.keyboard.press("g");
      await page.keyboard.press("d");
    },
  };
  for (const [name, go] of Object.entries(ways)) {
    test(`can be left by ${name}`, async ({ page }) => {
      const release = await holdCode(page);
      await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
      await rows(page);
      // the keys are known once the main file runs
      await expect(async () => {
        const pressed = page.evaluate(() => {
          const event = new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true });
          const handled = () => !document.documentElement.dispatchEvent(event);
          return handled() && handled();
        });
        expect(await pressed).toBe(true);
      }).toPass();
      await go(page);
      release();
      await expect(page).toHaveURL(/\/deployments\?namespace=shop$/);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Deployments");
      await expect(main(page).getByRole("link", { name: "checkout", exact: true })).toBeVisible();
      await openPalette(page);
      await page.keyboard.press("Escape");
      await menu(page).getByRole("link", { name: "Nodes", exact: true }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Nodes");
    });
  }
});

test.describe("the cluster's menu", () => {
  test("need_18 has the kinds of a working day", async ({ page }) => {
    await signIn(page, "ada", path.clusterPage());
    await interactive(page);
    for (const kind of ["CronJobs", "ReplicaSets", "HorizontalPodAutoscalers", "ResourceQuotas", "EndpointSlices"]) {
      await expect(menu(page).getByRole("link", { name: kind, exact: true })).toBeVisible();
    }
    await menu(page).getByText("Accounts and roles").click();
    await menu(page).getByRole("link", { name: "ServiceAccounts", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("ServiceAccounts");
    // what was opened stays so
    await page.reload();
    await expect(menu(page).getByRole("link", { name: "RoleBindings", exact: true })).toBeVisible();
  });

  test("lists custom resources by their group", async ({ page }) => {
    const plural = `navtrains${Date.now().toString(36)}`;
    const crd = `${plural}.navigation.example.org`;
    await admin("acme-prod").apply({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: crd },
      spec: {
        group: "navigation.example.org",
        scope: "Namespaced",
        names: { plural, singular: plural.slice(0, -1), kind: `N${plural.slice(1)}` },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    await admin("acme-prod").waitForDefinition(crd);
    await signIn(page, "ada", path.list("core/v1/pods", "namespace=shop"));
    await rows(page);
    // kinds that the session has read seconds ago are shown until the part is opened later
    const link = menu(page).locator(`a[href*="/${plural}"]`);
    await expect(async () => {
      await menu(page).getByText("Custom resources").click();
      await expect(link).toBeVisible({ timeout: 5_000 });
    }).toPass();
    await expect(menu(page).getByText("navigation.example.org")).toBeVisible();
    await expect(link).toHaveAttribute("href", /\?namespace=shop$/);
    await admin("acme-prod").delete("customresourcedefinitions", crd);
  });
});
