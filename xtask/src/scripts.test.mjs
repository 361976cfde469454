// Tests of the scripts beside this file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const OPTIMISE = fileURLToPath(new URL("optimise.mjs", import.meta.url));
const COMPRESS = fileURLToPath(new URL("compress.mjs", import.meta.url));

// (func (export "two") (result i32) i32.const 1 i32.const 1 i32.add), and a section "producers" without entries
const MODULE = Buffer.from(
  "0061736d01000000" + "0105016000017f" + "03020100" + "0707010374776f0000" + "0a09010700410141016a0b" + "000b0970726f64756365727300",
  "hex",
);

function inFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), "xtask-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return (name) => path.join(folder, name);
}

test("modules become smaller, work as before and lose what browsers skip", async (t) => {
  const file = inFolder(t);
  for (const name of ["a", "b"]) writeFileSync(file(`${name}.wasm`), MODULE);
  execFileSync("node", [OPTIMISE, file("a.wasm"), file("a"), file("b.wasm"), file("b")]);
  for (const name of ["a", "b"]) {
    const bytes = readFileSync(file(name));
    const { module, instance } = await WebAssembly.instantiate(bytes);
    assert.ok(bytes.length < MODULE.length, `${bytes.length} bytes`);
    assert.equal(instance.exports.two(), 2);
    assert.equal(WebAssembly.Module.customSections(module, "producers").length, 0);
    assert.equal(WebAssembly.Module.customSections(module, "target_features").length, 0);
  }
  assert.deepEqual(readdirSync(path.dirname(file("a"))), ["a", "a.wasm", "b", "b.wasm"]);
});

test("a file that is not a module is named, and has no result", (t) => {
  const file = inFolder(t);
  writeFileSync(file("bad.wasm"), "text");
  const { status, stderr } = spawnSync("node", [OPTIMISE, file("bad.wasm"), file("bad")], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.ok(stderr.includes(`${file("bad.wasm")}: `), stderr);
  assert.deepEqual(readdirSync(path.dirname(file("bad"))), ["bad.wasm"]);
});

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
