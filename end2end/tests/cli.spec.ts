import { readFileSync } from "node:fs";
import { CommandLine, person } from "../support/cli";
import { cluster } from "../support/env";
import { expect, test } from "../support/browser";
import { send } from "../support/http";
import * as path from "../support/paths";
import { account, signedIn, signIn } from "../support/sign-in";
import { signOut } from "../support/sign-out";

test.describe.configure({ mode: "serial" });

for (const kubectl of ["1.20", "current"] as const) {
  test(`the same identity in kubectl ${kubectl}`, async ({ browser }) => {
    const { terminal } = await person(browser, "devi");
    const pods = await terminal.kubectl("acme-prod", ["get", "pods", "-n", "shop"], { kubectl });
    expect(pods.stderr).toBe("");
    expect(pods.stdout).toContain("storefront-");
    const refused = await terminal.kubectl("acme-prod", ["get", "pods", "-A"], { kubectl });
    expect(refused.stderr).toContain('User "devi@Default" cannot list resource "pods"');
  });
}

test("the kubeconfig holds no secret", async ({ browser }) => {
  const { terminal } = await person(browser, "vera");
  const made = await terminal.portico("kubeconfig", "--cluster", "acme-prod", "--stdout");
  expect(made.stdout).toContain("client.authentication.k8s.io/v1beta1");
  expect(readFileSync(await terminal.kubeconfig("acme-prod", "current"), "utf8")).toContain("client.authentication.k8s.io/v1\n");
  expect(made.stdout).not.toMatch(/token:|client-key-data|password:|portico_v1\./);
});

test("a device code does without a browser on the machine", async ({ browser }) => {
  const page = await signedIn(browser, "devi");
  const terminal = new CommandLine("devi-device");
  const output = await terminal.login(page, ["--device"]);
  expect(output).toMatch(/[A-Z0-9]{4}-[A-Z0-9]{4}/);
  await expect(page.getByRole("heading", { name: "Your terminal is connected" })).toBeVisible();
  expect(await terminal.clusterToken("acme-prod")).toMatch(/^portico_v1\./);
});

for (const device of [false, true]) {
  test(`a user who is not signed in signs in on the way${device ? ", with a code" : ""}`, async ({ page }) => {
    const terminal = new CommandLine(`vera-${device ? "code" : "browser"}`);
    await terminal.login(page, device ? ["--device"] : [], account("vera"));
    expect(await terminal.clusterToken("acme-prod")).toMatch(/^portico_v1\./);
  });
}

test("portico logout ends the terminal's session only", async ({ browser }) => {
  const { terminal, page } = await person(browser, "vera");
  expect((await terminal.portico("logout")).code).toBe(0);
  const after = await terminal.portico("credential", "--cluster", cluster("acme-prod").id);
  expect(after.code).not.toBe(0);
  expect(after.stderr).toContain("portico login");
  await page.goto(path.project());
  await expect(page).not.toHaveURL(/\/oauth2\//);
});

test("a cluster's token is not given to cookies, and is not a bearer at the gateway", async ({ browser, page, context }) => {
  const { terminal } = await person(browser, "vera");
  await signIn(page, "vera");
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const endpoint = `/api/v1/clusters/${cluster("acme-prod").id}/token`;
  const origin = new URL(page.url()).origin;
  expect((await send(endpoint, { method: "POST", headers: { cookie, origin } })).status).toBe(401);
  const token = await terminal.clusterToken("acme-prod");
  expect((await send(endpoint, { method: "POST", headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
});

test("finding_o6 kubectl shows what to do after its session was ended in the browser", async ({ browser }) => {
  test.setTimeout(150_000);
  const { terminal, page } = await person(browser, "vera");
  expect((await terminal.kubectl("acme-prod", ["get", "pods", "-n", "shop"])).code).toBe(0);
  await signOut(page);
  // API servers believe an answer for some seconds
  await expect
    .poll(async () => (await terminal.kubectl("acme-prod", ["get", "pods", "-n", "shop"])).stderr, { timeout: 90_000, intervals: [3_000] })
    .toContain("run `portico login");
  const status = await terminal.portico("status");
  expect(status.code).toBe(77);
  expect(status.stdout).toContain("ended");
});

test("whoami, status and clusters print tables and JSON", async ({ browser }) => {
  const { terminal } = await person(browser, "devi");
  const whoami = await terminal.portico("whoami", "-o", "json");
  expect(whoami.stderr).toBe("");
  const [account] = JSON.parse(whoami.stdout) as [{ user: string; domain: string; projects: { name: string }[] }];
  expect(account).toMatchObject({ user: "devi", domain: "Default" });
  expect(account.projects.map(({ name }) => name).sort()).toEqual(["acme", "globex"]);
  const clusters = await terminal.portico("clusters");
  expect(clusters.stdout).toMatch(/^NAME +ID +PROJECT +API SERVER\n/);
  expect(clusters.stdout).toContain(cluster("acme-prod").id);
  const status = await terminal.portico("status", "-o", "yaml");
  expect(status.stdout).toContain("state: signed_in");
  expect(status.code).toBe(0);
});
