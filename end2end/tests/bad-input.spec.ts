// Bad input gets a clear answer, at the gateway, the panel, kube-auth and in the configuration. Nothing is stopped for it.
import { readFileSync } from "node:fs";
import nodePath from "node:path";
import { expect, test } from "../support/browser";
import { cluster, setting, stateDirectory, type ClusterName } from "../support/env";
import { form, send } from "../support/http";
import { run } from "../support/kubectl";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";

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

/** What a cluster's API server shows to kube-auth. */
function webhookIdentity(name: ClusterName) {
  const directory = nodePath.join(stateDirectory, "portico/clusters", name, "api-server");
  const file = (ending: string) => readFileSync(nodePath.join(directory, `portico-webhook.${ending}`));
  return { cert: file("crt"), key: file("key") };
}
