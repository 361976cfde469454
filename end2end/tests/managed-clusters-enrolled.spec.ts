// A cluster that answers and is enrolled: reports that contradict Portico's own request, an authority that has changed, and a deletion that
// Kubernetes refuses. Magnum is the stack's own; the template of the cluster makes a real etcd and API server.
import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import { giveRoleIn } from "../support/keystone";
import { createCluster, isAccessible, main, statusOf, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signIn } from "../support/sign-in";
import { clustersPage, createTenant, hasMagnum, magnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

// one cluster for all tests: it takes a minute until it is enrolled
test.describe.configure({ mode: "serial" });

const LOCAL = "kubernetes-local";

let tenant: Tenant;
let page: Page;
let cluster: string;
const name = unique("answers");

const part = (which: string) => page.locator(`[data-part=${which}]`);
const viewOf = (view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(240_000);
  tenant = await createTenant();
  // in an enrolled cluster it is bound in every namespace
  await giveRoleIn(tenant.users[0] ?? "", tenant.project, "k8s_developer");
  page = await (await newContext(browser)).newPage();
  await signIn(page, tenant.member, clustersPage(tenant));
  // the conductor leaves the health to clients: the tests set it
  cluster = await createCluster(page, tenant, name, { sim_health: "manual" }, LOCAL);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  await expect(part("enrolment").getByRole("link", { name: "Open cluster" })).toBeVisible({ timeout: 120_000 });
});

test.afterAll(async () => {
  // a record without its cluster would be an unavailable cluster on the pages of other tests; 409: Magnum still has it
  const api = await PanelApi.inProject(page, tenant.project);
  const options = { services_first: false, claims_first: false };
  await api.post("/api/managed_clusters/delete", { cluster, typed: name, options });
  const removal = async () => (await api.post("/api/managed_clusters/remove_record", { cluster })).status;
  await expect.poll(removal, { timeout: 60_000 }).not.toBe(409);
  await page.context().close();
  await removeTenant(tenant);
});

/** Sets the health of the cluster in Magnum, as an auto-healer does. */
async function report(status: string, reasons: Record<string, string>) {
  const patch = [
    { op: "replace", path: "/health_status", value: status },
    // a patch has texts and numbers only
    { op: "replace", path: "/health_status_reason", value: JSON.stringify(reasons) },
  ];
  const answer = await magnum(tenant, "PATCH", `/clusters/${cluster}`, patch);
  expect(answer.status, answer.body).toBe(202);
}

/** Measures until Magnum's report is this one, and the API server has answered. */
async function measured(status: string) {
  await expect(async () => {
    await main(page).getByRole("button", { name: "Measure again" }).click();
    await expect(part("reported")).toContainText(status, { timeout: 2_000 });
    await expect(part("measured")).toContainText("v1.20", { timeout: 2_000 });
  }).toPass({ timeout: 90_000 });
}

test("case_47 Magnum's bad report about an API server that answers is shown beside Portico's own request, each with its age", async () => {
  await page.goto(clustersPage(tenant, cluster));
  await report("UNHEALTHY", { api: "error" });
  await measured("Unhealthy");
  await expect(part("reported")).toContainText(/changed its record .* ago|age not known/);
  await expect(part("measured")).toContainText(/ago/);
  await expect(part("disagreement")).toContainText("Magnum reports that the API server is not healthy, but it answered Portico");
  await isAccessible(page);
  // control case: they agree
  await report("HEALTHY", { api: "ok" });
  await measured("Healthy");
  await expect(part("disagreement")).toHaveCount(0);
});

test("case_40 a changed authority is compared with Portico's record, which a button updates", async () => {
  test.setTimeout(240_000);
  await page.goto(viewOf("certificates"));
  await expect(part("authority")).toContainText("Fingerprint (SHA-256)");
  await expect(part("record")).toHaveCount(0);
  // Portico does not offer it for this driver, which it does not know; another client asks for it
  const rotated = await magnum(tenant, "PATCH", `/certificates/${cluster}`);
  expect(rotated.status, rotated.body).toBe(202);
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await page.reload();
  const record = part("record");
  await expect(record).toContainText("The authority of this cluster has changed");
  // kubeconfigs from before have the old authority
  await expect(record).toContainText("Update the record, then get the kubeconfig again");
  await isAccessible(page);
  await expect(async () => {
    await record.getByRole("button", { name: "Update the record" }).click();
    await expect(record).toHaveCount(0, { timeout: 20_000 });
  }).toPass({ timeout: 90_000 });
  // each replica learns of the changed record within some seconds
  await expect(async () => {
    await page.reload();
    await expect(part("authority")).toContainText("Fingerprint (SHA-256)");
    await expect(record).toHaveCount(0, { timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
  // with the new authority the cluster is opened again
  await page.goto(clustersPage(tenant, cluster));
  await measured("Healthy");
});

test("a user with rights in single namespaces accepts that others may have Services and claims, before they are deleted first", async () => {
  test.setTimeout(240_000);
  await page.goto(viewOf("delete"));
  await main(page).getByLabel(/Delete Services of the type LoadBalancer first/).check();
  await main(page).getByLabel(/Delete PersistentVolumeClaims first/).check();
  await main(page).getByLabel(`Type ${name} to confirm`).fill(name);
  const send = main(page).getByRole("button", { name: "Delete cluster" });
  await expect(part("partial")).toContainText("default", { timeout: 60_000 });
  await expect(send).toBeDisabled();
  await isAccessible(page);
  // the server does not delete it without the acceptance either
  const api = await PanelApi.inProject(page, tenant.project);
  const options = { services_first: true, claims_first: true };
  const forced = await api.post("/api/managed_clusters/delete", { cluster, typed: name, options });
  expect(forced.body).toContain("this has to be accepted first");
  // nor with the acceptance of other namespaces than those that are read now
  const outdated = { ...options, accepted_partial: ["Services were looked for in another namespace."] };
  const changed = await api.post("/api/managed_clusters/delete", { cluster, typed: name, options: outdated });
  expect(changed.body).toContain("changed since it was accepted");
  expect(await statusOf(tenant, cluster)).toMatch(/_COMPLETE$/);
  // it is not sent so: the cluster can be deleted once, which is the control case
  await part("partial").getByRole("checkbox").check();
  await expect(send).toBeEnabled({ timeout: 30_000 });
  // control case: without the options it is deleted
  await main(page).getByLabel(/Delete Services of the type LoadBalancer first/).uncheck();
  await main(page).getByLabel(/Delete PersistentVolumeClaims first/).uncheck();
  await expect(send).toBeEnabled({ timeout: 30_000 });
  await send.click();
  await expect(page).toHaveURL(/view=leftovers$/, { timeout: 120_000 });
  expect(await statusOf(tenant, cluster)).toBeUndefined();
});
