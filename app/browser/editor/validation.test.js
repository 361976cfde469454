import assert from "node:assert/strict";
import test from "node:test";
import { parse } from "./documents.js";
import { DEPLOYMENT, schemaOf } from "./fixture.js";
import { validate } from "./validation.js";

/** Returns the problems of a text as "severity: marked text: message". */
function problems(text) {
  return validate(parse(text), schemaOf).map(({ from, to, severity, message }) => `${severity}: ${text.slice(from, to)}: ${message}`);
}

function replaced(from, to) {
  const text = DEPLOYMENT.replace(from, to);
  assert.notEqual(text, DEPLOYMENT);
  return problems(text);
}

test("a valid manifest has no problems", () => {
  assert.deepEqual(problems(DEPLOYMENT), []);
  assert.deepEqual(problems(""), []);
  assert.deepEqual(problems("# nothing yet\n---\n"), []);
});

test("an unknown field is a warning with the name that was probably meant", () => {
  assert.deepEqual(replaced("replicas: 2", "replikas: 2"), [
    'warning: replikas: Unknown field "replikas". Did you mean "replicas"?',
  ]);
  assert.deepEqual(replaced("replicas: 2", "zzz: 2"), ['warning: zzz: Unknown field "zzz".']);
});

test("a wrong type is an error with a remedy", () => {
  assert.deepEqual(replaced("replicas: 2", 'replicas: "2"'), [
    'error: "2": replicas must be an integer, not a string. Remove the quotes.',
  ]);
  assert.deepEqual(replaced("image: nginx", "image: 8080"), [
    'error: 8080: image must be a string, not an integer. Put it in quotes: "8080".',
  ]);
  assert.deepEqual(replaced("image: nginx", "stdin: yes"), [
    "error: yes: stdin must be a boolean, not a string. Write true or false.",
  ]);
  assert.deepEqual(replaced("image: nginx", "args: one"), [
    'error: one: args must be a list of strings, not a string. Start each item with "- ".',
  ]);
  assert.deepEqual(replaced("image: nginx", "args: [one, 2]"), [
    'error: 2: args[1] must be a string, not an integer. Put it in quotes: "2".',
  ]);
});

test("what YAML 1.1 and 1.2 read differently is a warning", () => {
  assert.deepEqual(replaced("image: nginx", "image: yes"), [
    'warning: yes: Kubernetes reads yes without quotes as a boolean. Put it in quotes: "yes".',
  ]);
  assert.deepEqual(replaced("replicas: 2", "replicas: 010"), [
    "warning: 010: 010 is octal in YAML 1.1 and decimal in YAML 1.2. Write 8 or 10.",
  ]);
});

test("quantities and integers or strings take numbers and strings", () => {
  for (const value of ["1", "0.5", "500m", '"1"']) {
    assert.deepEqual(replaced("image: nginx", `resources: {limits: {cpu: ${value}}}`), []);
  }
  assert.deepEqual(replaced("replicas: 2", "strategy: {maxSurge: 25%}"), []);
  assert.deepEqual(replaced("replicas: 2", "strategy: {maxSurge: 1}"), []);
});

test("a value that is not allowed is an error", () => {
  assert.deepEqual(replaced("      containers:", "      restartPolicy: Sometimes\n      containers:"), [
    'error: Sometimes: restartPolicy cannot be "Sometimes". Allowed: Always, Never or OnFailure.',
  ]);
});

test("missing fields are reported where they belong", () => {
  assert.deepEqual(replaced("- name: web\n        image: nginx", "- image: nginx"), [
    'error: image: The required field "name" is missing.',
  ]);
  assert.deepEqual(replaced(/ {2}selector[^]*/, ""), ['error: spec: Required fields are missing: "selector", "template".']);
  assert.deepEqual(replaced("name: web", "name:"), ["error: metadata: metadata.name is missing."]);
  assert.deepEqual(replaced("name: web", "generateName: web-"), []);
  assert.deepEqual(problems("spec: {}\n"), [
    'error: spec: Required fields are missing: "apiVersion", "kind".',
    "error: spec: metadata.name is missing.",
  ]);
  assert.deepEqual(problems("just text\n"), ["error: just text: A document must be an object with apiVersion, kind and metadata."]);
});

test("the status and what the server sets are not checked", () => {
  assert.deepEqual(problems(`${DEPLOYMENT}status: {replicas: many, other: 1}\n`), []);
  assert.deepEqual(replaced("name: web", "name: web\n  managedFields: [{anything: 1}]\n  uid: 1\n  creationTimestamp: null"), []);
});

test("null is taken like a missing field", () => {
  assert.deepEqual(replaced("replicas: 2", "replicas:"), []);
});

test("a kind that the cluster does not have is a warning, unless the text defines it", () => {
  const widget = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: one}\n";
  assert.deepEqual(problems(widget), ["warning: Widget: The cluster does not have the kind Widget in example.org/v1."]);
  const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec: {group: example.org, names: {kind: Widget}}
`;
  assert.deepEqual(validate(parse(`${definition}---\n${widget}`), (id) => (id.kind === "Widget" ? { state: "missing" } : undefined)), []);
});

test("an apiVersion that is not a version is an error", () => {
  assert.deepEqual(problems("apiVersion: a/b/c\nkind: Pod\nmetadata: {name: a}\n"), [
    'error: a/b/c: apiVersion must be "version" or "group/version".',
  ]);
});

test("items of a List are objects of their own", () => {
  const items = DEPLOYMENT.replace("replicas", "replica").trimEnd().replace(/^/gm, "  ").replace(/^ /, "-");
  assert.deepEqual(problems(`apiVersion: v1\nkind: List\nitems:\n${items}\n`), [
    'warning: replica: Unknown field "replica". Did you mean "replicas"?',
  ]);
});

test("two items with the same key are an error", () => {
  assert.deepEqual(problems(`${DEPLOYMENT}      - name: web\n`), [
    'error: name: containers already has an item with name "web".',
  ]);
});

test("each document is checked by itself", () => {
  const two = `${DEPLOYMENT}---\n${DEPLOYMENT.replace("replicas: 2", "replicas: many")}`;
  assert.deepEqual(problems(two), ["error: many: replicas must be an integer, not a string."]);
});

test("JSON is checked as well", () => {
  const json = JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: { replicas: "x" } }, null, "\t");
  assert.deepEqual(problems(json), [
    'error: "x": replicas must be an integer, not a string.',
    'error: "spec": Required fields are missing: "selector", "template".',
  ]);
});

test("syntax errors are sentences, and the structure is not checked then", () => {
  assert.deepEqual(problems("a:\n\tb: 1\n"), ["error: \t: YAML does not allow tabs as indentation. Use spaces."]);
  assert.deepEqual(problems("spec:\n  replicas\n  paused: true\n"), [
    "error: replicas: A colon is missing after the field name, or this line is not indented correctly.",
  ]);
  assert.deepEqual(problems("a: 1\nb:2\nc: 3\n"), ["error: b:2: A space is missing after the colon."]);
  assert.deepEqual(problems('a: "x\n'), ['error: : A closing quote (") is missing.']);
  assert.deepEqual(problems("a: b: c\n"), ['error: b: A field cannot start here. Start a new line, or put text that contains ": " in quotes.']);
  assert.deepEqual(problems("a: [1, 2\n"), ["error: : A closing ] is missing, or it is not indented far enough."]);
  assert.deepEqual(problems("a: @b\n"), ["error: @: Text that starts with @ must be in quotes."]);
});

test("a field that is set twice is an error beside the others", () => {
  assert.deepEqual(replaced("replicas: 2", "replicas: 2\n  replicas: x"), [
    'error: replicas: The field "replicas" is set twice.',
    "error: x: replicas must be an integer, not a string.",
  ]);
});

test("anchors are followed, and unknown ones reported", () => {
  assert.deepEqual(replaced("image: nginx", "args: &a [one]\n        env: *b"), ['error: *b: The anchor "b" is not defined before this place.']);
  assert.deepEqual(replaced("name: web", "name: &name web\n  labels: {app: *name}"), []);
});

test("nesting that exhausts the parser is an error", () => {
  assert.match(problems("[".repeat(100_000)).join("\n"), /^error: .*: The text is nested too deeply\.$/);
});
