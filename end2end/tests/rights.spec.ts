import type { Browser } from "@playwright/test";
import { AuditMark, type AuditEvent } from "../support/audit";
import { expect, test } from "../support/browser";
import { person, type Person } from "../support/cli";
import { cluster, grants, homeCluster, homeProject, roleId, type ClusterName, type UserName } from "../support/env";
import { send } from "../support/http";
import { admin } from "../support/kubernetes-api";
import { PanelApi, type AccessQuery, type RightAnswer } from "../support/panel-api";
import * as path from "../support/paths";
import { shell } from "../support/socket";
import { canI, question, spelled, triples, type Triple } from "../support/triples";
import { deploymentManifest, podManifest, podOf, remove, unique } from "../support/workloads";

const people = new Map<UserName, Promise<Person>>();

/** Every user signs in once for this file. */
function personOf(browser: Browser, user: UserName): Promise<Person> {
  const known = people.get(user) ?? person(browser, user);
  people.set(user, known);
  return known;
}

// their pages would follow the cluster until the worker ends
test.afterAll(async () => {
  for (const who of people.values()) await who.then(({ page }) => page.context().close()).catch(() => undefined);
});

async function inTurns<In, Out>(items: In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (let i = 0; i < items.length; i += 4) results.push(...(await Promise.all(items.slice(i, i + 4).map(work))));
  return results;
}

/** The answers of `kubectl auth can-i`, which asks one question. */
async function canIAnswers({ terminal, cluster: name }: Person): Promise<Map<string, boolean>> {
  const answers = await inTurns(triples, async (triple) => {
    const { stdout, stderr } = await terminal.kubectl(name, canI(triple));
    expect(stdout.trim(), `${spelled(triple)}: ${stderr}`).toMatch(/^(yes|no)/);
    return [spelled(triple), stdout.startsWith("yes")] as const;
  });
  return new Map(answers);
}

/** The same questions, sent by one kubectl: each is the review that `kubectl auth can-i` would create. */
async function kubectlAnswers({ terminal, cluster: name }: Person): Promise<Map<string, boolean>> {
  const items = triples.map((triple) => {
    const { verb, group, resource, subresource, namespace } = question(triple);
    const resourceAttributes = { verb, group, resource, subresource, ...(namespace ? { namespace } : {}) };
    return { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  });
  const reviews = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const { stdout, stderr } = await terminal.kubectl(name, ["create", "-f", "-", "-o", 'jsonpath={.status.allowed}{"\\n"}'], { input: reviews });
  const answers = stdout.trim().split("\n");
  expect(answers, stderr).toHaveLength(triples.length);
  return new Map(
    triples.map((triple, index) => {
      expect(answers[index], spelled(triple)).toMatch(/^(true|false)$/);
      return [spelled(triple), answers[index] === "true"] as const;
    }),
  );
}

async function panelAnswers(api: PanelApi, name: ClusterName): Promise<Map<string, boolean>> {
  const answer = await api.post("/api/clusters/rights", { cluster: cluster(name).id, questions: triples.map(question) });
  expect(answer.status, answer.body).toBe(200);
  const given = JSON.parse(answer.body) as RightAnswer[];
  expect(given).toHaveLength(triples.length);
  return new Map(triples.map((triple, index) => [spelled(triple), given[index]?.allowed ?? false]));
}

for (const user of Object.keys(grants) as UserName[]) {
  test(`${user}: what the panel enables is what kubectl may`, async ({ browser }) => {
    test.setTimeout(180_000);
    const who = await personOf(browser, user);
    await who.page.goto(path.clusterPage(who.cluster));
    const api = await PanelApi.of(who.page, homeProject(user));
    const answers = await kubectlAnswers(who);
    expect(await panelAnswers(api, who.cluster)).toEqual(answers);
    // the two ways of asking agree; one user is enough to see it, since each question costs a process
    if (user === "devi") expect(answers).toEqual(await canIAnswers(who));
  });
}

test.describe("a refused request that is sent anyway", () => {
  for (const user of ["devi", "vera", "nora", "mia"] as const) {
    test(`by ${user} is refused by the API server, under that name and those roles`, async ({ browser }) => {
      test.setTimeout(120_000);
      const who = await personOf(browser, user);
      await who.page.goto(path.clusterPage(who.cluster));
      const api = await PanelApi.of(who.page, homeProject(user));
      const allowed = await panelAnswers(api, who.cluster);
      const target = await targets();
      const refused = triples.filter((triple) => allowed.get(spelled(triple)) === false && forbidden(triple, target));
      expect(refused.length).toBeGreaterThan(3);
      for (const triple of refused) {
        const attempt = forbidden(triple, target);
        if (!attempt) continue;
        const mark = AuditMark.now(who.cluster);
        const status = await attempt.send(api);
        expect(status, spelled(triple)).toBe(403);
        const event = await mark.event(spelled(triple), (found) => standsFor(found, user, attempt.asked ?? question(triple), attempt.verb));
        expect(event.user.groups).toContain(roleId(grants[user].acme ?? "member"));
        expect(event.responseStatus?.code).toBe(403);
      }
    });
  }
});

function standsFor(event: AuditEvent, user: UserName, asked: Pick<AccessQuery, "resource" | "subresource" | "namespace">, verb: string): boolean {
  return (
    event.user.username === `${user}@Default` &&
    event.verb === verb &&
    event.objectRef?.resource === asked.resource &&
    (event.objectRef?.subresource ?? "") === asked.subresource &&
    (event.objectRef?.namespace ?? null) === asked.namespace
  );
}

interface Attempt {
  /** What the API server is asked, and refuses. */
  verb: string;
  /** Where that is something else than the triple names. */
  asked?: Pick<AccessQuery, "resource" | "subresource" | "namespace">;
  send(api: PanelApi): Promise<number>;
}

interface Target {
  pod: string;
  podUid: string;
  systemPod: string;
}

async function targets(): Promise<Target> {
  const pod = await podOf("checkout");
  const { metadata } = await admin("acme-prod").get("pods", pod, "shop");
  const [systemPod] = await admin("acme-prod").list("pods", { namespace: "kube-system" });
  return { pod, podUid: metadata.uid, systemPod: systemPod?.metadata.name ?? "" };
}

const id = () => cluster("acme-prod").id;

const reference = (group: string, plural: string, name: string, namespace: string | null = "shop") => ({
  resource: { group, version: "v1", plural },
  namespace,
  name,
});

const flat = (group: string, plural: string, name: string, namespace = "shop") => ({
  cluster: id(),
  "object[group]": group,
  "object[version]": "v1",
  "object[plural]": plural,
  "object[namespace]": namespace,
  "object[name]": name,
});

/** The request behind the control that a triple decides about; nothing where the panel has no such control. */
function forbidden(triple: Triple, target: Target): Attempt | undefined {
  const { namespace } = triple;
  const asked = question(triple);
  const listed = { cluster: id(), query: { resource: { group: asked.group, version: "v1", plural: asked.resource }, namespaces: namespace ? [namespace] : [] }, range: { offset: 0, limit: 50 } };
  const json = (verb: string, address: string, body: object): Attempt => ({
    verb,
    send: async (api) => (await api.post(address, body)).status,
  });
  const form = (verb: string, address: string, fields: Record<string, string>): Attempt => ({
    verb,
    send: async (api) => (await api.postForm(address, fields)).status,
  });
  switch (spelled(triple)) {
    case "delete pods in shop":
      return form("delete", "/api/objects/delete", { ...flat("", "pods", target.pod), uid: target.podUid });
    case "delete secrets in shop":
      return form("delete", "/api/objects/delete", { ...flat("", "secrets", "payment-gateway"), uid: unknownUid, typed: "payment-gateway" });
    case "delete deployments.apps in shop":
      return form("delete", "/api/objects/delete", { ...flat("apps", "deployments", "storefront"), uid: unknownUid });
    case "delete namespaces":
      return {
        ...form("delete", "/api/objects/delete", { ...flat("", "namespaces", "shop", ""), uid: unknownUid, typed: "shop" }),
        // a namespace stands in the log as in itself
        asked: { resource: "namespaces", subresource: "", namespace: "shop" },
      };
    case "delete persistentvolumes":
      return form("delete", "/api/objects/delete", { ...flat("", "persistentvolumes", "disk-3", ""), uid: unknownUid, typed: "disk-3" });
    case "patch deployments.apps in shop":
      return form("patch", "/api/objects/restart", flat("apps", "deployments", "storefront"));
    case "patch deployments.apps/scale in shop":
      return form("patch", "/api/objects/scale", { ...flat("apps", "deployments", "storefront"), replicas: "3" });
    case "patch statefulsets.apps/scale in shop":
      return form("patch", "/api/objects/scale", { ...flat("apps", "statefulsets", "none"), replicas: "1" });
    case "get pods in shop":
      return json("get", "/api/objects/get", { cluster: id(), object: reference("", "pods", target.pod) });
    case "get configmaps in shop":
      return json("get", "/api/objects/yaml", { cluster: id(), object: reference("", "configmaps", "storefront") });
    case "get secrets in shop":
      return json("get", "/api/objects/yaml", { cluster: id(), object: reference("", "secrets", "payment-gateway") });
    case "get secrets in kube-system":
      return json("get", "/api/objects/yaml", { cluster: id(), object: reference("", "secrets", "none", "kube-system") });
    case "list pods in shop":
    case "list secrets in shop":
    case "list deployments.apps in shop":
    case "list cronjobs.batch in shop":
    case "list pods in kube-system":
    case "list nodes":
    case "list persistentvolumes":
      return spelled(triple).includes("cronjobs") ? undefined : json("list", "/api/resources/list", listed);
    case "get pods/exec in shop":
      return {
        verb: "get",
        send: (api) => shell(`${path.clusterPage("acme-prod")}/namespaces/shop/pods/${target.pod}/exec?container=app`, api.cookieHeader),
      };
    case "create rolebindings.rbac.authorization.k8s.io in shop":
      return { ...json("get", "/api/access/grant", { ...grant("shop"), typed: "portico-viewer" }), asked: theRole };
    case "create clusterrolebindings.rbac.authorization.k8s.io":
      return { ...json("get", "/api/access/grant", { ...grant(null), typed: "portico-viewer" }), asked: theRole };
    default:
      return undefined;
  }
}

const unknownUid = "00000000-0000-4000-8000-000000000000";

// before a role is granted it is read, which is refused to a user who may not grant it
const theRole = { resource: "clusterroles", subresource: "", namespace: null };

const grant = (namespace: string | null) => ({
  cluster: id(),
  grant: {
    role: { cluster: true, name: "portico-viewer" },
    namespace,
    subject_kind: "role",
    subject_id: roleId("member"),
  },
});

test("ada makes a namespace and devi works in it within five seconds", async ({ browser }) => {
  const ada = await personOf(browser, "ada");
  const devi = await personOf(browser, "devi");
  const namespace = unique("fresh");
  const made = await ada.terminal.kubectl("acme-prod", ["create", "namespace", namespace]);
  expect(made.stderr).toBe("");
  const since = Date.now();
  try {
    const manifest = JSON.stringify(deploymentManifest(namespace, "first", 1));
    await expect
      .poll(async () => (await devi.terminal.kubectl("acme-prod", ["create", "-f", "-"], { input: manifest })).code, {
        timeout: 10_000,
        intervals: [250],
      })
      .toBe(0);
    expect(Date.now() - since).toBeLessThan(5_000);
  } finally {
    await remove(namespace);
  }
});

test.describe("what only an administrator may", () => {
  for (const user of ["devi", "vera"] as const) {
    test(`${user} is Forbidden in kube-system and for pods of all namespaces`, async ({ browser }) => {
      const { terminal } = await personOf(browser, user);
      for (const where of [["-n", "kube-system"], ["-A"]]) {
        const answer = await terminal.kubectl("acme-prod", ["get", "pods", ...where]);
        expect(answer.code).not.toBe(0);
        expect(answer.stderr).toContain("Forbidden");
        expect(answer.stderr).toContain(`User "${user}@Default" cannot list resource "pods"`);
      }
    });
  }

  for (const [protocol, kubectl] of [["SPDY", "1.20"], ["WebSocket", "current"]] as const) {
    test(`vera cannot exec over ${protocol}`, async ({ browser }) => {
      const { terminal } = await personOf(browser, "vera");
      const { pod } = await targets();
      const mark = AuditMark.now("acme-prod");
      const answer = await terminal.kubectl("acme-prod", ["exec", "-n", "shop", pod, "-c", "app", "--", "true"], { kubectl });
      expect(answer.code).not.toBe(0);
      expect(answer.stderr).toMatch(/forbidden|cannot (get|create) resource "pods\/exec"/i);
      await mark.event("exec", (event) => event.user.username === "vera@Default" && event.objectRef?.subresource === "exec");
    });
  }

  test("devi can exec, so that the refusals above mean something", async ({ browser }) => {
    const { terminal } = await personOf(browser, "devi");
    const { pod } = await targets();
    for (const kubectl of ["1.20", "current"] as const) {
      const answer = await terminal.kubectl("acme-prod", ["exec", "-n", "shop", pod, "-c", "app", "--", "echo", "inside"], { kubectl });
      expect(answer.stdout.trim(), answer.stderr).toBe("inside");
    }
  });

  for (const [what, change] of [
    ["hostPath", { volumes: [{ name: "host", hostPath: { path: "/" } }] }],
    ["privileged", { containers: [{ name: "main", image: "localhost/busybox:1.35", imagePullPolicy: "Never", command: ["sleep", "infinity"], securityContext: { privileged: true } }] }],
    ["host network", { hostNetwork: true }],
  ] as const) {
    test(`devi cannot start a ${what} pod`, async ({ browser }) => {
      const { terminal } = await personOf(browser, "devi");
      const manifest = podManifest("shop", unique("too-much"));
      const asked = JSON.stringify({ ...manifest, spec: { ...manifest.spec, ...change } });
      const answer = await terminal.kubectl("acme-prod", ["create", "-f", "-"], { input: asked });
      expect(answer.code).not.toBe(0);
      expect(answer.stderr).toContain("PodSecurityPolicy: unable to admit pod");
    });
  }

  test("a bearer of globex is not authenticated at acme's cluster, and the other way round", async ({ browser }) => {
    const otto = await personOf(browser, "otto");
    const vera = await personOf(browser, "vera");
    for (const [token, name] of [
      [await otto.terminal.clusterToken("globex-dev"), "acme-prod"],
      [await vera.terminal.clusterToken("acme-prod"), "globex-dev"],
    ] as const) {
      const { apiUrl, authority } = cluster(name);
      const answer = await send(`${apiUrl}/api/v1/namespaces`, {
        headers: { authorization: `Bearer ${token}` },
        authority: (await import("node:fs")).readFileSync(authority),
      });
      expect(answer.status).toBe(401);
    }
  });

  test("the home cluster of every user answers them", async ({ browser }) => {
    for (const user of ["ada", "otto"] as const) {
      const { terminal } = await personOf(browser, user);
      expect((await terminal.kubectl(homeCluster(user), ["get", "namespaces"])).code).toBe(0);
    }
  });
});
