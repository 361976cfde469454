// Every page in each of its states, and how to get there with real services only.
import type { UserName } from "./env";
import * as path from "./paths";

export type State = "full" | "empty" | "error" | "not-permitted" | "loading";

/** One of the demo's users, or a user without a role anywhere. */
export type Viewer = UserName | "without-role";

export interface Case {
  state: State;
  user: Viewer;
  path: string;
}

const nowhere = "00000000-0000-4000-8000-000000000000";
const unknownCluster = `${path.project()}/clusters/${nowhere}`;
const full = (user: Viewer, address: string): Case => ({ state: "full", user, path: address });

/** By the names of the program's route table; `pod` means a running pod. */
export const casesOf = (pod: string): Record<string, Case[]> => ({
  start: [full("devi", "/"), { state: "empty", user: "without-role", path: "/" }],
  launchpad: [
    full("ada", path.project()),
    full("vera", path.project()),
    full("nora", path.project()),
    { state: "not-permitted", user: "otto", path: path.project("acme") },
  ],
  cluster: [
    full("ada", path.clusterPage()),
    full("vera", path.clusterPage()),
    { state: "not-permitted", user: "nora", path: path.clusterPage() },
    { state: "error", user: "ada", path: unknownCluster },
  ],
  namespaces: [
    full("ada", `${path.clusterPage()}/namespaces`),
    full("nora", `${path.clusterPage()}/namespaces`),
    { state: "error", user: "ada", path: `${unknownCluster}/namespaces` },
  ],
  kinds: [
    full("ada", `${path.clusterPage()}/kinds`),
    { state: "error", user: "ada", path: `${unknownCluster}/kinds` },
  ],
  create: [
    full("devi", path.createPage("namespace=shop&sample=deployment")),
    full("vera", path.createPage()),
  ],
  list: [
    full("ada", path.list("core/v1/pods")),
    full("vera", path.list("core/v1/pods")),
    full("ada", path.list("core/v1/events")),
    full("ada", path.list("core/v1/persistentvolumes")),
    full("devi", path.list("data.example.org/v1/backups")),
    { state: "empty", user: "ada", path: path.list("core/v1/replicationcontrollers", "namespace=shop") },
    { state: "empty", user: "ada", path: path.list("core/v1/pods", "namespace=shop&q=nothing-is-called-so") },
    { state: "error", user: "ada", path: path.list("core/v1/unicorns") },
    { state: "not-permitted", user: "vera", path: path.list("core/v1/secrets", "namespace=shop") },
    { state: "not-permitted", user: "devi", path: path.list("core/v1/pods", "namespace=kube-system") },
  ],
  object: [
    full("ada", path.pod("shop", pod)),
    full("vera", path.pod("shop", pod, "yaml")),
    full("vera", path.pod("shop", pod, "events")),
    full("vera", path.pod("shop", pod, "logs")),
    full("devi", path.pod("shop", pod, "terminal")),
    { state: "not-permitted", user: "vera", path: path.pod("shop", pod, "terminal") },
    full("devi", path.deployment("shop", "storefront", "edit")),
    { state: "not-permitted", user: "vera", path: path.deployment("shop", "storefront", "edit") },
    full("vera", path.deployment("shop", "checkout", "logs")),
    full("devi", path.deployment("shop", "checkout", "terminal")),
    full("ada", path.deployment("shop", "storefront")),
    full("vera", path.deployment("shop", "recommender")),
    { state: "error", user: "ada", path: path.pod("shop", "there-is-no-such-pod") },
    { state: "not-permitted", user: "vera", path: path.object("shop", "core/v1/secrets", "payment-gateway") },
  ],
  cluster_object: [
    full("ada", `${path.clusterPage()}/cluster-scoped/core/v1/nodes/acme-node-1`),
    full("ada", `${path.clusterPage()}/cluster-scoped/core/v1/namespaces/shop/yaml`),
    { state: "error", user: "ada", path: `${path.clusterPage()}/cluster-scoped/core/v1/nodes/nowhere` },
    {
      state: "not-permitted",
      user: "vera",
      path: `${path.clusterPage()}/cluster-scoped/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin`,
    },
  ],
  access: [
    full("ada", path.accessPage()),
    { state: "not-permitted", user: "vera", path: path.accessPage() },
    { state: "error", user: "ada", path: `${unknownCluster}/access` },
  ],
  authentication: [
    full("ada", path.authenticationPage()),
    { state: "not-permitted", user: "vera", path: path.authenticationPage() },
    { state: "error", user: "ada", path: `${unknownCluster}/authentication` },
  ],
  app: [
    full("devi", `${path.project()}/apps/registry`),
    full("devi", `${path.project()}/apps/alertmanager`),
    { state: "not-permitted", user: "vera", path: `${path.project()}/apps/alertmanager` },
    { state: "error", user: "ada", path: `${path.project()}/apps/there-is-no-such-app` },
  ],
  managed_clusters: [full("ada", path.managedClusters())],
  managed_cluster: [
    // the stack's users have no role of Magnum; managed-clusters.spec.ts fills in the form
    { state: "not-permitted", user: "ada", path: path.managedClusters("create") },
    { state: "error", user: "ada", path: path.managedClusters(nowhere) },
    // managed-clusters-day-two.spec.ts has those of a cluster
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "upgrade") },
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "node-groups") },
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "nodes") },
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "certificates") },
    // managed-clusters-repairs.spec.ts has those of a cluster
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "settle") },
    { state: "error", user: "ada", path: path.managedClusters(nowhere, "ownership") },
    // managed-clusters-templates.spec.ts has the list and one template
    { state: "not-permitted", user: "ada", path: path.managedClusters("templates") },
    { state: "error", user: "ada", path: path.managedClusters("templates", nowhere) },
  ],
});

/**
 * Pages that are seen to load. A page is sent whole, in order, so what loads is seen by those who come from another page.
 */
export const loadingCases = (pod: string): Record<string, Case> => ({
  launchpad: { state: "loading", user: "vera", path: path.project() },
  cluster: { state: "loading", user: "vera", path: path.clusterPage() },
  namespaces: { state: "loading", user: "vera", path: `${path.clusterPage()}/namespaces` },
  list: { state: "loading", user: "vera", path: path.list("core/v1/services", "namespace=shop") },
  object: { state: "loading", user: "vera", path: path.pod("shop", pod) },
  access: { state: "loading", user: "ada", path: path.accessPage() },
  authentication: { state: "loading", user: "ada", path: path.authenticationPage() },
});

/** Pages that the gateway shows itself. */
export const gatewayPages: { name: string; path: string; user?: Viewer }[] = [
  { name: "sign-in", path: "/oauth2/sign_in" },
  { name: "sign-in-for-a-page", path: path.list("core/v1/pods") },
  { name: "project", path: "/oauth2/project", user: "devi" },
  { name: "device", path: "/oauth2/device", user: "vera" },
  { name: "sign-out", path: "/oauth2/sign_out", user: "vera" },
  { name: "audit", path: "/oauth2/audit", user: "vera" },
  { name: "not-found", path: "/oauth2/there-is-no-such-page" },
];

