// Signing in for tests that are not about sessions: each worker has one session for each user, which its tests use in turn, each
// in a browser of its own. A test that ends a session, or needs a new one, imports `signIn` of sign-in.ts.
import type { BrowserContext, Page } from "@playwright/test";
import { keepCookies } from "./browser";
import { homeProject, projectId, type ProjectName, type UserName } from "./env";
import { signIn as signInByForm, type Account } from "./sign-in";

interface Session {
  begun: number;
  cookies: Awaited<ReturnType<BrowserContext["cookies"]>>;
}

/** By the users' names. */
const sessions = new Map<string, Session>();
/** In milliseconds. A session lasts an hour, and its pages ask for the password some minutes before the end. */
const longest = 20 * 60_000;

/** Opens `path` (a project's first page when none is named), signed in. */
export async function signIn(page: Page, user: UserName | Account, path?: string, project?: ProjectName) {
  const name = typeof user === "string" ? user : user.name;
  const home = project ?? (typeof user === "string" ? homeProject(user) : "acme");
  const session = sessions.get(name);
  if (session && Date.now() - session.begun < longest) {
    await page.context().addCookies(session.cookies);
    await page.goto(path ?? `/projects/${projectId(home)}`);
    if (!new URL(page.url()).pathname.startsWith("/oauth2/")) {
      await keepCookies(page.context());
      return;
    }
    // it has ended
    await page.context().clearCookies();
  }
  await signInByForm(page, user, path, project);
  sessions.set(name, { begun: Date.now(), cookies: await page.context().cookies() });
}
