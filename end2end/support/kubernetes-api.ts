// API servers, asked as an administrator of the cluster: what tests create, wait for and delete. kubectl would need a process for
// each request, and @kubernetes/client-node has 16 dependencies and a class for each kind; a few requests with JSON need Node's client only.
import { readFileSync } from "node:fs";
import https from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { cluster, type ClusterName } from "./env";

/** The version in which tests write and read each resource, by its plural. */
const resources = {
  clusterrolebindings: { kind: "ClusterRoleBinding", apiVersion: "rbac.authorization.k8s.io/v1", namespaced: false },
  clusterroles: { kind: "ClusterRole", apiVersion: "rbac.authorization.k8s.io/v1", namespaced: false },
  configmaps: { kind: "ConfigMap", apiVersion: "v1", namespaced: true },
  cronjobs: { kind: "CronJob", apiVersion: "batch/v1beta1", namespaced: true },
  customresourcedefinitions: { kind: "CustomResourceDefinition", apiVersion: "apiextensions.k8s.io/v1", namespaced: false },
  deployments: { kind: "Deployment", apiVersion: "apps/v1", namespaced: true },
  events: { kind: "Event", apiVersion: "v1", namespaced: true },
  ingresses: { kind: "Ingress", apiVersion: "networking.k8s.io/v1", namespaced: true },
  jobs: { kind: "Job", apiVersion: "batch/v1", namespaced: true },
  namespaces: { kind: "Namespace", apiVersion: "v1", namespaced: false },
  nodes: { kind: "Node", apiVersion: "v1", namespaced: false },
  poddisruptionbudgets: { kind: "PodDisruptionBudget", apiVersion: "policy/v1beta1", namespaced: true },
  pods: { kind: "Pod", apiVersion: "v1", namespaced: true },
  replicasets: { kind: "ReplicaSet", apiVersion: "apps/v1", namespaced: true },
  rolebindings: { kind: "RoleBinding", apiVersion: "rbac.authorization.k8s.io/v1", namespaced: true },
  roles: { kind: "Role", apiVersion: "rbac.authorization.k8s.io/v1", namespaced: true },
  secrets: { kind: "Secret", apiVersion: "v1", namespaced: true },
  serviceaccounts: { kind: "ServiceAccount", apiVersion: "v1", namespaced: true },
  services: { kind: "Service", apiVersion: "v1", namespaced: true },
} as const;

export type Resource = keyof typeof resources;

/** An object as the API server returns it. The types of the kinds are not repeated here: a test fails where a field is missing. */
export interface KubernetesObject {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: any;
  };
  [field: string]: any;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  items?: object[];
}

export interface Selection {
  /** Without it, a namespaced resource is listed in all namespaces. */
  namespace?: string;
  /** A label selector. */
  labels?: string;
  /** A field selector. */
  fields?: string;
}

export interface Deletion {
  namespace?: string;
  ignoreNotFound?: boolean;
  /** Whether to wait until the object is gone, as kubectl does; true unless set. */
  wait?: boolean;
  gracePeriodSeconds?: number;
}

const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

interface Request {
  body?: unknown;
  contentType?: string;
  query?: Record<string, string | undefined>;
}

interface Answer {
  status: number;
  retryAfter: number;
  text: string;
}

/** Times are in milliseconds. That of a request includes its repetitions. */
const REQUEST_TIMEOUT = 30_000;
const WAIT_TIMEOUT = 60_000;
const WAIT_INTERVAL = 100;
/** The API server closes a connection that is idle for 90 s: a request must not meet that. */
const IDLE_TIMEOUT = 20_000;
/** How many objects of a list are created or deleted at a time. */
const CONCURRENCY = 10;

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

export class KubernetesError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly reason: string,
  ) {
    super(message);
  }
}

export class KubernetesApi {
  readonly #server: string;
  readonly #agent: https.Agent;

  /** `kubeconfig` is a file with one cluster and one client certificate, such as the administrator's. */
  constructor(kubeconfig: string) {
    const text = readFileSync(kubeconfig, "utf8");
    const value = (key: string) => {
      const found = text.match(new RegExp(`\\b${key}: ([^\\s,}]+)`))?.[1];
      if (!found) throw new Error(`${key} is missing in ${kubeconfig}`);
      return found;
    };
    const decoded = (key: string) => Buffer.from(value(key), "base64");
    this.#server = value("server");
    this.#agent = new https.Agent({
      keepAlive: true,
      timeout: IDLE_TIMEOUT,
      ca: decoded("certificate-authority-data"),
      cert: decoded("client-certificate-data"),
      key: decoded("client-key-data"),
    });
  }

  /** Returns the body of a GET of any path. */
  raw(path: string): Promise<string> {
    return this.#request("GET", path);
  }

  async get(resource: Resource, name: string, namespace?: string): Promise<KubernetesObject> {
    return JSON.parse(await this.#request("GET", objectPath(resource, name, namespace)));
  }

  /** Returns nothing where `get` fails with 404. */
  async find(resource: Resource, name: string, namespace?: string): Promise<KubernetesObject | undefined> {
    return this.get(resource, name, namespace).catch(unlessNotFound);
  }

  async list(resource: Resource, { namespace, labels, fields }: Selection = {}): Promise<KubernetesObject[]> {
    const query = { labelSelector: labels, fieldSelector: fields };
    return JSON.parse(await this.#request("GET", collectionPath(resource, namespace), { query })).items;
  }

  async create(manifest: object): Promise<KubernetesObject> {
    const { resource, namespace } = parts(manifest as Manifest);
    return JSON.parse(await this.#request("POST", collectionPath(resource, namespace), { body: manifest }));
  }

  /**
   * Leaves what `kubectl apply` leaves, with its annotation and its field manager: the panel must not show the annotation,
   * which repeats the values of a Secret. Of an object that exists, fields that the manifest no longer has stay.
   */
  async apply(manifest: object): Promise<void> {
    const { kind, items } = manifest as Manifest;
    if (kind === "List") return inTurns(items ?? [], (item) => this.apply(item));
    const { resource, namespace, name } = parts(manifest as Manifest);
    const { metadata } = manifest as Manifest;
    const annotations = metadata.annotations ?? {};
    const configuration = JSON.stringify({ ...manifest, metadata: { ...metadata, annotations } });
    const body = { ...manifest, metadata: { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: `${configuration}\n` } } };
    const query = { fieldManager: "kubectl-client-side-apply" };
    try {
      await this.#request("POST", collectionPath(resource, namespace), { body, query });
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.reason !== "AlreadyExists") throw error;
      await this.#request("PATCH", objectPath(resource, name, namespace), { body, query, contentType: patchTypes.strategic });
    }
  }

  /** Server-side apply for another field manager; a conflict is an error. */
  async applyServerSide(manifest: object, fieldManager: string): Promise<void> {
    const { resource, namespace, name } = parts(manifest as Manifest);
    const request = { body: manifest, query: { fieldManager }, contentType: patchTypes.apply };
    await this.#request("PATCH", objectPath(resource, name, namespace), request);
  }

  async patch(type: "json" | "merge", resource: Resource, name: string, patch: object, namespace?: string, subresource = ""): Promise<void> {
    const path = objectPath(resource, name, namespace) + (subresource && `/${subresource}`);
    await this.#request("PATCH", path, { body: patch, contentType: patchTypes[type] });
  }

  async scale(namespace: string, deployment: string, replicas: number): Promise<void> {
    await this.patch("merge", "deployments", deployment, { spec: { replicas } }, namespace, "scale");
  }

  async delete(resource: Resource, name: string, options: Deletion = {}): Promise<void> {
    const { namespace, ignoreNotFound = false, wait = true, gracePeriodSeconds } = options;
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", gracePeriodSeconds };
    const request = this.#request("DELETE", objectPath(resource, name, namespace), { body });
    const text = await (ignoreNotFound ? request.catch(unlessNotFound) : request);
    if (text === undefined || !wait) return;
    // a Status, or the object where finalizers or a grace period delay its end
    const { details, metadata } = JSON.parse(text);
    const uid = details?.uid ?? metadata?.uid;
    await waitUntil(`the end of ${resource}/${name}`, async () => {
      const left = await this.find(resource, name, namespace);
      return left === undefined || left.metadata.uid !== uid;
    });
  }

  /** Deletes what is found once; it is no error if an object of these is already gone. */
  async deleteSelected(resource: Resource, selection: Selection, options: Pick<Deletion, "wait"> = {}): Promise<void> {
    if (!selection.labels && !selection.fields) throw new Error(`every object of ${resource} would be deleted`);
    const found = await this.list(resource, selection);
    await inTurns(found, ({ metadata: { name, namespace } }) => this.delete(resource, name, { namespace, ignoreNotFound: true, ...options }));
  }

  async waitForCondition(type: string, resource: Resource, name: string, namespace?: string): Promise<void> {
    await waitUntil(`${type} of ${resource}/${name}`, async () => hasCondition(await this.get(resource, name, namespace), type));
  }

  /** Waits as `kubectl rollout status` does. */
  async waitForRollout(namespace: string, deployment: string): Promise<void> {
    await waitUntil(`the rollout of ${deployment}`, async () => {
      const { metadata, spec, status } = await this.get("deployments", deployment, namespace);
      if ((metadata.generation ?? 0) > (status.observedGeneration ?? 0)) return false;
      const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
      if (conditions.some(({ type, reason }: { type: string; reason: string }) => type === "Progressing" && reason === "ProgressDeadlineExceeded")) {
        throw new Error(`deployment ${deployment} exceeded its progress deadline`);
      }
      return updatedReplicas >= spec.replicas && replicas <= updatedReplicas && availableReplicas >= updatedReplicas;
    });
  }

  /** Waits until a custom resource is served: discovery follows the condition Established a moment later. */
  async waitForDefinition(name: string): Promise<void> {
    await this.waitForCondition("Established", "customresourcedefinitions", name);
    const { spec } = await this.get("customresourcedefinitions", name);
    await waitUntil(`discovery of ${name}`, async () => {
      const { groups } = JSON.parse(await this.raw("/apis")) as { groups: { name: string }[] };
      if (!groups.some((group) => group.name === spec.group)) return false;
      const served = await this.raw(`/apis/${spec.group}/${spec.versions[0].name}`).catch(unlessNotFound);
      return served !== undefined && (JSON.parse(served).resources as { name: string }[]).some((one) => one.name === spec.names.plural);
    });
  }

  /** Returns whether the authorizer permits a verb to a user who has nothing but these groups. */
  async permits(groups: string[], verb: string, resource: { group: string; resource: string; namespace: string }): Promise<boolean> {
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: "x", groups: [...groups, "system:authenticated"], resourceAttributes: { verb, ...resource } },
    };
    return JSON.parse(await this.#request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body })).status.allowed;
  }

  async #request(method: string, path: string, request: Request = {}): Promise<string> {
    const query = Object.entries(request.query ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const target = new URL(`${this.#server}${path}${query.length > 0 ? `?${new URLSearchParams(query)}` : ""}`);
    const end = Date.now() + REQUEST_TIMEOUT;
    for (;;) {
      const { status, retryAfter, text } = await this.#send(method, target, request, Math.max(1, end - Date.now())).catch((error: Error) => {
        throw new Error(`${method} ${path}: ${error.name === "AbortError" ? "no answer in time" : error.message}`);
      });
      if (status < 300) return text;
      // "try again", such as for a pod whose service account has no token yet; kubectl does the same
      if ((status === 429 || status >= 500) && retryAfter > 0 && Date.now() + retryAfter < end) {
        await pause(retryAfter);
        continue;
      }
      const { message, reason } = statusOf(text);
      throw new KubernetesError(`${method} ${path}: ${status} ${message}`, status, reason);
    }
  }

  #send(method: string, target: URL, { body, contentType }: Request, timeout: number): Promise<Answer> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept: "application/json",
      "user-agent": "portico-end2end",
      ...(content === undefined ? {} : { "content-type": contentType ?? "application/json", "content-length": Buffer.byteLength(content) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = https.request(target, { method, headers, agent: this.#agent, signal: AbortSignal.timeout(timeout) }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const retryAfter = Number(incoming.headers["retry-after"] ?? 0) * 1_000;
          resolve({ status: incoming.statusCode ?? 0, retryAfter, text: Buffer.concat(chunks).toString("utf8") });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(content);
    });
  }
}

const connections = new Map<ClusterName, KubernetesApi>();

/** The API of a cluster, with its administrator's certificate, which no person of the suite has. */
export function admin(name: ClusterName): KubernetesApi {
  const known = connections.get(name) ?? new KubernetesApi(cluster(name).adminKubeconfig);
  connections.set(name, known);
  return known;
}

/** The path of all objects, or of those in a namespace. */
function collectionPath(resource: Resource, namespace?: string): string {
  const { apiVersion } = resources[resource];
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ""}/${resource}`;
}

/** The path of one object. Without a name it would be that of all, which a test that failed early must not delete. */
function objectPath(resource: Resource, name: string, namespace?: string): string {
  if (!name || resources[resource].namespaced !== Boolean(namespace)) throw new Error(`not an object: ${resource} "${name}" in namespace "${namespace}"`);
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
}

function parts({ apiVersion, kind, metadata: { name, namespace } }: Manifest): { resource: Resource; namespace?: string; name: string } {
  const found = Object.entries(resources).find(([, known]) => known.kind === kind && known.apiVersion === apiVersion);
  if (!found) throw new Error(`${apiVersion} ${kind} is not in the table of resources`);
  return { resource: found[0] as Resource, namespace, name };
}

function hasCondition({ status }: KubernetesObject, type: string): boolean {
  const conditions: { type: string; status: string }[] = status?.conditions ?? [];
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof KubernetesError) || error.status !== 404) throw error;
}

function statusOf(text: string): { message: string; reason: string } {
  try {
    const { message = text, reason = "" } = JSON.parse(text);
    return { message, reason };
  } catch {
    return { message: text, reason: "" };
  }
}

async function inTurns<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += CONCURRENCY) await Promise.all(items.slice(at, at + CONCURRENCY).map(work));
}

async function waitUntil(what: string, reached: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_TIMEOUT;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}`);
    await pause(WAIT_INTERVAL);
  }
}
