import type { Page } from "@playwright/test";
import { expect, newContext, test } from "../support/browser";
import type { UserName } from "../support/env";
import { interactive } from "../support/interactive";
import { admin, type Resource } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, createPod, deploymentManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("changes");
});
test.afterAll(() => remove(namespace));

const read = (resource: Resource, name: string) => admin("acme-prod").find(resource, name, namespace);
const replicasOf = async (name: string): Promise<number> => (await read("deployments", name))?.spec.replicas;

async function deployed(replicas = 1): Promise<string> {
  const name = unique("web");
  await admin("acme-prod").apply(deploymentManifest(namespace, name, replicas));
  return name;
}

const dialog = (page: Page) => page.getByRole("dialog");

/** Opens a page, once scripts have taken it over: before, its buttons lead to a form in the page instead of a dialog. */
async function open(page: Page, user: UserName, to: string) {
  await signIn(page, user, to);
  await interactive(page);
}

test("a deployment is scaled", async ({ page }) => {
  const name = await deployed();
  await open(page, "devi", path.deployment(namespace, name));
  await page.getByRole("button", { name: "Scale" }).click();
  await dialog(page).getByLabel("Replicas").fill("3");
  await dialog(page).getByRole("button", { name: /^Scale/ }).click();
  await expect.poll(() => replicasOf(name)).toBe(3);
  await expect(page.getByRole("main")).toContainText(/3 of 3|3\/3/, { timeout: 30_000 });
});

test("a deployment leads to its own pods and no others", async ({ page }) => {
  const [name, other] = [await deployed(), await deployed()];
  await signIn(page, "vera", path.deployment(namespace, name));
  const pods = page.locator("[data-part=pods]");
  await expect(pods.getByRole("link", { name: new RegExp(`^${name}-`) })).toBeVisible();
  await expect(pods.getByRole("link", { name: new RegExp(`^${other}-`) })).toHaveCount(0);
  await pods.getByRole("link", { name: "Open as list" }).click();
  await expect(page).toHaveURL(/\/resources\/core\/v1\/pods\?/);
  await expect(page.getByRole("link", { name: new RegExp(`^${name}-`) })).toBeVisible();
  await expect(page.getByRole("link", { name: new RegExp(`^${other}-`) })).toHaveCount(0);
});

test("a number of replicas that is none is refused before it is sent", async ({ page }) => {
  const name = await deployed();
  await open(page, "devi", path.deployment(namespace, name));
  await page.getByRole("button", { name: "Scale" }).click();
  await dialog(page).getByLabel("Replicas").fill("-4");
  await dialog(page).getByRole("button", { name: /^Scale/ }).click();
  await expect(dialog(page)).toBeVisible();
  expect(await replicasOf(name)).toBe(1);
});

test("a deployment is restarted", async ({ page }) => {
  const name = await deployed();
  await open(page, "devi", path.deployment(namespace, name));
  await page.getByRole("button", { name: /^Restart/ }).click();
  await dialog(page).getByRole("button", { name: "Restart" }).click();
  await expect
    .poll(async () => (await read("deployments", name))?.spec.template.metadata.annotations?.["kubectl.kubernetes.io/restartedAt"])
    .toBeDefined();
});

test("a pod is deleted after a confirmation, and only then", async ({ page }) => {
  const name = unique("doomed");
  await createPod(namespace, name);
  await open(page, "devi", path.pod(namespace, name));
  await page.getByRole("button", { name: /^Delete/ }).click();
  await dialog(page).getByText("Cancel", { exact: true }).click();
  expect(await read("pods", name)).toBeDefined();
  await page.getByRole("button", { name: /^Delete/ }).click();
  await expect(dialog(page)).toContainText(name);
  await dialog(page).getByRole("button", { name: /^Delete/ }).click();
  await expect.poll(() => read("pods", name)).toBeUndefined();
});

test("another object of the same name is not deleted instead", async ({ page }) => {
  const name = unique("reborn");
  await createPod(namespace, name);
  await open(page, "devi", path.pod(namespace, name));
  await page.getByRole("button", { name: /^Delete/ }).click();
  await expect(dialog(page)).toBeVisible();
  await page.context().setOffline(true);
  await admin("acme-prod").delete("pods", name, { namespace, gracePeriodSeconds: 0 });
  await createPod(namespace, name);
  const uid = (await read("pods", name))?.metadata.uid;
  expect(uid).toBeDefined();
  await page.context().setOffline(false);
  await dialog(page).getByRole("button", { name: /^Delete/ }).click();
  await expect(page.getByText(/changed the object first|another|in the meantime|conflict/i).first()).toBeVisible();
  expect((await read("pods", name))?.metadata.uid).toBe(uid);
});

test("vera sees every change, each shut with its reason", async ({ page }) => {
  const name = await deployed();
  await signIn(page, "vera", path.deployment(namespace, name));
  for (const action of ["Scale", "Restart", "Delete"]) {
    const button = page.getByRole("button", { name: new RegExp(`^${action}`) });
    await expect(button).toHaveAttribute("aria-disabled", "true");
    await expect(button).toHaveAccessibleDescription(/Your roles do not include/);
    await button.click({ force: true });
    await expect(dialog(page)).toHaveCount(0);
  }
});

test("without scripts a deployment is scaled", async ({ browser }) => {
  const name = await deployed();
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "devi", path.deployment(namespace, name));
  await page.getByRole("button", { name: "Scale", exact: true }).click();
  await page.getByLabel("Replicas").fill("2");
  await page.locator("form[method=post]").getByRole("button", { name: "Scale" }).click();
  await expect.poll(() => replicasOf(name)).toBe(2);
  await expect(page.getByRole("main")).toContainText("is being scaled");
  await context.close();
});

test("without scripts one delete works, with a page that asks first", async ({ browser }) => {
  const name = unique("plain");
  await createPod(namespace, name);
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "devi", path.pod(namespace, name));
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("heading", { name: `Delete Pod ${name}?` })).toBeVisible();
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await expect.poll(() => read("pods", name)).toBeUndefined();
  await expect(page.getByRole("main")).toContainText(/is deleting|deleted/i);
  await context.close();
});

test("finding_s8 without scripts a refused change comes back as a kind of error, not as text", async ({ browser }) => {
  const name = unique("gone");
  await createPod(namespace, name);
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "devi", path.pod(namespace, name));
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await admin("acme-prod").delete("pods", name, { namespace, gracePeriodSeconds: 0 });
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await expect(page).toHaveURL(/[?&]error=not-found$/);
  await expect(page).not.toHaveURL(/__err|__path/);
  await expect(page.getByRole("alert").first()).toContainText("the object does not exist any more");
  await context.close();
});

test("finding_s9 a link cannot put text of its own into a success message", async ({ page }) => {
  const name = await deployed();
  const address = path.deployment(namespace, name);
  await signIn(page, "devi", `${address}?notice=scale&object=Call%200800%20123`);
  const main = page.getByRole("main");
  await expect(main).toContainText(`${name} is being scaled.`);
  await expect(main).not.toContainText("0800");
  await page.goto(`${path.deployment(namespace, "Call%200800%20123")}?notice=scale`);
  await expect(main).toContainText("It is being scaled.");
  await expect(main).not.toContainText("Call 0800 123 is being scaled");
});

test("a Secret in use is deleted only after its name was typed, and an unused one without", async ({ page }) => {
  const [used, unused, user] = [unique("used"), unique("unused"), unique("web")];
  for (const name of [used, unused]) await admin("acme-prod").apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } });
  const made = deploymentManifest(namespace, user, 0);
  Object.assign(made.spec.template.spec.containers[0] as object, { envFrom: [{ secretRef: { name: used } }] });
  await admin("acme-prod").apply(made);
  const ask = async (name: string) => {
    await page.goto(path.object(namespace, "core/v1/secrets", name));
    await interactive(page);
    await page.getByRole("main").getByRole("button", { name: "Delete" }).click();
  };
  await signIn(page, "ada", path.clusterPage());
  await ask(used);
  await expect(dialog(page).getByRole("region", { name: "In use by" })).toContainText(`1 × Deployment: ${user}`);
  await dialog(page).getByLabel(`Type ${used} to confirm`).fill(used);
  await dialog(page).getByRole("button", { name: `Delete ${used}` }).click();
  await expect.poll(() => read("secrets", used)).toBeUndefined();
  await ask(unused);
  await expect(dialog(page).locator("[data-grade=consequences]")).toBeAttached();
  await dialog(page).getByRole("button", { name: `Delete ${unused}` }).click();
  await expect.poll(() => read("secrets", unused)).toBeUndefined();
});
