import assert from "node:assert/strict";
import test from "node:test";
import { schema } from "./fixture.js";
import { Schema, firstSentence, typeName } from "./schema.js";

const deployment = schema();

function name(path) {
  const type = deployment.at(path);
  return type && typeName(deployment, type);
}

test("a path leads through references, lists and maps", () => {
  assert.equal(name(["spec", "replicas"]), "integer");
  assert.equal(name(["spec", "template", "spec", "containers"]), "list of objects");
  assert.equal(name(["spec", "template", "spec", "containers", 0, "image"]), "string");
  assert.equal(name(["metadata", "labels"]), "map of strings");
  assert.equal(name(["metadata", "labels", "app"]), "string");
  assert.equal(name(["spec", "missing"]), undefined);
  assert.equal(name(["spec", "replicas", "deeper"]), undefined);
});

test("names of JavaScript's own properties are not fields", () => {
  assert.equal(name(["spec", "constructor"]), undefined);
  assert.equal(name(["toString"]), undefined);
});

test("quantities and integers or strings are types of their own", () => {
  assert.equal(name(["spec", "strategy", "maxSurge"]), "integer or string");
  assert.equal(name(["spec", "template", "spec", "containers", 0, "resources", "limits"]), "map of quantities");
  const v3 = new Schema({ root: { oneOf: [{ type: "string" }, { type: "integer" }] } });
  assert.equal(v3.root.kind, "int-or-string");
});

test("the description of a field is preferred to that of its type", () => {
  assert.equal(deployment.at(["spec"]).description, "Specification of the desired behavior.");
});

test("a circle of references ends", () => {
  assert.equal(schema("Loop").root.kind, "any");
});

test("an object without a list of fields takes any", () => {
  assert.equal(new Schema({ root: { type: "object" } }).root.isOpen, true);
  assert.equal(new Schema({ root: { type: "object", properties: { a: {} } } }).root.isOpen, false);
  const preserved = { type: "object", properties: { a: {} }, "x-kubernetes-preserve-unknown-fields": true };
  assert.equal(new Schema({ root: preserved }).root.isOpen, true);
});

test("the first sentence ends at a full stop, not in an abbreviation", () => {
  assert.equal(firstSentence("Number of desired pods. Defaults to 1."), "Number of desired pods.");
  assert.equal(firstSentence("A name, e.g. web. More."), "A name, e.g. web.");
  assert.equal(firstSentence("Version v1.2 of it\nand more"), "Version v1.2 of it and more");
  assert.equal(firstSentence(""), "");
});
