import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "@playwright/test";
import { gatewayAuthority, porticoUrl, stateDirectory } from "./support/env";

/** The gateway's certificate, which Chromium takes besides those that it trusts; it must come from the stack's authority. */
function gatewayKey(): string | undefined {
  const authority = gatewayAuthority();
  if (!authority) return undefined;
  const certificate = new X509Certificate(readFileSync(path.join(stateDirectory, "portico/tls/gateway.crt")));
  if (!certificate.verify(new X509Certificate(authority).publicKey)) {
    throw new Error("the gateway's certificate is not from the stack's authority");
  }
  const key = certificate.publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(key).digest("base64");
}

const trusted = gatewayKey();

/** They wait for Magnum, or for the end of a token, for most of their time. Of them, two run beside two of the others. */
const waiting = /\/(endings|managed-clusters[a-z-]*|story-cluster-[a-z-]+)\.spec\.ts$/;
/** Files that take minutes, one test after the other. Begun late, each would keep one worker busy while the others are idle. */
const long = /\/(list-features|navigation|objects|pages|workloads)\.spec\.ts$/;
/** They stop Magnum and wait for most of their time. */
const magnum = /\/clusters-faults\.spec\.ts$/;
/** They stay on pages of the stack's own clusters, which need no Magnum, and take as long as those that stop it. */
const clusterPages = /\/(edit-form|editor|forms|manifests)\.spec\.ts$/;
/** They freeze the API server of acme-prod or add a node to it. */
const kubernetes = /\/(drain|loading)\.spec\.ts$/;
/** They freeze the API server of globex-dev, or count how often Portico reads clusters of Magnum; the tests beside them use neither. */
const besideKubernetes = /\/(clusters-viewers|silent-cluster)\.spec\.ts$/;
/** What these stop concerns everything. */
const alone = /\/(clusters-alone|faults)\.spec\.ts$/;
/** The last: it searches what all others have left. */
const leak = /\/leak\.spec\.ts$/;

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./support/global-setup.ts",
  // tests wait for most of their time; files run side by side, the tests of one file in order
  workers: 4,
  fullyParallel: false,
  // a test that passes on its retry is reported as flaky; the suite continues with the projects that depend on it
  retries: 1,
  forbidOnly: true,
  // upper bounds for a busy machine; none of them measures anything
  timeout: 120_000,
  expect: { timeout: 20_000 },
  // scripts/compared.py reads the JUnit file
  reporter: [["list"], ["html", { open: "never" }], ["junit", { outputFile: "test-results/junit.xml" }]],
  use: {
    baseURL: porticoUrl,
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
    locale: "en-GB",
    timezoneId: "UTC",
    actionTimeout: 20_000,
    navigationTimeout: 30_000,
    // traces take a quarter of the time, and hold cookies and bodies; for a failure that has to be looked into:
    // npx playwright test --trace retain-on-failure
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...(trusted ? [`--ignore-certificate-errors-spki-list=${trusted}`] : []),
      ],
    },
  },
  // in this order; each project begins when all before it have ended, except for those that run beside each other
  projects: [
    { name: "magnum", testMatch: magnum, workers: 1 },
    { name: "cluster-pages", testMatch: clusterPages },
    { name: "waiting", testMatch: waiting, dependencies: ["magnum", "cluster-pages"], workers: 2 },
    { name: "long", testMatch: long, dependencies: ["magnum", "cluster-pages"] },
    {
      name: "main",
      testIgnore: [magnum, clusterPages, waiting, long, kubernetes, besideKubernetes, alone, leak],
      dependencies: ["magnum", "cluster-pages"],
    },
    { name: "kubernetes", testMatch: kubernetes, dependencies: ["waiting", "long", "main"], workers: 1 },
    { name: "beside-kubernetes", testMatch: besideKubernetes, dependencies: ["waiting", "long", "main"], workers: 1 },
    { name: "faults", testMatch: alone, dependencies: ["kubernetes", "beside-kubernetes"], workers: 1 },
    { name: "leak", testMatch: leak, dependencies: ["faults"] },
  ],
});
