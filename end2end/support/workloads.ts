// Small things to create in a cluster, within what the restricted pod security policy lets a tenant do.
import { test } from "@playwright/test";
import type { ClusterName } from "./env";
import { admin } from "./kubernetes-api";

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
  await admin(cluster).apply(podManifest(namespace, name, command));
}

export const podReady = (namespace: string, name: string) => admin("acme-prod").waitForCondition("Ready", "pods", name, namespace);

/** The name of the first pod of an app in the namespace `shop`. */
export async function podOf(app: string): Promise<string> {
  const [pod] = await admin("acme-prod").list("pods", { namespace: "shop", labels: `app=${app}` });
  if (!pod) throw new Error(`there is no pod of ${app}`);
  return pod.metadata.name;
}

/** The role bindings that the reconciler makes in each namespace. */
const bindings = ["portico-developer", "portico-viewer"];

/** A namespace of one test's own, with the rights that these role bindings give; `remove` does not wait. */
export async function createNamespace(prefix: string, cluster: ClusterName = "acme-prod"): Promise<string> {
  const namespace = unique(prefix);
  const api = admin(cluster);
  await api.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  // the API server's authorizer learns of a binding a moment later, and the panel would remember what it answers before
  const isEffective = async (binding: string) => {
    const found = await api.find("rolebindings", binding, namespace);
    const groups: string[] = (found?.subjects ?? []).map(({ name }: { name: string }) => name);
    return groups.length > 0 && api.permits(groups, "list", { group: "", resource: "pods", namespace });
  };
  await test.expect
    .poll(() => Promise.all(bindings.map(isEffective)), { message: "role bindings of a new namespace" })
    .toEqual(bindings.map(() => true));
  // before, no pod is admitted, and a page would show the warnings of its controller
  const tokens = async () => ((await api.find("serviceaccounts", "default", namespace))?.secrets ?? []).length;
  await test.expect.poll(tokens, { message: "token of a new namespace's service account" }).toBeGreaterThan(0);
  return namespace;
}

export const remove = (namespace: string, cluster: ClusterName = "acme-prod") =>
  admin(cluster).delete("namespaces", namespace, { wait: false, ignoreNotFound: true });

/** Deletes a pod in a namespace that tests share, where a failed test would leave it. */
export const removePod = (namespace: string, name: string) =>
  admin("acme-prod").delete("pods", name, { namespace, wait: false, ignoreNotFound: true, gracePeriodSeconds: 0 });
