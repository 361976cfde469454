// Small things to create in a cluster, within what the restricted pod security policy lets a tenant do.
import { test } from "@playwright/test";
import type { ClusterName } from "./env";
import { admin, adminWith, apply } from "./kubectl";

export const image = "localhost/busybox:1.35";
/** A newer version of it that the nodes have too. */
export const nextImage = "localhost/busybox:1.35-next";
let count = 0;

/** A name that no other test has. */
export const unique = (prefix: string) => `${prefix}-${Date.now().toString(36)}${(count++).toString(36)}`;

const container = (name: string, command: string) => ({
  name,
  image,
  imagePullPolicy: "Never",
  command: ["sh", "-c", command],
  resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
});

const podSpec = (command: string) => ({
  terminationGracePeriodSeconds: 0,
  securityContext: { runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true },
  containers: [container("main", command)],
});

export const podManifest = (namespace: string, name: string, command = "sleep infinity") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels: { app: name } },
  spec: podSpec(command),
});

export const deploymentManifest = (namespace: string, name: string, replicas = 1, command = "sleep infinity") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: podSpec(command) },
  },
});

export async function createPod(namespace: string, name: string, command?: string, cluster: ClusterName = "acme-prod") {
  await apply(cluster, podManifest(namespace, name, command));
}

export const podReady = (namespace: string, name: string) =>
  admin("acme-prod", "wait", "--for=condition=Ready", "--timeout=60s", "-n", namespace, `pod/${name}`);

/** A namespace of one test's own, with the role bindings that the reconciler makes; `remove` does not wait. */
export async function createNamespace(prefix: string, cluster: ClusterName = "acme-prod"): Promise<string> {
  const name = unique(prefix);
  await admin(cluster, "create", "namespace", name);
  await test.expect
    .poll(() => admin(cluster, "get", "rolebindings", "-n", name, "-o", "name"), { message: "role bindings of a new namespace" })
    .toContain("rolebinding");
  return name;
}

export const remove = (namespace: string, cluster: ClusterName = "acme-prod") =>
  admin(cluster, "delete", "namespace", namespace, "--wait=false", "--ignore-not-found");

/** Deletes a pod in a namespace that tests share, where a failed test would leave it. */
export const removePod = (namespace: string, name: string) =>
  admin("acme-prod", "delete", "pod", "-n", namespace, name, "--ignore-not-found", "--wait=false", "--grace-period=0", "--force");

export { adminWith };
