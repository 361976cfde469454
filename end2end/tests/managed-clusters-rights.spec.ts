// What five users are offered with the clusters of a project, and that each refused call is refused when it is sent nevertheless.
import { randomUUID } from "node:crypto";
import type { Browser, Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import type { Answer } from "../support/http";
import { PanelApi } from "../support/panel-api";
import { signIn, type Account } from "../support/sign-in";
import { clustersOf, clustersPage, createColleague, createTenant, hasMagnum, removeTenant, template, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

let tenant: Tenant;
let elsewhere: Tenant;
let cluster = "";
const name = unique("rights");

const main = (page: Page) => page.getByRole("main");
const body = (of: string) => ({
  form: { name: of, template, keypair: "ops", labels: { sim_seconds: "1" }, groups: [{ name: "default-worker", count: 1 }] },
  attempt: randomUUID(),
});

async function pageOf(browser: Browser, who: Account, address: string) {
  const context = await newContext(browser);
  const page = await context.newPage();
  await signIn(page, who, address);
  return page;
}

test.beforeAll(async ({ browser }) => {
  [tenant, elsewhere] = await Promise.all([createTenant(), createTenant()]);
  const page = await pageOf(browser, tenant.member, clustersPage(tenant));
  const api = await PanelApi.inProject(page, tenant.project);
  const answer = await api.post("/api/managed_clusters/create", body(name));
  cluster = (JSON.parse(answer.body) as { accepted: { cluster: string } }).accepted.cluster;
  await expect.poll(async () => (await clustersOf(tenant))[0]?.status, { timeout: 30_000 }).toBe("CREATE_COMPLETE");
  await page.context().close();
});
test.afterAll(async () => {
  await removeTenant(tenant);
  await removeTenant(elsewhere);
});

/** Whether a call had no effect: an error, or an answer with the reason. */
const isRefused = ({ status, body: text }: Answer) => status >= 400 || /"(refused|already_gone)"/.test(text);

/** Sends what a page would send, whether or not it offers it, and returns the answers. */
async function force(api: PanelApi) {
  const options = { services_first: false, claims_first: false };
  const calls = {
    create: body(unique("forced")),
    delete: { cluster, typed: name, options },
    enrol: { cluster },
    continue: { cluster },
    upgrade: { cluster, template: randomUUID(), typed: name },
    rotate_ca: { cluster, typed: name },
    settle: { cluster, reviewed: { group: "default-worker", nodes: 1 }, reason: "" },
    rotate_credential: { cluster, typed: name, reason: "" },
    set_protection: { cluster, is_on: true, typed: name },
    sign_certificate: { cluster, request: "-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n" },
  };
  const answers: [string, Answer][] = [];
  for (const [call, request] of Object.entries(calls)) {
    answers.push([call, await api.post(`/api/managed_clusters/${call}`, request)]);
  }
  return answers;
}

test("case_13 a reader sees why nothing can be changed, and each call is refused", async ({ browser }) => {
  const page = await pageOf(browser, await createColleague(tenant, "reader"), clustersPage(tenant));
  const create = main(page).locator("[data-action=create-cluster]").first();
  await expect(create).toHaveAttribute("aria-disabled", "true");
  await expect(main(page).getByRole("link", { name: "Create cluster" })).toHaveCount(0);
  await page.goto(clustersPage(tenant, "create"));
  await expect(main(page)).toContainText("cluster:create");
  await page.goto(clustersPage(tenant, cluster));
  await expect(main(page).getByRole("link", { name: "Delete cluster" })).toHaveCount(0);
  await page.goto(`${clustersPage(tenant, cluster)}?view=delete`);
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  await expect(main(page).getByRole("button", { name: "Delete cluster" })).toBeDisabled();
  await expect(main(page)).toContainText("cluster:delete");
  const api = await PanelApi.inProject(page, tenant.project);
  for (const [call, answer] of await force(api)) expect(isRefused(answer), `${call}: ${answer.status} ${answer.body}`).toBe(true);
  expect(await clustersOf(tenant)).toHaveLength(1);
  expect((await clustersOf(tenant))[0]?.status).toBe("CREATE_COMPLETE");
  await page.context().close();
});

test("a colleague is offered what members may do, and not what only the creator can", async ({ browser }) => {
  const page = await pageOf(browser, await createColleague(tenant, "member"), clustersPage(tenant));
  await expect(main(page).getByRole("link", { name: "Create cluster" })).toBeVisible();
  await page.goto(clustersPage(tenant, cluster));
  await expect(main(page).getByRole("link", { name: "Delete cluster" })).toBeVisible();
  const api = await PanelApi.inProject(page, tenant.project);
  const enrolment = await api.post("/api/managed_clusters/enrol", { cluster });
  expect(isRefused(enrolment), enrolment.body).toBe(true);
  await page.context().close();
});

test("the creator may delete the cluster", async ({ browser }) => {
  const page = await pageOf(browser, tenant.member, clustersPage(tenant, cluster));
  await expect(main(page).getByRole("link", { name: "Delete cluster" })).toBeVisible();
  await page.context().close();
});

test("case_07 an administrator sees the clusters of the project only", async ({ browser }) => {
  const root = await createColleague(tenant, "admin");
  const page = await pageOf(browser, root, clustersPage(tenant));
  await expect(main(page).getByRole("link", { name, exact: true })).toBeVisible();
  await expect(main(page).getByRole("row")).toHaveCount(2);
  await expect(main(page).getByRole("link", { name: "Create cluster" })).toBeVisible();
  await page.context().close();
});

test("for a member of another project the cluster does not exist, and each call is refused", async ({ browser }) => {
  const page = await pageOf(browser, elsewhere.member, clustersPage(elsewhere));
  await expect(main(page).locator("[data-state=empty]")).toContainText("No clusters yet");
  await page.goto(clustersPage(elsewhere, cluster));
  await expect(main(page)).toContainText("This project has no such cluster");
  const own = await PanelApi.inProject(page, elsewhere.project);
  const options = { services_first: false, claims_first: false };
  const deletion = await own.post("/api/managed_clusters/delete", { cluster, typed: name, options });
  expect(isRefused(deletion), deletion.body).toBe(true);
  // in the name of the other project
  const foreign = await PanelApi.inProject(page, tenant.project);
  for (const [call, answer] of await force(foreign)) expect(isRefused(answer), `${call}: ${answer.status} ${answer.body}`).toBe(true);
  expect((await clustersOf(tenant)).map((one) => one.status)).toEqual(["CREATE_COMPLETE"]);
  await page.context().close();
});
