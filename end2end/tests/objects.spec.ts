import type { Page } from "@playwright/test";
import { expect, newContext, takeComplaints, test } from "../support/browser";
import { kubectlAsAdmin } from "../support/kubectl";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, createPod, deploymentManifest, podManifest, podOf, podReady, remove, removePod, unique } from "../support/workloads";

const main = (page: Page) => page.getByRole("main");

/** What Chromium says about statuses is not the page's doing: an object may go while it is looked at. */
const ofTheBrowser = /Failed to load resource: the server responded with a status of/;
const complaintsOf = (page: Page) => takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text));

test.describe("finding_p1", () => {
  test("finding_p1 leaving Logs at any moment leaves no error", async ({ page }) => {
    test.setTimeout(120_000);
    const pod = await podOf("checkout");
    await signIn(page, "ada", path.pod("shop", pod));
    const tabs = page.getByRole("navigation", { name: "Parts of this object" });
    await expect(tabs.getByRole("link", { name: "Logs" })).toBeVisible();
    takeComplaints(page.context());
    for (let delay = 0; delay <= 300; delay += 15) {
      await tabs.getByRole("link", { name: "Logs" }).click();
      await expect(page.getByRole("log")).toBeAttached();
      // the moment is what is tested: lines come within it, and are shown a little later
      await page.waitForTimeout(delay);
      await tabs.getByRole("link", { name: "Overview" }).click();
      await expect(page.getByRole("log")).toHaveCount(0);
    }
    await expect(tabs.getByRole("link", { name: "Overview" })).toHaveAttribute("aria-current", "page");
    expect(complaintsOf(page)).toEqual([]);
  });

  test("finding_p1 hopping through all tabs at once leaves no error, for every kind", async ({ page }) => {
    test.setTimeout(480_000);
    await signIn(page, "ada", `${path.clusterPage()}/kinds`);
    await expect(main(page).locator("[data-row]").first()).toBeVisible();
    const lists = await main(page).locator("[data-row]").evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    expect(lists.length).toBeGreaterThan(40);
    let hopped = 0;
    for (const list of lists) {
      await page.goto(list);
      await expect(page.locator("[data-state=loading]")).toHaveCount(0);
      // other tests create kinds of example.org, and delete them meanwhile
      if (!list.includes("example.org")) await expect(page.locator("[data-state=error], [data-state=not-found]"), list).toHaveCount(0);
      const first = page.locator("[data-row]").first();
      if ((await first.count()) === 0) continue;
      takeComplaints(page.context());
      await first.click();
      const tabs = page.locator("nav.tabs a");
      await tabs.first().waitFor();
      // all in one go, then each for a moment
      await tabs.evaluateAll((links) => links.forEach((link) => (link as HTMLElement).click()));
      const count = await tabs.count();
      for (let at = count - 1; at >= 0; at--) await tabs.nth(at).click();
      await expect(tabs.first()).toHaveAttribute("aria-current", "page");
      expect.soft(complaintsOf(page), list).toEqual([]);
      hopped++;
    }
    expect(hopped).toBeGreaterThan(20);
  });

  test("finding_p1 leaving a list while its filter is being typed stays left", async ({ page }) => {
    await signIn(page, "ada", path.list("core/v1/pods"));
    await expect(main(page).getByText("Live", { exact: true })).toBeVisible();
    takeComplaints(page.context());
    await page.getByRole("searchbox", { name: "Name" }).evaluate((field) => {
      (field as HTMLInputElement).value = "check";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      document.querySelector<HTMLAnchorElement>("a.nav-item[href$='/kinds']")?.click();
    });
    await expect(page.getByRole("heading", { level: 1, name: "All kinds" })).toBeVisible();
    // longer than the filter waits for another key
    await page.waitForTimeout(400);
    await expect(page).toHaveURL(/\/kinds$/);
    expect(complaintsOf(page)).toEqual([]);
  });
});

test.describe("finding_p3 the log of a container that has not started", () => {
  test("finding_p3 shows that no node fits, and links to the explanation", async ({ page }) => {
    const pod = await podOf("video-encoder");
    await signIn(page, "vera", path.pod("shop", pod, "logs"));
    const state = page.locator("[data-state=not-started]");
    await expect(state).toContainText("The container has not started: no node fits: all 2 nodes have too little free CPU");
    await expect(page.getByRole("log")).toBeHidden();
    await expect(main(page)).not.toContainText("204");
    await expect(state.getByRole("link", { name: "Overview of the pod" })).toHaveAttribute("href", path.pod("shop", pod));
    await state.getByRole("link", { name: "Events of the pod" }).click();
    await expect(page).toHaveURL(new RegExp(`${pod}/events$`));
    await expect(main(page)).toContainText("FailedScheduling");
  });

  test("finding_p3 is there as soon as the container starts", async ({ page }) => {
    const namespace = await createNamespace("starts");
    const pod = podManifest(namespace, "later", "while true; do echo it-runs; sleep 1; done");
    // the init container ends when its file is there
    const first = { ...pod.spec.containers[0], name: "first", command: ["sh", "-c", "until [ -e /tmp/go ]; do sleep 0.2; done"] };
    await admin("acme-prod").apply({ ...pod, spec: { ...pod.spec, initContainers: [first] } });
    await signIn(page, "vera", path.pod(namespace, "later", "logs"));
    await expect(page.locator("[data-state=not-started]")).toContainText("init container first has to end first");
    await expect
      .poll(async () => (await admin("acme-prod").get("pods", "later", namespace)).status.initContainerStatuses?.[0]?.state?.running?.startedAt)
      .toBeDefined();
    await kubectlAsAdmin("acme-prod", "exec", "-n", namespace, "later", "-c", "first", "--", "touch", "/tmp/go");
    await expect(page.getByRole("log")).toContainText("it-runs", { timeout: 20_000 });
    await expect(page.locator("[data-state=not-started]")).toHaveCount(0);
    await remove(namespace);
  });
});

test.describe("finding_p5", () => {
  test("finding_p5 an object that never existed is not found, and nothing else is shown", async ({ page }) => {
    await signIn(page, "vera", path.pod("shop", "there-is-no-such-pod"));
    await expect(page.locator("[data-state=not-found]")).toContainText("Not found");
    // the stream may answer before the page has loaded
    const answered = new Promise<void>((resolve) => {
      page.on("websocket", (socket) =>
        socket.on("framereceived", ({ payload }) => {
          if (socket.url().endsWith("/stream") && payload.toString().includes("gone")) resolve();
        }),
      );
    });
    await page.reload();
    await answered;
    await expect(page.locator("[data-state=not-found]")).toBeVisible();
    await expect(main(page)).not.toContainText("was deleted");
  });

  test("finding_p5 an object that is deleted while it is open is shown as deleted", async ({ page }) => {
    const name = unique("goes");
    try {
      await createPod("shop", name);
      await podReady("shop", name);
      await signIn(page, "vera", path.pod("shop", name));
      await expect(main(page)).toContainText("Running");
      await removePod("shop", name);
      await expect(main(page)).toContainText("This object was deleted. Its last known state is shown.", { timeout: 15_000 });
      await expect(page.locator("[data-state=not-found]")).toHaveCount(0);
    } finally {
      await removePod("shop", name);
    }
  });
});

test("finding_p7 the filter of a log stays when timestamps are shown", async ({ page }) => {
  const pod = await podOf("checkout");
  await signIn(page, "vera", path.pod("shop", pod, "logs"));
  const lines = page.getByRole("log");
  await expect(lines).toContainText("order=");
  const filter = page.getByRole("searchbox", { name: "Search in the lines" });
  await filter.fill("LEVEL=WARN");
  await page.getByLabel("Only matching lines").check();
  await expect(lines).not.toContainText("level=info");
  await page.getByLabel("Timestamps").check();
  await expect(page).toHaveURL(/timestamps=1/);
  await expect(filter).toHaveValue("LEVEL=WARN");
  await expect(lines).toContainText(/\d{4}-\d\d-\d\dT.*level=warn/);
  await expect(lines).not.toContainText("level=info");
});

/** Makes every Pod of the namespace pass its readiness probe, once `count` of them run. */
async function makeReady(namespace: string, count: number) {
  let pods: string[] = [];
  await expect
    .poll(
      async () => {
        const running = await admin("acme-prod").list("pods", { namespace, fields: "status.phase=Running" });
        pods = running.map(({ metadata }) => metadata.name);
        return pods.length;
      },
      { timeout: 45_000 },
    )
    .toBe(count);
  for (const pod of pods) await kubectlAsAdmin("acme-prod", "exec", "-n", namespace, pod, "--", "touch", "/tmp/ready");
}

test("finding_p19 replicas that were just asked for are progress, no warning", async ({ page }) => {
  const namespace = await createNamespace("scales");
  const manifest = deploymentManifest(namespace, "web", 1);
  const [container] = manifest.spec.template.spec.containers;
  // a replica is ready when the test says so
  const slow = { ...container, readinessProbe: { exec: { command: ["test", "-e", "/tmp/ready"] }, periodSeconds: 1 } };
  const template = { ...manifest.spec.template, spec: { ...manifest.spec.template.spec, containers: [slow] } };
  await admin("acme-prod").apply({ ...manifest, spec: { ...manifest.spec, progressDeadlineSeconds: 300, template } });
  await makeReady(namespace, 1);
  await admin("acme-prod").waitForRollout(namespace, "web");
  await signIn(page, "devi", path.deployment(namespace, "web"));
  await expect(main(page)).toContainText("1 of 1 ready");
  await admin("acme-prod").scale(namespace, "web", 2);
  const status = page.locator(".page-title .status");
  await expect(status).toHaveText("Starting, 1 of 2 ready");
  await expect(status).toHaveClass(/is-info/);
  await expect(main(page)).toContainText("If it is not ready after 5 minutes, this becomes a warning.");
  await makeReady(namespace, 2);
  await expect(status).toHaveText("2 of 2 ready");
  await remove(namespace);
});

test("finding_p21 without scripts, logs and terminal show the notice only", async ({ browser }) => {
  const pod = await podOf("checkout");
  const context = await newContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, "devi", path.pod("shop", pod, "logs"));
  // what is in a <noscript> is shown here, but the text matchers leave it out
  const shown = () => main(page).evaluate((element) => (element as HTMLElement).innerText);
  await expect.poll(shown).toContain(`kubectl logs -f -n shop ${pod}`);
  await expect(page.getByRole("log")).toHaveCount(0);
  await expect(main(page).getByRole("combobox")).toHaveCount(0);
  await expect(main(page).getByRole("checkbox")).toHaveCount(0);
  await page.goto(path.pod("shop", pod, "terminal"));
  await expect.poll(shown).toContain(`kubectl exec -it -n shop ${pod}`);
  await expect(page.locator("portico-terminal")).toHaveCount(0);
  await expect(main(page).getByRole("button", { name: "Connect again" })).toHaveCount(0);
  await context.close();
});
