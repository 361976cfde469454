import assert from "node:assert/strict";
import test from "node:test";
import { nextColumn } from "./newline.js";

test("a line after a field without a value is indented", () => {
  assert.equal(nextColumn("spec:"), 2);
  assert.equal(nextColumn("  template:  # the pods"), 4);
  assert.equal(nextColumn("- env:"), 4);
  assert.equal(nextColumn("  script: |-"), 4);
  assert.equal(nextColumn("a: &anchor"), 2);
});

test("other lines keep the column of their field", () => {
  assert.equal(nextColumn("  replicas: 1"), 2);
  assert.equal(nextColumn("- name: web"), 2);
  assert.equal(nextColumn("  - - a"), 6);
  assert.equal(nextColumn("    "), 4);
  assert.equal(nextColumn("# note:"), 0);
  assert.equal(nextColumn("image: nginx:1"), 0);
  assert.equal(nextColumn("---"), 0);
});
