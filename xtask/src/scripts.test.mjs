// Tests of the script beside this file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const COMPRESS = fileURLToPath(new URL("compress.mjs", import.meta.url));

function inFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), "xtask-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return (name) => path.join(folder, name);
}

test("compressed files have the content of the file", (t) => {
  const file = inFolder(t);
  const text = "a".repeat(10_000);
  for (const name of ["a.js", "b.css"]) writeFileSync(file(name), text + name);
  execFileSync("node", [COMPRESS, file("a.js"), file("b.css")]);
  for (const name of ["a.js", "b.css"]) {
    assert.equal(brotliDecompressSync(readFileSync(file(`${name}.br`))).toString(), text + name);
    assert.equal(gunzipSync(readFileSync(file(`${name}.gz`))).toString(), text + name);
  }
});

test("a file that cannot be compressed fails the step", (t) => {
  const file = inFolder(t);
  const { status, stderr } = spawnSync("node", [COMPRESS, file("missing.js")], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.ok(stderr.includes("missing.js"), stderr);
});
