// A log that is followed: what of it arrives and is shown, how even the frames are, and what the tab occupies.
import { readFileSync } from "node:fs";
import { watchNetwork } from "./browser.mjs";
import { occupied } from "./list.mjs";

let page;
let network;
let arrived;

const shown = "[role=log] .log-lines";
const MB = 1e6;
const TIMEOUT = 60_000;

const since = (newest, at) => ({ from: newest, newest, begin: at, last: at, lines: 0, skipped: 0, silence: 0 });

/** Counts the lines of one of the stream's messages. Each line of the source has its number. */
function count({ isSent, at, text }) {
  if (isSent || !text.startsWith('{"lines"')) return;
  const { lines, skipped } = JSON.parse(text).lines;
  arrived.silence = Math.max(arrived.silence, at - (arrived.last ?? at));
  arrived.last = at;
  arrived.skipped += skipped;
  for (const line of lines) {
    const number = Number(/\bline=(\d+)\b/.exec(line)?.[1] ?? 0);
    // after a reconnect the server begins with lines that have arrived before
    if (number > arrived.newest) {
      arrived.newest = number;
      arrived.lines += 1;
    }
  }
}

/** Opens the log, waits until new lines are shown, and begins to count lines and frames. */
export async function open(tab, { path }) {
  page = await tab.context.newPage();
  arrived = since(0);
  network = await watchNetwork(page, count);
  await page.goto(path);
  await page.evaluate(watch, shown);
  const first = await (await page.waitForFunction(() => window.__log.newest(), undefined, { timeout: TIMEOUT })).jsonValue();
  await page.waitForFunction((number) => window.__log.newest() > number, first, { timeout: TIMEOUT });
  await page.evaluate(() => window.__log.begin());
  arrived = since(arrived.newest, arrived.last);
}

/** Runs in the page: finds the newest line, and counts frames by their duration without growing. */
function watch(selector) {
  const longTasks = window.__probe.longTasks;
  /** The index is a duration in ms; it is not emptied between samples. */
  const durations = new Uint32Array(1001);
  let [last, longest, slow, isCounting] = [undefined, 0, 0, false];
  const frame = (time) => {
    if (isCounting && last !== undefined) {
      const duration = time - last;
      durations[Math.min(1000, Math.round(duration))] += 1;
      longest = Math.max(longest, duration);
      if (duration > 50) slow += 1;
    }
    last = isCounting ? time : undefined;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const percentile = (share) => {
    let rest = durations.reduce((sum, frames) => sum + frames, 0) * share;
    return durations.findIndex((frames) => (rest -= frames) <= 0);
  };
  const lines = () => document.querySelector(selector);
  const newest = () => {
    const text = lines()?.lastElementChild?.lastChild?.textContent ?? "";
    return Number(/\bline=(\d+)\b[^\n]*\n$/.exec(text)?.[1] ?? 0);
  };
  const begin = () => {
    [longest, slow] = [0, 0];
    longTasks.length = 0;
    isCounting = true;
  };
  /** What follows is the benchmark's own work, until it begins again. */
  const end = () => {
    isCounting = false;
    return {
      newest_shown: newest(),
      lines_shown: lines().textContent.split("\n").length - 1,
      frame_p99_ms: percentile(0.99),
      longest_frame_ms: longest,
      slow_frames: slow,
      long_tasks_ms: longTasks.map(({ duration }) => duration),
    };
  };
  window.__log = { newest, begin, end };
}

/** What has arrived since the last sample, what is shown, and what the tab occupies after a garbage collection. */
export async function sample({ browser }) {
  const { from, newest, begin, last, lines, skipped, silence } = arrived;
  arrived = since(newest, last);
  const inPage = await page.evaluate(() => window.__log.end());
  const tab_rss_mb = await rssOfTab(browser);
  const memory = await occupied(page, network);
  // the garbage collection is a long task: until it is reported, so that it counts in no sample
  await page.waitForTimeout(400);
  await page.evaluate(() => window.__log.begin());
  return {
    ...inPage,
    seconds: last - begin,
    newest,
    printed: newest - from,
    received: lines,
    skipped,
    longest_silence_ms: silence * 1000,
    memory,
    tab_rss_mb,
  };
}

/** The resident memory of the largest of the browser's processes for pages, before the garbage collection. */
async function rssOfTab(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const ids = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const kib = ids.map((id) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0));
  return (Math.max(0, ...kib) * 1024) / MB;
}
