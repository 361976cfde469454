// What the tests of this folder share: schemas in both formats of the API server, and cursors in a text.
import { Schema } from "./schema.js";

const DEFINITIONS = {
  Deployment: {
    description: "Deployment enables declarative updates for Pods and ReplicaSets.",
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { $ref: "#/definitions/ObjectMeta" },
      spec: { description: "Specification of the desired behavior.", $ref: "#/definitions/DeploymentSpec" },
      status: { type: "object", properties: { replicas: { type: "integer" } } },
    },
  },
  ObjectMeta: {
    type: "object",
    properties: {
      name: { type: "string" },
      generateName: { type: "string" },
      labels: { type: "object", additionalProperties: { type: "string" } },
      managedFields: { type: "array", items: { type: "object", properties: { manager: { type: "string" } } } },
    },
  },
  DeploymentSpec: {
    type: "object",
    required: ["selector", "template"],
    properties: {
      paused: { type: "boolean" },
      replicas: { type: "integer", format: "int32", description: "Number of desired pods. Defaults to 1." },
      selector: { type: "object", properties: { matchLabels: { type: "object", additionalProperties: { type: "string" } } } },
      strategy: { type: "object", properties: { maxSurge: { $ref: "#/definitions/IntOrString" } } },
      template: { $ref: "#/definitions/PodTemplateSpec" },
    },
  },
  PodTemplateSpec: {
    type: "object",
    properties: { metadata: { $ref: "#/definitions/ObjectMeta" }, spec: { $ref: "#/definitions/PodSpec" } },
  },
  // as in OpenAPI v3: a reference with a default
  PodSpec: {
    type: "object",
    required: ["containers"],
    properties: {
      containers: {
        type: "array",
        items: { allOf: [{ $ref: "#/definitions/Container" }], default: {} },
        "x-kubernetes-list-map-keys": ["name"],
      },
      nodeSelector: { type: "object", additionalProperties: { type: "string" } },
      restartPolicy: { type: "string", enum: ["Always", "Never", "OnFailure"], description: "Restart policy." },
    },
  },
  Container: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      image: { type: "string" },
      args: { type: "array", items: { type: "string" } },
      env: {
        type: "array",
        items: { type: "object", required: ["name"], properties: { name: { type: "string" }, value: { type: "string" } } },
      },
      resources: {
        type: "object",
        properties: { limits: { type: "object", additionalProperties: { $ref: "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity" } } },
      },
      stdin: { type: "boolean" },
    },
  },
  IntOrString: { type: "string", format: "int-or-string" },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  Loop: { $ref: "#/definitions/Loop" },
};

export function schema(root = "Deployment") {
  return new Schema({ root: { $ref: `#/definitions/${root}` }, definitions: DEFINITIONS });
}

/** A cluster that has Deployments of the group apps only. */
export function schemaOf({ group, kind }) {
  return group === "apps" && kind === "Deployment" ? { state: "ready", schema: schema() } : { state: "missing" };
}

export const KINDS = [
  { group: "", version: "v1", kind: "Pod" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "apps", version: "v1", kind: "StatefulSet" },
];

/** Returns a text without its cursor, "|", and where that was. */
export function cursor(text) {
  const offset = text.indexOf("|");
  return { text: text.slice(0, offset) + text.slice(offset + 1), offset };
}

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    spec:
      containers:
      - name: web
        image: nginx
`;
