// The form of an object: what changes daily, with the same review as an edit of the YAML.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { review, reviewChanges } from "../support/editor";
import { admin, type Resource } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { account, enter, signIn as signInByForm } from "../support/sign-in";
import { signOut } from "../support/sign-out";
import { createNamespace, deploymentManifest, image, nextImage, podManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("form");
});
test.afterAll(() => remove(namespace));

const read = (resource: Resource, name: string) => admin("acme-prod").get(resource, name, namespace);
const group = (page: Page, name: string) => page.getByRole("group", { name, exact: true });
const field = (page: Page, title: string, label: string) => group(page, title).getByLabel(label, { exact: true });
const changed = (page: Page, mark: "ins" | "del", line: string) =>
  review(page).getByRole("region", { name: /^Difference of / }).locator(mark).filter({ hasText: line });

async function save(page: Page, name: string) {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText(`${name} was saved.`)).toBeVisible();
}

/** A deployment whose status no longer changes: the version of an edit is that of the object. */
async function deployed(): Promise<string> {
  const name = unique("web");
  const made = deploymentManifest(namespace, name);
  Object.assign(made.spec.template.spec.containers[0] as object, {
    env: [
      { name: "MODE", value: "fast" },
      { name: "OLD", value: "yes" },
      { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
    ],
  });
  await admin("acme-prod").apply(made);
  await admin("acme-prod").waitForRollout(namespace, name);
  return name;
}

test("need_05 image, replicas, environment, resources and labels of a workload are changed in one review", async ({ page }) => {
  const name = await deployed();
  const before = await read("deployments", name);
  await signIn(page, "devi", path.deployment(namespace, name, "edit"));
  await expect(field(page, "Container main", "Image")).toHaveValue(image);
  await expect(field(page, "Container main", "CPU request")).toHaveValue("10m");

  await field(page, "Settings", "Replicas").fill("2");
  await field(page, "Container main", "Image").fill(nextImage);
  await field(page, "Container main", "CPU request").fill("20m");
  await field(page, "Container main", "Memory limit").fill("96Mi");
  const environment = "Environment of main";
  await field(page, environment, "MODE").fill("slow");
  await group(page, environment).getByRole("button", { name: "Remove OLD" }).click();
  await expect(field(page, environment, "OLD")).toBeDisabled();
  // its value is not written here
  await expect(field(page, environment, "NODE")).toHaveCount(0);
  await group(page, environment).getByRole("button", { name: "Add to Environment of main" }).click();
  await field(page, environment, "Name").fill("NEW");
  await field(page, environment, "Value").fill("added");
  await group(page, "Labels").getByRole("button", { name: "Add to Labels" }).click();
  await field(page, "Labels", "Name").fill("example.org/team");
  await field(page, "Labels", "Value").fill("blue");

  await reviewChanges(page);
  for (const line of ["replicas: 2", `image: ${nextImage}`, "cpu: 20m", "memory: 96Mi", "value: slow", "name: NEW", "example.org/team: blue"]) {
    await expect(changed(page, "ins", line)).toBeVisible();
  }
  for (const line of ["value: fast", "name: OLD"]) await expect(changed(page, "del", line)).toBeVisible();
  // a review changes nothing
  expect((await read("deployments", name)).spec).toEqual(before.spec);
  await save(page, name);

  const { metadata, spec } = await read("deployments", name);
  const [container] = spec.template.spec.containers;
  expect(spec.replicas).toBe(2);
  expect(metadata.labels).toEqual({ app: name, "example.org/team": "blue" });
  expect(container.image).toBe(nextImage);
  expect(container.resources).toEqual({ requests: { cpu: "20m", memory: "16Mi" }, limits: { memory: "96Mi" } });
  expect(container.env.map((variable: { name: string; value?: string }) => [variable.name, variable.value])).toEqual([
    ["MODE", "slow"],
    ["NODE", undefined],
    ["NEW", "added"],
  ]);
  // the page that follows shows the rollout to its end
  await expect(page.locator("[data-part=rollout]")).toContainText("Complete: 2 of 2 replicas run the newest revision and are available.");
});

test("need_05 what the cluster refuses is shown beside the form, which keeps its values", async ({ page }) => {
  const name = await deployed();
  await signIn(page, "devi", path.deployment(namespace, name, "edit"));
  // more than its limit
  await field(page, "Container main", "Memory request").fill("128Mi");
  await page.getByRole("button", { name: "Review changes" }).click();
  await expect(review(page)).toContainText("must be less than or equal to memory limit");
  await expect(page.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
  await expect(field(page, "Container main", "Memory request")).toHaveValue("128Mi");
  await field(page, "Container main", "Memory request").fill("32Mi");
  await reviewChanges(page);
  await save(page, name);
  expect((await read("deployments", name)).spec.template.spec.containers[0].resources.requests.memory).toBe("32Mi");
});

test("need_18 the schedule of a CronJob is changed in the form, and a wrong one is refused", async ({ page }) => {
  const name = unique("nightly");
  const { spec } = podManifest(namespace, name, "echo done");
  await admin("acme-prod").apply({
    apiVersion: "batch/v1beta1",
    kind: "CronJob",
    metadata: { name, namespace },
    spec: { schedule: "0 3 1 1 *", jobTemplate: { spec: { template: { spec: { ...spec, restartPolicy: "Never" } } } } },
  });
  await signIn(page, "devi", path.object(namespace, "batch/v1beta1/cronjobs", name, "edit"));
  const schedule = field(page, "Settings", "Schedule");
  await expect(schedule).toHaveValue("0 3 1 1 *");
  await schedule.fill("every night");
  await page.getByRole("button", { name: "Review changes" }).click();
  await expect(review(page)).toContainText("spec.schedule");
  await expect(page.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
  await schedule.fill("30 4 2 2 *");
  await expect(review(page)).toHaveCount(0);
  await reviewChanges(page);
  await expect(changed(page, "ins", "30 4 2 2 *")).toBeVisible();
  await save(page, name);
  expect((await read("cronjobs", name)).spec.schedule).toBe("30 4 2 2 *");
});

test.describe("need_05 unsaved fields", () => {
  const offer = (page: Page) => page.getByText("This tab has changes of this object that were not saved.");
  const restore = (page: Page) => page.getByRole("button", { name: "Restore unsaved changes" });
  const stored = (page: Page) => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("portico-draft:")));

  /** Opens the form in a session of its own, and changes the image, a variable and a label. */
  async function openAndChange(page: Page, name: string) {
    await signInByForm(page, "devi", path.deployment(namespace, name, "edit"));
    await field(page, "Container main", "Image").fill(nextImage);
    await field(page, "Environment of main", "MODE").fill("slow");
    await group(page, "Environment of main").getByRole("button", { name: "Remove OLD" }).click();
    await group(page, "Labels").getByRole("button", { name: "Add to Labels" }).click();
    await field(page, "Labels", "Name").fill("team");
    await field(page, "Labels", "Value").fill("blue");
  }

  async function expectRestored(page: Page) {
    await expect(field(page, "Container main", "Image")).toHaveValue(nextImage);
    await expect(field(page, "Environment of main", "MODE")).toHaveValue("slow");
    await expect(field(page, "Environment of main", "OLD")).toBeDisabled();
    await expect(field(page, "Labels", "Name")).toHaveValue("team");
    await expect(field(page, "Labels", "Value")).toHaveValue("blue");
  }

  test("survive a reload and the end of the session, and are saved", async ({ page }) => {
    const name = await deployed();
    await openAndChange(page, name);
    await page.reload();
    await expect(offer(page)).toBeVisible();
    await expect(field(page, "Container main", "Image")).toHaveValue(image);
    await restore(page).click();
    await expectRestored(page);
    await expect(offer(page)).toHaveCount(0);

    // the session ends in another tab
    const other = await page.context().newPage();
    await signOut(other);
    await other.close();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("Your session has ended");
    await dialog.getByRole("link", { name: "Sign in again" }).click();
    await enter(page, account("devi"));
    await expect(page).toHaveURL(/\/edit$/);
    await restore(page).click();
    await expectRestored(page);
    await reviewChanges(page);
    await save(page, name);
    const { metadata, spec } = await read("deployments", name);
    expect(metadata.labels).toEqual({ app: name, team: "blue" });
    expect(spec.template.spec.containers[0].image).toBe(nextImage);
    expect(spec.template.spec.containers[0].env.map((variable: { name: string }) => variable.name)).toEqual(["MODE", "NODE"]);
    expect(await stored(page)).toEqual([]);
  });

  test("are repeated on a newer version, and are not offered once they were discarded", async ({ page }) => {
    const name = await deployed();
    await openAndChange(page, name);
    await page.goto(path.deployment(namespace, name));
    const theirs = [{ op: "add", path: "/spec/template/spec/containers/0/env/-", value: { name: "THEIRS", value: "yes" } }];
    await admin("acme-prod").patch("json", "deployments", name, theirs, namespace);
    await page.goto(path.deployment(namespace, name, "edit"));
    await expect(field(page, "Environment of main", "THEIRS")).toHaveValue("yes");
    await restore(page).click();
    await expectRestored(page);
    await expect(field(page, "Environment of main", "THEIRS")).toHaveValue("yes");
    await page.reload();
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await expect(offer(page)).toHaveCount(0);
    await page.reload();
    await expect(field(page, "Container main", "Image")).toHaveValue(image);
    await expect(offer(page)).toHaveCount(0);
    expect(await stored(page)).toEqual([]);
  });

  test("are not offered to another user", async ({ page }) => {
    const name = await deployed();
    await openAndChange(page, name);
    await expect.poll(() => stored(page)).toHaveLength(1);
    const other = await page.context().newPage();
    await signOut(other);
    await other.close();
    await signInByForm(page, "ada", path.deployment(namespace, name, "edit"));
    await expect(field(page, "Container main", "Image")).toHaveValue(image);
    await expect(offer(page)).toHaveCount(0);
    expect(await stored(page)).toEqual([]);
  });

  test("of a Secret are never stored", async ({ page }) => {
    const [name, hush] = [unique("credentials"), unique("hush")];
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: { password: "before" } });
    await signIn(page, "devi", path.object(namespace, "core/v1/secrets", name, "edit"));
    await expect(page.getByRole("main")).toContainText("Unsaved values of a Secret are not stored in this tab");
    await field(page, "Values", "password").fill(hush);
    const storage = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(storage).not.toContain(hush);
    expect(await stored(page)).toEqual([]);
    await page.reload();
    await expect(field(page, "Values", "password")).toHaveValue("before");
    await expect(offer(page)).toHaveCount(0);
  });
});
