// The questions of the rights spec: verb, resource, where. Their answers are never written down here, they are asked for.
export interface Triple {
  verb: string;
  /** `pods`, `pods/exec`, `deployments.apps/scale` … as kubectl spells them. */
  resource: string;
  /** Absent: the whole cluster, or a cluster-scoped kind. */
  namespace?: string;
  name?: string;
}

const here: [verb: string, resource: string][] = [
  ["get", "pods"],
  ["list", "pods"],
  ["watch", "pods"],
  ["create", "pods"],
  ["delete", "pods"],
  ["get", "pods/log"],
  ["get", "pods/exec"],
  ["create", "pods/exec"],
  ["create", "pods/attach"],
  ["get", "pods/portforward"],
  ["get", "pods/proxy"],
  ["get", "services/proxy"],
  ["create", "pods/eviction"],
  ["list", "deployments.apps"],
  ["patch", "deployments.apps"],
  ["delete", "deployments.apps"],
  ["patch", "deployments.apps/scale"],
  ["patch", "statefulsets.apps/scale"],
  ["create", "jobs.batch"],
  ["list", "cronjobs.batch"],
  ["get", "configmaps"],
  ["update", "configmaps"],
  ["get", "secrets"],
  ["list", "secrets"],
  ["delete", "secrets"],
  ["list", "events"],
  ["create", "resourcequotas"],
  ["list", "backups.data.example.org"],
  ["list", "rolebindings.rbac.authorization.k8s.io"],
  ["create", "rolebindings.rbac.authorization.k8s.io"],
  ["create", "serviceaccounts/token"],
  ["impersonate", "serviceaccounts"],
];

const elsewhere: Triple[] = [
  { verb: "list", resource: "pods", namespace: "kube-system" },
  { verb: "get", resource: "secrets", namespace: "kube-system" },
  { verb: "get", resource: "pods/exec", namespace: "kube-system" },
  { verb: "list", resource: "pods" },
  { verb: "list", resource: "secrets" },
  { verb: "list", resource: "nodes" },
  { verb: "get", resource: "nodes/proxy" },
  { verb: "list", resource: "namespaces" },
  { verb: "create", resource: "namespaces" },
  { verb: "delete", resource: "namespaces" },
  { verb: "list", resource: "persistentvolumes" },
  { verb: "delete", resource: "persistentvolumes" },
  { verb: "list", resource: "storageclasses.storage.k8s.io" },
  { verb: "list", resource: "clusterrolebindings.rbac.authorization.k8s.io" },
  { verb: "create", resource: "clusterrolebindings.rbac.authorization.k8s.io" },
  { verb: "escalate", resource: "clusterroles.rbac.authorization.k8s.io" },
];

export const triples: Triple[] = [
  ...here.map(([verb, resource]) => ({ verb, resource, namespace: "shop" })),
  ...elsewhere,
];

export const spelled = ({ verb, resource, namespace }: Triple) => `${verb} ${resource}${namespace ? ` in ${namespace}` : ""}`;

/** `deployments.apps/scale` in the parts that an access review asks about. */
export function question({ verb, resource, namespace, name }: Triple) {
  const [kind = "", subresource = ""] = resource.split("/");
  const [plural = "", ...group] = kind.split(".");
  return {
    verb,
    group: group.join("."),
    resource: plural,
    subresource,
    namespace: namespace ?? null,
    name: name ?? null,
  };
}

/** The same for `kubectl auth can-i`. */
export function canI({ verb, resource, namespace }: Triple): string[] {
  const [kind = "", subresource] = resource.split("/");
  return [
    "auth",
    "can-i",
    verb,
    kind,
    ...(subresource ? ["--subresource", subresource] : []),
    ...(namespace ? ["-n", namespace] : ["--all-namespaces"]),
  ];
}
