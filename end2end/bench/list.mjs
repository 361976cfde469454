// A list of many rows: its first rows, filters, orders and memory, without throttling.
import { watchNetwork } from "./browser.mjs";

let page;
let network;
let expected;
/** A page that keeps the list watched while others open it. */
let other;

const shown = "main [data-row]";
const MB = 1e6;

async function newPage(tab) {
  const opened = await tab.context.newPage();
  return { opened, watched: await watchNetwork(opened) };
}

/** Chromium's name of the stream's messages is their only key. */
const isSnapshot = ({ isSent, text }) => !isSent && text.startsWith('{"snapshot"');
const isWatch = ({ isSent, text }) => isSent && text.startsWith('{"watch"');

async function until(condition, what) {
  const end = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`${what}: waited in vain`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Opens the list in a tab of its own and closes it again. */
export async function firstRows(tab, { path, shared }) {
  if (shared && !other) {
    const { opened, watched } = await newPage(tab);
    other = opened;
    await other.goto(path);
    await until(() => watched.messages.some(isSnapshot), "the other viewer's rows");
  }
  const { opened, watched } = await newPage(tab);
  await opened.goto(path, { waitUntil: "commit" });
  const time = await opened.evaluate(() => window.__probe.firstRows);
  await opened.waitForLoadState("load");
  const bytes = [...watched.requests.values()].reduce((sum, request) => sum + request.bytes, 0);
  await opened.close();
  return { first_rows_ms: time, bytes: Math.round(bytes) };
}

/** Opens the list for what follows; returns what its stream was asked for. */
export async function open(tab, { path }) {
  await other?.close();
  other = undefined;
  const { opened, watched } = await newPage(tab);
  [page, network] = [opened, watched];
  await page.goto(path, { waitUntil: "networkidle" });
  await page.locator(shown).first().waitFor();
  await until(() => network.messages.some(isSnapshot), "the list's rows");
  const socket = [...network.requests.values()].find(({ isSocket }) => isSocket);
  return { stream: new URL(socket.url).pathname, request: network.messages.find(isWatch).text };
}

export async function leave() {
  await page.close();
}

/** Does something and waits for what it shows; `condition` runs in the page with `value`. */
async function interaction(act, condition, value) {
  await page.evaluate(
    ([source, given]) => {
      const holds = new Function("probe", "value", `return (${source})(probe, value)`);
      window.__longBefore = window.__probe.longTasks.length;
      window.__shown = window.__probe.when(() => holds(window.__probe, given));
    },
    [condition.toString(), value],
  );
  const messagesBefore = network.messages.length;
  const requestsBefore = new Set(network.requests.keys());
  await act();
  const time = await page.evaluate(async () => (await window.__shown) - window.__probe.lastEvent);
  // a long task is reported after its end, and one can follow what is shown; this is outside of the times
  await page.waitForTimeout(400);
  const longest = await page.evaluate(() =>
    Math.max(0, ...window.__probe.longTasks.slice(window.__longBefore).map(({ duration }) => duration)),
  );
  return { shown_ms: time, answer_ms: answered(messagesBefore, requestsBefore), longest_task_ms: longest };
}

/** The time between the first request for rows, by the stream or a call, and the first answer to it. */
function answered(messagesBefore, requestsBefore) {
  const messages = network.messages.slice(messagesBefore);
  const calls = [...network.requests].filter(([id]) => !requestsBefore.has(id)).map(([, call]) => call);
  const times = calls.filter(({ finished }) => finished).map(({ sent, finished }) => finished - sent);
  const asked = messages.find(({ isSent, text }) => isSent && !text.startsWith('{"close"'));
  const answer = asked && messages.find((message) => isSnapshot(message) && message.at >= asked.at);
  if (answer) times.push(answer.at - asked.at);
  return times.length > 0 ? Math.min(...times) * 1000 : null;
}

const counted = () => page.locator("[data-count]").first().innerText();

/** Puts a text into the filter's field, as one input. */
export async function filter({ text }) {
  const field = page.locator("main [data-filter]").first();
  await field.focus();
  await field.selectText();
  const act = () => (text ? page.keyboard.insertText(text) : page.keyboard.press("Delete"));
  const condition = text
    ? (probe, value) => probe.names().length > 0 && probe.names().every((name) => name.includes(value))
    : (probe) => new Set(probe.names().map((name) => name.split("-")[0])).size > 1;
  const round = await interaction(act, condition, text);
  return { ...round, count: await counted() };
}

/** Orders by a column until a row with the name `first` is the first one. */
export async function sort({ column, first }) {
  const head = page.locator("main th, main [role=columnheader]").filter({ hasText: new RegExp(`^\\s*${column}\\b`, "i") }).first();
  const press = head.locator("a, button").first();
  const round = await interaction(() => press.click(), (probe, value) => probe.names()[0] === value, first);
  return { ...round, count: await counted() };
}

/** Loads the list again, in its own order. */
export async function reload({ path }) {
  const before = network.messages.length;
  await page.goto(path, { waitUntil: "networkidle" });
  await page.locator(shown).first().waitFor();
  // scripts have taken the page over
  await until(() => network.messages.slice(before).some(isSnapshot), "the list's rows");
}

export const memory = () => occupied(page, network);

/** What a tab occupies, after all garbage was collected. */
export async function occupied(opened, { session, messages, requests }) {
  await session.send("HeapProfiler.enable");
  for (let i = 0; i < 2; i += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.send("HeapProfiler.disable");
  // nothing of the benchmark's own stays
  messages.length = 0;
  requests.clear();
  const inPage = await opened.evaluate(() => {
    window.__probe.longTasks.length = 0;
    return {
      wasm: [...window.__probe.memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
      elements: document.querySelectorAll("*").length,
    };
  });
  return { js_heap_mb: usedSize / MB, wasm_mb: inPage.wasm / MB, dom_nodes: inPage.elements };
}

/** Begins to wait for a number in the row of a name. */
export async function expectRow({ row, text }) {
  expected = await page.evaluateHandle(
    ([name, number]) => {
      const { rows, rowOf, when } = window.__probe;
      const has = () => {
        const link = rows().find((candidate) => candidate.textContent.trim() === name);
        const cells = link ? [...rowOf(link).querySelectorAll("td, [role=cell], [role=gridcell]")] : [];
        return cells.some((cell) => cell.textContent.replace(/[,.\s]/g, "") === number);
      };
      return { seen: when(has).then((time) => performance.timeOrigin + time) };
    },
    [row, text],
  );
}

export async function seen() {
  const at = await expected.evaluate(({ seen: time }) => time);
  await expected.dispose();
  return { at };
}
