// Browser contexts that record their responses and console messages. `test` watches the context of each test;
// further ones are made with `newContext`.
import { test as base, expect, type Browser, type BrowserContext, type BrowserContextOptions, type Response } from "@playwright/test";
import { porticoUrl } from "./env";
import { isSearchable, record, recordBody } from "./secrets";

const portico = /^(__Host-)?portico/;
const complaints = new WeakMap<BrowserContext, string[]>();

/** Hands the demo's users their password: demo mode exists for that, and serves it nowhere else. */
const demoPassword = "/oauth2/demo/password";

/** Addresses of the panel's files whose content never changes. The browser of each test loads them again. */
const keptFiles = new Set<string>();

async function keep(response: Response) {
  const address = response.url();
  if (new URL(address).pathname === demoPassword || keptFiles.has(address)) return;
  try {
    for (const { name, value } of await response.headersArray()) {
      if (name.toLowerCase() === "set-cookie") keepCookie(value);
    }
    const headers = response.headers();
    const type = headers["content-type"] ?? "";
    // a module is megabytes, which the browser would send here in base64
    if (isSearchable(type)) recordBody(address, type, await response.text());
    if (address.startsWith(`${porticoUrl}/pkg/`) && headers["cache-control"]?.includes("immutable")) keptFiles.add(address);
  } catch {
    // a redirect has no body, and a page that went away took its own with it
  }
}

function keepCookie(header: string) {
  const [name = "", value = ""] = (header.split(";")[0] ?? "").split("=");
  if (portico.test(name.trim()) && value.length >= 20) record("cookie", value);
}

export function watch(context: BrowserContext): BrowserContext {
  const messages: string[] = [];
  complaints.set(context, messages);
  context.on("response", (response) => void keep(response));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) messages.push(`${message.page()?.url()}: ${message.text()}`);
  });
  context.on("weberror", (problem) => messages.push(String(problem.error())));
  context.on("page", (page) =>
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => recordBody(socket.url(), "text/plain", payload.toString())),
    ),
  );
  return context;
}

/** Console messages at levels warning and error since the last call, Content Security Policy reports among it. */
export function takeComplaints(context: BrowserContext): string[] {
  return complaints.get(context)?.splice(0) ?? [];
}

export async function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  return watch(await browser.newContext(options));
}

export async function keepCookies(context: BrowserContext) {
  for (const cookie of await context.cookies()) {
    if (portico.test(cookie.name) && cookie.value.length >= 20) record("cookie", cookie.value);
  }
}

export const test = base.extend<{ watched: void }>({
  watched: [
    async ({ context }, use) => {
      watch(context);
      await use();
      await keepCookies(context);
    },
    { auto: true },
  ],
});

export { expect };
