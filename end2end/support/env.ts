// The running stack, as its env file describes it (shell syntax, written by scripts/).
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export const projectRoot = path.resolve(import.meta.dirname, "../..");
export const envFile = path.resolve(projectRoot, process.env.PORTICO_TEST_ENV ?? ".demo/env");
export const stateDirectory = path.dirname(envFile);

const variables = load();

function load(): Map<string, string> {
  if (!existsSync(envFile)) {
    throw new Error(`There is no ${envFile}: start a stack first (make demo, or make e2e which starts its own).`);
  }
  // a shell reads shell syntax best; it starts with nothing else in its environment
  const output = execFileSync("bash", ["--norc", "-c", 'set -a; . "$1"; env -0', "_", envFile], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  return new Map(
    output
      .split("\0")
      .filter((entry) => entry.includes("="))
      .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

export function setting(name: string): string {
  const value = variables.get(name);
  if (!value) throw new Error(`${name} is missing in ${envFile}`);
  return value;
}

export function optionalSetting(name: string): string | undefined {
  return variables.get(name) || undefined;
}

/** The certificate authority of the gateway's HTTPS, where the stack made one. */
export function gatewayAuthority(): Buffer | undefined {
  const file = optionalSetting("PORTICO_CA_FILE");
  return file ? readFileSync(file) : undefined;
}

export const porticoUrl = setting("PORTICO_URL").replace(/\/$/, "");
export const adminUrl = setting("PORTICO_ADMIN_URL").replace(/\/$/, "");

export type ClusterName = "acme-prod" | "globex-dev";

export interface ClusterSettings {
  name: ClusterName;
  id: string;
  apiUrl: string;
  authority: string;
  adminKubeconfig: string;
  auditLog: string;
}

export function cluster(name: ClusterName): ClusterSettings {
  const prefix = name === "acme-prod" ? "KUBE" : "KUBE2";
  return {
    name,
    id: setting(name === "acme-prod" ? "CLUSTER_ID" : "CLUSTER2_ID"),
    apiUrl: setting(`${prefix}_API_URL`),
    authority: setting(`${prefix}_CA_FILE`),
    adminKubeconfig: setting(`${prefix}_ADMIN_KUBECONFIG`),
    auditLog: setting(`${prefix}_AUDIT_LOG`),
  };
}

export type UserName = "ada" | "devi" | "vera" | "nora" | "otto" | "mia";
export type ProjectName = "acme" | "globex";
export type RoleName = "k8s_admin" | "k8s_developer" | "k8s_viewer" | "member";

export const projectId = (name: ProjectName) => setting(`PROJECT_ID_${name.toUpperCase()}`);
export const roleId = (name: RoleName) => setting(`ROLE_ID_${name.toUpperCase()}`);
export const userId = (name: UserName) => setting(`USER_ID_${name.toUpperCase()}`);
export const password = () => setting("DEMO_PASSWORD");

/** What the seed gave to whom (scripts/services/keystone_seed.py). */
export const grants: Record<UserName, Partial<Record<ProjectName, RoleName>>> = {
  ada: { acme: "k8s_admin" },
  devi: { acme: "k8s_developer", globex: "k8s_viewer" },
  vera: { acme: "k8s_viewer" },
  nora: { acme: "member" },
  otto: { globex: "k8s_admin" },
  mia: { acme: "k8s_developer" },
};

/** The project in which a user's own tests run. */
export const homeProject = (user: UserName): ProjectName => (grants[user].acme ? "acme" : "globex");
export const homeCluster = (user: UserName): ClusterName => (grants[user].acme ? "acme-prod" : "globex-dev");
