// Signing in as people do: through the page, with the keyboard's fields and a click.
import { expect, type Browser, type BrowserContext, type Page } from "@playwright/test";
import { keepCookies, newContext } from "./browser";
import { homeProject, password, projectId, setting, type ProjectName, type UserName } from "./env";
import { record } from "./secrets";
import { unusedTotpCode } from "./totp";

export interface Account {
  name: string;
  password: string;
  totpSecret?: string;
}

export const account = (user: UserName): Account => ({
  name: user,
  password: password(),
  ...(user === "mia" ? { totpSecret: setting("TOTP_SECRET_MIA") } : {}),
});

export const fields = (page: Page) => ({
  name: page.getByLabel("User name"),
  password: page.getByLabel("Password"),
  submit: page.getByRole("button", { name: "Sign in", exact: true }),
  code: page.getByLabel("Code"),
  next: page.getByRole("button", { name: "Continue" }),
});

export async function enter(page: Page, who: Account) {
  record("password", who.password);
  const { name, password: secret, submit } = fields(page);
  await name.fill(who.name);
  await secret.fill(who.password);
  await submit.click();
  if (who.totpSecret) await enterCode(page, who.totpSecret);
}

export async function enterCode(page: Page, secret: string) {
  record("totp secret", secret);
  await fields(page).code.fill(await unusedTotpCode(secret));
  await fields(page).next.click();
}

/** Opens `path` (a project's first page when none is named) and signs in where that asks for it. */
export async function signIn(page: Page, user: UserName | Account, path?: string, project?: ProjectName) {
  const who = typeof user === "string" ? account(user) : user;
  const home = project ?? (typeof user === "string" ? homeProject(user) : "acme");
  await page.goto(path ?? `/projects/${projectId(home)}`);
  await enter(page, who);
  await expect(page).not.toHaveURL(/\/oauth2\//);
  await keepCookies(page.context());
}

/** A page in a browser of its own, signed in. */
export async function signedIn(
  browser: Browser,
  user: UserName | Account,
  path?: string,
  options?: Parameters<typeof newContext>[1],
): Promise<Page> {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  await signIn(page, user, path);
  return page;
}

export async function cookieHeader(context: BrowserContext, url?: string): Promise<string> {
  const cookies = await context.cookies(url ?? (await contextOrigin(context)));
  return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
}

async function contextOrigin(context: BrowserContext): Promise<string> {
  return context.pages()[0]?.url() ?? "";
}
