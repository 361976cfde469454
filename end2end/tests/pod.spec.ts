import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "../support/browser";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, createPod, podOf, podReady, remove, removePod, unique } from "../support/workloads";

async function open(page: Page, user: "ada" | "devi" | "vera", app: string, tab = "") {
  const name = await podOf(app);
  await signIn(page, user, path.pod("shop", name, tab));
  await expect(page.getByRole("heading", { level: 1 })).toContainText(name);
  return name;
}

test.describe("the overview", () => {
  test("shows why a pod crashes and what to look at", async ({ page }) => {
    await open(page, "vera", "recommender");
    const main = page.getByRole("main");
    await expect(main).toContainText(/CrashLoopBackOff|Error/);
    await expect(main).toContainText(/ended with exit code 1/);
    await expect(main).toContainText(/previous log/);
  });

  test("shows why a pod is not scheduled, in plain words", async ({ page }) => {
    await open(page, "vera", "video-encoder");
    const main = page.getByRole("main");
    await expect(main).toContainText("all 2 nodes have too little free CPU");
    await expect(main).toContainText("64 cpu");
  });

  test("shows containers with their state and restarts", async ({ page }) => {
    await open(page, "vera", "checkout");
    const main = page.getByRole("main");
    for (const container of ["app", "session-cache"]) await expect(main.getByText(container, { exact: true }).first()).toBeVisible();
    await expect(main).toContainText("localhost/busybox:1.35");
  });

  test("need_07 shows what a pod uses, and its last hour", async ({ page }) => {
    await open(page, "vera", "checkout");
    const usage = page.locator("[data-part=usage]");
    // of a new container, Prometheus has a line after two minutes
    await expect(async () => {
      await page.reload();
      await expect(usage.getByRole("img", { name: /^CPU in the last hour: between/ })).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 100_000, intervals: [5_000] });
    await expect(usage.getByRole("heading", { name: "Usage" })).toBeVisible();
    await expect(usage).toContainText("from Prometheus");
    await expect(usage.getByRole("meter", { name: /^CPU: .+ of 170m requested$/ })).toBeVisible();
    await expect(usage.getByRole("meter", { name: /^Memory: .+ of 192 MiB allowed by the limits$/ })).toBeVisible();
    const parts = usage.getByRole("region", { name: "Usage by part" });
    for (const container of ["app", "session-cache"]) await expect(parts.getByRole("rowheader", { name: container })).toBeVisible();
    await usage.getByText("The last hour in numbers").click();
    const numbers = usage.getByRole("region", { name: "Usage in the last hour" });
    await expect(numbers.getByRole("rowheader").first()).toHaveText(/^\d\d:\d\d$/);
    await expect(numbers.getByRole("row").nth(1)).toContainText(/\d+m.*(KiB|MiB)/);
  });

  test("changes by itself", async ({ page }) => {
    const name = unique("changes");
    try {
      await createPod("shop", name, "sleep 6");
      await podReady("shop", name);
      await signIn(page, "vera", path.pod("shop", name));
      await expect(page.getByRole("main")).toContainText("Running");
      await removePod("shop", name);
      await expect(page.getByRole("main")).toContainText(/deleted|gone|no longer|does not exist/i, { timeout: 15_000 });
    } finally {
      await removePod("shop", name);
    }
  });
});

test("events are there, newest first, with their reason", async ({ page }) => {
  await open(page, "vera", "video-encoder", "events");
  await expect(page.getByRole("main")).toContainText("FailedScheduling");
});

test("the YAML is the object's, without managed fields, and reads without a wrapper", async ({ page }) => {
  const name = await open(page, "vera", "checkout", "yaml");
  const code = page.getByRole("region", { name: /YAML/ });
  await expect(code).toContainText(`name: ${name}`);
  await expect(code).toContainText("kind: Pod");
  await expect(code).not.toContainText("managedFields");
});

test("a Secret's values are not in its YAML", async ({ page }) => {
  await signIn(page, "devi", path.object("shop", "core/v1/secrets", "payment-gateway", "yaml"));
  const value: string = (await admin("acme-prod").get("secrets", "payment-gateway", "shop")).data["api-key"];
  await expect(page.getByRole("region", { name: /YAML/ })).toContainText("kind: Secret");
  expect(await page.content()).not.toContain(value);
  expect(await page.content()).not.toContain(Buffer.from(value, "base64").toString());
});

test.describe("logs", () => {
  const lines = (page: Page) => page.getByRole("log");

  test("follow a container", async ({ page }) => {
    await open(page, "vera", "checkout", "logs");
    await expect(lines(page)).toContainText("order=");
    const last = async () => Number((await lines(page).innerText()).match(/order=(\d+)(?![\s\S]*order=)/)?.[1] ?? 0);
    const before = await last();
    await expect.poll(last, { timeout: 15_000 }).toBeGreaterThan(before);
  });

  test("are those of the container that was chosen", async ({ page }) => {
    await open(page, "vera", "checkout", "logs");
    await page.getByLabel("Container").selectOption("session-cache");
    await expect(lines(page)).toContainText("cache:");
    await expect(lines(page)).not.toContainText("order=");
  });

  test("of the run before are kept", async ({ page }) => {
    await open(page, "vera", "recommender", "logs");
    const previous = page.getByLabel("Previous run");
    // the kubelet removes the container of a run when the next one ends, perhaps just before its log is read: then it says so
    await expect(async () => {
      await previous.uncheck();
      await previous.check();
      await expect(lines(page)).toContainText("feature store at features.data:6379: connection refused", { timeout: 5_000 });
    }).toPass({ timeout: 60_000 });
    await expect(page).toHaveURL(/previous=1/);
  });

  test("are downloaded as a file", async ({ page }) => {
    await open(page, "vera", "checkout", "logs");
    await expect(lines(page)).toContainText("order=");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
    expect(file.suggestedFilename()).toMatch(/^checkout-.*\.(log|txt)$/);
    expect(readFileSync(await file.path(), "utf8")).toContain("order=");
  });

  test("are searched, and held still while a user reads", async ({ page }) => {
    await open(page, "vera", "checkout", "logs");
    await expect(lines(page)).toContainText("order=");
    await page.getByRole("button", { name: "Pause updates" }).click();
    const held = await lines(page).innerText();
    await expect(page.getByRole("button", { name: /^Follow \(\d+ new\)/ })).toBeVisible();
    expect(await lines(page).innerText()).toBe(held);
    await page.getByRole("button", { name: /^Follow/ }).click();
    await expect.poll(() => lines(page).innerText()).not.toBe(held);
    await page.getByRole("searchbox", { name: "Search in the lines" }).fill("LEVEL=INFO");
    await expect(lines(page)).toContainText("level=warn");
    await page.getByLabel("Only matching lines").check();
    await expect(lines(page)).not.toContainText("level=warn");
    await expect(lines(page)).toContainText("level=info");
  });

  /** The text of the current match, and whether it is in the visible part of the log. */
  const current = (page: Page) =>
    lines(page).evaluate((view) => {
      const ranges: AbstractRange[] = [];
      CSS.highlights.forEach((highlight, name) => {
        if (name === "log-match-current") highlight.forEach((range) => ranges.push(range));
      });
      const [match] = ranges;
      if (!match) return null;
      const range = document.createRange();
      range.setStart(match.startContainer, match.startOffset);
      range.setEnd(match.endContainer, match.endOffset);
      const [place, frame] = [range.getBoundingClientRect(), view.getBoundingClientRect()];
      return { text: range.toString(), visible: place.top >= frame.top && place.bottom <= frame.bottom };
    });

  test("search shows n of m and moves between matches", async ({ page }) => {
    const namespace = await createNamespace("search");
    const rows = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo row-$i; done";
    await createPod(namespace, "search", `echo Needle-one; ${rows}; echo needle-two and NEEDLE-three; sleep infinity`);
    await podReady(namespace, "search");
    await signIn(page, "vera", path.pod(namespace, "search", "logs"));
    await expect(lines(page)).toContainText("needle-two");
    const search = page.getByRole("searchbox", { name: "Search in the lines" });
    const matches = page.locator("[data-part=matches]");
    const [previous, next] = ["Previous match", "Next match"].map((name) => page.getByRole("button", { name })) as [Locator, Locator];

    // the other lines stay, and new ones are still followed
    await search.fill("needle-");
    await expect(matches).toHaveText("3 matches");
    await expect(lines(page)).toContainText("row-150");
    await expect(page.getByRole("button", { name: "Pause updates" })).toBeVisible();

    await search.press("Enter");
    await expect(matches).toHaveText("1 of 3");
    await expect.poll(() => current(page)).toEqual({ text: "Needle-", visible: true });
    await expect(page.getByRole("button", { name: /^Follow/ })).toBeVisible();
    await next.click();
    await expect(matches).toHaveText("2 of 3");
    await expect.poll(() => current(page)).toEqual({ text: "needle-", visible: true });
    await search.press("Shift+Enter");
    await expect(matches).toHaveText("1 of 3");
    await previous.click();
    await expect(matches).toHaveText("3 of 3");
    await expect.poll(() => current(page)).toEqual({ text: "NEEDLE-", visible: true });

    await page.getByLabel("Only matching lines").check();
    await expect(lines(page)).not.toContainText("row-150");
    await expect(matches).toHaveText("3 matches");
    await page.getByLabel("Only matching lines").uncheck();
    await search.fill("not in the log");
    await expect(matches).toHaveText("No matches");
    await expect(next).toHaveAttribute("aria-disabled", "true");
    expect(await current(page)).toBeNull();
    await remove(namespace);
  });

  test("JSON lines are unfolded", async ({ page }) => {
    const namespace = await createNamespace("json");
    const line = '{"zone":"b","level":"info","msg":"order placed","order":{"id":7},"alpha":1}';
    await createPod(namespace, "json", `echo '${line}'; echo plain text; sleep infinity`);
    await podReady(namespace, "json");
    await signIn(page, "vera", path.pod(namespace, "json", "logs"));
    await expect(lines(page)).toContainText(line);
    const unfold = page.getByLabel("Unfold JSON");
    await unfold.check();
    const unfolded = ["order placed", "    zone: b", "    level: info", "    order:", "        id: 7", "    alpha: 1", "plain text"].join("\n");
    await expect.poll(() => lines(page).innerText()).toContain(unfolded);

    // the choice is remembered, and what is saved are the lines as they were written
    await page.reload();
    await expect(unfold).toBeChecked();
    await expect.poll(() => lines(page).innerText()).toContain(unfolded);
    await page.getByLabel("Timestamps").check();
    await expect(lines(page)).toContainText(/\d{4}-\d\d-\d\dT\S+ order placed/);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
    expect(readFileSync(await file.path(), "utf8")).toContain(` ${line}\n`);
    await unfold.uncheck();
    await expect(lines(page)).toContainText(line);
    await remove(namespace);
  });
});

test.describe("the terminal", () => {
  test("runs what devi types, and shows the output", async ({ page }) => {
    await open(page, "devi", "checkout", "terminal");
    const screen = page.locator("portico-terminal");
    await expect(screen).toBeVisible();
    await screen.click();
    await expect(screen).toContainText("$", { timeout: 15_000 });
    await page.keyboard.type("echo portico-$((40 + 2))\n");
    await expect(screen).toContainText("portico-42");
    await page.keyboard.type("exit\n");
    await expect(page.locator("#terminal-status")).toContainText(/ended|closed/i);
  });

  test("need_16 fills the screen, and continues in a dock on every page", async ({ page }) => {
    await open(page, "devi", "checkout", "terminal");
    const screen = page.locator("portico-terminal");
    await expect(screen).toContainText("$", { timeout: 15_000 });
    await page.getByRole("button", { name: "Full screen" }).click();
    const box = (await screen.boundingBox())!;
    const { width, height } = page.viewportSize()!;
    expect(box.width).toBeGreaterThan(width - 40);
    expect(box.height).toBeGreaterThan(height - 160);
    await page.getByRole("button", { name: "Leave full screen" }).click();
    await screen.click();
    await page.keyboard.type("WORD=dock; echo set-$((40 + 2))\n");
    await expect(screen).toContainText("set-42");

    // the shell continues, with what it knows
    await page.getByRole("button", { name: "Move to dock" }).click();
    const dock = page.getByRole("region", { name: "Terminals" });
    await expect(dock).toContainText("set-42");
    await page.getByRole("navigation", { name: "Cluster" }).getByRole("link", { name: "Deployments", exact: true }).click();
    await expect(page).toHaveURL(/\/deployments/);
    await expect(dock.getByRole("status")).toHaveText("Connected");
    await dock.locator(".terminal-host").click();
    await page.keyboard.type("echo in-the-$WORD\n");
    await expect(dock).toContainText("in-the-dock");
    await dock.getByRole("button", { name: "Minimize" }).click();
    await expect(dock.locator(".terminal-host")).toBeHidden();
    await dock.getByRole("button", { name: "Restore" }).click();
    await dock.getByRole("button", { name: "Full screen" }).click();
    expect((await dock.boundingBox())!.height).toBeGreaterThan(height - 2);
    await dock.getByRole("button", { name: "Leave full screen" }).click();
    await dock.getByRole("button", { name: "Close terminal" }).click();
    await expect(dock).toHaveCount(0);
  });

  test("is refused to vera, with the reason", async ({ page }) => {
    await open(page, "vera", "checkout", "terminal");
    await expect(page.locator("[data-state=not-permitted]")).toContainText(/pods\/exec/);
    await expect(page.locator("portico-terminal")).toHaveCount(0);
  });
});
