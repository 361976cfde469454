// A project of one test file's own in the stack's cloud, for clusters of the real Magnum: quotas are the project's own.
import { optionalSetting, setting } from "./env";
import { send, type Answer } from "./http";
import { createProject, createUser, deleteProject, deleteUser, giveRoleIn, tokenIn } from "./keystone";
import { record } from "./secrets";
import type { Account } from "./sign-in";
import { unique } from "./workloads";

export interface Tenant {
  /** The ID of the project. */
  project: string;
  member: Account;
  users: string[];
}

/** Whether the stack has Magnum (PORTICO_WITHOUT_MAGNUM leaves it out). */
export const hasMagnum = optionalSetting("MAGNUM_URL") !== undefined;

/** The template of the simulated driver that can do everything. */
export const template = "kubernetes-1.31";

export async function createTenant(): Promise<Tenant> {
  const tenant: Tenant = { project: await createProject(unique("tenant")), member: { name: "", password: "" }, users: [] };
  tenant.member = await createColleague(tenant, "member");
  return tenant;
}

/** A further user of the project. */
export async function createColleague(tenant: Tenant, role: string): Promise<Account> {
  const who = { name: unique("tenant"), password: `${unique("pass")}-${Math.random().toString(36).slice(2)}` };
  record("password", who.password);
  const id = await createUser(who.name, who.password);
  tenant.users.push(id);
  await giveRoleIn(id, tenant.project, role);
  return who;
}

export const clustersPage = (tenant: Tenant, page = "") => `/projects/${tenant.project}/managed-clusters${page ? `/${page}` : ""}`;

interface Cluster {
  uuid: string;
  name: string;
  status: string;
}

/** Tokens of members, by the members' names: Keystone is asked once, not before each request. */
const tokens = new Map<string, string>();

/** Asks Magnum as another client than Portico, with the member's own token. */
export async function magnum(tenant: Tenant, method: string, path: string, body?: unknown): Promise<Answer> {
  const { name, password } = tenant.member;
  const known = tokens.get(name);
  const token = known ?? (await tokenIn(name, password, tenant.project));
  tokens.set(name, token);
  const answer = await send(`${setting("MAGNUM_URL").replace(/\/$/, "")}${path}`, {
    method,
    headers: { "x-auth-token": token, "openstack-api-version": "container-infra 1.14", "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.status !== 401 || !known) return answer;
  // a change of roles has revoked it
  tokens.delete(name);
  return magnum(tenant, method, path, body);
}

/** How often the list is read while Magnum answers with 400, and the pause between, in milliseconds. */
const LIST_TRIES = 10;
const LIST_PAUSE = 500;

/** The clusters of the project, as Magnum has them. */
export async function clustersOf(tenant: Tenant): Promise<Cluster[]> {
  for (let tries = 1; ; tries += 1) {
    const answer = await magnum(tenant, "GET", "/clusters");
    if (answer.status === 200) return JSON.parse(answer.body).clusters;
    // at the end of a deletion, Magnum can answer with 400 for a moment
    if (answer.status !== 400 || tries === LIST_TRIES) throw new Error(`Magnum answered ${answer.status}: ${answer.body}`);
    await new Promise((resolve) => setTimeout(resolve, LIST_PAUSE));
  }
}

/** How often a removal looks whether the clusters are gone, in milliseconds. */
const REMOVAL_PAUSE = 500;

/**
 * Deletes the project with its clusters and users. The deletion of each cluster is requested once, and again after a failure: a
 * second request would begin it anew.
 */
export async function removeTenant(tenant: Tenant) {
  const end = Date.now() + 30_000;
  const requested = new Set<string>();
  for (let left = await clustersOf(tenant); left.length > 0 && Date.now() < end; left = await clustersOf(tenant)) {
    for (const { uuid, status } of left) {
      if (requested.has(uuid) && status !== "DELETE_FAILED") continue;
      const answer = await magnum(tenant, "DELETE", `/clusters/${uuid}`);
      // Magnum may be busy with the cluster
      if (answer.status === 204) requested.add(uuid);
    }
    await new Promise((resolve) => setTimeout(resolve, REMOVAL_PAUSE));
  }
  for (const user of tenant.users) await deleteUser(user);
  await deleteProject(tenant.project);
}
