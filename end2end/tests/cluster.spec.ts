import { expect, newContext, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { kubectlAsAdmin } from "../support/kubectl";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { section } from "../support/sections";
import { signIn } from "../support/shared-sign-in";
import { createPod, removePod, unique } from "../support/workloads";

test("the overview shows the state of the cluster in words", async ({ page }) => {
  await signIn(page, "ada", path.clusterPage());
  await expect(page.getByRole("heading", { level: 1, name: "acme-prod" })).toBeVisible();
  const main = page.getByRole("main");
  await expect(main).toContainText("v1.20");
  await expect(main).toContainText(/support ended|no longer supported|end of life/i);
  for (const node of ["acme-node-1", "acme-node-2"]) await expect(main.getByText(node).first()).toBeVisible();
  await expect(main).toContainText(/CPU/);
  await expect(main).toContainText(/memory/i);
});

test("need_07 the overview shows what the nodes use of what they can allocate", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  const capacity = section(page, "Capacity");
  await expect(capacity.getByRole("meter", { name: /^CPU in use: .+ of .+ cores$/ })).toBeVisible({ timeout: 60_000 });
  await expect(capacity.getByRole("meter", { name: /^Memory in use: .+ of .+iB$/ })).toBeVisible();
});

test("the overview shows what I may do, and what not", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  const rights = section(page, "Your rights here");
  await expect(rights).toContainText(/read/i);
  await expect(rights).toContainText(/secrets/i);
});

test("the commands for a terminal are there for each system, to be copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, "vera", path.clusterPage());
  await interactive(page);
  const terminal = section(page, "Use from your terminal");
  for (const system of ["Linux", "macOS", "Windows"]) {
    await terminal.getByRole("tab", { name: system }).click();
    await expect(terminal.getByText(/portico login/).filter({ visible: true }).first()).toBeVisible();
  }
  await terminal.getByRole("button", { name: /^Copy/ }).filter({ visible: true }).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("portico");
});

test("every kind that the cluster has can be listed", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page, "ada", `${path.clusterPage()}/kinds`);
  const main = page.getByRole("main");
  await expect(main.getByRole("link", { name: /pods/i }).first()).toBeVisible();
  const addresses = await main.locator("a[href*='/resources/']").evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  const known = (await kubectlAsAdmin("acme-prod", "api-resources", "--verbs=list", "-o", "name")).split("\n");
  const shown = new Set(addresses.map((address) => address.split("/resources/")[1]?.split("?")[0] ?? ""));
  for (const name of known) {
    const [plural = "", ...group] = name.split(".");
    const wanted = new RegExp(`^${group.join(".") || "core"}/[^/]+/${plural}$`);
    expect([...shown].some((kind) => wanted.test(kind)), name).toBe(true);
  }
  for (const address of new Set(addresses)) {
    // a page is sent whole; objects.spec.ts has a browser show the lists
    const [status, text] = await page.evaluate(async (to) => {
      const answer = await fetch(to);
      return [answer.status, await answer.text()] as const;
    }, address);
    expect(status, address).toBe(200);
    expect(text, address).toContain("<h1");
    expect(text, address).not.toMatch(/data-state="?(loading|error|not-found)/);
  }
});

test("a pod that another client creates appears within two seconds, without a reload, and goes again", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await page.evaluate(() => Object.assign(window, { marker: "still here" }));
  const name = unique("live");
  try {
    await createPod("shop", name);
    await expect(page.getByRole("link", { name })).toBeVisible({ timeout: 2_000 });
    await expect(page.getByRole("row", { name: new RegExp(name) })).toContainText("Running", { timeout: 20_000 });
    await admin("acme-prod").delete("pods", name, { namespace: "shop", gracePeriodSeconds: 0 });
    await expect(page.getByRole("link", { name })).toHaveCount(0);
  } finally {
    await removePod("shop", name);
  }
  expect(await page.evaluate(() => (window as unknown as { marker?: string }).marker)).toBe("still here");
});

test("what takes long in a large cluster follows when the page is shown", async ({ page }) => {
  await signIn(page, "ada", `${path.clusterPage()}/kinds`);
  await interactive(page);
  // a cluster of this size is read at once: its first answer is made that of a large one
  await page.evaluate(() => {
    const { fetch } = window;
    window.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith("/api/clusters/get")) return fetch(request);
      const wait = (await request.clone().text()).includes("wait=true");
      const answer = await fetch(request);
      if (wait) {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return answer;
      }
      const first = { ...(await answer.json()), is_pending: true, attention: [], capacity: { unavailable: "" } };
      return new Response(JSON.stringify(first), { headers: answer.headers });
    };
  });
  await page.getByRole("navigation", { name: "Cluster" }).getByRole("link", { name: "Overview" }).click();
  const main = page.getByRole("main");
  await expect(main.getByRole("status").filter({ hasText: "Checking the workloads" })).toBeVisible();
  await expect(main.getByRole("status").filter({ hasText: "Adding up the requests" })).toBeVisible();
  await expect(main.getByRole("link", { name: "acme-node-1" })).toBeVisible();
  await expect(main.getByText("CrashLoopBackOff").first()).toBeVisible();
  await expect(main.locator("[data-state=pending]")).toHaveCount(0);
});

test("the window survives five navigations", async ({ page }) => {
  await signIn(page, "ada", path.project());
  await interactive(page);
  await page.evaluate(() => Object.assign(window, { marker: "still here" }));
  const marker = () => page.evaluate(() => (window as unknown as { marker?: string }).marker);
  const go = async (link: ReturnType<typeof page.getByRole>, address: RegExp) => {
    await link.first().click();
    await expect(page).toHaveURL(address);
    expect(await marker()).toBe("still here");
  };
  await go(page.getByRole("main").getByRole("link", { name: /acme-prod/ }), /\/clusters\/[^/]+$/);
  await go(page.getByRole("link", { name: "Namespaces" }), /\/namespaces$/);
  await go(page.getByRole("link", { name: "Pods" }), /\/resources\/core\/v1\/pods/);
  await go(page.getByRole("link", { name: /^storefront-/ }), /\/core\/v1\/pods\/storefront-/);
  await go(page.getByRole("link", { name: "Events" }), /\/events$/);
  await go(page.getByRole("link", { name: "Launchpad" }), /\/projects\/[^/]+$/);
});

test.describe("a list", () => {
  test("is filtered by name and by label, and its address holds both", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    await interactive(page);
    await page.getByRole("searchbox", { name: "Name" }).fill("checkout");
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(0);
    await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(2);
    await expect(page).toHaveURL(/[?&]q=checkout/);
    await page.reload();
    await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(2);
    await page.goto(path.list("core/v1/pods", "namespace=shop&labels=tier%3Dweb"));
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(3);
    await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(0);
  });

  test("is sorted by a column", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
    await page.getByRole("columnheader", { name: "Name" }).getByRole("link").click();
    await expect(page.getByRole("columnheader", { name: "Name" })).toHaveAttribute("aria-sort", "ascending");
    const names = await page.locator("[data-row]").allInnerTexts();
    expect(names).toEqual([...names].sort());
  });

  test("is merged over exactly the namespaces that one may see", async ({ page }) => {
    await signIn(page, "devi", path.list("core/v1/pods"));
    const main = page.getByRole("main");
    await expect(main.getByRole("link", { name: /^storefront-/ }).first()).toBeVisible();
    await expect(main.getByRole("link", { name: /^ledger-/ }).first()).toBeVisible();
    await expect(main.getByRole("cell", { name: "kube-system" })).toHaveCount(0);
    await main.getByText(/\d+ of \d+ namespaces/).click();
    await expect(main.locator(".scope-names")).toContainText(/Your roles do not cover .*kube-system/);
    // only the rows near the visible ones are in the page
    const shown = Number.parseInt(await main.locator("[data-count]").innerText(), 10);
    const all = await admin("acme-prod").list("pods", { fields: "metadata.namespace!=kube-system" });
    expect(Math.abs(shown - all.length)).toBeLessThanOrEqual(2);
  });

  test("of what may not be read shows it, and never zero", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/secrets", "namespace=shop"));
    const main = page.getByRole("main");
    await expect(main.locator("[data-state=not-permitted]").first()).toBeVisible();
    await expect(main).not.toContainText(/no secrets|0 secrets/i);
    await expect(main.getByRole("link", { name: "payment-gateway" })).toHaveCount(0);
  });

  test("works without scripts", async ({ browser }) => {
    const context = await newContext(browser, { javaScriptEnabled: false });
    const page = await context.newPage();
    await signIn(page, "devi", path.list("apps/v1/deployments", "namespace=shop"));
    await expect(page.getByRole("link", { name: "storefront" })).toBeVisible();
    await page.getByRole("searchbox", { name: "Name" }).fill("check");
    await page.getByRole("searchbox", { name: "Name" }).press("Enter");
    await expect(page.getByRole("link", { name: "checkout" })).toBeVisible();
    await expect(page.getByRole("link", { name: "storefront" })).toHaveCount(0);
    await context.close();
  });
});

test("namespaces: one's own are there", async ({ page }) => {
  await signIn(page, "vera", `${path.clusterPage()}/namespaces`);
  for (const name of ["shop", "data", "batch", "platform"]) {
    await expect(page.getByRole("main").getByRole("link", { name, exact: true }).first()).toBeVisible();
  }
});

test("the keyboard is enough", async ({ page }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Name" })).toBeFocused();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  // other tests create and delete pods meanwhile, so the first row can change after it has got the focus
  await expect(async () => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("j");
    expect(await page.evaluate(() => document.activeElement === document.querySelector("[data-row]"))).toBe(true);
  }).toPass();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/core\/v1\/pods\/[^/]+$/);
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/\/namespaces$/);
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await expect(page).toHaveURL(/\/authentication$/);
});

test("finding_p15 need_12 the kubeconfig is at the head of the cluster's overview", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  const link = page.getByRole("link", { name: "Download kubeconfig" });
  await expect(link).toBeInViewport();
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe("acme-prod.kubeconfig");
});
