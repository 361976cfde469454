import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { Draft } from "./draft.js";

const stored = new Map();
Object.assign(globalThis, {
  addEventListener() {},
  removeEventListener() {},
  sessionStorage: {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  },
});

beforeEach(() => stored.clear());

test("the next page finds the text, and what it was written on", () => {
  const draft = new Draft("edit");
  assert.equal(draft.found, null);
  draft.save("a: 2", "a: 1");
  draft.save("a: 3", "a: 1");
  draft.close();
  assert.deepEqual(new Draft("edit").found, { text: "a: 3", base: "a: 1" });
  assert.equal(new Draft("another").found, null);
});

test("a text that is as before, applied or discarded is not found again", () => {
  const draft = new Draft("edit");
  draft.save("a: 2", "a: 1");
  draft.save(null);
  draft.close();
  assert.equal(new Draft("edit").found, null);
  const next = new Draft("edit");
  next.save("a: 2", "a: 1");
  next.flush();
  next.clear();
  assert.equal(new Draft("edit").found, null);
});

test("what cannot be read is not a draft", () => {
  for (const value of ["a: [", "null", "1", '{"base":"a"}', '{"text":1}']) {
    stored.set("portico-draft:edit", value);
    assert.equal(new Draft("edit").found, null, value);
  }
});
