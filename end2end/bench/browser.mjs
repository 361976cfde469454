// Chromium with a signed-in user, and what its network transferred.
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "@playwright/test";

const probe = path.join(import.meta.dirname, "probe.js");
const TIMEOUT = 60_000;

/** Starts the browser, which takes the gateway's certificate, and signs in through the page. */
export async function start({ url, certificate, user, password }) {
  const key = new X509Certificate(readFileSync(certificate)).publicKey.export({ type: "spki", format: "der" });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
    ],
  });
  const context = await newContext(browser, url);
  const page = await context.newPage();
  await page.goto("/oauth2/sign_in?rd=/", { waitUntil: "networkidle" });
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL((address) => !address.pathname.startsWith("/oauth2/"));
  await page.close();
  const cookies = await context.storageState();
  return { browser, context, url, cookies, name: `Chromium ${browser.version()}` };
}

/** A context with an empty cache; signed in when cookies are given. */
export async function newContext(browser, baseURL, storageState) {
  const context = await browser.newContext({
    baseURL,
    storageState,
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(TIMEOUT);
  await context.addInitScript({ path: probe });
  return context;
}

/**
 * Keeps every request and every message of a page, with Chromium's own monotonic times in seconds. With `onMessage`, it gets
 * the messages and none is kept.
 */
export async function watchNetwork(page, onMessage) {
  const session = await page.context().newCDPSession(page);
  const requests = new Map();
  const messages = [];
  const take = onMessage ?? ((message) => messages.push(message));
  session.on("Network.requestWillBeSent", ({ requestId, request, timestamp }) => {
    if (!request.url.startsWith("data:")) requests.set(requestId, { url: request.url, sent: timestamp, bytes: 0 });
  });
  session.on("Network.requestServedFromCache", ({ requestId }) => requests.delete(requestId));
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.fromDiskCache) requests.delete(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength, timestamp }) => {
    const request = requests.get(requestId);
    if (request) Object.assign(request, { bytes: encodedDataLength, finished: timestamp });
  });
  session.on("Network.webSocketCreated", ({ requestId, url }) => requests.set(requestId, { url, isSocket: true, bytes: 0 }));
  session.on("Network.webSocketWillSendHandshakeRequest", ({ requestId, timestamp }) => {
    const socket = requests.get(requestId);
    if (socket) socket.sent = timestamp;
  });
  const keep = (isSent) => ({ timestamp, response }) => take({ isSent, at: timestamp, text: response.payloadData });
  session.on("Network.webSocketFrameSent", keep(true));
  session.on("Network.webSocketFrameReceived", keep(false));
  await session.send("Network.enable");
  return { session, requests, messages };
}
