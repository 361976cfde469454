import { expect, newContext, test } from "../support/browser";
import { interactive } from "../support/interactive";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("audit");
});
test.afterAll(() => remove(namespace));

test("finding_o5 what one changes is in one's own activity, and filters find it", async ({ page }) => {
  const name = unique("web");
  await admin("acme-prod").apply(deploymentManifest(namespace, name, 1));
  await signIn(page, "devi", path.deployment(namespace, name));
  // before, the button leads to a form in the page
  await interactive(page);
  await page.getByRole("button", { name: "Scale" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Replicas").fill("2");
  await dialog.getByRole("button", { name: /^Scale/ }).click();
  await expect(page.getByRole("main")).toContainText(/2 of 2|2\/2/, { timeout: 30_000 });

  await page.getByRole("button", { name: /^Devi|devi/ }).click();
  await page.getByRole("link", { name: "Your activity" }).click();
  await expect(page.getByRole("heading", { name: "Your activity" })).toBeVisible();
  const entry = page.getByRole("row").filter({ hasText: "panel.scale" }).filter({ hasText: name });
  await expect(entry).toHaveCount(1);
  await expect(entry).toContainText("Succeeded");
  await expect(entry).toContainText("acme-prod");

  await page.getByLabel("Outcome").selectOption("Denied");
  await page.getByRole("button", { name: "Apply filters" }).click();
  await expect(page).toHaveURL(/outcome=denied/);
  await expect(entry).toHaveCount(0);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await expect(entry).toHaveCount(1);
});

test("need_29 an object leads to who changed it, as far as one may see", async ({ page, browser }) => {
  const [name, other] = [unique("web"), unique("web")];
  await Promise.all([name, other].map((one) => admin("acme-prod").apply(deploymentManifest(namespace, one, 1))));
  await signIn(page, "devi", path.deployment(namespace, name));
  // before, the button leads to a form in the page
  await interactive(page);
  await page.getByRole("button", { name: "Scale" }).click();
  await page.getByRole("dialog").getByLabel("Replicas").fill("2");
  await page.getByRole("dialog").getByRole("button", { name: /^Scale/ }).click();
  await expect(page.getByRole("main")).toContainText(/2 of 2|2\/2/, { timeout: 30_000 });
  await page.getByRole("link", { name: "Changes made with Portico" }).click();
  const entry = page.getByRole("row").filter({ hasText: "panel.scale" }).filter({ hasText: `${name} to 2` });
  await expect(entry).toHaveCount(1);
  await expect(page.getByLabel("Object")).toHaveValue(`${namespace}/deployments.apps/${name}`);

  // an administrator of the project sees the changes of all users; of another object there are none
  const ada = await (await newContext(browser)).newPage();
  await signIn(ada, "ada", path.deployment(namespace, name));
  await ada.getByRole("link", { name: "Changes made with Portico" }).click();
  await expect(ada.getByText("No entry fits these filters.")).toBeVisible();
  await ada.getByRole("link", { name: "Project acme" }).click();
  const scaled = ada.getByRole("row").filter({ hasText: "panel.scale" });
  await expect(scaled).toHaveCount(1);
  await expect(scaled).toContainText("devi");
  await ada.goto(path.deployment(namespace, other));
  await ada.getByRole("link", { name: "Changes made with Portico" }).click();
  await ada.getByRole("link", { name: "Project acme" }).click();
  await expect(ada.getByText("No entry fits these filters.")).toBeVisible();
  await ada.context().close();
});
