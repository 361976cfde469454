// Objects are created and edited as YAML: what is written is checked, reviewed, and only then applied.
import type { Page } from "@playwright/test";
import { axe, setColorScheme } from "../support/accessibility";
import { expect, test } from "../support/browser";
import { content, documents, editor, paste, planned, review, reviewChanges, textOf } from "../support/editor";
import { cluster } from "../support/env";
import { interactive } from "../support/interactive";
import { admin, type Resource } from "../support/kubernetes-api";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("manifests");
});
test.afterAll(() => remove(namespace));

const read = (resource: Resource, name: string) => admin("acme-prod").find(resource, name, namespace);
const dataOf = async (name: string): Promise<Record<string, string> | undefined> => (await read("configmaps", name))?.data;
const managers = async (resource: Resource, name: string): Promise<string[]> =>
  (await read(resource, name))?.metadata.managedFields.map(({ manager }: { manager: string }) => manager);
const configMap = (name: string, data: Record<string, string>) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data });

async function openCreate(page: Page, user: "ada" | "devi" | "vera" = "devi", query = `namespace=${namespace}`) {
  await signIn(page, user, path.createPage(query));
  await expect(content(page)).toBeVisible();
}

const applyButton = (page: Page) => page.getByRole("button", { name: /^Apply / });
const outcome = (page: Page) => page.locator("[data-part=outcome]");

async function applied(page: Page, summary: string) {
  await applyButton(page).click();
  await expect(outcome(page).getByRole("heading", { name: summary })).toBeVisible();
}

test.describe("creation", () => {
  test("a list leads to a sample of its kind, which is created in the chosen namespace", async ({ page }) => {
    await signIn(page, "devi", path.list("core/v1/configmaps", `namespace=${namespace}`));
    await page.getByRole("main").getByRole("link", { name: "Create", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Create from YAML" })).toBeVisible();
    await expect(page.getByLabel("Namespace", { exact: true })).toHaveValue(namespace);
    await expect(content(page)).toContainText("kind: ConfigMap");
    const text = await textOf(page);
    expect(text).not.toContain("namespace:");
    const name = unique("sample");
    await paste(page, text.replace("name: example", `name: ${name}`));
    await reviewChanges(page);
    await expect(planned(page, name)).toHaveAttribute("data-effect", "create");
    expect(await read("configmaps", name)).toBeUndefined();
    await applied(page, "1 created");
    expect((await dataOf(name))?.key).toBe("value");
    await outcome(page).getByRole("link", { name }).click();
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  });

  test("another sample is added to what is there", async ({ page }) => {
    await openCreate(page);
    await page.getByLabel("Start from").selectOption({ label: "Service" });
    await expect(content(page)).toContainText("kind: Service");
    await page.getByLabel("Start from").selectOption({ label: "ConfigMap" });
    await expect.poll(() => textOf(page)).toMatch(/kind: Service\n[\s\S]*\n---\napiVersion: v1\nkind: ConfigMap\n/);
  });

  test("two pasted documents are reviewed and applied by the manager portico", async ({ page }) => {
    await openCreate(page, "devi", "");
    const [settings, web] = [unique("settings"), unique("web")];
    await paste(page, documents(configMap(settings, { level: "debug" }), deploymentManifest(namespace, web)));
    await reviewChanges(page);
    await expect(planned(page, settings)).toHaveAttribute("data-effect", "create");
    await expect(planned(page, web)).toHaveAttribute("data-effect", "create");
    expect(await read("deployments", web)).toBeUndefined();
    await applied(page, "2 created");
    expect((await dataOf(settings))?.level).toBe("debug");
    expect((await read("deployments", web))?.spec.replicas).toBe(1);
    expect(await managers("configmaps", settings)).toEqual(["portico"]);
    expect(await managers("deployments", web)).toContain("portico");
    // the same again changes nothing
    await reviewChanges(page);
    await expect(planned(page, settings)).toHaveAttribute("data-effect", "nothing");
    await expect(review(page)).toContainText("there is nothing to apply");
    await expect(applyButton(page)).toHaveCount(0);
  });

  test("what the cluster refuses is shown with its place, and nothing is created", async ({ page }) => {
    await openCreate(page);
    const [settings, web] = [unique("settings"), unique("web")];
    const broken = deploymentManifest(namespace, web);
    broken.spec.template.metadata.labels.app = "other";
    await paste(page, documents(configMap(settings, { a: "b" }), broken));
    await reviewChanges(page);
    await expect(planned(page, web)).toHaveAttribute("data-effect", "refused");
    await expect(planned(page, web)).toContainText("spec.template.metadata.labels: Invalid value");
    await expect(planned(page, settings)).toHaveAttribute("data-effect", "create");
    await expect(review(page)).toContainText("The cluster refuses some of these manifests");
    await expect(applyButton(page)).toHaveCount(0);
    await expect(editor(page).locator(".cm-lintRange-error").first()).toContainText(/labels|app|other/);
    expect(await read("configmaps", settings)).toBeUndefined();
    expect(await read("deployments", web)).toBeUndefined();
    // a correction makes the review outdated
    await paste(page, documents(configMap(settings, { a: "b" })));
    await expect(review(page)).toHaveCount(0);
  });

  test("a text that is not YAML is refused with its line", async ({ page }) => {
    await openCreate(page);
    await paste(page, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [broken\n");
    await expect(editor(page).locator(".cm-lint-marker-error").first()).toBeVisible();
    await page.getByRole("button", { name: "Review changes" }).click();
    await expect(page.getByRole("main")).toContainText(/line [3-6]/);
    await expect(applyButton(page)).toHaveCount(0);
  });

  test("fields of another manager are taken over only when the user accepts it", async ({ page }) => {
    const name = unique("shared");
    await admin("acme-prod").applyServerSide(configMap(name, { key: "theirs", other: "theirs" }), "other");
    await openCreate(page);
    await paste(page, documents(configMap(name, { key: "ours" })));
    await reviewChanges(page);
    await expect(planned(page, name)).toContainText(".data.key is managed by other");
    await expect(planned(page, name)).not.toContainText(".data.other");
    await expect(review(page)).toContainText("Take them over, or remove them from the manifest");
    await expect(applyButton(page)).toHaveCount(0);
    expect((await dataOf(name))?.key).toBe("theirs");
    await planned(page, name).getByLabel("Take these fields over").check();
    await applied(page, "1 changed");
    expect(await dataOf(name)).toEqual({ key: "ours", other: "theirs" });
    expect((await managers("configmaps", name)).sort()).toEqual(["other", "portico"]);
  });

  test("files are added as documents, and other files are refused", async ({ page }) => {
    await openCreate(page);
    const [one, two] = [unique("one"), unique("two")];
    await page.getByLabel("Files").setInputFiles([
      { name: "one.yaml", mimeType: "application/yaml", buffer: Buffer.from(`apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${one}\n`) },
      { name: "two.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(configMap(two, {}))) },
    ]);
    await expect(content(page)).toContainText(one);
    await expect(content(page)).toContainText(two);
    expect(await textOf(page)).toContain("\n---\n");
    await page.getByLabel("Files").setInputFiles([{ name: "picture.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71]) }]);
    await expect(page.getByRole("alert").filter({ hasText: "picture.png was not added" })).toBeVisible();
    await reviewChanges(page);
    await applied(page, "2 created");
    expect(await read("configmaps", one)).toBeDefined();
    expect(await read("configmaps", two)).toBeDefined();
  });

  test("a draft survives a reload, and is offered", async ({ page }) => {
    await openCreate(page);
    const text = documents(configMap(unique("draft"), { kept: "yes" }));
    await paste(page, text);
    await page.reload();
    const offer = page.getByText("This tab has a text that was not saved.");
    await expect(offer).toBeVisible();
    expect(await textOf(page)).toBe("");
    await page.getByRole("button", { name: "Restore it" }).click();
    await expect(offer).toHaveCount(0);
    expect(await textOf(page)).toBe(text);
    // the restored text is a draft again
    await page.reload();
    await expect(offer).toBeVisible();
    await page.getByRole("button", { name: "Discard it" }).click();
    await expect(offer).toHaveCount(0);
    await page.reload();
    await interactive(page);
    await expect(content(page)).toBeVisible();
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("portico-draft:")))).toEqual([]);
    expect(await textOf(page)).toBe("");
  });
});

test.describe("an edit", () => {
  const web = (name: string) => {
    const made = deploymentManifest(namespace, name);
    const [main] = made.spec.template.spec.containers;
    Object.assign(main as object, { env: [{ name: "MODE", value: "fast" }] });
    return made;
  };
  /** Its status no longer changes afterwards. */
  const ready = (name: string) => admin("acme-prod").waitForCondition("Available", "deployments", name, namespace);
  const environment = async (name: string): Promise<object[]> => (await read("deployments", name))?.spec.template.spec.containers[0].env ?? [];

  async function openEdit(page: Page, name: string) {
    await signIn(page, "devi", path.deployment(namespace, name));
    await page.getByRole("navigation", { name: "Parts of this object" }).getByRole("link", { name: "Edit" }).click();
    await page.getByRole("group", { name: "Edit as" }).getByRole("button", { name: "YAML" }).click();
    await expect(content(page)).toContainText("apiVersion: apps/v1");
    await expect(page).toHaveURL(/\/edit\?as=yaml$/);
  }

  test("removes a field after a review of the difference", async ({ page }) => {
    const name = unique("edited");
    await admin("acme-prod").apply(web(name));
    await ready(name);
    await openEdit(page, name);
    const text = await textOf(page);
    expect(text).not.toMatch(/managedFields|resourceVersion|\nstatus:/);
    const without = text.replace(/ +env:\n +- name: MODE\n +value: fast\n/, "");
    expect(without).not.toBe(text);
    await paste(page, without);
    await reviewChanges(page);
    const difference = review(page).getByRole("region", { name: /^Difference of / });
    await expect(difference.locator("del").filter({ hasText: "name: MODE" })).toBeVisible();
    await expect(difference.locator("ins")).toHaveCount(0);
    expect(await environment(name)).toEqual([{ name: "MODE", value: "fast" }]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText(`${name} was saved.`)).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`/${name}$`));
    expect(await environment(name)).toEqual([]);
  });

  test("of an object that was changed meanwhile is a conflict, keeps its text, and is repeated on the newest version", async ({ page }) => {
    const name = unique("raced");
    await admin("acme-prod").apply(web(name));
    await ready(name);
    await openEdit(page, name);
    const ours = (await textOf(page)).replace("value: fast", "value: slow");
    await paste(page, ours);
    await reviewChanges(page);
    await admin("acme-prod").patch("merge", "deployments", name, { metadata: { labels: { team: "blue" } } }, namespace);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const main = page.getByRole("main");
    await expect(main).toContainText(`${name} was changed in the meantime`);
    expect(await textOf(page)).toBe(ours);
    expect(await environment(name)).toEqual([{ name: "MODE", value: "fast" }]);
    await page.getByRole("button", { name: "Repeat my changes on the newest version" }).click();
    await expect(main).toContainText("Your changes were repeated on the newest version");
    const repeated = await textOf(page);
    expect(repeated).toContain("team: blue");
    expect(repeated).toContain("value: slow");
    await reviewChanges(page);
    const difference = review(page).getByRole("region", { name: /^Difference of / });
    await expect(difference.locator("ins").filter({ hasText: "value: slow" })).toBeVisible();
    await expect(difference.locator("del").filter({ hasText: "team" })).toHaveCount(0);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText(`${name} was saved.`)).toBeVisible();
    expect(await environment(name)).toEqual([{ name: "MODE", value: "slow" }]);
    expect((await read("deployments", name))?.metadata.labels?.team).toBe("blue");
  });

  test("is saved although the status of the object has changed meanwhile", async ({ page }) => {
    const name = unique("busy");
    await admin("acme-prod").apply(web(name));
    await ready(name);
    await openEdit(page, name);
    await paste(page, (await textOf(page)).replace("value: fast", "value: slow"));
    await reviewChanges(page);
    const version = async () => (await read("deployments", name))?.metadata.resourceVersion;
    const before = await version();
    await admin("acme-prod").deleteSelected("pods", { namespace, labels: `app=${name}` });
    await expect.poll(version).not.toBe(before);
    await ready(name);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText(`${name} was saved.`)).toBeVisible();
    expect(await environment(name)).toEqual([{ name: "MODE", value: "slow" }]);
  });

  test("that renames the object is refused", async ({ page }) => {
    const name = unique("renamed");
    await admin("acme-prod").apply(configMap(name, { a: "b" }));
    await signIn(page, "devi", path.object(namespace, "core/v1/configmaps", name, "edit?as=yaml"));
    await expect(content(page)).toContainText(name);
    await paste(page, (await textOf(page)).replace(`name: ${name}`, `name: ${name}-2`));
    await page.getByRole("button", { name: "Review changes" }).click();
    await expect(page.getByRole("main")).toContainText("metadata.name of an existing object cannot be changed");
    await expect(page.getByRole("button", { name: "Save", exact: true })).toHaveCount(0);
    expect(await read("configmaps", `${name}-2`)).toBeUndefined();
  });
});

test.describe("the editor", () => {
  const started = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  ";

  test("completes fields of the cluster's schema", async ({ page }) => {
    await openCreate(page);
    await paste(page, started);
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Control+Space");
    const options = editor(page).locator(".cm-tooltip-autocomplete li");
    await expect(options.filter({ hasText: "replicas" })).toBeVisible();
    await expect(options.filter({ hasText: "progressDeadlineSeconds" })).toBeVisible();
    await expect(options.filter({ hasText: "containers" })).toHaveCount(0);
    await page.keyboard.type("repl");
    await expect(options).toHaveCount(1);
    await page.keyboard.press("Enter");
    await page.keyboard.type("3");
    expect(await textOf(page)).toBe(`${started}replicas: 3`);
  });

  test("marks a field that the schema does not have", async ({ page }) => {
    await openCreate(page);
    const marks = editor(page).locator(".cm-lintRange");
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n";
    await paste(page, `${text}datum: {}\n`);
    await expect(marks.filter({ hasText: "datum" })).toBeVisible();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("F8");
    await expect(editor(page).locator(".cm-tooltip")).toContainText("datum");
    await paste(page, text);
    await expect(marks).toHaveCount(0);
  });

  test("is left with Escape and Tab, and indents with Tab before", async ({ page }) => {
    await openCreate(page);
    await paste(page, "a: b\n");
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    expect(await textOf(page)).toBe("  a: b\n");
    await expect(content(page)).toBeFocused();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Review changes" })).toBeFocused();
    await page.keyboard.press("Shift+Tab");
    await expect(content(page)).toBeFocused();
  });

  test("the whole way works by keyboard", async ({ page }) => {
    const name = unique("typed");
    await openCreate(page);
    await content(page).focus();
    await page.keyboard.type(`apiVersion: v1\nkind: ConfigMap\nmetadata:\nname: ${name}\n`);
    await expect.poll(() => textOf(page)).toContain(`metadata:\n  name: ${name}\n`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(planned(page, name)).toBeVisible();
    await expect(page.getByRole("button", { name: "Review changes" })).toBeFocused();
    for (let presses = 0; presses < 6 && !(await applyButton(page).evaluate((button) => button === document.activeElement)); presses++) {
      await page.keyboard.press("Tab");
    }
    await expect(applyButton(page)).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(outcome(page)).toContainText("1 created");
    expect(await read("configmaps", name)).toBeDefined();
  });
});

test.describe("a viewer", () => {
  test("sees Edit disabled with the reason, and no editor at its address", async ({ page }) => {
    const name = unique("viewed");
    await admin("acme-prod").apply(deploymentManifest(namespace, name));
    await signIn(page, "vera", path.deployment(namespace, name));
    const edit = page.getByRole("navigation", { name: "Parts of this object" }).getByRole("button", { name: "Edit" });
    await expect(edit).toHaveAttribute("aria-disabled", "true");
    await expect(edit).toHaveAccessibleDescription(/Your roles do not include patch/);
    await page.goto(path.deployment(namespace, name, "edit"));
    await expect(page.locator("[data-state=not-permitted]")).toContainText("patch");
    await expect(editor(page)).toHaveCount(0);
  });

  test("cannot apply: the review is refused, and so is the request", async ({ page }) => {
    const name = unique("refused");
    await openCreate(page, "vera");
    await paste(page, documents(configMap(name, { a: "b" })));
    await reviewChanges(page);
    await expect(planned(page, name)).toHaveAttribute("data-effect", "refused");
    await expect(applyButton(page)).toHaveCount(0);
    const api = await PanelApi.of(page, "acme");
    const sent = { cluster: cluster("acme-prod").id, text: documents(configMap(name, { a: "b" })), namespace: null, take_over: [] };
    const answer = await api.post("/api/manifests/apply", sent);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject([{ effect: "refused", object: null }]);
    expect(await read("configmaps", name)).toBeUndefined();
    // a request that the page of another site would send
    expect((await api.post("/api/manifests/apply", sent, { "x-csrf-token": "guess" })).status).toBe(403);
  });
});

test("the create page is accessible in light and dark", async ({ page }) => {
  const name = unique("shared");
  await admin("acme-prod").applyServerSide(configMap(name, { key: "theirs" }), "other");
  await openCreate(page);
  const expectAccessible = async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await setColorScheme(page, colorScheme);
      const found = await axe(page).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
      const violations = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
      expect(violations, colorScheme).toEqual([]);
    }
  };
  await expectAccessible();
  const broken = deploymentManifest(namespace, unique("web"));
  broken.spec.template.metadata.labels.app = "other";
  await paste(page, documents(configMap(name, { key: "ours" }), configMap(unique("new"), { a: "b" }), broken));
  await reviewChanges(page);
  await expect(planned(page, name)).toContainText("is managed by");
  await expect(editor(page).locator(".cm-lintRange-error").first()).toBeVisible();
  await expectAccessible();
});
