// The list of Magnum's clusters and the form for a new one, against the real Magnum, in a project of their own.
import type { Page } from "@playwright/test";
import { axe } from "../support/accessibility";
import { expect, test } from "../support/browser";
import { signIn } from "../support/shared-sign-in";
import { clustersOf, clustersPage, createTenant, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const main = (page: Page) => page.getByRole("main");
const field = (page: Page, name: string) => main(page).getByLabel(name, { exact: true });
const step = (page: Page, name: string) => main(page).getByRole("navigation", { name: "Steps" }).getByRole("button", { name });
const heading = (page: Page, name: string) => main(page).getByRole("heading", { level: 2, name, exact: true });
const create = (page: Page) => main(page).getByRole("button", { name: "Create cluster" });
const openForm = (page: Page) => signIn(page, tenant.member, clustersPage(tenant, "create"));

/** The file of a cluster of one second. */
const file = (name: string, more = "") => `apiVersion: portico.dev/v1alpha1
kind: Cluster
metadata:
  name: ${name}
spec:
  template: ${template}
  keypair: ops
  labels:
    sim_seconds: "1"
${more}`;

/** Reads a file into the form, and goes to the review. */
async function useFile(page: Page, text: string) {
  await main(page).getByText("Start from a file").click();
  await field(page, "File or request body").fill(text);
  await main(page).getByRole("button", { name: "Use this text in the form" }).click();
}

async function isAccessible(page: Page) {
  const { violations } = await axe(page).include("main").analyze();
  expect(violations).toEqual([]);
}

test("a project without clusters learns what to do next", async ({ page }) => {
  await signIn(page, tenant.member, `/projects/${tenant.project}`);
  await page.getByRole("link", { name: "Manage clusters" }).click();
  await expect(page).toHaveURL(new RegExp(`${clustersPage(tenant)}$`));
  const empty = main(page).locator("[data-state=empty]");
  await expect(empty).toContainText("No clusters yet");
  await expect(main(page)).toContainText(/quota of clusters/i);
  await isAccessible(page);
  await empty.getByRole("link", { name: "Create cluster" }).click();
  await expect(heading(page, "Template")).toBeVisible();
});

test("the form is filled in with the keyboard, and going back loses nothing", async ({ page }) => {
  await openForm(page);
  const name = unique("keys");
  await field(page, "Name").focus();
  await page.keyboard.type(name);
  await main(page).locator(`[data-template="${template}"]`).getByRole("radio").focus();
  await page.keyboard.press("Space");
  await expect(step(page, "Template")).toHaveAttribute("aria-current", "step");
  // Enter in a field leads to the next step, whose heading has the focus
  await field(page, "Name").press("Enter");
  await expect(heading(page, "Size")).toBeFocused();
  await expect(step(page, "Size")).toHaveAttribute("aria-current", "step");
  await field(page, "Number of nodes").fill("2");
  await expect(main(page).locator("[data-part=quotas]")).toContainText("→");
  await step(page, "Network and access").focus();
  await page.keyboard.press("Enter");
  await expect(heading(page, "Network and access")).toBeFocused();
  await field(page, "Networks that may reach the API").fill("198.51.100.0/24");
  await field(page, "Further labels").fill("sim_seconds=1");
  await expect(main(page)).toContainText("Magnum cannot change this later");
  await main(page).getByRole("button", { name: "Back" }).press("Enter");
  await expect(field(page, "Number of nodes")).toHaveValue("2");
  await step(page, "Network and access").press("Enter");
  await expect(field(page, "Networks that may reach the API")).toHaveValue("198.51.100.0/24");
  await expect(main(page).getByRole("region", { name: "Labels of the cluster" })).toContainText("sim_seconds");
  await page.reload();
  await expect(main(page)).toContainText("not sent before");
  await expect(field(page, "Further labels")).toHaveValue("sim_seconds=1");
  await step(page, "Template").press("Enter");
  await expect(field(page, "Name")).toHaveValue(name);
});

test("what is wrong is named beside its field, and nothing can be sent", async ({ page }) => {
  await openForm(page);
  await step(page, "Review").click();
  await expect(main(page)).toContainText("Correct this first");
  await expect(create(page)).toHaveAttribute("aria-disabled", "true");
  await step(page, "Template").click();
  const name = field(page, "Name");
  await expect(name).toHaveAttribute("aria-invalid", "true");
  const described = await name.getAttribute("aria-describedby");
  // the first of the texts that describe it
  await expect(page.locator(`[id="${(described ?? "").split(" ")[0]}"]`)).toBeVisible();
  await name.fill("shop");
  await expect(name).not.toHaveAttribute("aria-invalid", "true");
});

test("case_11 two control plane nodes are refused before anything is sent", async ({ page }) => {
  await openForm(page);
  await useFile(page, file(unique("even"), "  controlPlane:\n    replicas: 2\n"));
  await step(page, "Review").click();
  await expect(create(page)).toHaveAttribute("aria-disabled", "true");
  await step(page, "Size").click();
  await expect(field(page, "Nodes of the control plane")).toHaveAttribute("aria-invalid", "true");
});

test("case_12 three control plane nodes switch the load balancer on, with the reason", async ({ page }) => {
  await openForm(page);
  await useFile(page, file(unique("three")));
  await step(page, "Size").click();
  await field(page, "Nodes of the control plane").selectOption("3");
  await step(page, "Review").click();
  await expect(main(page)).toContainText(/load balancer/i);
  await main(page).getByRole("tab", { name: "Request body" }).click();
  await expect(main(page).getByRole("region", { name: "Request body" })).toContainText('"master_lb_enabled": true');
});

test("the chosen notation stays when the form's check arrives", async ({ page }) => {
  await openForm(page);
  await useFile(page, file(unique("chosen")));
  await step(page, "Review").click();
  await expect(main(page).getByRole("tablist", { name: "Notations" })).toBeVisible();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/managed_clusters\/review$/, async (route) => {
    await released;
    await route.continue();
  });
  await step(page, "Size").click();
  await field(page, "Nodes of the control plane").selectOption("3");
  await step(page, "Review").click();
  const body = main(page).getByRole("region", { name: "Request body" });
  await main(page).getByRole("tab", { name: "Request body" }).click();
  await expect(body).toContainText('"master_count": 1');
  release();
  await expect(body).toContainText('"master_count": 3');
});

test("a text that cannot be read leaves the form as it is", async ({ page }) => {
  await openForm(page);
  await field(page, "Name").fill("stays");
  await useFile(page, "apiVersion: portico.dev/v1alpha1\nkind: Cluster\nmetadata: {name: x}\nspec: {template: a, colour: red}\n");
  await expect(main(page).getByRole("alert")).toContainText("colour");
  await expect(field(page, "Name")).toHaveValue("stays");
});

test("a file becomes a form, a command, a request and a cluster", async ({ page }) => {
  const name = unique("file");
  await openForm(page);
  await useFile(page, file(name));
  await expect(field(page, "Name")).toHaveValue(name);
  await step(page, "Review").click();
  await expect(main(page)).toContainText("What is created");
  await main(page).getByRole("tab", { name: "Command" }).click();
  await expect(main(page).getByRole("region", { name: "Command" })).toContainText(`portico cluster create -f ${name}.yaml`);
  await main(page).getByRole("tab", { name: "File" }).click();
  await expect(field(page, "File or request body")).toHaveValue(new RegExp(`name: ${name}`));
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(sideways, `pixels of sideways scroll at ${width}`).toBe(0);
  }
  await isAccessible(page);
  await field(page, "Reason").fill("CHG-11");
  await create(page).click();
  await expect(page).toHaveURL(/managed-clusters\/[0-9a-f-]{36}$/);
  const made = (await clustersOf(tenant)).filter((cluster) => cluster.name === name);
  expect(made).toHaveLength(1);
  await page.goto(clustersPage(tenant));
  const row = main(page).getByRole("row").filter({ hasText: name });
  await expect(row.getByRole("link", { name, exact: true })).toHaveAttribute("href", clustersPage(tenant, made[0]?.uuid));
  await expect(row).toContainText(template);
  await page.goto(`${clustersPage(tenant, made[0]?.uuid)}?view=journal`);
  await expect(main(page).locator("li[data-source]").filter({ hasText: "Reason: CHG-11" })).toContainText("Create the cluster");
  // the form is empty again
  await page.goto(clustersPage(tenant, "create"));
  await expect(field(page, "Name")).toHaveValue("");
});

/** Sends a form to Magnum, and loses the response. */
async function sendAndLose(page: Page, name: string) {
  await openForm(page);
  await useFile(page, file(name));
  await step(page, "Review").click();
  let lost = 0;
  // the request has reached Magnum when its response is paused
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId }) => {
    lost += 1;
    void session.send("Fetch.failRequest", { requestId, errorReason: "ConnectionReset" });
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*/api/managed_clusters/create", requestStage: "Response" }] });
  await create(page).click();
  await expect(main(page)).toContainText("its outcome is not known");
  expect(lost).toBe(1);
  await session.detach();
}

test("case_16 a lost response is continued after a reload, and makes one cluster", async ({ page }) => {
  const name = unique("lost");
  await sendAndLose(page, name);
  await page.reload();
  await expect(main(page)).toContainText("its outcome is not known");
  await main(page).getByRole("button", { name: "Continue" }).click();
  await expect(page).toHaveURL(/managed-clusters\/[0-9a-f-]{36}$/);
  expect((await clustersOf(tenant)).filter((cluster) => cluster.name === name)).toHaveLength(1);
});

test("case_16 a form that is changed after a lost response is reviewed again first", async ({ page }) => {
  const name = unique("changed");
  await sendAndLose(page, name);
  await main(page).getByRole("button", { name: "Change the form" }).click();
  // the new review knows the cluster that the lost request has made
  await expect(main(page).locator("[data-part=checks]")).toContainText("equal names");
  expect((await clustersOf(tenant)).filter((cluster) => cluster.name === name)).toHaveLength(1);
});
