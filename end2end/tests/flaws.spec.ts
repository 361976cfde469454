// Flaws that were found in other panels (docs/panel/flaws.md), where only a browser can show them: what tenants write and
// what a page does with it, and what a page offers after a role was taken away.
import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { porticoUrl } from "../support/env";
import { createUser, deleteUser, giveRole, takeRole } from "../support/keystone";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { record } from "../support/secrets";
import { signIn } from "../support/shared-sign-in";
import { signIn as signInByForm } from "../support/sign-in";
import { createNamespace, createPod, deploymentManifest, podReady, remove, unique } from "../support/workloads";

/** Ends an attribute, a tag and a script, and says so when it runs. */
const payload = `"'></script></title><script>window.flaw=1</script><img src=x onerror=window.flaw=1><a href="javascript:window.flaw=1">x</a>`;

const links = ["javascript:window.flaw=1", "JaVaScRiPt:window.flaw=1", "\tjavascript:window.flaw=1", "data:text/html,<script>window.flaw=1</script>", "//evil.example/"];

let namespace: string;

test.beforeAll(async () => {
  namespace = await createNamespace("hostile");
  await admin("acme-prod").apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "hostile", namespace, annotations: { "example.org/link": payload, "example.org/links": links.join(" | ") } },
    data: { text: payload, "page.html": payload },
  });
  const deployment = deploymentManifest(namespace, "hostile", 0);
  await admin("acme-prod").apply({ ...deployment, metadata: { ...deployment.metadata, annotations: { "kubernetes.io/change-cause": payload } } });
  // a name that Kubernetes takes for roles
  await admin("acme-prod").apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "<img src=x onerror=window.flaw=1>", namespace },
    rules: [],
  });
  await createPod(namespace, "hostile", `while true; do echo '${payload.replaceAll("'", "")}'; printf '\\033]0;owned\\007\\033[2J'; sleep 1; done`);
  await podReady(namespace, "hostile");
  for (const [resource, kind, apiVersion] of [["configmaps", "ConfigMap", "v1"], ["deployments", "Deployment", "apps/v1"], ["pods", "Pod", "v1"]] as const) {
    const { uid } = (await admin("acme-prod").get(resource, "hostile", namespace)).metadata;
    await admin("acme-prod").apply({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `hostile.${kind.toLowerCase()}`, namespace },
      type: "Warning",
      reason: payload,
      message: `${payload}\n${links.join("\n")}`,
      involvedObject: { apiVersion, kind, namespace, name: "hostile", uid },
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
      count: 3,
    });
  }
});

test.afterAll(() => remove(namespace));

const places = (): [what: string, address: string, shown: string | RegExp][] => [
  ["the list of ConfigMaps", path.list("core/v1/configmaps", `namespace=${namespace}`), /^hostile$/],
  ["the list of events", path.list("core/v1/events", `namespace=${namespace}`), /onerror=window\.flaw/],
  ["the list of roles", path.list("rbac.authorization.k8s.io/v1/roles", `namespace=${namespace}`), /onerror=window\.flaw/],
  ["a ConfigMap", path.object(namespace, "core/v1/configmaps", "hostile"), /onerror=window\.flaw/],
  ["its YAML", path.object(namespace, "core/v1/configmaps", "hostile", "yaml"), /onerror=window\.flaw/],
  ["its events", path.object(namespace, "core/v1/configmaps", "hostile", "events"), /onerror=window\.flaw/],
  ["a deployment", path.deployment(namespace, "hostile"), /^hostile$/],
  ["a role", path.object(namespace, "rbac.authorization.k8s.io/v1/roles", encodeURIComponent("<img src=x onerror=window.flaw=1>")), /onerror=window\.flaw/],
  ["a log", path.pod(namespace, "hostile", "logs"), /onerror=window\.flaw/],
  ["a list whose filter is hostile", path.list("core/v1/configmaps", `namespace=${namespace}&q=${encodeURIComponent(payload)}`), /./],
  ["a kind that is hostile", path.list(`core/v1/${encodeURIComponent(payload.replaceAll("/", ""))}`), /./],
];

/** Opens an address, and what is folded away on its page. */
async function opened(page: Page, address: string) {
  await page.goto(address);
  await expect(page.getByRole("main")).toBeVisible();
  await page.evaluate(() => document.querySelectorAll("details").forEach((folded) => (folded.open = true)));
}

/** Whether any script of a tenant's has run, or any markup of theirs is in the page. */
async function harmless(page: Page, what: string) {
  const found = await page.evaluate(() => ({
    ran: (window as unknown as { flaw?: number }).flaw ?? 0,
    images: document.querySelectorAll("img[src=x], [onerror]").length,
    links: Array.from(document.querySelectorAll("a[href], form[action], [src]"))
      .map((element) => element.getAttribute("href") ?? element.getAttribute("action") ?? element.getAttribute("src") ?? "")
      .map((address) => new URL(address, location.href))
      .filter((url) => !/^https?:$/.test(url.protocol) || url.hostname === "evil.example")
      .map(String),
  }));
  expect.soft(found, what).toEqual({ ran: 0, images: 0, links: [] });
}

test("flaw_10 a tenant's text is text in every view of a browser", async ({ page }) => {
  test.setTimeout(240_000);
  page.on("dialog", (dialog) => {
    expect.soft(dialog.message(), "a dialog of the browser's").toBe("");
    void dialog.dismiss();
  });
  await signIn(page, "ada");
  for (const [what, address, shown] of places()) {
    await opened(page, address);
    // the control case: the text is there
    await expect(page.getByRole("main").getByText(shown).filter({ visible: true }).first(), what).toBeVisible();
    await harmless(page, what);
    // what a pointer shows
    for (const titled of (await page.locator("main [title]").all()).slice(0, 5)) await titled.hover({ force: true, timeout: 1_000 }).catch(() => undefined);
    await harmless(page, `${what}, hovered over`);
    expect.soft(await page.title(), `${what}: the title`).not.toContain("owned");
  }
});

test("flaw_10 a tenant's text is text in dialogs and messages", async ({ page }) => {
  await signIn(page, "ada", path.object(namespace, "rbac.authorization.k8s.io/v1/roles", encodeURIComponent("<img src=x onerror=window.flaw=1>")));
  await page.getByRole("button", { name: "Delete" }).or(page.getByRole("link", { name: "Delete" })).first().click();
  await expect(page.getByText(/onerror=window\.flaw/).first()).toBeVisible();
  await harmless(page, "the question before a deletion");
});

test("flaw_08 no address of a tenant's is a link, also after the page has become live", async ({ page }) => {
  await signIn(page, "devi");
  for (const address of [
    path.object(namespace, "core/v1/configmaps", "hostile"),
    path.object(namespace, "core/v1/configmaps", "hostile", "events"),
    path.list("core/v1/events", `namespace=${namespace}`),
    path.pod(namespace, "hostile", "logs"),
  ]) {
    await opened(page, address);
    await expect(page.getByText(/javascript:window\.flaw/).filter({ visible: true }).first(), "the control case").toBeVisible();
    await harmless(page, address);
    const elsewhere = await page.evaluate((own) => Array.from(document.querySelectorAll("a[href]")).map((link) => (link as HTMLAnchorElement).href).filter((href) => !href.startsWith(own)), new URL(porticoUrl).origin);
    expect.soft(elsewhere, address).toEqual([]);
  }
});

test("flaw_12 a hostile address runs nothing and leaves the page usable", async ({ page }) => {
  await signIn(page, "vera");
  const hostile = encodeURIComponent(payload);
  for (const parameter of ["namespace", "q", "labels", "fields", "status", "sort", "offset", "error", "notice", "object", "confirm", "container"]) {
    await page.goto(path.list("core/v1/pods", `${parameter}=${hostile}`));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await harmless(page, parameter);
  }
  await page.goto(path.list("core/v1/pods", "namespace=shop&q=storefront"));
  await expect(page.getByRole("link", { name: /^storefront-/ }).first(), "the control case").toBeVisible();
});

test("flaw_13 after a role was taken away the page offers nothing any more, without a new sign-in", async ({ browser }) => {
  test.setTimeout(240_000);
  const who = { name: unique("loses"), password: unique("password") };
  record("password", who.password);
  const id = await createUser(who.name, who.password);
  try {
    await giveRole(id, "acme", "k8s_developer");
    await giveRole(id, "acme", "member");
    const context = await newContext(browser);
    const page = await context.newPage();
    await signInByForm(page, who, path.deployment(namespace, "hostile"));
    await expect(page.getByRole("button", { name: "Restart" }).or(page.getByRole("link", { name: "Restart" })).first(), "the control case").toBeEnabled();
    await takeRole(id, "acme", "k8s_developer");
    await expect
      .poll(
        async () => {
          await page.reload();
          return page.locator("main [data-state=not-permitted], main [data-state=error], main [data-state=no-rights]").count();
        },
        { timeout: 110_000, intervals: [3_000] },
      )
      .toBeGreaterThan(0);
    expect(page.url(), "nothing has signed them out").not.toContain("/oauth2/");
    await expect(page.getByRole("button", { name: "Restart" })).toHaveCount(0);
    await context.close();
  } finally {
    await deleteUser(id);
  }
});

test("flaw_21 no page source and no answer that a member sees holds the value of a Secret", async ({ page }) => {
  const value = unique("canary-value");
  const encoded = Buffer.from(value).toString("base64");
  await admin("acme-prod").create({ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: { name: "hidden", namespace }, data: { password: encoded } });
  const bodies: string[] = [];
  page.on("response", async (response) => bodies.push(await response.text().catch(() => "")));
  await signIn(page, "ada", path.list("core/v1/secrets", `namespace=${namespace}`));
  await expect(page.getByRole("link", { name: "hidden" }).first(), "the control case").toBeVisible();
  for (const tab of ["", "yaml", "events"]) {
    await page.goto(path.object(namespace, "core/v1/secrets", "hidden", tab));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    const source = await page.content();
    expect.soft(source.includes(value) || source.includes(encoded), tab).toBe(false);
  }
  expect(bodies.some((body) => body.includes("hidden")), "the control case").toBe(true);
  expect(bodies.filter((body) => body.includes(value) || body.includes(encoded))).toEqual([]);
});
