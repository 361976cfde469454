// Addresses of the panel's pages, as a person would have them in bookmarks.
import { cluster, projectId, type ClusterName, type ProjectName } from "./env";

export const project = (name: ProjectName = "acme") => `/projects/${projectId(name)}`;

export const clusterPage = (name: ClusterName = "acme-prod", of?: ProjectName) =>
  `${project(of ?? (name === "acme-prod" ? "acme" : "globex"))}/clusters/${cluster(name).id}`;

/** `apps/v1/deployments`, `core/v1/pods` … */
export const list = (kind: string, query = "", name: ClusterName = "acme-prod") =>
  `${clusterPage(name)}/resources/${kind}${query ? `?${query}` : ""}`;

export const object = (namespace: string, kind: string, objectName: string, tab = "", name: ClusterName = "acme-prod") =>
  `${clusterPage(name)}/namespaces/${namespace}/${kind}/${objectName}${tab ? `/${tab}` : ""}`;

export const pod = (namespace: string, podName: string, tab = "") => object(namespace, "core/v1/pods", podName, tab);
export const deployment = (namespace: string, deploymentName: string, tab = "") =>
  object(namespace, "apps/v1/deployments", deploymentName, tab);

export const authenticationPage = (name: ClusterName = "acme-prod") => `${clusterPage(name)}/authentication`;
export const accessPage = (name: ClusterName = "acme-prod") => `${clusterPage(name)}/access`;
export const createPage = (query = "", name: ClusterName = "acme-prod") => `${clusterPage(name)}/create${query ? `?${query}` : ""}`;
/** The list of Magnum's clusters, `create`, or a cluster's UUID. */
export const managedClusters = (page = "", view = "", of: ProjectName = "acme") =>
  `${project(of)}/managed-clusters${page ? `/${page}` : ""}${view ? `?view=${view}` : ""}`;
