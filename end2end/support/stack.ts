// Stopping and starting single services of the stack, with the scripts that started them.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "@playwright/test";
import { projectRoot, setting, stateDirectory } from "./env";
import { run } from "./kubectl";

const profile = path.basename(stateDirectory).replace(/^\./, "");

async function script(name: string, ...parameters: string[]) {
  const result = await run(path.join(projectRoot, "scripts/services", `${name}.sh`), parameters, {
    environment: { PORTICO_PROFILE: profile, PORTICO_STATE: stateDirectory, PORTICO_CACHE: process.env.PORTICO_CACHE ?? "", PORTICO_BINARY: setting("PORTICO_BIN") },
    timeout: 90_000,
  });
  expect(result.code, `${name} ${parameters.join(" ")}: ${result.stderr}`).toBe(0);
}

/** Does `work` while a service is away; it is back afterwards, whatever happened. */
export async function without(service: "keystone" | "magnum" | "portico", work: () => Promise<void>) {
  await script(service, "stop");
  try {
    await work();
  } finally {
    // what the stack's start has seeded in the other two is still there
    await script(service, service === "portico" ? "start" : "resume");
  }
}

/** Does `work` while Magnum's API accepts requests, and no conductor carries them out. */
export async function withoutConductor(work: () => Promise<void>) {
  await script("magnum", "conductor", "stop");
  try {
    await work();
  } finally {
    await script("magnum", "conductor", "start");
  }
}

/** Does `work` while a process of the stack takes connections and never answers. */
export async function frozen(name: string, work: () => Promise<void>) {
  const [pid] = readFileSync(path.join(stateDirectory, "run", `${name}.pid`), "utf8").split(" ");
  // each service was started in a session of its own, which its workers share
  const resume = () => void process.kill(-Number(pid), "SIGCONT");
  process.kill(-Number(pid), "SIGSTOP");
  // a worker ends with its failed test, perhaps before `work` does: the second try must not meet a frozen service
  process.once("exit", resume);
  try {
    await work();
  } finally {
    process.off("exit", resume);
    resume();
  }
}
