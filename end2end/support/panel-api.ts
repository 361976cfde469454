// The panel's server functions, called with the session and CSRF token of a signed-in page: what a control would send, whether
// or not it is disabled.
import type { Page } from "@playwright/test";
import { porticoUrl, projectId, type ProjectName } from "./env";
import { send, type Answer } from "./http";
import { cookieHeader } from "./sign-in";

export interface AccessQuery {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string | null;
  name: string | null;
}

export interface RightAnswer {
  question: AccessQuery;
  allowed: boolean;
  reason: string;
}

export class PanelApi {
  private constructor(
    readonly cookieHeader: string,
    private readonly csrf: string,
    private readonly project: string,
  ) {}

  static of(page: Page, project: ProjectName): Promise<PanelApi> {
    return PanelApi.inProject(page, projectId(project));
  }

  /** For a project by its ID, such as that of a test's own tenant. */
  static async inProject(page: Page, project: string): Promise<PanelApi> {
    const csrf = await page.locator("meta[name=csrf-token]").getAttribute("content");
    if (!csrf) throw new Error("the page carries no CSRF token");
    return new PanelApi(await cookieHeader(page.context(), porticoUrl), csrf, project);
  }

  /** For functions that take JSON. `headers` override what a page of ours would send. */
  post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, "application/json", JSON.stringify(body), headers);
  }

  /** For functions that plain HTML forms can call too. */
  postForm(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, "application/x-www-form-urlencoded", new URLSearchParams(fields).toString(), headers);
  }

  private send(path: string, type: string, body: string, headers: Record<string, string>): Promise<Answer> {
    return send(path, {
      method: "POST",
      headers: {
        cookie: this.cookieHeader,
        origin: new URL(porticoUrl).origin,
        "content-type": type,
        accept: "application/json",
        "portico-project": this.project,
        "x-csrf-token": this.csrf,
        ...headers,
      },
      body,
      // a creation is awaited for 25 s
      timeout: 40_000,
    });
  }
}
