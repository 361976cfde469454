// The forms for new claims, Services and Ingresses: from the form through the review to the result.
import type { Page } from "@playwright/test";
import { axe } from "../support/accessibility";
import { expect, test } from "../support/browser";
import { content, planned, reviewChanges, textOf } from "../support/editor";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("forms");
  await admin("acme-prod").apply(deploymentManifest(namespace, "web"));
});
test.afterAll(() => remove(namespace));

const main = (page: Page) => page.getByRole("main");
/** The first field of this name; one with suggestions is a combobox. */
const field = (page: Page, name: string) => main(page).getByLabel(name, { exact: true }).filter({ visible: true }).first();
const confirm = (page: Page) => page.getByRole("button", { name: /^Apply / }).click();
const progress = (page: Page) => page.locator("[data-part=outcome] [data-part=progress]");

test("a claim is created from its storage class, and followed", async ({ page }) => {
  const name = unique("claim");
  await signIn(page, "devi", path.list("core/v1/persistentvolumeclaims", `namespace=${namespace}`));
  await main(page).getByRole("link", { name: "Create", exact: true }).click();
  await expect(page.getByRole("heading", { name: "New PersistentVolumeClaim" })).toBeVisible();
  await expect(field(page, "Namespace")).toHaveValue(namespace);
  // what is missing or wrong is named before the cluster is asked, and has the focus
  await field(page, "Size").fill("much");
  await page.getByRole("button", { name: "Review changes" }).click();
  await expect(field(page, "Name")).toBeFocused();
  await expect(field(page, "Name")).toHaveAttribute("aria-invalid", "true");
  await expect(field(page, "Size")).toHaveAttribute("aria-invalid", "true");
  await field(page, "Name").fill(name);
  await field(page, "Size").fill("1Gi");
  await field(page, "Storage class").fill("local-disk");
  await expect(main(page).getByText("when the first pod uses the claim")).toBeVisible();
  const { violations } = await axe(page).include("main").analyze();
  expect(violations).toEqual([]);
  await reviewChanges(page);
  await expect(planned(page, name)).toContainText("storageClassName: local-disk");
  await confirm(page);
  await expect(progress(page)).toContainText("when the first pod uses it");
});

test("a Deployment is exposed by a Service, and the Service by an Ingress", async ({ page }) => {
  await signIn(page, "devi", path.deployment(namespace, "web"));
  await main(page).getByRole("link", { name: "Expose" }).click();
  await expect(field(page, "Labels of the pods")).toHaveValue("app=web");
  await expect(field(page, "Name")).toHaveValue("web");
  await main(page).getByRole("combobox", { name: "Type" }).selectOption("LoadBalancer");
  await field(page, "Port").fill("80");
  await reviewChanges(page);
  await confirm(page);
  await expect(progress(page)).toContainText("Waiting for an external address");
  await page.locator("[data-part=outcome]").getByRole("link", { name: /web/ }).click();
  await main(page).getByRole("link", { name: "Add an Ingress" }).click();
  await expect(field(page, "Service")).toHaveValue("web");
  await expect(field(page, "Port of the Service")).toHaveValue("80");
  await field(page, "Host").fill("web.example.org");
  await reviewChanges(page);
  await expect(planned(page, "web")).toContainText("web.example.org");
  await confirm(page);
  await expect(progress(page)).toBeVisible();
  const { spec } = await admin("acme-prod").get("ingresses", "web", namespace);
  expect(spec.rules[0].http.paths[0].backend.service.port.number).toBe(80);
});

test("a form is continued in the editor, and survives a reload", async ({ page }) => {
  await signIn(page, "devi", path.createPage(`form=service&namespace=${namespace}`));
  await field(page, "Name").fill("later");
  await field(page, "Labels of the pods").fill("app=later");
  await page.reload();
  await expect(main(page).getByText("not applied before")).toBeVisible();
  await expect(field(page, "Labels of the pods")).toHaveValue("app=later");
  await page.getByRole("button", { name: "Edit as YAML" }).click();
  await expect(content(page)).toBeVisible();
  await expect.poll(() => textOf(page)).toContain("app: later");
});

test("who may not create a Service is shown the missing permission first", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, "vera", path.createPage("form=service&namespace=shop"));
  await expect(main(page).getByText("create on services in shop")).toBeVisible();
  await expect(main(page).getByRole("link", { name: "Who can?" }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Review changes" })).toBeDisabled();
});
