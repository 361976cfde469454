// Everything secret that a run mints, and everything that it was served, kept for the search at the end (leak.spec).
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "./env";

export const kinds = ["password", "totp secret", "cookie", "keystone token", "cluster token", "cli token", "canary"] as const;
export type SecretKind = (typeof kinds)[number];

export interface Secret {
  kind: SecretKind;
  value: string;
}

// outside Playwright's output folder, which it empties when it starts
export const runDirectory = path.join(projectRoot, "end2end/.run");
const secretFile = path.join(runDirectory, "secrets.jsonl");
export const bodyDirectory = path.join(runDirectory, "bodies");

/** Forgets the last run. */
export function startRun() {
  rmSync(runDirectory, { recursive: true, force: true });
  mkdirSync(bodyDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(secretFile, "", { mode: 0o600 });
}

const seen = new Set<string>();

export function record(kind: SecretKind, value: string | undefined) {
  if (!value || seen.has(value)) return;
  seen.add(value);
  mkdirSync(runDirectory, { recursive: true, mode: 0o700 });
  appendFileSync(secretFile, `${JSON.stringify({ kind, value } satisfies Secret)}\n`, { mode: 0o600 });
}

export function recorded(): Secret[] {
  if (!existsSync(secretFile)) return [];
  const lines = readFileSync(secretFile, "utf8").split("\n").filter(Boolean);
  const all = lines.map((line) => JSON.parse(line) as Secret);
  return [...new Map(all.map((secret) => [secret.value, secret])).values()];
}

const searchable = /^(text\/|application\/(json|javascript|xml|x-ndjson|x-www-form-urlencoded|problem\+json)|$)/;

/** Whether bodies of this type are kept. */
export const isSearchable = (contentType: string) => searchable.test(contentType);

/** Keeps a served body once. */
export function recordBody(url: string, contentType: string, body: string) {
  if (!body || !isSearchable(contentType)) return;
  const name = createHash("sha256").update(url).update("\0").update(body).digest("hex").slice(0, 32);
  const file = path.join(bodyDirectory, name);
  if (existsSync(file)) return;
  mkdirSync(bodyDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${url}\n${body}`, { mode: 0o600 });
}

/** A secret as it may be found: itself, in base64 (also inside a longer text: three alignments), and URL-encoded. */
export function spellings(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const found = new Set([value, encodeURIComponent(value), new URLSearchParams({ v: value }).toString().slice(2)]);
  for (let shift = 0; shift < 3; shift++) {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
    const encoded = padded.toString("base64").replace(/=+$/, "");
    // the first and last characters depend on the neighbours
    const core = encoded.slice(shift === 0 ? 0 : shift + 1, padded.length % 3 === 0 ? undefined : -1);
    found.add(core);
    found.add(core.replaceAll("+", "-").replaceAll("/", "_"));
    found.add(encodeURIComponent(core));
  }
  return [...found].filter((spelling) => spelling.length >= 12 || spelling === value);
}
