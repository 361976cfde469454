import { createHash, X509Certificate } from "node:crypto";
import { defineConfig } from "@playwright/test";
import { gatewayAuthority, porticoUrl } from "./support/env";

const authority = gatewayAuthority();
// Chromium trusts the stack's own authority, and no other unknown one
const trusted = authority
  ? createHash("sha256")
      .update(new X509Certificate(authority).publicKey.export({ type: "spki", format: "der" }))
      .digest("base64")
  : undefined;

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./support/global-setup.ts",
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [["list"], ["html", { open: "never" }]],
  use: {
    baseURL: porticoUrl,
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
    locale: "en-GB",
    timezoneId: "UTC",
    actionTimeout: 10_000,
    navigationTimeout: 20_000,
    // a trace holds cookies and bodies, but test-results/ stays on this machine and is ignored by git
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
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
  // each waits for the one before, also when that failed: what they stop and search concerns all of them
  projects: [
    { name: "main", testIgnore: /(faults|leak)\.spec\.ts/ },
    { name: "faults", testMatch: /faults\.spec\.ts/ },
    { name: "leak", testMatch: /leak\.spec\.ts/ },
  ],
});
