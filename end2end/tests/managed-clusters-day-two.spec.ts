// Upgrades and certificates of clusters, on their pages and against the real Magnum with simulated drivers.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { createCluster, isAccessible, main, progress, title, waitForStatus } from "../support/managed-clusters";
import { PanelApi } from "../support/panel-api";
import { signedIn, signIn } from "../support/sign-in";
import { clustersPage, createColleague, createTenant, hasMagnum, magnum, removeTenant, type Tenant } from "../support/tenant";
import { unique } from "../support/workloads";

// only with PORTICO_WITHOUT_MAGNUM=1, which CI never sets
test.skip(!hasMagnum, "the stack has no Magnum");

/** The next minor version, and the templates of drivers that cannot do everything. */
const NEXT = "kubernetes-1.32";
const HEAT = "kubernetes-1.31-heat";
const CLUSTER_API = "kubernetes-1.31-cluster-api";

let tenant: Tenant;
test.beforeAll(async () => {
  tenant = await createTenant();
});
test.afterAll(() => removeTenant(tenant));

const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const typed = (page: Page, name: string) => main(page).getByLabel(`Type ${name} to confirm`);
const viewOf = (cluster: string, view: string) => `${clustersPage(tenant, cluster)}?view=${view}`;

/** Makes a cluster that is complete. */
async function complete(page: Page, name: string, template?: string): Promise<string> {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, name, {}, template);
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  return cluster;
}

/** The page has no sideways scroll at the width of a telephone. */
async function fitsOnATelephone(page: Page) {
  await page.setViewportSize({ width: 390, height: 844 });
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(sideways).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** The targets of an upgrade, as the page gets them. */
async function targetsOf(api: PanelApi, cluster: string) {
  const answer = await api.post("/api/managed_clusters/upgrade_options", { cluster, template: null });
  expect(answer.status, answer.body).toBe(200);
  return (JSON.parse(answer.body) as { targets: { id: string; name: string }[] }).targets;
}

async function fingerprintOf(api: PanelApi, cluster: string): Promise<string> {
  const answer = await api.post("/api/managed_clusters/certificates", { cluster });
  expect(answer.status, answer.body).toBe(200);
  return (JSON.parse(answer.body) as { authority: { magnum: { fingerprint: string } } }).authority.magnum.fingerprint;
}

/** Makes a template that differs from that of new clusters in its name and its version. */
async function templateWith(name: string, version: string): Promise<string> {
  const listed = await magnum(tenant, "GET", "/clustertemplates");
  const all = JSON.parse(listed.body).clustertemplates as Record<string, unknown>[];
  const of: Record<string, unknown> = all.find((one) => one.name === "kubernetes-1.31") ?? {};
  const fields = ["coe", "image_id", "driver", "external_network_id", "flavor_id", "master_flavor_id", "network_driver", "volume_driver", "server_type", "master_lb_enabled", "floating_ip_enabled"];
  const body = { ...Object.fromEntries(fields.map((field) => [field, of[field]])), name, labels: { ...(of.labels as object), kube_tag: version } };
  const made = await magnum(tenant, "POST", "/clustertemplates", body);
  expect(made.status, made.body).toBe(201);
  return (JSON.parse(made.body) as { uuid: string }).uuid;
}

// the first: a journal names templates as they were listed up to a minute ago
test("a patch release is confirmed by a button, and its reason is in the journal", async ({ page }) => {
  const name = unique("patch");
  const template = await templateWith(name, "v1.31.9");
  const cluster = await complete(page, name);
  await page.goto(viewOf(cluster, "upgrade"));
  await main(page).getByLabel("Upgrade to").selectOption({ label: `${name} (v1.31.9)` });
  await expect(part(page, "effect")).toContainText("v1.31.9");
  const confirmation = part(page, "confirmation");
  await expect(confirmation).toContainText("This is a patch release");
  await expect(typed(page, name)).toHaveCount(0);
  await isAccessible(page);
  // the name of another cluster is refused nonetheless
  const api = await PanelApi.inProject(page, tenant.project);
  const forced = await api.post("/api/managed_clusters/upgrade", { cluster, template, typed: `${name}-other` });
  expect(forced.body).toContain('"refused"');
  await confirmation.getByLabel("Reason").fill("CHG-38");
  await main(page).getByRole("button", { name: "Upgrade cluster" }).click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await page.goto(viewOf(cluster, "journal"));
  const entry = main(page).locator("li[data-source]").filter({ hasText: "Reason: CHG-38" });
  await expect(entry).toContainText(`Upgrade to ${name}`);
  // a template stays with its cluster
  await magnum(tenant, "DELETE", `/clusters/${cluster}`);
  await waitForStatus(tenant, cluster, undefined);
  await magnum(tenant, "DELETE", `/clustertemplates/${template}`);
});

test("case_37 a cluster is upgraded to the next version after its checks and its name", async ({ page }) => {
  const name = unique("upgrade");
  const cluster = await complete(page, name);
  await page.reload();
  await main(page).getByRole("link", { name: "Upgrade", exact: true }).click();
  await expect(page).toHaveURL(/view=upgrade$/);
  await expect(title(page)).toHaveText("Upgrade cluster");
  await expect(title(page)).toBeFocused();
  const row = (template: string) => part(page, "targets").getByRole("row").filter({ has: page.getByRole("rowheader", { name: template, exact: true }) });
  await expect(row(NEXT)).toContainText("Possible");
  await expect(row(HEAT)).toContainText("choose a template of the same driver");
  await isAccessible(page);
  await main(page).getByLabel("Upgrade to").selectOption({ label: `${NEXT} (v1.32.1)` });
  await expect(part(page, "effect")).toContainText("v1.32.1");
  await expect(part(page, "checks")).toContainText("Kubernetes changes from");
  await expect(part(page, "labels")).toContainText("kube_tag");
  await expect(part(page, "checks")).toContainText("Portico does not know of backups");
  await main(page).getByLabel("Nodes replaced at once").fill("2");
  await expect(part(page, "effect")).toContainText("Up to 2 nodes are replaced at once");
  await isAccessible(page);
  await fitsOnATelephone(page);
  const send = main(page).getByRole("button", { name: "Upgrade cluster" });
  await expect(send).toBeDisabled();
  await typed(page, name).fill(`${name}-other`);
  await expect(send).toBeDisabled();
  // the server compares the name too
  const api = await PanelApi.inProject(page, tenant.project);
  const template = (await targetsOf(api, cluster)).find((one) => one.name === NEXT)?.id;
  const forced = await api.post("/api/managed_clusters/upgrade", { cluster, template, typed: `${name}-other` });
  expect(forced.body).toContain('"refused"');
  // no name at all is for patch releases only
  const unnamed = await api.post("/api/managed_clusters/upgrade", { cluster, template, typed: "" });
  expect(unnamed.body).toContain('"refused"');
  await typed(page, name).fill(name);
  await part(page, "confirmation").getByLabel("Reason").fill("CHG-37");
  await send.click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await expect(progress(page)).toBeVisible({ timeout: 30_000 });
  // it is not enrolled, so its own API is not asked
  await expect(part(page, "node-progress")).toContainText("Not checked: ");
  await waitForStatus(tenant, cluster, "UPDATE_COMPLETE");
  await expect(main(page).getByText("v1.32.1").first()).toBeVisible({ timeout: 60_000 });
  await page.goto(viewOf(cluster, "journal"));
  const entries = main(page).locator("li[data-source]");
  await expect(entries.filter({ hasText: /Kubernetes version: v1\.31\.\d+ → v1\.32\.1/ })).toHaveCount(1);
  // there is no way back
  await page.goto(viewOf(cluster, "upgrade"));
  await expect(row("kubernetes-1.31")).toContainText("is older than");
  // names, not UUIDs
  await page.goto(viewOf(cluster, "journal"));
  await expect(main(page).getByText(`Upgrade to ${NEXT}`).first()).toBeVisible();
  await expect(entries.filter({ hasText: "Reason: CHG-37" })).toHaveCount(1);
  await expect(main(page).getByText(`Template: kubernetes-1.31 → ${NEXT}`).first()).toBeVisible();
});

test("the page of an upgrade follows a change of another client to its end, without a click", async ({ page }) => {
  await signIn(page, tenant.member, clustersPage(tenant));
  const cluster = await createCluster(page, tenant, unique("follow"), { sim_seconds: "20" });
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
  const groups = await magnum(tenant, "GET", `/clusters/${cluster}/nodegroups`);
  const { nodegroups } = JSON.parse(groups.body) as { nodegroups: { name: string; uuid: string }[] };
  const nodegroup = nodegroups.find(({ name }) => name === "default-worker")?.uuid;
  const resized = await magnum(tenant, "POST", `/clusters/${cluster}/actions/resize`, { node_count: 2, nodegroup });
  expect(resized.status, resized.body).toBe(202);
  // a page that is opened within three seconds of Portico's last look at Magnum begins with that look, and looks again
  await page.goto(viewOf(cluster, "upgrade"));
  await expect(progress(page)).toBeVisible();
  // it is not enrolled, so its own API is not asked
  await expect(part(page, "node-progress")).toContainText("Not checked: ");
  await expect(part(page, "refusal")).toBeVisible();
  await expect(main(page).getByLabel("Upgrade to")).toHaveCount(0);
  await isAccessible(page);
  await expect(progress(page)).toContainText("Complete", { timeout: 60_000 });
  await expect(part(page, "refusal")).toHaveCount(0);
  await expect(main(page).getByLabel("Upgrade to")).toBeVisible();
});

test("case_36 an upgrade that the driver refuses is not offered, with what to do instead", async ({ page }) => {
  const name = unique("heat");
  const cluster = await complete(page, name, HEAT);
  await page.reload();
  const disabled = main(page).locator("[data-action=upgrade]");
  await expect(disabled).toHaveAttribute("aria-disabled", "true");
  await expect(main(page).getByRole("link", { name: "Upgrade", exact: true })).toHaveCount(0);
  await page.goto(viewOf(cluster, "upgrade"));
  await expect(part(page, "refusal")).toContainText("Create a new cluster");
  await expect(main(page).getByRole("button", { name: "Upgrade cluster" })).toHaveCount(0);
  await isAccessible(page);
  const api = await PanelApi.inProject(page, tenant.project);
  const template = (await targetsOf(api, cluster)).find((one) => one.name === NEXT)?.id;
  const forced = await api.post("/api/managed_clusters/upgrade", { cluster, template, typed: name });
  expect(forced.body).toContain('"refused"');
  await waitForStatus(tenant, cluster, "CREATE_COMPLETE");
});

test("case_39 authorities that the driver cannot rotate stay, also if it is asked", async ({ page }) => {
  const name = unique("capi");
  const cluster = await complete(page, name, CLUSTER_API);
  await main(page).getByRole("link", { name: "Certificates" }).click();
  await expect(title(page)).toHaveText("Certificates");
  await expect(part(page, "authority")).toContainText("Fingerprint (SHA-256)");
  await expect(part(page, "authority")).toContainText(/\d+ days left/);
  await expect(main(page).locator("[data-action=rotate-ca]")).toHaveAttribute("aria-disabled", "true");
  await expect(part(page, "rotation")).toContainText("damage the cluster's record");
  await isAccessible(page);
  await fitsOnATelephone(page);
  const api = await PanelApi.inProject(page, tenant.project);
  const before = await fingerprintOf(api, cluster);
  const forced = await api.post("/api/managed_clusters/rotate_ca", { cluster, typed: name });
  expect(forced.body).toContain('"refused"');
  expect(await fingerprintOf(api, cluster)).toBe(before);
});

test("case_40 authorities are rotated after the name, and have another fingerprint", async ({ page }) => {
  const name = unique("rotate");
  const cluster = await complete(page, name);
  await page.goto(viewOf(cluster, "certificates"));
  const api = await PanelApi.inProject(page, tenant.project);
  const before = await fingerprintOf(api, cluster);
  await expect(part(page, "authority")).toContainText(before);
  // its head, etcd and the front proxy
  await expect(part(page, "other-authorities").getByRole("row")).toHaveCount(3);
  const send = main(page).getByRole("button", { name: "Rotate authorities" });
  await expect(part(page, "rotation")).toContainText("stops working at once");
  // the note about kubeconfigs from before
  await expect(part(page, "rotation")).toContainText("kubeconfigs with a certificate must be made again");
  await expect(send).toBeDisabled();
  await typed(page, name).fill(name);
  await part(page, "rotation").getByLabel("Reason").fill("CHG-40");
  await send.click();
  await expect(page).toHaveURL(new RegExp(`${cluster}$`));
  await expect.poll(() => fingerprintOf(api, cluster), { timeout: 60_000 }).not.toBe(before);
});

test("case_42 a colleague learns who may read the authority, and signs nothing", async ({ page, browser }) => {
  const cluster = await complete(page, unique("mine"));
  const colleague = await createColleague(tenant, "member");
  const other = await signedIn(browser, colleague, viewOf(cluster, "certificates"));
  await expect(part(other, "authority")).toContainText("user who created it only");
  await expect(part(other, "authority")).toContainText("The ID of that user is");
  await expect(other.locator("[data-action=sign-certificate]")).toHaveAttribute("aria-disabled", "true");
  await isAccessible(other);
  const api = await PanelApi.inProject(other, tenant.project);
  const request = "-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n";
  const forced = await api.post("/api/managed_clusters/sign_certificate", { cluster, request });
  expect(forced.status, forced.body).toBe(403);
  await other.context().close();
});

test("a certificate request is signed, and a private key is refused", async ({ page }) => {
  const name = unique("sign");
  const cluster = await complete(page, name);
  const directory = mkdtempSync(join(tmpdir(), "portico-csr-"));
  const [keyFile, requestFile] = [join(directory, "ops.key"), join(directory, "ops.csr")];
  const words = ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", keyFile, "-out", requestFile, "-subj", "/CN=ops"];
  execFileSync("openssl", words, { stdio: "ignore" });
  const [key, request] = [readFileSync(keyFile, "utf8"), readFileSync(requestFile, "utf8")];
  rmSync(directory, { recursive: true });
  await page.goto(viewOf(cluster, "certificates"));
  const field = main(page).getByLabel("Certificate request");
  const send = main(page).getByRole("button", { name: "Sign request" });
  await field.fill(`${request}${key}`);
  await send.click();
  await expect(part(page, "signing").getByRole("alert")).toContainText("private key, which is never sent");
  await field.fill(request);
  await send.click();
  const signed = part(page, "signed");
  await expect(signed).toContainText("CN=ops");
  await isAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    signed.getByRole("link", { name: "Download certificate" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${name}.crt`);
  expect(readFileSync(await download.path(), "utf8")).toMatch(/^-----BEGIN CERTIFICATE-----/);
});
