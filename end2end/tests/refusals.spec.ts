// Refusals: each names the missing permission and leads to those who have it. And the other way round: what a subject can do.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { apply } from "../support/kubectl";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
import { createNamespace, podManifest, remove } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("refusals");
  await apply("acme-prod", podManifest(namespace, "kept"));
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
