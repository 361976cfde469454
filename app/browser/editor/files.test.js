import assert from "node:assert/strict";
import test from "node:test";
import { MAX_FILE_BYTES, addition, checkText, readFile } from "./files.js";

function added(current, texts) {
  const { from, to, insert, start } = addition(current, texts);
  const text = current.slice(0, from) + insert + current.slice(to);
  return { text, first: text.slice(start) };
}

test("a file becomes a further document, and replaces an empty text", () => {
  assert.deepEqual(added(" \n", ["a: 1"]), { text: "a: 1\n", first: "a: 1\n" });
  assert.deepEqual(added("a: 1\n\n", ["---\nb: 2\n"]), { text: "a: 1\n---\nb: 2\n", first: "b: 2\n" });
  assert.deepEqual(added("a: 1", ["b: 2\n", "c: 3\n"]), { text: "a: 1\n---\nb: 2\n---\nc: 3\n", first: "b: 2\n---\nc: 3\n" });
  assert.equal(addition("a: 1\n", ["\n"]), undefined);
});

test("other files, long files and files without text are refused", async () => {
  assert.match(checkText("a.txt", "a").message, /only \.yaml, \.yml and \.json files/);
  assert.match(checkText("a.yaml", "é".repeat(MAX_FILE_BYTES / 2 + 1)).message, /larger than 1 MiB/);
  assert.match(checkText("a.yaml", "\uFFFD").message, /not UTF-8 text/);
  assert.match((await readFile(new File([new Uint8Array([0xff, 0xfe])], "a.yaml"))).message, /not UTF-8 text/);
  assert.match((await readFile(new File([], "a.png"))).message, /only/);
});

test("line ends and a byte order mark are unified", async () => {
  assert.deepEqual(checkText("a.YAML", "\uFEFFa: 1\r\nb: 2\r\n"), { text: "a: 1\nb: 2\n" });
  assert.deepEqual(await readFile(new File(["a: ü\n"], "a.yml")), { text: "a: ü\n" });
});
