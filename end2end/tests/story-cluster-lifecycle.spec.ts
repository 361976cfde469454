// A member of a project gets a cluster from Magnum, watches it being made, uses it with kubectl as soon as it is enrolled, deletes it,
// and sees what is left. Magnum is the stack's own, and the cluster answers: its template makes a real etcd and API server.
import type { Page } from "@playwright/test";
import { expect, newContext, takeComplaints, test } from "../support/browser";
import { CommandLine } from "../support/cli";
import { optionalSetting, projectId } from "../support/env";
import { createUser, deleteUser, giveRole } from "../support/keystone";
import { examine, ofTheBrowser } from "../support/page-check";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { record } from "../support/secrets";
import { signIn, type Account } from "../support/sign-in";
import { clustersOf } from "../support/tenant";
import { unique } from "../support/workloads";

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const title = (page: Page) => page.getByRole("main").getByRole("heading", { level: 1 });

/** Looks at the page in both schemes and widths, and returns it to those of the story. */
async function look(page: Page, what: string) {
  // the heading of a step has the focus, and the bar at the top may cover what is above it
  await page.evaluate(() => window.scrollTo(0, 0));
  await examine(page, `story-cluster-${what}`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Fills in the form, one step after another, and returns the UUID of the new cluster. */
async function create(page: Page, name: string): Promise<string> {
  const main = page.getByRole("main");
  const step = (title: string) => expect(main.getByRole("heading", { level: 2, name: title, exact: true })).toBeFocused();
  const next = main.getByRole("button", { name: "Next" });
  await page.getByRole("link", { name: "Create cluster" }).first().click();
  await main.getByLabel("Name", { exact: true }).fill(name);
  await main.getByLabel("Key pair").selectOption("ops");
  await main.locator('[data-template="kubernetes-local"]').getByRole("radio").check();
  await look(page, "0-template");
  await next.click();
  await step("Size");
  await main.getByLabel("Nodes of the control plane").selectOption("1");
  await main.getByLabel("Number of nodes").fill("1");
  await expect(main.locator("[data-part=quotas]")).toContainText("→");
  await look(page, "0-size");
  await next.click();
  await step("Network and access");
  await main.getByLabel("Networks that may reach the API").fill("127.0.0.0/8");
  await look(page, "0-access");
  await next.click();
  await step("Review");
  const send = main.getByRole("button", { name: "Create cluster" });
  await expect(send).not.toHaveAttribute("aria-disabled", "true");
  await expect(main).toContainText("What is created");
  await look(page, "0-review");
  await send.click();
  await expect(page).toHaveURL(/managed-clusters\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname.split("/").pop() ?? "";
}

/** Nothing stays of a story that has failed halfway; what is deleted already is not there any more. */
async function clear(page: Page, who: Account, known: string, name: string) {
  // the page of a creation may not have opened in time
  const all = known ? [] : await clustersOf({ project: projectId("acme"), member: who, users: [] });
  const cluster = known || all.find((one) => one.name === name)?.uuid;
  if (!cluster) return;
  await page.goto(path.managedClusters());
  const api = await PanelApi.of(page, "acme");
  await api.post("/api/managed_clusters/delete", { cluster, typed: name, options: { services_first: false, claims_first: false } });
  // a record without its cluster would be an unavailable cluster on the pages of other tests; 409: Magnum still has it
  const removal = async () => (await api.post("/api/managed_clusters/remove_record", { cluster })).status;
  await expect.poll(removal, { timeout: 60_000 }).not.toBe(409);
}

test.describe("with Magnum", () => {
  // only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
  test.skip(!optionalSetting("MAGNUM_URL"), "the stack has no Magnum");

  let who: Account & { id: string };
  test.beforeAll(async () => {
    const name = unique("owner");
    const password = unique("password");
    record("password", password);
    who = { name, password, id: await createUser(name, password) };
    // Magnum asks for the first; in an enrolled cluster the second is bound
    for (const role of ["member", "k8s_developer"] as const) await giveRole(who.id, "acme", role);
  });
  test.afterAll(async () => {
    await deleteUser(who.id);
  });

  test("need_cluster a member creates a cluster, uses it with kubectl, deletes it, and sees that nothing is left", async ({ browser }) => {
    test.setTimeout(420_000);
    const name = unique("story");
    const context = await newContext(browser);
    const page = await context.newPage();
    await signIn(page, who, path.managedClusters());
    let cluster = "";
    try {
      cluster = await create(page, name);
      await expect(title(page)).toHaveText(name);
      const steps = page.getByRole("list", { name: "Steps" });
      await expect(steps.getByRole("listitem").first()).toBeVisible();
      await expect(page.getByText(cluster, { exact: true }).first()).toBeVisible();
      await look(page, "1-creation");

      // the page enrols it by itself
      const enrolment = part(page, "enrolment");
      await expect(enrolment.getByRole("link", { name: "Open cluster" })).toBeVisible({ timeout: 120_000 });
      await expect(enrolment).toContainText(`kubectl --context ${name} get namespaces`);
      await look(page, "2-enrolled");

      const terminal = new CommandLine(who.name);
      await terminal.login(page);
      const namespaces = async () => {
        const listed = await terminal.kubectl(cluster, ["get", "namespaces", "-o", "name"]);
        return `${listed.stdout}${listed.stderr}`;
      };
      await expect.poll(namespaces, { timeout: 60_000 }).toContain("namespace/kube-system");

      await page.goto(path.managedClusters(cluster));
      await enrolment.getByRole("link", { name: "Open cluster" }).click();
      await expect(page).toHaveURL(new RegExp(`/clusters/${cluster}$`));
      await expect(title(page)).toHaveText(name);

      // for API servers that others built
      await page.goto(path.managedClusters(cluster, "configuration"));
      await expect(title(page)).toHaveText("API server configuration");
      await expect(page.getByText("It is configured.")).toBeVisible();
      await expect(page.locator("[data-part=block]").filter({ hasText: /server: "?https:\/\/127\.0\.0\.1:/ })).toBeVisible();
      await look(page, "2-configuration");

      await page.goto(path.managedClusters(cluster));
      await page.getByRole("link", { name: "Delete cluster" }).click();
      await expect(page).toHaveURL(/view=delete$/);
      await expect(title(page)).toHaveText("Delete cluster");
      await expect(title(page)).toBeFocused();
      for (const group of [/^Will be deleted \([1-9]/, /^Depends on /, /^Remains and may incur costs \(/]) await expect(page.getByRole("heading", { name: group })).toBeVisible();
      const send = page.getByRole("button", { name: "Delete cluster" });
      const typed = page.getByLabel(`Type ${name} to confirm`);
      await expect(send).toBeDisabled();
      await typed.fill(`${name}-other`);
      await expect(send).toBeDisabled();
      await typed.fill(name);
      await expect(send).toBeEnabled();
      await look(page, "3-deletion");
      await send.click();

      // over the page of its progress
      await expect(page).toHaveURL(/view=leftovers$/, { timeout: 120_000 });
      await expect(title(page)).toHaveText("Leftovers");
      await expect(page.getByRole("heading", { name: "Nothing is left" })).toBeVisible({ timeout: 60_000 });
      await look(page, "4-leftovers");
      // its record is removed with that
      await expect(page.getByRole("button", { name: "Remove from Portico" })).toHaveCount(0);
      await expect.poll(async () => (await terminal.kubectl(cluster, ["get", "namespaces"])).code).not.toBe(0);
      expect(takeComplaints(context).filter((text) => !ofTheBrowser.test(text))).toEqual([]);
    } finally {
      await clear(page, who, cluster, name);
      await context.close();
    }
  });
});
