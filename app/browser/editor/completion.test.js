import assert from "node:assert/strict";
import test from "node:test";
import { candidates, fieldText, identityAt, valueText } from "./candidates.js";
import { DEPLOYMENT, KINDS, cursor, schemaOf } from "./fixture.js";
import { placeAt } from "./place.js";

function place(marked) {
  const { text, offset } = cursor(marked);
  return placeAt(text, offset);
}

function found(marked) {
  const at = place(marked);
  if (!at) return [];
  const identity = identityAt(at);
  return candidates(at, identity && schemaOf(identity).schema, KINDS);
}

function labels(marked) {
  return found(marked).map(({ label }) => label);
}

/** Returns the text after the first candidate has been taken, with the cursor. */
function completed(marked, label) {
  const { text } = cursor(marked);
  const at = place(marked);
  const candidate = found(marked).find((candidate) => candidate.label === label);
  const from = at.from - at.quote.length;
  const to = at.to + (at.isClosed ? 1 : 0);
  const { insert, cursor: end } = candidate.type ? fieldText(candidate, at) : { insert: valueText(candidate, at) };
  return `${text.slice(0, from)}${insert.slice(0, end)}|${insert.slice(end ?? insert.length)}${text.slice(to)}`;
}

const HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

test("fields that are not present yet are offered, the required ones marked", () => {
  const options = found(`${HEAD}spec:\n  replicas: 1\n  |\n`);
  assert.deepEqual(
    options.map(({ label, detail, required }) => [label, detail, required]),
    [
      ["paused", "boolean", false],
      ["selector", "object, required", true],
      ["strategy", "object", false],
      ["template", "object, required", true],
    ],
  );
});

test("an unfinished name is completed among its siblings", () => {
  assert.deepEqual(labels(`${HEAD}spec:\n  repl|\n  paused: true\n`), ["replicas", "selector", "strategy", "template"]);
});

test("the description's first sentence explains a field", () => {
  assert.equal(found(`${HEAD}spec:\n  repl|`).find(({ label }) => label === "replicas").info, "Number of desired pods.");
});

test("fields of items, of new items and of nested objects are offered", () => {
  const containers = `${HEAD}spec:\n  template:\n    spec:\n      containers:\n`;
  assert.deepEqual(labels(`${containers}      - name: a\n        |\n`), ["image", "args", "env", "resources", "stdin"]);
  assert.deepEqual(labels(`${containers}      - |\n`), ["name", "image", "args", "env", "resources", "stdin"]);
  assert.deepEqual(labels(`${containers}      - name: a\n        env:\n        - name: B\n          v|\n`), ["value"]);
  assert.deepEqual(labels(`${containers}        |\n`), ["- "]);
  assert.deepEqual(labels(`${containers}      - name: a\n    m|\n`), ["metadata"]);
});

test("the status is not offered", () => {
  assert.deepEqual(labels(`${HEAD}|\n`), ["spec"]);
});

test("allowed values and booleans are offered", () => {
  const spec = `${HEAD}spec:\n  template:\n    spec:\n`;
  assert.deepEqual(labels(`${spec}      restartPolicy: |\n`), ["Always", "Never", "OnFailure"]);
  assert.deepEqual(labels(`${spec}      restartPolicy: Al|\n`), ["Always", "Never", "OnFailure"]);
  assert.deepEqual(labels(`${HEAD}spec:\n  paused: t|\n`), ["true", "false"]);
  assert.deepEqual(labels(`${HEAD}spec:\n  replicas: |\n`), []);
});

test("nothing is offered in comments, in texts and in the middle of words", () => {
  assert.deepEqual(labels(`${HEAD}spec: # re|\n`), []);
  assert.deepEqual(labels(`${HEAD}spec:\n  template:\n    spec:\n      restartPolicy: |-\n`.replace("|-", ">-\n        te|\n")), []);
  assert.deepEqual(labels(`${HEAD}---|\n`), []);
});

test("each document has fields of its own", () => {
  assert.deepEqual(labels(`${HEAD}---\n|\n`), ["apiVersion", "kind", "metadata"]);
  assert.deepEqual(labels(`${HEAD}---\napiVersion: v1\n|\n---\n${DEPLOYMENT}`), ["kind", "metadata"]);
  assert.deepEqual(labels(`{}\n---\n${HEAD}spec:\n  p|\n---\na: 1\n`), ["paused", "replicas", "selector", "strategy", "template"]);
});

test("an empty text starts with what every object has", () => {
  assert.deepEqual(labels("|"), ["apiVersion", "kind", "metadata"]);
  assert.deepEqual(labels("\n|\n"), ["apiVersion", "kind", "metadata"]);
  assert.deepEqual(labels("metadata:\n  |"), ["name", "generateName", "namespace", "labels", "annotations"]);
});

test("kinds fit the apiVersion, and bring one if there is none", () => {
  assert.deepEqual(labels("apiVersion: apps/v1\nkind: |\n"), ["Deployment", "StatefulSet"]);
  const [pod, deployment] = found("kind: |\n");
  assert.deepEqual([pod.apiVersion, deployment.apiVersion], ["v1", "apps/v1"]);
  assert.equal(found("apiVersion: apps/v1\nkind: |\n")[0].apiVersion, undefined);
  assert.equal(found("apiVersion:\nkind: |\n")[0].apiVersion, undefined);
  assert.equal(place("a: 1\n---\nkind: |\n").keyFrom, "a: 1\n---\n".length);
});

test("versions fit the kind", () => {
  assert.deepEqual(labels("apiVersion: |\nkind: Pod\n"), ["v1"]);
  assert.deepEqual(labels("apiVersion: |\n"), ["v1", "apps/v1"]);
});

test("an object gets an indented line, a list its first item, a value a space", () => {
  assert.equal(completed(`${HEAD}spec:\n  te|`, "template"), `${HEAD}spec:\n  template:\n    |`);
  assert.equal(completed(`${HEAD}spec:\n  re|`, "replicas"), `${HEAD}spec:\n  replicas: |`);
  const pod = `${HEAD}spec:\n  template:\n    spec:\n`;
  assert.equal(completed(`${pod}      co|`, "containers"), `${pod}      containers:\n      - |`);
  assert.equal(completed(`${pod}      containers:\n      - en|`, "env"), `${pod}      containers:\n      - env:\n        - |`);
});

test("only the name is replaced where a colon follows", () => {
  assert.equal(completed(`${HEAD}spec:\n  pau|sde: true\n`, "paused"), `${HEAD}spec:\n  paused|: true\n`);
});

test("JSON is completed with quotes and brackets", () => {
  const json = '{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {';
  assert.equal(completed(`${json}"te|"}}`, "template"), `${json}"template": {|}}}`);
  assert.equal(completed(`${json}te|}}`, "template"), `${json}"template": {|}}}`);
  assert.equal(completed('{"apiVersion": "apps/v1", "kind": "De|"}', "Deployment"), '{"apiVersion": "apps/v1", "kind": "Deployment"|}');
  assert.equal(completed(`${json}\n  "pau|": true\n}}`, "paused"), `${json}\n  "paused"|: true\n}}`);
});

test("items of a List have the fields of their kind", () => {
  const list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  spec:\n    |\n";
  assert.deepEqual(labels(list), ["paused", "replicas", "selector", "strategy", "template"]);
});
