import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { Draft } from "./draft.js";

const SECRET = "apiVersion: v1\nkind: Secret\nstringData:\n  password: pass\n";

const stored = new Map();
Object.assign(globalThis, {
  addEventListener() {},
  removeEventListener() {},
  sessionStorage: {
    get length() {
      return stored.size;
    },
    key: (index) => [...stored.keys()][index] ?? null,
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  },
});

beforeEach(() => stored.clear());

test("the next page finds the text, and what it was written on", () => {
  const draft = new Draft("u1:edit");
  assert.equal(draft.found, null);
  draft.save("a: 2", "a: 1");
  draft.save("a: 3", "a: 1");
  draft.close();
  assert.deepEqual(new Draft("u1:edit").found, { text: "a: 3", base: "a: 1" });
  assert.equal(new Draft("u1:another").found, null);
});

test("a text that is as before, applied or discarded is not found again", () => {
  const draft = new Draft("u1:edit");
  draft.save("a: 2", "a: 1");
  draft.save(null);
  draft.close();
  assert.equal(new Draft("u1:edit").found, null);
  const next = new Draft("u1:edit");
  next.save("a: 2", "a: 1");
  next.flush();
  next.clear();
  assert.equal(new Draft("u1:edit").found, null);
});

test("what cannot be read is not a draft", () => {
  for (const value of ["a: [", "null", "1", '{"base":"a"}', '{"text":1}']) {
    stored.set("portico-draft:u1:edit", value);
    assert.equal(new Draft("u1:edit").found, null, value);
  }
});

test("the draft of another user is not found, and is removed", () => {
  const draft = new Draft("u1:edit");
  draft.save("a: 2", "a: 1");
  draft.close();
  stored.set("portico-other", "1");
  assert.equal(new Draft("u2:edit").found, null);
  assert.deepEqual([...stored.keys()], ["portico-other"]);
  assert.equal(new Draft("u1:edit").found, null);
});

test("a draft without a user, of an earlier version, is removed", () => {
  stored.set("portico-draft:edit:c:/projects/p/x", '{"text":"a: 2","base":"a: 1"}');
  stored.set("portico-draft:create:c", '{"text":"a: 2","base":"a: 1"}');
  stored.set("portico-draft:u1:create:c", '{"text":"a: 3","base":""}');
  assert.deepEqual(new Draft("u1:create:c").found, { text: "a: 3", base: "" });
  assert.deepEqual([...stored.keys()], ["portico-draft:u1:create:c"]);
});

test("the text of a Secret is never stored, and removes the draft before it", () => {
  const withheld = [];
  const draft = new Draft("u1:create", (is) => withheld.push(is));
  draft.save("a: 2", "");
  draft.flush();
  draft.save(`a: 2\n---\n${SECRET}`, "");
  draft.flush();
  assert.equal(stored.size, 0);
  // nor what the changes were made on
  draft.save("a: 3", SECRET);
  draft.flush();
  assert.equal(stored.size, 0);
  draft.save("a: 3", "");
  draft.close();
  assert.equal(stored.size, 1);
  assert.deepEqual(withheld, [false, true, true, false]);
});

test("the text of a Secret that is stored already is not offered, and is removed", () => {
  stored.set("portico-draft:u1:create", JSON.stringify({ text: SECRET, base: "" }));
  assert.equal(new Draft("u1:create").found, null);
  assert.equal(stored.size, 0);
});
