// Signing in for tests that are not about sessions: each worker has one session for each user of the demo, which its tests use in
// turn, each in a browser of its own. A test that ends a session, or needs a new one, imports `signIn` of sign-in.ts.
import type { BrowserContext, Page } from "@playwright/test";
import { keepCookies } from "./browser";
import { homeProject, projectId, type ProjectName, type UserName } from "./env";
import { signIn as signInByForm } from "./sign-in";

interface Session {
  begun: number;
  cookies: Awaited<ReturnType<BrowserContext["cookies"]>>;
}

const sessions = new Map<UserName, Session>();
/** In milliseconds. A session lasts an hour, and its pages ask for the password some minutes before the end. */
const longest = 20 * 60_000;

/** Opens `path` (a project's first page when none is named), signed in. */
export async function signIn(page: Page, user: UserName, path?: string, project?: ProjectName) {
  const session = sessions.get(user);
  if (session && Date.now() - session.begun < longest) {
    await page.context().addCookies(session.cookies);
    await page.goto(path ?? `/projects/${projectId(project ?? homeProject(user))}`);
    if (!new URL(page.url()).pathname.startsWith("/oauth2/")) {
      await keepCookies(page.context());
      return;
    }
    // it has ended
    await page.context().clearCookies();
  }
  await signInByForm(page, user, path, project);
  sessions.set(user, { begun: Date.now(), cookies: await page.context().cookies() });
}
