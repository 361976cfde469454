import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, createPod, podOf, podReady, remove, unique } from "../support/workloads";

const main = (page: Page) => page.getByRole("main");


// who may read the one need not be allowed to read the other
for (const [group, user] of [["core/v1", "vera"], ["events.k8s.io/v1", "ada"]] as const) {
  test.describe(`finding_p2 events of ${group}`, () => {
    test("finding_p2 have the time first, then type, reason, object and message, newest first", async ({ page }) => {
      await signIn(page, user, path.list(`${group}/events`, "namespace=shop"));
      const table = main(page).getByRole("table");
      // the table arrives after the page's head
      await expect(table.getByRole("columnheader").first()).toBeVisible();
      const heads = await table.getByRole("columnheader").allInnerTexts();
      expect(heads.map((head) => head.trim()).filter(Boolean).slice(0, 5)).toEqual(["Last seen", "Type", "Reason", "Object", "Message"]);
      await expect(table.getByRole("columnheader", { name: "Last seen" })).toHaveAttribute("aria-sort", "ascending");
      const times = await table.locator("tbody tr[data-uid] td:nth-child(2) time").evaluateAll((all) => all.map((one) => one.getAttribute("datetime") ?? ""));
      expect(times.length).toBeGreaterThan(1);
      expect(times).toEqual([...times].sort().reverse());
    });

    test("finding_p2 lead to the object that they are about, and to themselves", async ({ page }) => {
      const pod = await podOf("video-encoder");
      await signIn(page, user, path.list(`${group}/events`, "namespace=shop&q=video-encoder"));
      const row = main(page).getByRole("row").filter({ hasText: "FailedScheduling" }).first();
      await expect(row).toContainText("Warning");
      await expect(row.getByRole("rowheader").getByRole("link", { name: "FailedScheduling" })).toHaveAttribute("href", /\/events\//);
      await row.getByRole("link", { name: pod }).click();
      await expect(page).toHaveURL(new RegExp(`${path.pod("shop", pod)}$`));
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(pod);
    });
  });
}

test("finding_p2 a long message is cut to a few lines and opens whole", async ({ page }) => {
  const name = unique("long");
  const message = `It went wrong ${"again and again ".repeat(40)}and that was the end.`;
  const now = new Date().toISOString().replace(/\.\d+Z/, "Z");
  await admin("acme-prod").apply({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "shop" },
    type: "Warning",
    reason: "LongStory",
    message,
    involvedObject: { apiVersion: "v1", kind: "ConfigMap", name, namespace: "shop" },
    source: { component: "test" },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  });
  await signIn(page, "vera", path.list("core/v1/events", `namespace=shop&q=${name}`));
  const cell = main(page).locator(".event-message").first();
  const height = async () => (await cell.boundingBox())?.height ?? 0;
  await expect(cell).toContainText("that was the end");
  const cut = await height();
  expect(cut).toBeLessThan(110);
  await cell.getByText("It went wrong").click();
  await expect.poll(height).toBeGreaterThan(cut);
  await admin("acme-prod").delete("events", name, { namespace: "shop" });
});

test("finding_p2 an event that happens takes its place at the top, without a reload", async ({ page }) => {
  const namespace = await createNamespace("events");
  await createPod(namespace, "first");
  // no event of it follows
  await podReady(namespace, "first");
  await signIn(page, "vera", path.list("core/v1/events", `namespace=${namespace}`));
  await expect(main(page).getByText("Live", { exact: true })).toBeVisible();
  await expect(main(page).getByRole("link", { name: "first" }).first()).toBeVisible();
  await createPod(namespace, "second");
  await expect(main(page).locator("tbody tr[data-uid]").first()).toContainText("second");
  await remove(namespace);
});

test("need_11 events of all namespaces are searched by reason, and lead to what they are about", async ({ page }) => {
  const [one, two] = await Promise.all([createNamespace("events"), createNamespace("events")]);
  const name = unique("seen");
  await Promise.all([createPod(one, name), createPod(two, name)]);
  await signIn(page, "ada", path.list("core/v1/events", `q=Scheduled+${name}`));
  const rows = main(page).locator("tbody tr[data-uid]");
  for (const namespace of [one, two]) {
    const row = rows.filter({ hasText: namespace }).first();
    await expect(row).toContainText("Scheduled");
    await expect(row.getByRole("link", { name, exact: true })).toHaveAttribute("href", new RegExp(`/namespaces/${namespace}/core/v1/pods/`));
  }
  await Promise.all([remove(one), remove(two)]);
});

test("finding_p8 a kind whose objects are in no namespace has no filter for one", async ({ page }) => {
  await signIn(page, "ada", path.list("core/v1/nodes"));
  for (const kind of ["core/v1/nodes", "core/v1/persistentvolumes", "apiextensions.k8s.io/v1/customresourcedefinitions"]) {
    await page.goto(path.list(kind));
    await expect(page.getByRole("searchbox", { name: "Name" })).toBeVisible();
    await expect(page.getByRole("button", { name: /^Namespace: / }), kind).toHaveCount(0);
  }
  // the control case, reached by a link too
  await page.getByRole("link", { name: "Deployments" }).click();
  await expect(page.getByRole("button", { name: /^Namespace: / })).toBeVisible();
  await interactive(page);
  await page.getByRole("button", { name: /^Namespace: / }).click();
  await page.getByRole("checkbox", { name: "shop", exact: true }).check();
  await expect(page).toHaveURL(/namespace=shop/);
  await page.getByRole("link", { name: "Nodes" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Nodes" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Namespace: / })).toHaveCount(0);
});

test("finding_p9 kinds have the names of the API", async ({ page }) => {
  await signIn(page, "ada", path.list("core/v1/persistentvolumeclaims"));
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText("PersistentVolumeClaims");
  await expect(page.getByRole("navigation", { name: "Breadcrumb" })).toContainText("PersistentVolumeClaims");
  await page.goto(path.list("autoscaling/v1/horizontalpodautoscalers", "namespace=shop"));
  await expect(title).toHaveText("HorizontalPodAutoscalers");
  await expect(main(page)).toContainText("No HorizontalPodAutoscalers in shop");
  await page.goto(`${path.clusterPage()}/kinds`);
  await expect(main(page).locator("[data-row]").first()).toBeVisible();
  const kinds = await main(page).locator("[data-row]").allInnerTexts();
  expect(kinds.length).toBeGreaterThan(40);
  expect(kinds).toEqual([...kinds].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0)));
});

test("finding_p9 a custom resource has its own capitals, without scripts too", async ({ page, browser }) => {
  // a group of its own: the kind of a failed try may still be being deleted
  const group = `${unique("tests")}.example.org`;
  const name = `releasetrains.${group}`;
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group,
      scope: "Cluster",
      names: { plural: "releasetrains", singular: "releasetrain", kind: "ReleaseTrain" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  try {
    await admin("acme-prod").apply(crd);
    await admin("acme-prod").waitForDefinition(name);
    const address = path.list(`${group}/v1/releasetrains`);
    await signIn(page, "ada", address);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("ReleaseTrains");
    const context = await newContext(browser, { javaScriptEnabled: false });
    const plain = await context.newPage();
    await signIn(plain, "ada", address);
    await expect(plain.getByRole("heading", { level: 1 })).toHaveText("ReleaseTrains");
    await context.close();
  } finally {
    await admin("acme-prod").delete("customresourcedefinitions", name, { ignoreNotFound: true });
  }
});

test.describe("finding_p13 a wrong label selector", () => {
  const field = (page: Page) => page.getByRole("combobox", { name: "Labels" });

  test("finding_p13 is marked with an example while the list stays", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop&labels=tier%3Dweb"));
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(3);
    await expect(main(page).getByText("Live", { exact: true })).toBeVisible();
    await field(page).fill("tier in (web");
    await expect(field(page)).toHaveAttribute("aria-invalid", "true");
    await expect(field(page)).toHaveAccessibleDescription(/Expected a comma or "\)", found the end.*app=web,tier in \(front,back\)/);
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(3);
    await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(0);
    await expect(page).toHaveURL(/labels=tier%3Dweb/);
    await field(page).fill("tier in (web)");
    await expect(field(page)).not.toHaveAttribute("aria-invalid", "true");
    await expect(page).toHaveURL(/labels=tier%20in/);
    await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(3);
  });

  test("finding_p13 in an address filters nothing and is reported, without scripts too", async ({ page, browser }) => {
    const address = path.list("core/v1/pods", "namespace=shop&labels=%3D%3Dnope(");
    const check = async (page: Page) => {
      await signIn(page, "vera", address);
      await expect(field(page)).toHaveAttribute("aria-invalid", "true");
      await expect(main(page)).toContainText('Expected a label key, found "=".');
      await expect(page.getByRole("link", { name: /^storefront-/ })).toHaveCount(3);
      await expect(page.getByRole("link", { name: /^checkout-/ })).toHaveCount(2);
    };
    await check(page);
    const context = await newContext(browser, { javaScriptEnabled: false });
    await check(await context.newPage());
    await context.close();
  });
});

test("finding_p20 a breadcrumb ends with the page", async ({ page }) => {
  const endsWith = async (address: string, name: string) => {
    await page.goto(address);
    const steps = page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("listitem");
    await expect(steps.last()).toHaveText(name);
    await expect(steps.last()).toHaveAttribute("aria-current", "page");
    await expect(steps.last().locator("svg")).toHaveCount(0);
    await expect(steps.last().getByRole("link")).toHaveCount(0);
    expect(await steps.locator("svg").count()).toBe((await steps.count()) - 1);
  };
  await signIn(page, "ada", path.clusterPage());
  await endsWith(path.clusterPage(), "acme-prod");
  await endsWith(path.list("core/v1/configmaps"), "ConfigMaps");
  await endsWith(path.deployment("shop", "storefront"), "storefront");
  await endsWith(`${path.clusterPage()}/kinds`, "All kinds");
});

test("finding_p20 the namespaces behind \"and more\" can be read", async ({ page }) => {
  const made = await Promise.all(Array.from({ length: 20 }, () => createNamespace("more")));
  try {
    await signIn(page, "vera", path.list("core/v1/pods"));
    const note = main(page).locator(".scope-note");
    await expect(note.getByText(made[19] as string)).toBeHidden();
    await note.getByText(/^\d+( of \d+)? namespaces$/).click();
    const more = note.getByText(/^and \d+ more$/).first();
    await more.click();
    for (const name of made) await expect(note).toContainText(name);
    await expect(note.locator("details").first()).toHaveAttribute("open", "");
  } finally {
    await Promise.all(made.map((name) => remove(name)));
  }
});
