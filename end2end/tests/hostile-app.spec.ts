// An app on a host of its own, with scripts and all, can neither read nor drive the panel.
import type { Page } from "@playwright/test";
import { expect, takeComplaints, test } from "../support/browser";
import { cluster, optionalSetting, porticoUrl, setting } from "../support/env";
import { startHostileApp, type HostileApp } from "../support/hostile-app";
import { send } from "../support/http";
import { admin } from "../support/kubernetes-api";
import * as path from "../support/paths";
import { signIn } from "../support/sign-in";
import { unique } from "../support/workloads";

test.beforeAll(() => {
  expect(optionalSetting("HOSTILE_URL"), "the stack must have the hostile app").toBeTruthy();
});

let app: HostileApp;
test.beforeAll(async () => {
  app = await startHostileApp(setting("HOSTILE_UPSTREAM"));
});
test.afterAll(() => app.close());

const uidOf = async (name: string) => (await admin("globex-dev").get("configmaps", name, "default")).metadata.uid;

/** Signed in at the panel as an administrator, and with the hostile app open. */
async function lured(page: Page) {
  await signIn(page, "otto", path.project("globex"));
  await page.goto(setting("HOSTILE_URL"));
  await expect(page.getByRole("heading", { name: "An innocent app" })).toBeVisible();
  takeComplaints(page.context());
}

test("cannot read the panel with its user's cookies", async ({ page }) => {
  await lured(page);
  const answers = await page.evaluate(
    async (targets) =>
      Promise.all(
        targets.map((target) =>
          fetch(target, { credentials: "include" }).then(
            (response) => `read ${response.status}`,
            () => "refused",
          ),
        ),
      ),
    [path.project("globex"), "/oauth2/userinfo", "/oauth2/auth", "/ping"].map((target) => porticoUrl + target),
  );
  expect(answers.filter((answer) => answer !== "refused")).toEqual([]);
});

test("cannot frame the panel", async ({ page }) => {
  await lured(page);
  await page.evaluate((target) => {
    const frame = document.createElement("iframe");
    frame.src = target;
    frame.name = "panel";
    const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
    document.body.append(frame);
    return loaded;
  }, porticoUrl + path.project("globex"));
  await expect(page.frameLocator("iframe").getByText(/Launchpad|globex/)).toHaveCount(0);
  const readable = await page.evaluate(() => {
    try {
      return document.querySelector("iframe")?.contentDocument?.body?.innerText ?? "nothing";
    } catch {
      return "nothing";
    }
  });
  expect(readable).toBe("nothing");
});

test("cannot look into a window that it opened", async ({ page }) => {
  await lured(page);
  const popup = page.waitForEvent("popup");
  await page.evaluate((target) => {
    Object.assign(window, { opened: window.open(target) });
  }, porticoUrl + path.project("globex"));
  await (await popup).waitForLoadState();
  const seen = await page.evaluate(() => {
    const { opened } = window as unknown as { opened: Window | null };
    try {
      return opened?.document.title ?? "nothing";
    } catch {
      return "nothing";
    }
  });
  expect(seen).toBe("nothing");
});

test("cannot send changes, whatever way it sends them", async ({ page }) => {
  const victim = unique("victim");
  await admin("globex-dev").create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: victim, namespace: "default" } });
  const uid = await uidOf(victim);
  await lured(page);
  const fields = {
    cluster: cluster("globex-dev").id,
    "object[version]": "v1",
    "object[plural]": "configmaps",
    "object[namespace]": "default",
    "object[name]": victim,
    uid,
  };
  const target = `${porticoUrl}/api/objects/delete?project=${path.project("globex").split("/").pop()}`;
  await page.evaluate(
    async ({ url, values }) => {
      const body = new URLSearchParams(values).toString();
      for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
        await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", headers: { "content-type": type }, body }).catch(() => {});
        await fetch(url, { method: "POST", credentials: "include", headers: { "content-type": type, "x-csrf-token": "guess" }, body }).catch(() => {});
      }
      navigator.sendBeacon(url, new URLSearchParams(values));
    },
    { url: target, values: fields },
  );
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === target && response.request().isNavigationRequest()),
    page.evaluate(
      ({ url, values }) => {
        const form = document.createElement("form");
        form.method = "post";
        form.action = url;
        for (const [name, value] of Object.entries(values)) {
          const input = document.createElement("input");
          input.name = name;
          input.value = value;
          form.append(input);
        }
        document.body.append(form);
        form.submit();
      },
      { url: target, values: fields },
    ),
  ]);
  expect(answer.status()).toBe(403);
  expect(await uidOf(victim)).toBe(uid);
  await admin("globex-dev").delete("configmaps", victim, { namespace: "default" });
});

test("cannot open the panel's streams and terminals", async ({ page }) => {
  await lured(page);
  const targets = [`${path.project("globex")}/stream`, `${path.clusterPage("globex-dev")}/namespaces/shop/pods/any/exec?container=app`];
  const opened = await page.evaluate(
    (addresses) =>
      Promise.all(
        addresses.map(
          (address) =>
            new Promise<string>((resolve) => {
              const socket = new WebSocket(address);
              socket.addEventListener("open", () => resolve("open"));
              socket.addEventListener("error", () => resolve("refused"));
            }),
        ),
      ),
    targets.map((target) => porticoUrl.replace(/^http/, "ws") + target),
  );
  expect(opened).toEqual(["refused", "refused"]);
});

test("flaw_04 a page of another origin with a live session opens no stream, log, terminal or function", async ({ page }) => {
  await lured(page);
  const base = path.clusterPage("globex-dev");
  const functions = ["clusters/get", "resources/list", "resources/change", "resources/search", "objects/yaml", "objects/delete", "access/grant"];
  const seen = await page.evaluate(
    async ({ panel, sockets, calls, downloads }) => {
      const opens = (address: string) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(address);
          socket.addEventListener("message", () => resolve(`message from ${address}`));
          socket.addEventListener("open", () => resolve(`opened ${address}`));
          socket.addEventListener("error", () => resolve("refused"));
        });
      const streams = (address: string) =>
        new Promise<string>((resolve) => {
          const source = new EventSource(address, { withCredentials: true });
          source.addEventListener("open", () => resolve(`opened ${address}`));
          source.addEventListener("error", () => (source.close(), resolve("refused")));
        });
      const reads = (address: string, options: RequestInit) =>
        fetch(address, { credentials: "include", ...options }).then(
          async (response) => `read ${response.status} ${(await response.text()).slice(0, 40)}`,
          () => "refused",
        );
      return Promise.all([
        ...sockets.flatMap((path) => [opens(panel.replace(/^http/, "ws") + path), streams(panel + path)]),
        ...calls.map((path) => reads(`${panel}/api/${path}`, { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" })),
        ...downloads.map((path) => reads(panel + path, {})),
      ]);
    },
    {
      panel: porticoUrl,
      sockets: [`${path.project("globex")}/stream`, `${base}/namespaces/shop/pods/any/exec`],
      calls: functions,
      downloads: [`${base}/kubeconfig`, base],
    },
  );
  expect(seen.filter((one) => one !== "refused")).toEqual([]);
  // the control case: the same session on a page of the panel's own
  await page.goto(path.project("globex"));
  const own = await page.evaluate(
    (address) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(address);
        socket.addEventListener("open", () => resolve("opened"));
        socket.addEventListener("error", () => resolve("refused"));
      }),
    `${porticoUrl.replace(/^http/, "ws")}${path.project("globex")}/stream`,
  );
  expect(own).toBe("opened");
});

test("cannot sign its user out or another user in", async ({ page }) => {
  await lured(page);
  await page.evaluate(async (origin) => {
    for (const target of ["/oauth2/sign_out", "/oauth2/sign_in", "/oauth2/project"]) {
      await fetch(origin + target, { method: "POST", mode: "no-cors", credentials: "include" }).catch(() => {});
    }
  }, porticoUrl);
  await page.goto(path.project("globex"));
  await expect(page).toHaveURL(new RegExp(`${path.project("globex")}$`));
});

test("cannot plant a cookie on the panel's host", async ({ page, context }) => {
  await lured(page);
  await page.evaluate(() => {
    for (const name of ["portico", "__Host-portico", "tossed"]) {
      for (const domain of ["localhost", "apps.localhost"]) document.cookie = `${name}=tossed; domain=${domain}; path=/; secure`;
    }
  });
  const cookies = await context.cookies(porticoUrl);
  expect(cookies.filter(({ value }) => value === "tossed" || value === "1")).toEqual([]);
  expect(await page.evaluate(() => document.cookie)).not.toMatch(/portico=(?!tossed)/);
});

test("is sent no cookie and no token of Portico's, and cannot reuse the assertion", async ({ page }) => {
  await lured(page);
  const heard = app.requests.flatMap(({ rawHeaders }) => rawHeaders).join("\n");
  expect(heard).not.toMatch(/portico=(?!tossed)[A-Za-z0-9_-]{20}/);
  expect(heard.toLowerCase()).not.toContain("portico-token");
  const assertion = app.requests.map(({ headers }) => headers["portico-assertion"]).find(Boolean);
  expect(assertion, "the app learns who it is that visits").toBeTruthy();
  const claims = JSON.parse(Buffer.from(String(assertion).split(".")[1] ?? "", "base64url").toString());
  expect(claims.aud).toBe("hostile");
  expect(claims.csrf ?? null).toBeNull();
  for (const target of [path.project("globex"), "/api/session/get"]) {
    const answer = await send(target, { headers: { "portico-assertion": String(assertion), "sec-fetch-mode": "cors" } });
    expect(answer.status).toBe(401);
  }
});
