// The real Keystone, asked by its administrator: what a test needs to change or verify there.
import { readFileSync } from "node:fs";
import { optionalSetting, projectId, roleId, setting, type ProjectName, type RoleName } from "./env";
import { send, type Answer } from "./http";
import { record } from "./secrets";

const base = () => setting("KEYSTONE_URL").replace(/\/$/, "");
let adminToken: string | undefined;

async function authenticate(name: string, password: string, project: object): Promise<string> {
  const user = { name, domain: { id: "default" }, password };
  const body = {
    auth: {
      identity: { methods: ["password"], password: { user } },
      scope: { project },
    },
  };
  const answer = await send(`${base()}/auth/tokens`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const token = answer.headers["x-subject-token"];
  if (answer.status !== 201 || typeof token !== "string") throw new Error(`Keystone answered ${answer.status}`);
  record("keystone token", token);
  return token;
}

async function administer(method: string, path: string, body?: object): Promise<Answer> {
  adminToken ??= await authenticate("admin", setting("KEYSTONE_ADMIN_PASSWORD"), { name: "admin", domain: { id: "default" } });
  return send(`${base()}${path}`, {
    method,
    headers: { "x-auth-token": adminToken, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

function mustBe(answer: Answer, ...statuses: number[]) {
  if (!statuses.includes(answer.status)) throw new Error(`Keystone answered ${answer.status}: ${answer.body}`);
  return answer;
}

const assignment = (user: string, project: ProjectName, role: RoleName) =>
  `/projects/${projectId(project)}/users/${user}/roles/${roleId(role)}`;

export async function giveRole(user: string, project: ProjectName, role: RoleName) {
  mustBe(await administer("PUT", assignment(user, project, role)), 204);
}

export async function takeRole(user: string, project: ProjectName, role: RoleName) {
  mustBe(await administer("DELETE", assignment(user, project, role)), 204, 404);
}

/** A project of one test's own. Returns the ID. */
export async function createProject(name: string): Promise<string> {
  const answer = mustBe(await administer("POST", "/projects", { project: { name, domain_id: "default" } }), 201);
  return JSON.parse(answer.body).project.id;
}

export async function deleteProject(id: string) {
  mustBe(await administer("DELETE", `/projects/${id}`), 204, 404);
}

/** IDs of roles by their names. */
const roleIds = new Map<string, string>();

async function roleIdOf(role: string): Promise<string> {
  const known = roleIds.get(role);
  if (known) return known;
  const found = mustBe(await administer("GET", `/roles?name=${encodeURIComponent(role)}`), 200);
  const [{ id }] = JSON.parse(found.body).roles as [{ id: string }];
  roleIds.set(role, id);
  return id;
}

/** Gives any role of the cloud, by its name, in a project that no seed made. */
export async function giveRoleIn(user: string, project: string, role: string) {
  const id = await roleIdOf(role);
  mustBe(await administer("PUT", `/projects/${project}/users/${user}/roles/${id}`), 204);
}

/** A token of a user in a project, for requests to the other services of the cloud. */
export async function tokenIn(name: string, password: string, project: string): Promise<string> {
  return authenticate(name, password, { id: project });
}

/** What Keystone says to a token: 200 while it is good, 404 once it was revoked. */
export async function tokenStatus(token: string): Promise<number> {
  return (await validate(token)).status;
}

async function validate(token: string): Promise<Answer> {
  return send(`${base()}/auth/tokens?nocatalog`, {
    headers: { "x-auth-token": await adminTokenFresh(), "x-subject-token": token },
  });
}

async function adminTokenFresh(): Promise<string> {
  mustBe(await administer("GET", "/domains/default"), 200);
  return adminToken as string;
}

/** A user of one test's own, with the password of the demo's users. Returns the ID. */
export async function createUser(name: string, password: string): Promise<string> {
  const answer = mustBe(
    await administer("POST", "/users", { user: { name, domain_id: "default", password } }),
    201,
  );
  return JSON.parse(answer.body).user.id;
}

export async function deleteUser(id: string) {
  mustBe(await administer("DELETE", `/users/${id}`), 204, 404);
}

/** The ID of the user whose token it is, while it is good. */
export async function tokenOwner(token: string): Promise<string | undefined> {
  const answer = await validate(token);
  return answer.status === 200 ? JSON.parse(answer.body).token.user.id : undefined;
}

/** Tokens that passed the recorder in front of Keystone, oldest first; none where the stack has no recorder. */
export function recordedTokens(): string[] {
  const file = optionalSetting("KEYSTONE_RECORDING");
  if (!file) return [];
  const found = readFileSync(file, "utf8").matchAll(/gAAAAA[A-Za-z0-9_-]{60,}={0,2}/g);
  return [...new Set([...found].map((match) => match[0]))];
}
