// The page of one cluster of Magnum, and calls of the panel's functions, without throttling.
let page;
let ended;

/** Opens the page of a cluster whose operation runs, and waits until it shows that. */
export async function watch(tab, { path }) {
  page ??= await tab.context.newPage();
  await page.goto(path, { waitUntil: "commit" });
  await page.evaluate(() => {
    // the first one is that of the cluster, beside the title
    window.__state = () => document.querySelector("main .status")?.textContent.trim();
    return window.__probe.when(() => window.__state() === "Being changed");
  });
  ended = page.evaluate(async () => performance.timeOrigin + (await window.__probe.when(() => window.__state() === "Running")));
  // it is awaited later
  ended.catch(() => {});
}

/** Resolves when that page shows that the operation is over. */
export async function seen() {
  return { at_ms: await ended };
}

/** Calls a function of the panel as its pages do; the page at `path` is opened first, once. */
export async function call(tab, { path, project, function: name, body }) {
  page ??= await tab.context.newPage();
  if (new URL(page.url(), "http://unused").pathname !== path) await page.goto(path, { waitUntil: "networkidle" });
  return page.evaluate(
    async ([project, name, body]) => {
      const csrf = document.querySelector("meta[name=csrf-token]").content;
      const type = body === null ? "application/x-www-form-urlencoded" : "application/json";
      const headers = { "content-type": type, accept: "application/json", "portico-project": project, "x-csrf-token": csrf };
      const begin = performance.now();
      const response = await fetch(name, { method: "POST", headers, body: body === null ? "" : JSON.stringify(body) });
      const text = await response.text();
      const answer_ms = performance.now() - begin;
      if (!response.ok) throw new Error(`${name} answered ${response.status}: ${text.slice(0, 500)}`);
      return { answer_ms, bytes: text.length, clusters: JSON.parse(text).clusters?.length };
    },
    [project, name, body],
  );
}
