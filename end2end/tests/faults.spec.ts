// What Portico says and does while a part of it is away. The services are the real ones, stopped and started again.
import { readFileSync } from "node:fs";
import nodePath from "node:path";
import { expect, test } from "../support/browser";
import { person } from "../support/cli";
import { account, enter, fields, signIn } from "../support/sign-in";
import { adminUrl, cluster, setting, stateDirectory, type ClusterName } from "../support/env";
import { form, send } from "../support/http";
import { run } from "../support/kubectl";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { frozen, without } from "../support/stack";

test.setTimeout(180_000);

async function apiStatus(token: string): Promise<number> {
  const { apiUrl, authority } = cluster("acme-prod");
  const answer = await send(`${apiUrl}/api/v1/namespaces/shop/pods?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    authority: readFileSync(authority),
  });
  return answer.status;
}

test("while Keystone does not respond, pages show it, the rest works, no user is signed out, and it recovers", async ({ page, browser }) => {
  await signIn(page, "vera", path.list("core/v1/pods", "namespace=shop"));
  const storefront = page.getByRole("link", { name: /^storefront-/ }).first();
  await expect(storefront).toBeVisible();
  const other = await (await browser.newContext()).newPage();
  await without("keystone", async () => {
    const stopped = Date.now();
    await other.goto("/oauth2/sign_in");
    await enter(other, account("devi"));
    await expect(other.getByText(/Keystone/).first()).toBeVisible({ timeout: 5_000 });
    await expect(other.getByText(/wrong|incorrect/i)).toHaveCount(0);
    await expect(fields(other).name).toHaveValue("devi");
    expect(Date.now() - stopped).toBeLessThan(10_000);

    // the page that is open stays, and so does the session
    await page.reload({ timeout: 10_000 });
    await expect(page).not.toHaveURL(/\/oauth2\//);
    await expect(page.getByRole("main")).toBeVisible();
    await expect(page.getByText(/Keystone/).first()).toBeVisible({ timeout: 5_000 });
  });
  await expect
    .poll(
      async () => {
        await page.goto(path.list("core/v1/pods", "namespace=shop"));
        return storefront.isVisible();
      },
      { timeout: 15_000, intervals: [500] },
    )
    .toBe(true);
  await enter(other, account("devi"));
  await expect(other).not.toHaveURL(/\/oauth2\/sign_in/);
  await other.context().close();
});

test("Keystone that takes calls and never answers keeps no user waiting", async ({ page, browser }) => {
  await signIn(page, "vera", path.project());
  const other = await (await browser.newContext()).newPage();
  await frozen("keystone", async () => {
    const since = Date.now();
    await other.goto("/oauth2/sign_in");
    await enter(other, account("devi"));
    await expect(other.getByText(/Keystone/).first()).toBeVisible({ timeout: 10_000 });
    expect(Date.now() - since).toBeLessThan(12_000);
    await page.reload({ timeout: 15_000 });
    await expect(page).not.toHaveURL(/\/oauth2\//);
  });
  await other.context().close();
});

test("a cluster that does not answer is marked so, and the rest of the page works", async ({ browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, account("devi"), path.project("globex"));
  await frozen("globex-dev/kube-apiserver", async () => {
    await page.goto(path.project("globex"));
    await expect(page.getByRole("main").getByText(/does not answer|cannot be reached|did not answer/i).first()).toBeVisible({ timeout: 15_000 });
    await page.goto(path.list("apps/v1/deployments", "", "globex-dev"));
    await expect(page.getByRole("main").getByText(/does not answer|cannot be reached|did not answer/i).first()).toBeVisible({ timeout: 20_000 });
  });
  await context.close();
});

test("kube-auth away: nothing is allowed", async ({ browser }) => {
  const { terminal } = await person(browser, "devi");
  const known = await terminal.clusterToken("acme-prod");
  const unknown = `${known.slice(0, -4)}AAAA`;
  expect(await apiStatus(known)).toBe(200);
  await without("portico", async () => {
    expect(await apiStatus(unknown)).toBe(401);
    // the API server remembers a bearer for the ten seconds of our flag
    await expect.poll(() => apiStatus(known), { timeout: 30_000, intervals: [1_000] }).toBe(401);
  });
  await expect.poll(() => apiStatus(known), { timeout: 30_000, intervals: [1_000] }).toBe(200);
});

test("a restart signs no user out", async ({ page }) => {
  await signIn(page, "vera", path.project());
  await without("portico", async () => {});
  await page.reload();
  await expect(page).not.toHaveURL(/\/oauth2\//);
  await expect(page.getByText("vera").first()).toBeVisible();
});

test.describe("bad input gets a clear answer", () => {
  test("a user name of a megabyte", async ({ page, context }) => {
    await page.goto("/oauth2/sign_in");
    const token = await page.locator("input[name=csrf_token]").inputValue();
    const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    const filled = form({ name: "x".repeat(1 << 20), password: "y", domain: "Default", csrf_token: token, rd: "/" });
    const answer = await send("/oauth2/sign_in", {
      method: "POST",
      headers: { ...filled.headers, cookie, origin: new URL(page.url()).origin },
      body: filled.body,
    });
    expect([400, 413, 422]).toContain(answer.status);
    expect(answer.body.length).toBeLessThan(20_000);
  });

  test("an unknown cluster", async ({ page }) => {
    await signIn(page, "ada");
    await page.goto(`${path.project()}/clusters/00000000-0000-4000-8000-000000000000`);
    await expect(page.getByText(/no such cluster|does not exist|not found|no cluster/i).first()).toBeVisible();
    await page.goto(`${path.project()}/clusters/not-a-uuid`);
    await expect(page.getByRole("main")).toContainText(/no such|does not exist|not found|no cluster/i);
  });

  test("another project's cluster looks exactly like an unknown one", async ({ page }) => {
    await signIn(page, "ada");
    const words = async (id: string) => {
      await page.goto(`${path.project()}/clusters/${id}`);
      return (await page.getByRole("main").innerText()).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
    };
    const foreign = await words(cluster("globex-dev").id);
    expect(foreign).toBe(await words("00000000-0000-4000-8000-000000000000"));
  });

  test.describe("at kube-auth", () => {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "no token of ours" } };
    const ask = (name: ClusterName, id: string, body: string) =>
      send(`${setting("KUBE_AUTH_URL")}/clusters/${id}/tokenreview`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        authority: readFileSync(setting("KUBE_AUTH_CA_FILE")),
        identity: webhookIdentity(name),
      });

    test("a token that is none is not authenticated", async () => {
      const answer = await ask("acme-prod", cluster("acme-prod").id, JSON.stringify(review));
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body).status.authenticated ?? false).toBe(false);
    });

    test("a review that is none, or is too large, is refused", async () => {
      for (const body of ["{", "[]", "null", '{"kind":"Pod"}', JSON.stringify({ ...review, spec: { token: 7 } })]) {
        expect((await ask("acme-prod", cluster("acme-prod").id, body)).status, body).toBe(400);
      }
      const large = JSON.stringify({ ...review, spec: { token: "x".repeat(8 << 20) } });
      expect((await ask("acme-prod", cluster("acme-prod").id, large)).status).toBe(413);
    });

    test("an API server speaks for its own cluster only, and a client without a certificate for none", async () => {
      for (const id of [cluster("globex-dev").id, "00000000-0000-4000-8000-000000000000", "not-a-uuid"]) {
        expect([403, 404]).toContain((await ask("acme-prod", id, JSON.stringify(review))).status);
      }
      const stranger = await send(`${setting("KUBE_AUTH_URL")}/clusters/${cluster("acme-prod").id}/tokenreview`, {
        method: "POST",
        body: JSON.stringify(review),
        authority: readFileSync(setting("KUBE_AUTH_CA_FILE")),
      }).then(
        ({ status }) => status,
        () => "no connection",
      );
      expect([403, "no connection"]).toContain(stranger);
    });
  });

  test("rights questions that are no questions", async ({ page }) => {
    await signIn(page, "vera");
    const api = await PanelApi.of(page, "acme");
    const broken = await api.post("/api/clusters/rights", { cluster: "nope", questions: 7 });
    expect(broken.status).toBeGreaterThanOrEqual(400);
    expect(broken.status).toBeLessThan(500);
    const many = await api.post("/api/clusters/rights", {
      cluster: cluster("acme-prod").id,
      questions: Array.from({ length: 20_000 }, () => ({ verb: "get", group: "", resource: "pods", subresource: "", namespace: null, name: null })),
    });
    expect(many.status).toBeGreaterThanOrEqual(400);
    expect(many.status).toBeLessThan(500);
  });

  test("an oversized body", async ({ page }) => {
    await signIn(page, "vera");
    const api = await PanelApi.of(page, "acme");
    const answer = await api.post("/api/clusters/rights", { cluster: cluster("acme-prod").id, questions: "x".repeat(32 << 20) });
    expect(answer.status).toBe(413);
  });

  test("a change without the CSRF token, or with another's", async ({ page }) => {
    await signIn(page, "ada");
    const api = await PanelApi.of(page, "acme");
    const right = { cluster: cluster("acme-prod").id, questions: [] };
    expect((await api.post("/api/clusters/rights", right)).status).toBe(200);
    for (const token of ["", "AAAA", "x".repeat(64)]) {
      expect((await api.post("/api/clusters/rights", right, { "x-csrf-token": token })).status).toBe(403);
    }
    expect((await api.post("/api/clusters/rights", right, { origin: "https://evil.example" })).status).toBe(403);
  });

  test("a port out of range in the configuration", async () => {
    const answer = await run(setting("PORTICO_BIN"), ["config", "check"], {
      environment: { PORTICO_CONFIG: setting("PORTICO_CONFIG"), PORTICO_GATEWAY__LISTEN: "127.0.0.1:99999" },
    });
    expect(answer.code).not.toBe(0);
    expect(answer.stderr).toMatch(/listen/i);
    expect(answer.stderr).toContain("99999");
    expect(answer.stderr).not.toMatch(/panicked|backtrace/i);
  });
});

test("afterwards everything is well", async () => {
  await expect.poll(async () => (await send(`${adminUrl}/ready`)).status, { timeout: 20_000 }).toBe(200);
});

/** What a cluster's API server shows to kube-auth. */
function webhookIdentity(name: ClusterName) {
  const directory = nodePath.join(stateDirectory, "portico/clusters", name, "api-server");
  const file = (ending: string) => readFileSync(nodePath.join(directory, `portico-webhook.${ending}`));
  return { cert: file("crt"), key: file("key") };
}
