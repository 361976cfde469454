import assert from "node:assert/strict";
import test from "node:test";
import { mayHoldSecret } from "./secrets.js";

const SECRET = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  password: cGFzcw==\n";
const CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: value\n";

test("a Secret is found wherever it is in the text, and however it is written", () => {
  for (const text of [
    SECRET,
    `${CONFIG}---\n${SECRET}`,
    `${SECRET}---\n${CONFIG}`,
    '{"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "pass"}}',
    "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n- kind: Secret\n  apiVersion: v1\n",
    "apiVersion: v1\nkind: SecretList\nitems:\n- data: {}\n",
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: [{kind: Secret}]}\n",
    "apiVersion: v1\nitems: &all [{kind: Secret}]\nkind: List\nmore: *all\n",
    "apiVersion: v1\nx: &kind Secret\nkind: *kind\n",
    "x: &base {kind: Secret}\n<<: *base\n",
    'kind: "\\x53ecret"\n',
    'kind: "\\u0053ecret"\n',
    'kind: "Sec\\\n  ret"\n',
    "? kind\n: Secret\n",
    "kind:\n  Secret\n",
    "kind: !!str Secret # by its tag\n",
  ]) {
    assert.equal(mayHoldSecret(text), true, text);
  }
});

test("a text that is not valid, or does not name its kind yet, may be a Secret", () => {
  for (const text of ["kind: Secret\ndata: [\n", "kind: Secret\nkind: ConfigMap\n", "stringData:\n  password: pass\n", "kind: Sec\nstringData:\n  password: pass\n", `kind: Secret\na: ${"[".repeat(100_000)}`]) {
    assert.equal(mayHoldSecret(text), true, text);
  }
});

test("a kind that is being written may become that of a Secret", () => {
  for (const kind of ["S", "Se", "Sec", "Secr", "Secre", '"Sec"']) {
    assert.equal(mayHoldSecret(`apiVersion: v1\nkind: ${kind}\ndata:\n  password: cGFzcw==\n`), true, kind);
  }
  for (const kind of ["Service", "StatefulSet", "ConfigMap", "C"]) {
    assert.equal(mayHoldSecret(`apiVersion: v1\nkind: ${kind}\ndata:\n  key: value\n`), false, kind);
  }
});

test("what only mentions Secrets is not one", () => {
  for (const text of [
    "",
    CONFIG,
    `# like a Secret, but public\n${CONFIG}`,
    // not valid yet, and with a backslash that escapes no letter
    "kind: ConfigMap\ndata:\n  location: '\\.php$'\n  next: [\n",
    "apiVersion: v1\nkind: Pod\nspec:\n  volumes:\n  - name: a\n    secret: {secretName: a}\n",
    "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nspec:\n  secretStoreRef: {kind: SecretStore, name: a}\n",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nspec:\n  certificateRefs:\n  - kind: Secret\n    name: a\n",
    "apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n  data: {about: Secrets}\n",
  ]) {
    assert.equal(mayHoldSecret(text), false, text);
  }
});
