// The browser of `make bench-panel` and `make bench-cluster`: reads one command a line, a JSON object, and answers each with one. It is started by
// bench/src/panel/driver.rs.
import readline from "node:readline";
import { start } from "./browser.mjs";
import * as cluster from "./cluster.mjs";
import { firstPage } from "./first-page.mjs";
import * as list from "./list.mjs";
import * as logs from "./logs.mjs";

let tab;

const commands = {
  async start(options) {
    tab = await start(options);
    return { browser: tab.name };
  },
  first_page: (command) => firstPage(tab, command),
  first_rows: (command) => list.firstRows(tab, command),
  open_list: (command) => list.open(tab, command),
  leave_list: () => list.leave(),
  filter: (command) => list.filter(command),
  sort: (command) => list.sort(command),
  reload: (command) => list.reload(command),
  memory: () => list.memory(),
  expect: (command) => list.expectRow(command),
  seen: () => list.seen(),
  open_log: (command) => logs.open(tab, command),
  sample_log: () => logs.sample(tab),
  watch_cluster: (command) => cluster.watch(tab, command),
  cluster_seen: () => cluster.seen(),
  call_panel: (command) => cluster.call(tab, command),
};

// the benchmark was interrupted
process.stdout.on("error", () => process.exit(1));

for await (const line of readline.createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = (await commands[command.do](command)) ?? {};
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await tab?.browser.close();
