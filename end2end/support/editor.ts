// The editor of manifests, as a user works with it: the keyboard and the clipboard.
import { expect, type Locator, type Page } from "@playwright/test";

type Element = HTMLElement & { value: string };

export const editor = (page: Page): Locator => page.locator("portico-editor");
export const content = (page: Page): Locator => editor(page).locator(".cm-content");

export const textOf = (page: Page): Promise<string> => editor(page).evaluate((element) => (element as Element).value);

/** Replaces the whole text by pasting. */
export async function paste(page: Page, text: string) {
  await content(page).click();
  await page.keyboard.press("Control+a");
  await content(page).evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
  }, text);
  await expect.poll(() => textOf(page)).toBe(text);
}

/** Documents of a text; objects become JSON, which YAML includes. */
export const documents = (...parts: (object | string)[]): string =>
  parts.map((part) => (typeof part === "string" ? part : `${JSON.stringify(part, null, 2)}\n`)).join("---\n");

export const review = (page: Page): Locator => page.locator("[data-part=review]");

/** What the review shows for one document. */
export const planned = (page: Page, name: string | RegExp): Locator => review(page).getByRole("listitem").filter({ has: page.locator("strong", { hasText: name }) });

/** Asks what the text would change, and waits for the answer. */
export async function reviewChanges(page: Page) {
  await page.getByRole("button", { name: "Review changes" }).click();
  await expect(review(page)).toBeVisible();
}

/** Drags files over the editor, and drops them there. */
export async function dropFiles(page: Page, files: { name: string; text: string }[]) {
  const send = (types: string[]) =>
    content(page).evaluate(
      (element, { files, types }) => {
        const dataTransfer = new DataTransfer();
        for (const { name, text } of files) dataTransfer.items.add(new File([text], name));
        for (const type of types) {
          element.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true, composed: true }));
        }
      },
      { files, types },
    );
  await send(["dragenter", "dragover"]);
  await expect(editor(page)).toHaveAttribute("data-dropping");
  await send(["drop"]);
  await expect(editor(page)).not.toHaveAttribute("data-dropping");
}
