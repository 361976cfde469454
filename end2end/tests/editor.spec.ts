// What the editor holds is not lost: without a connection, after the end of the session, and when files are dropped into it.
import type { Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { content, documents, dropFiles, paste, planned, review, reviewChanges, textOf } from "../support/editor";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { account, enter, signIn as signInByForm } from "../support/sign-in";
import { signOut } from "../support/sign-out";
import { createNamespace, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("editor");
});
test.afterAll(() => remove(namespace));

const configMap = (name: string, data: Record<string, string>) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data });
const value = async (name: string, key: string): Promise<string | undefined> =>
  (await admin("acme-prod").find("configmaps", name, namespace))?.data?.[key];

const alert = (page: Page, text: string) => page.getByRole("alert").filter({ hasText: text });
const outcome = (page: Page) => page.locator("[data-part=outcome]");
const offer = (page: Page) => page.getByText("This tab has a text that was not saved.");
const applyButton = (page: Page) => page.getByRole("button", { name: /^Apply / });

/** `begin` is `signInByForm` in a test that ends the session. */
async function openCreate(page: Page, begin = signIn) {
  await begin(page, "devi", path.createPage(`namespace=${namespace}`));
  await expect(content(page)).toBeVisible();
}

/** The YAML of a ConfigMap with the key `a`, changed in the editor but not saved. */
async function edited(page: Page, begin = signIn): Promise<{ name: string; text: string }> {
  const name = unique("edited");
  await admin("acme-prod").apply(configMap(name, { a: "before" }));
  await begin(page, "devi", path.object(namespace, "core/v1/configmaps", name, "edit?as=yaml"));
  await expect(content(page)).toContainText("a: before");
  const text = (await textOf(page)).replace("a: before", "a: after");
  await paste(page, text);
  return { name, text };
}

/** Ends the session of the page in another tab. */
async function endSession(page: Page) {
  const other = await page.context().newPage();
  await signOut(other);
  await other.close();
}

test.describe("without a connection", () => {
  test("need_02 a text is neither reviewed nor applied, and is applied once the connection is back", async ({ page }) => {
    const name = unique("offline");
    const text = documents(configMap(name, { a: "b" }));
    await openCreate(page);
    await paste(page, text);
    const unreachable = alert(page, "Portico could not be reached.");

    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Review changes" }).click();
    await expect(unreachable).toBeVisible();
    expect(await textOf(page)).toBe(text);
    await page.context().setOffline(false);
    await reviewChanges(page);
    await expect(unreachable).toHaveCount(0);

    await page.context().setOffline(true);
    await applyButton(page).click();
    await expect(unreachable).toBeVisible();
    expect(await textOf(page)).toBe(text);
    expect(await value(name, "a")).toBeUndefined();
    await page.context().setOffline(false);
    // the review is still there
    await applyButton(page).click();
    await expect(outcome(page).getByRole("heading", { name: "1 created" })).toBeVisible();
    expect(await value(name, "a")).toBe("b");
  });

  test("need_01 an edit is not saved, and is saved once the connection is back", async ({ page }) => {
    const { name, text } = await edited(page);
    await reviewChanges(page);
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(alert(page, "Portico could not be reached.")).toBeVisible();
    expect(await textOf(page)).toBe(text);
    expect(await value(name, "a")).toBe("before");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText(`${name} was saved.`)).toBeVisible();
    expect(await value(name, "a")).toBe("after");
  });
});

test.describe("after the end of the session", () => {
  test("need_02 the sign-in leads back to the page, which offers the text, and it is applied", async ({ page }) => {
    const name = unique("expired");
    const text = documents(configMap(name, { a: "b" }));
    await openCreate(page, signInByForm);
    await paste(page, text);
    await endSession(page);
    await page.getByRole("button", { name: "Review changes" }).click();
    const ended = alert(page, "Your session has ended.");
    await expect(ended).toBeVisible();
    await expect(review(page)).toHaveCount(0);
    expect(await textOf(page)).toBe(text);

    await ended.getByRole("link", { name: "Sign in again" }).click();
    await enter(page, account("devi"));
    await expect(page).toHaveURL(new RegExp(`/create\\?namespace=${namespace}$`));
    await expect(page.getByLabel("Namespace", { exact: true })).toHaveValue(namespace);
    await expect(offer(page)).toBeVisible();
    await page.getByRole("button", { name: "Restore it" }).click();
    expect(await textOf(page)).toBe(text);
    await reviewChanges(page);
    await applyButton(page).click();
    await expect(outcome(page).getByRole("heading", { name: "1 created" })).toBeVisible();
    expect(await value(name, "a")).toBe("b");
  });

  test("need_01 an edit is offered again as YAML, and it is saved", async ({ page }) => {
    const { name, text } = await edited(page, signInByForm);
    await endSession(page);
    // the page of an object follows it, so that it learns of the end by itself
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("Your session has ended");
    expect(await textOf(page)).toBe(text);
    await dialog.getByRole("link", { name: "Sign in again" }).click();
    await enter(page, account("devi"));
    await expect(page).toHaveURL(/\/edit\?as=yaml$/);
    await expect(offer(page)).toBeVisible();
    await page.getByRole("button", { name: "Restore it" }).click();
    expect(await textOf(page)).toBe(text);
    await reviewChanges(page);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText(`${name} was saved.`)).toBeVisible();
    expect(await value(name, "a")).toBe("after");
  });
});

test.describe("a draft", () => {
  const stored = (page: Page) => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("portico-draft:")));

  test("a draft is not offered to another user", async ({ page }) => {
    const text = documents(configMap(unique("private"), { a: "b" }));
    await openCreate(page, signInByForm);
    await paste(page, text);
    await expect.poll(() => stored(page)).toHaveLength(1);
    await endSession(page);
    await signInByForm(page, "ada", path.createPage(`namespace=${namespace}`));
    await expect(content(page)).toBeVisible();
    expect(await textOf(page)).toBe("");
    await expect(offer(page)).toHaveCount(0);
    // it is not readable for a script either
    expect(await stored(page)).toEqual([]);
  });

  test("a draft is removed by a sign-out in its tab", async ({ page }) => {
    await openCreate(page, signInByForm);
    await paste(page, documents(configMap(unique("private"), { a: "b" })));
    await expect.poll(() => stored(page)).toHaveLength(1);
    await signOut(page);
    await expect.poll(() => stored(page)).toEqual([]);
  });

  test("the text of a Secret is never stored", async ({ page }) => {
    const [name, hush] = [unique("credentials"), unique("hush")];
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: { password: hush } };
    const encoded = Buffer.from(hush).toString("base64");
    const withheld = page.getByText("Unsaved text with a Secret is not stored in this tab");
    const storage = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    const expectNothing = async () => {
      expect(await stored(page)).toEqual([]);
      for (const form of [hush, encoded]) expect(await storage()).not.toContain(form);
    };

    await openCreate(page);
    const before = documents(configMap(unique("public"), { a: "b" }));
    await paste(page, before);
    await expect.poll(() => stored(page)).toHaveLength(1);
    await expect(withheld).toHaveCount(0);
    await paste(page, documents(configMap(unique("public"), { a: "b" }), secret));
    await expect(withheld).toBeVisible();
    await expectNothing();
    await page.reload();
    await expect(content(page)).toBeVisible();
    await expect(offer(page)).toHaveCount(0);
    await expectNothing();
    // a text without it is stored again
    await paste(page, before);
    await expect.poll(() => stored(page)).toHaveLength(1);
    await expect(withheld).toHaveCount(0);

    await admin("acme-prod").apply(secret);
    await page.goto(path.object(namespace, "core/v1/secrets", name, "edit?as=yaml"));
    await expect(content(page)).toContainText(encoded);
    await expect(withheld).toBeVisible();
    await paste(page, (await textOf(page)).replace(encoded, Buffer.from(`${hush}-2`).toString("base64")));
    await page.reload();
    await expect(content(page)).toContainText(encoded);
    await expect(offer(page)).toHaveCount(0);
    for (const form of [hush, encoded, Buffer.from(`${hush}-2`).toString("base64")]) expect(await storage()).not.toContain(form);
  });
});

test("need_01 an edit that is restored after another client's change takes nothing of it back", async ({ page }) => {
  const { name } = await edited(page);
  await page.goto(path.object(namespace, "core/v1/configmaps", name));
  await admin("acme-prod").patch("merge", "configmaps", name, { data: { b: "theirs" } }, namespace);
  await page.goto(path.object(namespace, "core/v1/configmaps", name, "edit?as=yaml"));
  await expect(content(page)).toContainText("b: theirs");
  await page.getByRole("button", { name: "Restore it" }).click();
  await expect(page.getByRole("main")).toContainText("Your changes were repeated on the newest version");
  const text = await textOf(page);
  expect(text).toContain("a: after");
  expect(text).toContain("b: theirs");
  await reviewChanges(page);
  await expect(review(page).locator("del")).toHaveText([/a: before/]);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText(`${name} was saved.`)).toBeVisible();
  expect([await value(name, "a"), await value(name, "b")]).toEqual(["after", "theirs"]);
});

test("need_02 dropped files follow the text as further documents, and other files are refused", async ({ page }) => {
  const names = [unique("typed"), unique("one"), unique("two"), unique("three")];
  const [typed, one, two, three] = names.map((name) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`) as [string, string, string, string];
  await openCreate(page);
  await paste(page, typed);
  await dropFiles(page, [
    { name: "first.yaml", text: `---\n${one}---\n${two}` },
    { name: "second.yml", text: three.replaceAll("\n", "\r\n") },
    { name: "picture.png", text: "not a manifest" },
  ]);
  await expect(alert(page, "picture.png was not added: only .yaml, .yml and .json files are accepted.")).toBeVisible();
  const whole = [typed, one, two, three].join("---\n");
  await expect.poll(() => textOf(page)).toBe(whole);
  // one step of the history
  await content(page).focus();
  await page.keyboard.press("Control+z");
  expect(await textOf(page)).toBe(typed);
  await page.keyboard.press("Control+y");
  expect(await textOf(page)).toBe(whole);

  await reviewChanges(page);
  for (const name of names) await expect(planned(page, name)).toHaveAttribute("data-effect", "create");
  await applyButton(page).click();
  await expect(outcome(page).getByRole("heading", { name: "4 created" })).toBeVisible();
});
