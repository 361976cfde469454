import assert from "node:assert/strict";
import test from "node:test";
import { parse } from "./documents.js";
import { DEPLOYMENT, cursor, schemaOf } from "./fixture.js";
import { helpAt } from "./help.js";
import { formatPath, locate, parsePath, pathAt } from "./paths.js";

function located(path, text = DEPLOYMENT) {
  const { from, to } = locate(parse(text).documents.at(-1), parsePath(path));
  return text.slice(from, to);
}

test("paths are written and read as the API server writes them", () => {
  const path = ["spec", "containers", 0, "image"];
  assert.equal(formatPath(path), "spec.containers[0].image");
  assert.deepEqual(parsePath("spec.containers[0].image"), path);
  assert.deepEqual(parsePath("metadata.labels[example.org/a]"), ["metadata", "labels", "example.org/a"]);
  assert.deepEqual(parsePath('data["a b"]'), ["data", "a b"]);
  assert.deepEqual(parsePath(""), []);
});

test("a path is located at its value, or at its name if that is not a scalar", () => {
  assert.equal(located("spec.replicas"), "2");
  assert.equal(located("spec.template.spec.containers[0].image"), "nginx");
  assert.equal(located("spec.template"), "template");
  assert.equal(located("spec.template.spec.containers[0]"), "name");
  assert.equal(located("spec.selector.matchLabels"), "matchLabels");
});

test("a path that does not exist is located at the deepest part that does", () => {
  assert.equal(located("spec.template.spec.volumes[3].name"), "spec");
  assert.equal(located("spec.template.spec.containers[7].image"), "containers");
  assert.equal(located(""), "apiVersion");
});

test("places in a further document are those of the whole text", () => {
  assert.equal(located("spec.replicas", `${DEPLOYMENT}---\n${DEPLOYMENT.replace("replicas: 2", "replicas: 3")}`), "3");
});

test("a name with dots is found", () => {
  const text = "metadata:\n  annotations:\n    example.org/a: b\n";
  assert.equal(located("metadata.annotations.example.org/a", text), "b");
  assert.equal(located("metadata.annotations[example.org/a]", text), "b");
});

test("the path of a place is that of its field", () => {
  const at = (marked) => {
    const { text, offset } = cursor(marked);
    return pathAt(parse(text).documents[0], offset);
  };
  assert.deepEqual(at("a:\n- b: 1\n- c|c: 2\n").path, ["a", 1, "cc"]);
  assert.deepEqual(at("a:\n- b: 1\n- cc: 2|2\n").path, ["a", 1, "cc"]);
  assert.equal(at("a: 1\n|\nb: 2\n"), undefined);
});

test("help describes the field at a place", () => {
  const { text, offset } = cursor(DEPLOYMENT.replace("name: web\n        image", "na|me: web\n        image"));
  const { from, to, ...help } = helpAt(parse(text), offset, schemaOf);
  assert.equal(text.slice(from, to), "name");
  assert.deepEqual(help, {
    path: "spec.template.spec.containers[0].name",
    type: "string",
    required: true,
    values: [],
    description: "",
  });
  assert.equal(helpAt(parse("kind: Other\n"), 1, schemaOf), undefined);
});
