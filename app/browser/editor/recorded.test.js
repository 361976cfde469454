// The editor with the schemas of a current release of Kubernetes: server/tests/data/kubernetes-1.37.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { candidates, identityAt } from "./candidates.js";
import { parse } from "./documents.js";
import { cursor } from "./fixture.js";
import { placeAt } from "./place.js";
import { Schema } from "./schema.js";
import { validate } from "./validation.js";

const { definitions } = JSON.parse(readFileSync(new URL("../../../server/tests/data/kubernetes-1.37/openapi.json", import.meta.url)));
const SCHEMAS = new Map(
  Object.entries(definitions).flatMap(([name, definition]) =>
    (definition["x-kubernetes-group-version-kind"] ?? []).map(({ group, version, kind }) => [
      `${group}/${version}/${kind}`,
      new Schema({ root: { $ref: `#/definitions/${name}` }, definitions }),
    ]),
  ),
);
const KINDS = ["apps/v1/Deployment", "autoscaling/v2/HorizontalPodAutoscaler", "batch/v1/CronJob", "networking.k8s.io/v1/Ingress", "policy/v1/PodDisruptionBudget"];

function schemaOf({ group, version, kind }) {
  const schema = SCHEMAS.get(`${group}/${version}/${kind}`);
  return schema ? { state: "ready", schema } : { state: "missing" };
}

/** Returns the names of the fields that are offered at the cursor of a spec. */
function offered(kind, spec) {
  const [group, version, name] = kind.split("/");
  const { text, offset } = cursor(`apiVersion: ${group}/${version}\nkind: ${name}\nmetadata:\n  name: web\nspec:\n${spec}`);
  const at = placeAt(text, offset);
  return candidates(at, schemaOf(identityAt(at)).schema).map(({ label }) => label);
}

function includes(found, expected) {
  assert.deepEqual(expected.filter((name) => !found.includes(name)), []);
}

const MANIFESTS = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers:
      - {name: proxy, image: proxy, restartPolicy: Always}
      containers:
      - name: web
        image: nginx
        resources: {requests: {cpu: 0.5, memory: 64Mi}, limits: {memory: 128Mi}}
        resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
        livenessProbe: {httpGet: {path: /, port: http}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: example.org
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 60}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  timeZone: Etc/UTC
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 50%
  selector: {matchLabels: {app: web}}
  unhealthyPodEvictionPolicy: AlwaysAllow
`;

const problems = (text) => validate(parse(text), schemaOf).map(({ message }) => message);

test("the fields of the current release are offered", () => {
  const [deployment, autoscaler, cronJob, ingress, budget] = KINDS;
  includes(offered(deployment, "  template:\n    spec:\n      containers:\n      - name: a\n        |\n"), ["image", "resizePolicy", "restartPolicy", "startupProbe"]);
  includes(offered(autoscaler, "  |\n"), ["behavior", "maxReplicas", "metrics", "minReplicas", "scaleTargetRef"]);
  includes(offered(cronJob, "  |\n"), ["schedule", "timeZone", "jobTemplate", "suspend"]);
  includes(offered(ingress, "  rules:\n  - http:\n      paths:\n      - |\n"), ["path", "pathType", "backend"]);
  includes(offered(budget, "  |\n"), ["maxUnavailable", "minAvailable", "selector", "unhealthyPodEvictionPolicy"]);
});

test("valid manifests of the current release have no problems", () => {
  assert.deepEqual(problems(MANIFESTS), []);
});

test("wrong types and unknown fields of the current release are found", () => {
  const replaced = (from, to) => {
    const text = MANIFESTS.replace(from, to);
    assert.notEqual(text, MANIFESTS);
    return problems(text);
  };
  assert.deepEqual(replaced("timeZone: Etc/UTC", "timezone: Etc/UTC"), ['Unknown field "timezone". Did you mean "timeZone"?']);
  assert.match(replaced("maxReplicas: 5", 'maxReplicas: "5"')[0], /^maxReplicas must be an integer, not a string/);
  assert.equal(replaced("pathType: Prefix, ", "").length, 1);
});

test("versions that were removed have no schema", () => {
  for (const [group, version, kind] of [["batch", "v1beta1", "CronJob"], ["policy", "v1beta1", "PodDisruptionBudget"], ["extensions", "v1beta1", "Ingress"]]) {
    assert.deepEqual(schemaOf({ group, version, kind }), { state: "missing" });
  }
});
