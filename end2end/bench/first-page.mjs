// The first page that a signed-in user opens, with an empty cache and a throttled network and processor.
import { newContext, watchNetwork } from "./browser.mjs";

const kilobits = (count) => (count * 1000) / 8;
/** Lighthouse's upload rate where it has the same download rate and latency. */
const networks = {
  slow: { latency: 150, downloadThroughput: kilobits(1600), uploadThroughput: kilobits(750) },
  medium: { latency: 40, downloadThroughput: kilobits(10_000), uploadThroughput: kilobits(10_000) },
};
const CPU_DIVISOR = 4;

export async function firstPage({ browser, url, cookies }, { path, network }) {
  const context = await newContext(browser, url, cookies);
  try {
    // asks for interactivity from the first moment, and keeps the answer
    await context.addInitScript(() => (window.__interactive = window.__probe.interactive()));
    const page = await context.newPage();
    const { session, requests, messages } = await watchNetwork(page);
    await session.send("Network.emulateNetworkConditions", { offline: false, ...networks[network] });
    await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_DIVISOR });
    await page.goto(path, { waitUntil: "commit" });
    const interactive = await page.evaluate(() => window.__interactive);
    const [painted, clicked] = await page.evaluate(async () => [await window.__probe.firstPaint, window.__probe.clicked]);
    await page.waitForLoadState("networkidle");
    const all = [...requests.values()];
    const begin = Math.min(...all.map(({ sent }) => sent));
    const end = begin + clicked / 1000;
    const before = all.filter(({ sent }) => sent <= end);
    const received = messages.filter(({ isSent, at }) => !isSent && at <= end).reduce((sum, { text }) => sum + text.length, 0);
    const sum = (some) => some.reduce((total, { bytes }) => total + bytes, 0);
    return {
      network,
      bytes: Math.round(sum(before) + received),
      requests: before.length,
      fcp_ms: painted,
      interactive_ms: interactive,
      settled_bytes: Math.round(sum(all)),
      files: before.map((request) => `${new URL(request.url).pathname} ${Math.round(request.bytes)}`),
    };
  } finally {
    await context.close();
  }
}
