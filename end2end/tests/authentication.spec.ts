import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { AuditMark } from "../support/audit";
import { expect, newContext, test } from "../support/browser";
import { cluster, porticoUrl, projectId, roleId, setting, userId } from "../support/env";
import { interactive } from "../support/interactive";
import { run } from "../support/kubectl";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { section } from "../support/sections";
import { signIn } from "../support/shared-sign-in";
import { signIn as signInByForm } from "../support/sign-in";
import { createNamespace, remove } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("authentication");
});
test.afterAll(() => remove(namespace));

async function open(page: Page, user: "ada" | "vera" | "nora" = "ada") {
  // an administrator's session has what was tested last in its form
  const begin = user === "ada" ? signInByForm : signIn;
  await begin(page, user, path.authenticationPage());
  await expect(page.getByRole("heading", { level: 1, name: "Authentication" })).toBeVisible();
}

/** A review that the API server got from a user, by the name that kube-auth gave them. */
const review = (mark: AuditMark, resource: string, username: string) =>
  mark.event(`${resource} by ${username}`, ({ verb, objectRef, user, responseStatus }) =>
    verb === "create" && objectRef?.resource === resource && user.username === username && responseStatus?.code === 201,
  );

test("the page shows who the viewer is to the cluster, and that they are accepted", async ({ page }) => {
  await open(page, "nora");
  const identity = section(page, "How this cluster identifies people");
  await expect(identity).toContainText("nora@Default");
  await expect(identity).toContainText(userId("nora"));
  const groups = identity.getByRole("region", { name: "Groups of your token" });
  for (const [group, meaning] of [
    [`portico:user:${userId("nora")}`, "Keystone user nora"],
    [`portico:project:${projectId("acme")}`, "Keystone project acme"],
    [roleId("member"), "Keystone role member"],
    [`portico:project:${projectId("acme")}:role:${roleId("member")}`, "Keystone role member in acme"],
  ] as const) {
    await expect(groups.getByRole("row").filter({ has: page.getByText(group, { exact: true }) })).toContainText(meaning);
  }
  await expect(identity).toContainText("within 50 s");
  await expect(identity).toContainText("within 160 s");
  const accepted = section(page, "Who is accepted");
  await expect(accepted).toContainText("Your token for project acme is accepted");
  await expect(accepted.getByRole("row").filter({ hasText: projectId("acme") })).toContainText("Has it");
});

test("the page is in the cluster's navigation", async ({ page }) => {
  await signIn(page, "vera", path.clusterPage());
  await page.getByRole("navigation", { name: "Cluster" }).getByRole("link", { name: "Authentication" }).click();
  await expect(page).toHaveURL(new RegExp(`${path.authenticationPage()}$`));
  await expect(page.getByRole("heading", { level: 1, name: "Authentication" })).toBeVisible();
});

test("testing oneself sends a request that the API server writes down", async ({ page }) => {
  await open(page, "vera");
  const mark = AuditMark.now("acme-prod");
  const card = section(page, "Test me");
  await card.getByRole("button", { name: "Test me" }).click();
  await expect(card).toContainText(/Passed at .* UTC/);
  await expect(card).toContainText(/The answer took [\d.]+ m?s/);
  for (const stop of ["Portico", "API server", "kube-auth", "Keystone", "Authorization"]) {
    await expect(card.getByRole("list", { name: "Path of the request" })).toContainText(stop);
  }
  // Kubernetes 1.20 cannot say who one is
  await expect(card).toContainText("Computed");
  const event = await review(mark, "selfsubjectaccessreviews", "vera@Default");
  await card.getByText("As computed: vera@Default").click();
  const groups = card.getByRole("region", { name: "Groups of your request" });
  for (const group of event.user.groups ?? []) {
    if (!group.startsWith("system:")) await expect(groups.getByText(group, { exact: true })).toBeVisible();
  }
});

test("an administrator learns what another user may do", async ({ page }) => {
  await open(page);
  // what is typed before scripts take the form over may be lost
  await interactive(page);
  const card = section(page, "Test a user");
  await card.getByLabel("Keystone user ID").fill(userId("vera"));
  await card.getByLabel("k8s_viewer").check();
  await card.getByLabel("Namespace").selectOption(namespace);
  const mark = AuditMark.now("acme-prod");
  await card.getByRole("button", { name: "Test this user" }).click();
  await expect(card).toContainText("Computed, not a real sign-in");
  const answers = card.getByRole("region", { name: "What this user may do" }).getByRole("row");
  const allowed = answers.filter({ hasText: "List pods" });
  await expect(allowed).toContainText("yes");
  await expect(allowed).toContainText(`list pods in ${namespace}`);
  await expect(allowed).toContainText("portico-viewer");
  for (const what of ["Read secrets", "Open terminals in pods", "Create deployments", "Do everything, everywhere"]) {
    await expect(answers.filter({ hasText: what })).toContainText("no");
  }
  // asked with the administrator's own token
  await review(mark, "subjectaccessreviews", "ada@Default");
});

test("invalid input is reported, and no user is made an administrator by typing", async ({ page }) => {
  await open(page);
  // what is typed before scripts take the form over may be lost
  await interactive(page);
  const card = section(page, "Test a user");
  const send = card.getByRole("button", { name: "Test this user" });
  await card.getByLabel("Keystone user ID").fill("vera");
  await send.click();
  await expect(card.getByRole("alert")).toContainText("openstack user show");
  await card.getByLabel("Keystone user ID").fill(userId("vera"));
  await card.getByLabel("More groups").fill("system:masters");
  await send.click();
  await expect(card.getByRole("alert")).toContainText("belongs to Kubernetes");
  await card.getByLabel("More groups").fill("");
  await send.click();
  await expect(card).toContainText("would not be accepted: without a role in the project");
});

test("a viewer may not test others, and learns what is missing", async ({ page }) => {
  await open(page, "vera");
  const card = section(page, "Test a user");
  await expect(card.locator("[data-state=not-permitted]")).toContainText("create on subjectaccessreviews");
  await expect(card.getByRole("button")).toHaveCount(0);
  const api = await PanelApi.of(page, "acme");
  const sent = { cluster: cluster("acme-prod").id, "request[user_id]": userId("ada"), "request[project]": projectId("acme") };
  expect((await api.postForm("/api/authentication/test_user", sent)).status).toBe(403);
});

test("a test without the session's own word is refused", async ({ page }) => {
  await open(page, "vera");
  const api = await PanelApi.of(page, "acme");
  const fields = { cluster: cluster("acme-prod").id };
  expect((await api.postForm("/api/authentication/test_self", fields, { "x-csrf-token": "guess" })).status).toBe(403);
  expect((await api.postForm("/api/authentication/test_self", fields)).status).toBe(200);
});

test("without scripts both tests work", async ({ browser }) => {
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await open(page);
  await section(page, "Test me").getByRole("button", { name: "Test me" }).click();
  await expect(page).toHaveURL(/\/authentication#self-test$/);
  await expect(section(page, "Test me")).toContainText("Passed at");
  const card = section(page, "Test a user");
  await card.getByLabel("Keystone user ID").fill(userId("nora"));
  await card.getByLabel("k8s_developer").check();
  await card.getByLabel("Namespace").selectOption(namespace);
  await card.getByRole("button", { name: "Test this user" }).click();
  const answers = card.getByRole("region", { name: "What this user may do" }).getByRole("row");
  await expect(answers.filter({ hasText: "Create deployments" })).toContainText("yes");
  await expect(answers.filter({ hasText: "Grant rights" })).toContainText("no");
  await expect(card.getByLabel("k8s_developer")).toBeChecked();
  await context.close();
});

test("kube-auth's figures are there, and renew themselves", async ({ page }) => {
  // the API server asks kube-auth about a new token
  await signInByForm(page, "vera", path.authenticationPage());
  const card = section(page, "kube-auth metrics");
  const authenticated = card.getByRole("row").filter({ hasText: "Authenticated" }).getByRole("cell").last();
  await expect(authenticated).toHaveText(/^[\d,]+$/);
  const count = async () => Number((await authenticated.textContent())?.replaceAll(",", ""));
  const before = await count();
  await section(page, "Test me").getByRole("button", { name: "Test me" }).click();
  await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before);
  await expect(card).toContainText("Keystone answers kube-auth");
  await expect(card).toContainText("Median latency (p50)");
});

test("the kubeconfig to download holds no secret and names the plugin", async ({ page }) => {
  await open(page, "vera");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download a kubeconfig" }).click()]);
  expect(download.suggestedFilename()).toBe("acme-prod.kubeconfig");
  const text = readFileSync(await download.path(), "utf8");
  expect(text).toContain(cluster("acme-prod").apiUrl);
  expect(text).not.toMatch(/token:|password:|client-key|portico_v1/);
  const view = await run(setting("KUBECTL"), ["--kubeconfig", await download.path(), "config", "view", "-o", "jsonpath={.users[0].user.exec.args}"]);
  expect(JSON.parse(view.stdout)).toEqual(["credential", "--gateway", porticoUrl, "--cluster", cluster("acme-prod").id]);
});

test("need_13 the program for this system is downloaded, with the digest that the page shows", async ({ page }) => {
  test.setTimeout(180_000);
  await open(page, "vera");
  const row = section(page, "The portico program").locator("tr[data-program]").first();
  await expect(row).toContainText("Linux");
  await expect(row).toContainText("Your system");
  const digest = row.locator("[data-sha256]");
  // computed once, for all users
  await expect(digest).toHaveText(/^[0-9a-f]{64}$/, { timeout: 60_000 });
  const link = row.getByRole("link", { name: /^Download for Linux/ });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe("portico");
  const hash = createHash("sha256");
  for await (const part of createReadStream(await download.path())) hash.update(part as Buffer);
  expect(hash.digest("hex")).toBe(await digest.textContent());
});

test("need_13 the commands are those of the viewer's own system first", async ({ browser }) => {
  for (const [userAgent, system] of [
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "Windows"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15", "macOS"],
  ]) {
    const context = await newContext(browser, { userAgent });
    const page = await context.newPage();
    await signInByForm(page, "vera", path.clusterPage());
    const terminal = section(page, "Use from your terminal");
    await expect(terminal.getByRole("tab", { selected: true })).toHaveText(system ?? "");
    await expect(terminal.getByRole("link", { name: "Download the portico program" }).filter({ visible: true })).toHaveAttribute(
      "href",
      `${path.authenticationPage()}#programs`,
    );
    await context.close();
  }
});

test("commands for users and operators name this cluster", async ({ page }) => {
  await open(page, "vera");
  await expect(section(page, "Use from your terminal")).toContainText("portico kubeconfig --cluster acme-prod");
  await expect(section(page, "For the cluster's operators")).toContainText(
    `portico kube-auth config --cluster ${cluster("acme-prod").id}`,
  );
});

test("finding_p15 guides are links, or not there", async ({ page }) => {
  await open(page, "vera");
  await expect(section(page, "For the cluster's operators")).toBeVisible();
  const guides = section(page, "Read more");
  for (const entry of await guides.getByRole("listitem").all()) await expect(entry.getByRole("link")).toHaveCount(1);
  // the test stack publishes no documentation
  await expect(guides).toHaveCount(0);
});
