// The stand-in for Nova, Neutron, Cinder and Octavia, as its key's holder sees the project of a tenant (scripts/services/magnum/cloud).
import { readFileSync } from "node:fs";
import { setting } from "./env";
import { send } from "./http";
import { tokenIn } from "./keystone";
import { createColleague, type Tenant } from "./tenant";

const BALANCERS = "/load-balancer/v2/lbaas/loadbalancers";
const ADDRESSES = "/network/v2.0/floatingips";

type Listed = Record<string, { id: string; description?: string }[]>;

/** Sends a request, and returns the body of the answer. */
async function call(tenant: Tenant, method: string, path: string, content?: object): Promise<string> {
  const key = readFileSync(setting("CLOUD_STAND_IN_KEY_FILE"), "utf8").trim();
  const { status, body } = await send(`${setting("CLOUD_STAND_IN_URL")}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-stand-in-key": key, "x-stand-in-project": tenant.project },
    ...(content ? { body: JSON.stringify(content) } : {}),
  });
  // what is to be deleted may be gone already, such as the address of a load balancer
  const isGone = method === "DELETE" && status === 404;
  if (status >= 300 && !isGone) throw new Error(`${method} ${path}: ${status} ${body}`);
  return body;
}

async function list(tenant: Tenant, path: string, collection: string) {
  return (JSON.parse(await call(tenant, "GET", path)) as Listed)[collection] ?? [];
}

/** Deletes the project's volumes, load balancers and floating IPs, which deletions of clusters have left. */
export async function deleteVolumesAndBalancers(tenant: Tenant) {
  const volumes = `/volume/v3/${tenant.project}/volumes`;
  const lists = [
    [`${volumes}/detail`, "volumes", volumes],
    [BALANCERS, "loadbalancers", BALANCERS],
    [ADDRESSES, "floatingips", ADDRESSES],
  ] as const;
  for (const [all, collection, one] of lists) {
    for (const { id } of await list(tenant, all, collection)) await call(tenant, "DELETE", `${one}/${id}`);
  }
}

/** Returns how much of a quota of Nova, such as `instances`, the project uses. */
export async function usedQuota(tenant: Tenant, name: string): Promise<number> {
  const body = await call(tenant, "GET", `/compute/v2.1/os-quota-sets/${tenant.project}/detail`);
  const { quota_set } = JSON.parse(body) as { quota_set: Record<string, { in_use: number }> };
  return quota_set[name]?.in_use ?? 0;
}

/** Sets a quota of Nova for the project, as an administrator. */
export async function setQuota(tenant: Tenant, name: string, limit: number) {
  const root = await createColleague(tenant, "admin");
  const path = `/compute/v2.1/os-quota-sets/${tenant.project}`;
  const answer = await send(`${setting("CLOUD_STAND_IN_URL")}${path}`, {
    method: "PUT",
    headers: { "content-type": "application/json", "x-auth-token": await tokenIn(root.name, root.password, tenant.project) },
    body: JSON.stringify({ quota_set: { [name]: limit } }),
  });
  if (answer.status >= 300) throw new Error(`PUT ${path}: ${answer.status} ${answer.body}`);
}

/** Has the next deletion of a cluster's network refused, as while a port is in use. */
export async function refuseToDeleteNetwork(tenant: Tenant, cluster: string) {
  const networks = await list(tenant, "/network/v2.0/networks", "networks");
  const network = networks.find(({ description }) => description?.includes(cluster));
  if (!network) throw new Error(`the stand-in has no network of ${cluster}`);
  const message = "One or more ports are still in use on the network.";
  await call(tenant, "POST", "/stand-in/faults", {
    // of this network only: other tests delete theirs meanwhile
    path: `/networks/${network.id}$`,
    method: "DELETE",
    status: 409,
    times: 1,
    body: { NeutronError: { type: "NetworkInUse", message, detail: "" } },
  });
}
