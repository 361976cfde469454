// The last step: nothing secret that this run minted may be found anywhere that it was written to or served.
import path from "node:path";
import { expect, newContext, test } from "../support/browser";
import { adminUrl, optionalSetting, stateDirectory } from "../support/env";
import { send } from "../support/http";
import { createUser, deleteUser, giveRole, recordedTokens } from "../support/keystone";
import { admin } from "../support/kubernetes-api";
import * as address from "../support/paths";
import { search } from "../support/search";
import { bodyDirectory, kinds, record, recordBody, recorded, type Secret } from "../support/secrets";
import { enter } from "../support/sign-in";

test.describe.configure({ mode: "serial" });
test.setTimeout(300_000);

/** Files that hold secrets because they are where these come from, by design and mode 0600. */
const sources = [
  "env",
  "demo-password",
  "keystone/admin-password",
  "keystone/seed.json",
  ...(optionalSetting("KEYSTONE_RECORDING") ? [path.relative(stateDirectory, optionalSetting("KEYSTONE_RECORDING") as string)] : []),
].map((name) => path.join(stateDirectory, name));

// characters that each encoding spells differently
const canary: Secret = { kind: "canary", value: `canary-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}` };
const awkward: Secret = { kind: "canary", value: `${canary.value}/+@?` };

test("canaries are planted where secrets could end up", async ({ browser }) => {
  record("canary", canary.value);
  const manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: canary.value, namespace: "shop" },
    data: { plain: awkward.value },
    binaryData: { encoded: Buffer.from(`xx${awkward.value}xx`).toString("base64") },
  };
  await admin("acme-prod").apply(manifest);
  const password = `canary-password-${Math.random().toString(36).slice(2)}`;
  record("password", password);
  const id = await createUser(canary.value, password);
  try {
    await giveRole(id, "acme", "k8s_developer");
    const context = await newContext(browser);
    const page = await context.newPage();
    await page.goto(address.list("core/v1/configmaps", `namespace=shop&q=${encodeURIComponent(canary.value)}`));
    await enter(page, { name: canary.value, password });
    await expect(page.getByRole("link", { name: canary.value, exact: true })).toBeVisible();
    await page.goto(address.list("core/v1/configmaps", `namespace=shop&q=${encodeURIComponent(awkward.value)}`));
    await expect(page.getByRole("main")).toBeVisible();
    await page.goto(address.object("shop", "core/v1/configmaps", canary.value, "yaml"));
    await expect(page.getByText(awkward.value).first()).toBeVisible();
    await context.close();
  } finally {
    await deleteUser(id);
    await admin("acme-prod").delete("configmaps", canary.value, { namespace: "shop" });
  }
});

test("every metric page is fetched", async () => {
  const portico = await send(`${adminUrl}/metrics`);
  expect(portico.status).toBe(200);
  expect(portico.body).toContain("portico_");
  for (const name of ["acme-prod", "globex-dev"] as const) {
    recordBody(`${name} metrics`, "text/plain", await admin(name).raw("/metrics"));
  }
});

test("every kind of secret was recorded", () => {
  for (const token of recordedTokens()) record("keystone token", token);
  const counts = new Map<string, number>(kinds.map((kind) => [kind, 0]));
  for (const { kind } of recorded()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const expected = kinds.filter((kind) => kind !== "keystone token" || optionalSetting("KEYSTONE_RECORDING"));
  expect(expected.filter((kind) => counts.get(kind) === 0)).toEqual([]);
});

test("the canaries are found, as themselves and encoded", async () => {
  const found = await search([canary, awkward], [stateDirectory, bodyDirectory], sources);
  const within = (part: string, secret: Secret, spelling: string) =>
    found.some((finding) => finding.file.includes(part) && finding.secret.value === secret.value && finding.spelling === spelling);
  expect(within(bodyDirectory, canary, "raw"), "a served body").toBe(true);
  expect(within(bodyDirectory, awkward, "encoded"), "an encoded spelling").toBe(true);
  expect(within("audit.log", canary, "raw"), "an API server's audit log").toBe(true);
  expect(within("etcd", canary, "raw"), "a database file").toBe(true);
  expect(found.some(({ file }) => /portico\.db/.test(file)), "Portico's own database").toBe(true);
});

test("no secret is found", async () => {
  const secrets = recorded().filter(({ kind }) => kind !== "canary");
  const found = await search(secrets, [stateDirectory, bodyDirectory], sources);
  // the secret itself stays out of the report
  expect(found.map(({ secret, spelling, file }) => `${secret.kind} (${spelling}) in ${file}`)).toEqual([]);
});
