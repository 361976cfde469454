// Refusals: each names the missing permission and leads to those who have it. And the other way round: what a subject can do.
import type { Browser, Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { createUser, deleteUser, giveRole } from "../support/keystone";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { record } from "../support/secrets";
import { section } from "../support/sections";
import { signIn } from "../support/shared-sign-in";
import { signedIn, type Account } from "../support/sign-in";
import { createNamespace, podManifest, podReady, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("refusals");
  await admin("acme-prod").apply(podManifest(namespace, "kept"));
});
test.afterAll(() => remove(namespace));

const main = (page: Page) => page.getByRole("main");

test.describe("a refusal", () => {
  test("need_31 in place of a list names the permission and leads to who has it", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/secrets", `namespace=${namespace}`));
    const state = main(page).locator("[data-state=not-permitted]");
    await expect(state).toContainText(new RegExp(`Missing permission: (list|watch) on secrets in ${namespace}\\.`));
    await state.getByRole("link", { name: "Who can?" }).click();
    await expect(page).toHaveURL(new RegExp(`/access\\?verb=(list|watch)&resource=secrets&namespace=${namespace}`));
    const answer = page.locator("#who-can");
    await expect(answer.getByLabel("Resource")).toHaveValue("secrets");
    await expect(answer.getByLabel("Namespace")).toHaveValue(namespace);
  });

  test("need_31 in the menu of a row and above the list leads to who can do it", async ({ page }) => {
    await signIn(page, "vera", path.list("core/v1/pods", `namespace=${namespace}`));
    const whoCanDelete = new RegExp(`/access\\?verb=delete&resource=pods&namespace=${namespace}#who-can$`);
    await interactive(page);
    await page.getByRole("button", { name: `Actions for kept in ${namespace}` }).click();
    await expect(page.getByRole("menuitem", { name: "Who can delete?" })).toHaveAttribute("href", whoCanDelete);
    await page.keyboard.press("Escape");
    await main(page).getByRole("row").filter({ hasText: "kept" }).getByRole("checkbox").click();
    const refused = main(page).locator(".bulk-bar .why", { has: page.locator("[data-action=delete]") });
    await refused.getByRole("button").focus();
    await expect(refused).toContainText(`Your roles do not include delete on pods in ${namespace}.`);
    await expect(refused.getByRole("link", { name: "Who can?" })).toHaveAttribute("href", whoCanDelete);
  });

  test("need_31 on the page Access changes the question that is asked there", async ({ page }) => {
    await signIn(page, "vera", path.accessPage());
    const refused = main(page).locator("[data-state=not-permitted]").filter({ hasText: "You can't grant access here" });
    await refused.getByRole("link", { name: "Who can?" }).click();
    const answer = page.locator("#who-can");
    await expect(answer.getByLabel("Verb")).toHaveValue("create");
    await expect(answer.getByLabel("Resource")).toHaveValue("rolebindings.rbac.authorization.k8s.io");
  });

  test("need_31 of what could not be checked leads to who may list it, on the launchpad and in the cluster", async ({ page }) => {
    await signIn(page, "devi", path.project());
    for (const address of [path.project(), path.clusterPage()]) {
      await page.goto(address);
      const attention = section(page, "Needs attention");
      await attention.getByText("Not checked", { exact: true }).click();
      // devi has no role in several namespaces
      const gap = attention.getByRole("listitem").filter({ hasText: /acme-prod: jobs.* in .*kube-system.*, which your roles do not let you list/ });
      const link = gap.getByRole("link", { name: "Who can?" });
      await expect(link).toHaveAttribute("href", `${path.accessPage()}?verb=list&resource=jobs.batch#who-can`);
      await link.click();
      const answer = page.locator("#who-can");
      await expect(answer.getByLabel("Verb")).toHaveValue("list");
      await expect(answer.getByLabel("Resource")).toHaveValue("jobs.batch");
      await expect(answer.getByLabel("Namespace")).toHaveValue("");
    }
  });
});

test.describe("a user who may get pods, but nothing of them", () => {
  let who: Account & { id: string };

  test.beforeAll(async () => {
    const account = { name: unique("pods-only"), password: `${unique("pass")}-${Math.random().toString(36).slice(2)}` };
    record("password", account.password);
    who = { ...account, id: await createUser(account.name, account.password) };
    // without a role of the cluster
    await giveRole(who.id, "acme", "member");
    await may("get pods");
    await admin("acme-prod").apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "pods-only", namespace },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "pods-only" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `portico:user:${who.id}` }],
    });
    await podReady(namespace, "kept");
  });
  test.afterAll(() => deleteUser(who.id));

  const rules = {
    "get pods": [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }],
    "read logs and open terminals": [
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["pods/log", "pods/exec"], verbs: ["get", "create"] },
    ],
  };

  const may = (what: keyof typeof rules) =>
    admin("acme-prod").apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "pods-only", namespace },
      rules: rules[what],
    });

  const whoCan = (subresource: string) => new RegExp(`/access\\?verb=get&resource=pods(/|%2F)${subresource}&namespace=${namespace}#who-can$`);
  const open = (browser: Browser, tab: string) => signedIn(browser, who, path.pod(namespace, "kept", tab));

  test("need_31 is led from the logs and the terminal to those who have the permission", async ({ browser }) => {
    const page = await open(browser, "logs");
    for (const [tab, subresource] of [
      ["logs", "log"],
      ["terminal", "exec"],
    ] as const) {
      await page.goto(path.pod(namespace, "kept", tab));
      const state = main(page).locator("[data-state=not-permitted]");
      await expect(state).toContainText(`Missing permission: get on pods/${subresource} in ${namespace}.`);
      await expect(state.getByRole("link", { name: "Who can?" })).toHaveAttribute("href", whoCan(subresource));
    }
    await page.context().close();
  });

  test("need_31 is led there from logs and a terminal that were cut as well", async ({ browser }) => {
    // rights are reviewed every 45 s
    test.setTimeout(180_000);
    await may("read logs and open terminals");
    const logs = await open(browser, "logs");
    await expect(main(logs).getByRole("status").filter({ hasText: /Following|Waiting for lines/ })).toBeVisible();
    const terminal = await logs.context().newPage();
    await terminal.goto(path.pod(namespace, "kept", "terminal"));
    await expect(terminal.locator("#terminal-status")).toHaveText("Connected");

    await may("get pods");
    for (const [page, subresource, part] of [
      [logs, "log", "Log"],
      [terminal, "exec", "Terminal"],
    ] as const) {
      const refused = main(page).getByRole("region", { name: part, exact: true });
      await expect(refused).toContainText(`Missing permission: get on pods/${subresource} in ${namespace}.`, { timeout: 60_000 });
      await expect(refused.getByRole("link", { name: "Who can?" })).toHaveAttribute("href", whoCan(subresource));
    }
    await logs.context().close();
  });

  test("need_31 is led there from a terminal in the dock", async ({ browser }) => {
    await may("read logs and open terminals");
    const page = await open(browser, "terminal");
    await expect(page.locator("#terminal-status")).toHaveText("Connected");
    await page.getByRole("button", { name: "Move to dock" }).click();
    const dock = page.getByRole("region", { name: "Terminals" });
    const link = dock.getByRole("link", { name: "Who can?" });
    await expect(dock.getByRole("status")).toHaveText("Connected");
    await expect(link).toHaveCount(0);

    await may("get pods");
    // the API server takes over the change within a moment
    await expect(async () => {
      await dock.getByRole("button", { name: "Connect again" }).click();
      await expect(dock.getByRole("status")).toContainText('cannot get resource "pods/exec"', { timeout: 3_000 });
    }).toPass();
    await expect(link).toHaveAttribute("href", whoCan("exec"));
    await link.click();
    await expect(page).toHaveURL(whoCan("exec"));
    await expect(dock).toBeVisible();
    await page.context().close();
  });
});

test.describe("what a subject can do", () => {
  const answer = (page: Page) => page.locator("#what-can");

  test("need_31 a binding leads to all rules of its subject, by place and binding", async ({ page }) => {
    await signIn(page, "ada", path.accessPage());
    const binding = page.getByRole("region", { name: "Bindings", exact: true }).getByRole("row").filter({ hasText: "portico-developer" }).first();
    await binding.getByRole("link", { name: /^Rights of / }).click();
    await expect(page).toHaveURL(/\/access\?subject_kind=Group&subject=/);
    await expect(answer(page).getByLabel("Subject", { exact: true })).not.toHaveValue("");
    const rules = answer(page).getByRole("region", { name: /^Rules of portico-developer, In / }).first();
    await expect(rules.getByRole("row").filter({ hasText: "delete" }).filter({ hasText: "pods" }).first()).toBeVisible();
    const link = answer(page).getByRole("link", { name: "portico-developer", exact: true }).first();
    await expect(link).toHaveAttribute("href", /\/rbac\.authorization\.k8s\.io\/v1\/rolebindings\/portico-developer$/);
  });

  test("need_31 a subject is named in the form", async ({ page }) => {
    await signIn(page, "ada", path.accessPage());
    // what is typed before scripts take the form over may be lost
    await interactive(page);
    await answer(page).getByLabel("Kind of subject").selectOption("ServiceAccount");
    await answer(page).getByLabel("Subject", { exact: true }).fill("default");
    await answer(page).getByRole("button", { name: "Show" }).click();
    await expect(answer(page).getByRole("alert")).toContainText("Write a ServiceAccount with its namespace");
    await answer(page).getByLabel("Subject", { exact: true }).fill(`${namespace}/default`);
    await answer(page).getByRole("button", { name: "Show" }).click();
    await expect(answer(page).getByRole("heading", { name: `${namespace}/default can` })).toBeVisible();
    await expect(answer(page)).toContainText(`system:serviceaccounts:${namespace}`);
  });

  test("need_31 a viewer who may not read bindings is shown which right is missing", async ({ page }) => {
    await signIn(page, "vera", `${path.accessPage()}?subject_kind=User&subject=ada%40Default`);
    const refusal = answer(page).getByRole("alert");
    await expect(refusal).toContainText("Missing permission: list on rolebindings in the whole cluster.");
    await expect(refusal.getByRole("link", { name: "Who can?" })).toBeVisible();
  });
});
