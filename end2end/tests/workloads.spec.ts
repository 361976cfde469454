// The pages of workloads and of what belongs to them: pods, revisions, related objects, values, logs and terminals of all pods.
import type { Page } from "@playwright/test";
import { expect, takeComplaints, test } from "../support/browser";
import { cluster, userId } from "../support/env";
import { interactive } from "../support/interactive";
import { admin, type Resource } from "../support/kubernetes-api";
import { ofTheBrowser } from "../support/page-check";
import { PanelApi } from "../support/panel-api";
import * as path from "../support/paths";
import { signIn } from "../support/shared-sign-in";
import { createNamespace, deploymentManifest, podManifest, remove, unique } from "../support/workloads";

let namespace: string;
test.beforeAll(async () => {
  namespace = await createNamespace("workloads");
});
test.afterAll(() => remove(namespace));

const deployment = (name: string) => admin("acme-prod").get("deployments", name, namespace);
const rolledOut = (name: string) => admin("acme-prod").waitForRollout(namespace, name);
const scale = (name: string, replicas: number) => admin("acme-prod").scale(namespace, name, replicas);
const labelled = (resource: Resource, name: string) => admin("acme-prod").list(resource, { namespace, labels: `app=${name}` });
const podsOf = async (name: string) => (await labelled("pods", name)).map(({ metadata }) => metadata.name);

const main = (page: Page) => page.getByRole("main");
const dialog = (page: Page) => page.getByRole("dialog");
const part = (page: Page, name: string) => page.locator(`[data-part=${name}]`);
const command = (page: Page) => dialog(page).getByRole("region", { name: "Equivalent command" });

/** A deployment that takes its environment from a ConfigMap, behind a Service; MODE tells its revisions apart. */
const web = (name: string, mode: string, replicas = 1) => {
  const made = deploymentManifest(namespace, name, replicas);
  const [container] = made.spec.template.spec.containers;
  Object.assign(container as object, {
    env: [{ name: "MODE", value: mode }],
    envFrom: [{ configMapRef: { name: `${name}-settings` } }],
  });
  return made;
};
const mode = async (name: string): Promise<string> => (await deployment(name)).spec.template.spec.containers[0].env[0].value;

async function deployed(modes = ["one"], replicas = 1): Promise<string> {
  const name = unique("web");
  await admin("acme-prod").apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${name}-settings`, namespace }, data: { LEVEL: "debug" } });
  await admin("acme-prod").apply({ apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { selector: { app: name }, ports: [{ port: 80, protocol: "TCP" }] } });
  for (const value of modes) {
    await admin("acme-prod").apply(web(name, value, replicas));
    await rolledOut(name);
  }
  return name;
}

test.describe("the page of a deployment", () => {
  test("need_04 shows its pods, its revisions and what it belongs with, as links", async ({ page }) => {
    const name = await deployed(["one", "two"], 2);
    await signIn(page, "vera", path.deployment(namespace, name));
    await expect(part(page, "rollout")).toContainText("Complete: 2 of 2 replicas run the newest revision and are available.");
    const pods = part(page, "pods");
    await expect(pods.getByRole("heading", { name: "Pods (2)" })).toBeVisible();
    for (const pod of await podsOf(name)) {
      await expect(pods.getByRole("link", { name: pod, exact: true })).toHaveAttribute("href", path.pod(namespace, pod));
      await expect(pods.getByRole("link", { name: `Logs of ${pod}` })).toHaveAttribute("href", path.pod(namespace, pod, "logs"));
    }
    const revisions = part(page, "revisions").getByRole("row");
    // the head, and two revisions with the newest first
    await expect(revisions).toHaveCount(3);
    await expect(revisions.nth(1)).toContainText(/^2 Current/);
    await expect(revisions.nth(2)).toContainText(/^1/);
    const replicaSet = (await labelled("replicasets", name)).find(({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision"] === "1");
    expect(replicaSet).toBeDefined();
    await expect(revisions.nth(2).getByRole("link", { name: replicaSet?.metadata.name })).toBeVisible();
    await expect(main(page).getByRole("region", { name: "Selected by Services" }).getByRole("link", { name, exact: true })).toHaveAttribute("href", path.object(namespace, "core/v1/services", name));
    await main(page).getByRole("region", { name: "Uses" }).getByRole("link", { name: `${name}-settings` }).click();
    await expect(page.getByRole("heading", { level: 1, name: `${name}-settings` })).toBeVisible();
    await main(page).getByRole("region", { name: "Used by" }).getByRole("link", { name, exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  });

  test("follows a rollout by itself, and shows a pod that the viewer has not loaded", async ({ page }) => {
    const name = await deployed();
    await signIn(page, "vera", path.deployment(namespace, name));
    await expect(part(page, "pods").getByRole("heading", { name: "Pods (1)" })).toBeVisible();
    await scale(name, 3);
    await expect(part(page, "pods").getByRole("heading", { name: "Pods (3)" })).toBeVisible();
    await expect(part(page, "rollout")).toContainText("Complete: 3 of 3 replicas");
    await scale(name, 0);
    await expect(part(page, "rollout")).toContainText("Scaled to zero.");
    await expect(part(page, "pods")).toContainText("Scaled to zero: it has no pods.");
  });

  test("of a viewer has every ID once, and no rollback", async ({ page }) => {
    const name = await deployed(["one", "two", "three"]);
    await signIn(page, "vera", path.deployment(namespace, name));
    const rollBack = part(page, "revisions").getByRole("button", { name: "Roll back" });
    await expect(rollBack).toHaveCount(2);
    for (const button of await rollBack.all()) {
      await expect(button).toHaveAttribute("aria-disabled", "true");
      await expect(button).toHaveAccessibleDescription(/Your roles do not include patch on deployments/);
    }
    const repeated = await page.evaluate(() => {
      const ids = Array.from(document.querySelectorAll("[id]"), ({ id }) => id);
      return ids.filter((id, at) => ids.indexOf(id) !== at);
    });
    expect(repeated).toEqual([]);
  });
});

test.describe("changes", () => {
  test("a rollback shows what it changes, and restores the template of the revision", async ({ page }) => {
    const name = await deployed(["one", "two"]);
    await signIn(page, "devi", path.deployment(namespace, name));
    await interactive(page);
    await part(page, "revisions").getByRole("button", { name: "Roll back to revision 1" }).click();
    await expect(dialog(page).getByRole("heading", { name: `Roll ${name} back to revision 1?` })).toBeVisible();
    const difference = dialog(page).getByRole("region", { name: "Changes of the pod template" });
    await expect(difference.locator("del")).toContainText(["value: two"]);
    await expect(difference.locator("ins")).toContainText(["value: one"]);
    await expect(difference).not.toContainText("pod-template-hash");
    await dialog(page).getByText("Command line").click();
    await expect(command(page)).toHaveText(`kubectl rollout undo deployment/${name} --to-revision=1 -n ${namespace}`);
    await dialog(page).getByText("Cancel", { exact: true }).click();
    await expect(dialog(page)).toHaveCount(0);
    expect(await mode(name)).toBe("two");
    await part(page, "revisions").getByRole("button", { name: "Roll back to revision 1" }).click();
    await dialog(page).getByRole("button", { name: "Roll back", exact: true }).click();
    await expect.poll(() => mode(name)).toBe("one");
    await expect(dialog(page)).toHaveCount(0);
    // revision 1 becomes 3
    await expect(part(page, "revisions").getByRole("row").nth(1)).toContainText(/^3 Current/);
    await expect(part(page, "revisions").getByRole("button", { name: "Roll back to revision 2" })).toBeVisible();
    await expect(part(page, "revisions").getByRole("button", { name: "Roll back to revision 1" })).toHaveCount(0);
  });

  test("a rollout is paused and resumed; while it is paused there is no rollback", async ({ page }) => {
    const name = await deployed(["one", "two"]);
    await signIn(page, "devi", path.deployment(namespace, name));
    await interactive(page);
    await page.getByRole("button", { name: "Pause rollout" }).click();
    await dialog(page).getByRole("button", { name: "Pause rollout" }).click();
    await expect.poll(async () => (await deployment(name)).spec.paused).toBe(true);
    await expect(page.getByText(`The rollout of ${name} is paused.`)).toBeVisible();
    await expect(part(page, "rollout").getByText("Paused", { exact: true })).toBeVisible();
    const rollBack = part(page, "revisions").getByRole("button", { name: "Roll back" });
    await expect(rollBack).toHaveAttribute("aria-disabled", "true");
    await expect(rollBack).toHaveAccessibleDescription(/The rollout is paused/);
    await expect(page.getByRole("button", { name: "Pause rollout" })).toHaveCount(0);
    await page.getByRole("button", { name: "Resume rollout" }).click();
    await dialog(page).getByText("Command line").click();
    await expect(command(page)).toHaveText(`kubectl rollout resume deployment/${name} -n ${namespace}`);
    await dialog(page).getByRole("button", { name: "Resume rollout" }).click();
    await expect.poll(async () => (await deployment(name)).spec.paused).toBeUndefined();
    await expect(page.getByRole("button", { name: "Pause rollout" })).toBeVisible();
    await expect(part(page, "rollout").getByText("Paused", { exact: true })).toHaveCount(0);
  });

  test("a CronJob is suspended, resumed and run now", async ({ page }) => {
    const name = unique("nightly");
    const { spec } = podManifest(namespace, name, "echo done");
    await admin("acme-prod").apply({
      apiVersion: "batch/v1beta1",
      kind: "CronJob",
      metadata: { name, namespace },
      spec: { schedule: "0 3 1 1 *", jobTemplate: { spec: { template: { metadata: { labels: { cron: name } }, spec: { ...spec, restartPolicy: "Never" } } } } },
    });
    await signIn(page, "devi", path.object(namespace, "batch/v1beta1/cronjobs", name));
    // before, the buttons lead to a form in the page
    await interactive(page);
    await page.getByRole("button", { name: "Suspend" }).click();
    await dialog(page).getByText("Command line").click();
    await expect(command(page)).toHaveText(`kubectl patch cronjob/${name} --type merge -p '{"spec":{"suspend":true}}' -n ${namespace}`);
    await dialog(page).getByRole("button", { name: "Suspend" }).click();
    const suspended = async () => (await admin("acme-prod").get("cronjobs", name, namespace)).spec.suspend;
    await expect.poll(suspended).toBe(true);
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await dialog(page).getByRole("button", { name: "Resume", exact: true }).click();
    await expect.poll(suspended).toBe(false);
    await expect(page.getByRole("button", { name: "Suspend" })).toBeVisible();
    await page.getByRole("button", { name: "Run now" }).click();
    await dialog(page).getByRole("button", { name: "Run now" }).click();
    await expect(page.getByText(new RegExp(`Job ${name}-manual-\\w+ was created from ${name}`))).toBeVisible();
    const jobs = async () => (await admin("acme-prod").list("jobs", { namespace })).filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name);
    await expect.poll(async () => (await jobs()).map(({ status }) => status.succeeded), { timeout: 30_000 }).toEqual([1]);
    const job = (await jobs())[0]?.metadata.name ?? "";
    expect(job).toMatch(new RegExp(`^${name}-manual-`));
    // on the CronJob's page, the job is there with its result
    const owned = main(page).getByRole("link", { name: job });
    await expect(owned).toBeVisible();
    await owned.click();
    await expect(page.getByRole("heading", { level: 1, name: job })).toBeVisible();
  });

  test("the command line of a dialog follows its fields", async ({ page }) => {
    const name = await deployed();
    await signIn(page, "devi", path.deployment(namespace, name));
    await interactive(page);
    await page.getByRole("button", { name: "Scale" }).click();
    await expect(command(page)).toBeHidden();
    await dialog(page).getByText("Command line").click();
    await dialog(page).getByLabel("Replicas").fill("4");
    await expect(command(page)).toHaveText(`kubectl scale deployment/${name} --replicas=4 -n ${namespace}`);
    await dialog(page).getByLabel("Replicas").fill("0");
    await expect(command(page)).toHaveText(`kubectl scale deployment/${name} --replicas=0 -n ${namespace}`);
    expect((await deployment(name)).spec.replicas).toBe(1);
  });
});

test.describe("values", () => {
  test("of a ConfigMap are shown", async ({ page }) => {
    const name = unique("settings");
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { LEVEL: "debug", "app.conf": "a=1\nb=<script>2</script>\n" } });
    await signIn(page, "vera", path.object(namespace, "core/v1/configmaps", name));
    const values = part(page, "values");
    await expect(values.getByText("debug", { exact: true })).toBeVisible();
    await expect(values).toContainText("b=<script>2</script>");
    await expect(values).toContainText("app.conf");
    await expect(page.getByRole("button", { name: "Reveal values" })).toHaveCount(0);
  });

  test("of a Secret are in the page only after they were revealed, and go when they are hidden", async ({ page }) => {
    const [name, secret] = [unique("credentials"), unique("hush")];
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: { password: secret } });
    const encoded = Buffer.from(secret).toString("base64");
    const served: string[] = [];
    page.on("response", async (response) => served.push(await response.text().catch(() => "")));
    const shows = (text: string) => text.includes(secret) || text.includes(encoded);
    await signIn(page, "devi", path.object(namespace, "core/v1/secrets", name));
    const values = part(page, "values");
    await expect(values).toContainText("The values are hidden");
    expect(shows(await page.content())).toBe(false);
    expect(served.filter(shows)).toEqual([]);
    await interactive(page);
    await page.getByRole("button", { name: "Reveal values" }).click();
    await expect(values.getByText(secret, { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Hide values" }).click();
    await expect(values).toContainText("The values are hidden");
    expect(shows(await page.content())).toBe(false);
  });

  test("of a Secret are refused to a viewer", async ({ page }) => {
    const [name, secret] = [unique("credentials"), unique("hush")];
    await admin("acme-prod").apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData: { password: secret } });
    await signIn(page, "vera", path.object(namespace, "core/v1/secrets", name));
    await expect(page.locator("[data-state=not-permitted]")).toBeVisible();
    await expect(page.getByRole("button", { name: "Reveal values" })).toHaveCount(0);
    const api = await PanelApi.of(page, "acme");
    const object = { resource: { group: "", version: "v1", plural: "secrets" }, namespace, name };
    for (const endpoint of ["objects/values", "manifests/edit"]) {
      const answer = await api.post(`/api/${endpoint}`, { cluster: cluster("acme-prod").id, object });
      expect(answer.body, endpoint).toContain("secrets");
      expect(answer.body, endpoint).not.toContain(secret);
      expect(answer.status, endpoint).not.toBe(200);
    }
    // the same request of a user who may
    await page.context().clearCookies();
    await signIn(page, "devi", path.object(namespace, "core/v1/secrets", name));
    const allowed = await (await PanelApi.of(page, "acme")).post("/api/objects/values", { cluster: cluster("acme-prod").id, object });
    expect(allowed.body).toContain(secret);
  });
});

const lines = (page: Page) => page.getByRole("log");
/** A deployment of three pods that write lines all the time. */
const talking = async () => {
  const name = unique("talk");
  await admin("acme-prod").apply(deploymentManifest(namespace, name, 3, "n=0; while true; do n=$((n+1)); echo $(hostname) line-$n-; sleep 0.5; done"));
  await rolledOut(name);
  return { name, pods: await podsOf(name) };
};
/** The number of the last line of a pod that is shown. */
const last = async (page: Page, pod: string) => {
  const all = [...(await lines(page).innerText()).matchAll(new RegExp(`^\\[${pod}\\] ${pod} line-(\\d+)-$`, "gm"))];
  return Number(all.at(-1)?.[1] ?? 0);
};

test.describe("all pods of a deployment", () => {
  test("are followed together; one that is deselected leaves the others as they are", async ({ page }) => {
    const { name, pods } = await talking();
    expect(pods.length).toBe(3);
    await signIn(page, "vera", path.deployment(namespace, name));
    await page.getByRole("navigation", { name: "Parts of this object" }).getByRole("link", { name: "Logs" }).click();
    for (const pod of pods) await expect.poll(() => last(page, pod)).toBeGreaterThan(0);
    const [quiet, ...others] = pods as [string, ...string[]];
    await page.getByRole("group", { name: "Pods" }).getByLabel(quiet).uncheck();
    const atOnce = await Promise.all(others.map((pod) => last(page, pod)));
    for (const [at, pod] of others.entries()) await expect.poll(() => last(page, pod)).toBeGreaterThan((atOnce[at] ?? 0) + 2);
    const stopped = await last(page, quiet);
    expect(stopped).toBeGreaterThan(0);
    const then = await Promise.all(others.map((pod) => last(page, pod)));
    for (const [at, pod] of others.entries()) await expect.poll(() => last(page, pod)).toBeGreaterThan((then[at] ?? 0) + 2);
    expect(await last(page, quiet)).toBe(stopped);
    // no line came twice, as it would if the others had been opened again
    const text = (await lines(page).innerText()).split("\n").filter((line) => others.some((pod) => line.includes(pod)));
    expect(text.length).toBe(new Set(text).size);
    await page.getByRole("group", { name: "Pods" }).getByLabel(quiet).check();
    await expect.poll(() => last(page, quiet)).toBeGreaterThan(stopped);
    expect(takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text))).toEqual([]);
  });

  test("keep what was deselected and read when the deployment changes", async ({ page }) => {
    const { name, pods } = await talking();
    await signIn(page, "vera", path.deployment(namespace, name, "logs"));
    const [quiet, other] = pods as [string, string];
    for (const pod of [quiet, other]) await expect.poll(() => last(page, pod)).toBeGreaterThan(0);
    const choice = page.getByRole("group", { name: "Pods" }).getByLabel(quiet);
    await choice.uncheck();
    await page.getByRole("searchbox", { name: "Search in the lines" }).fill("line-");
    const seen = page.waitForResponse((response) => response.url().includes("/api/objects/get"));
    await admin("acme-prod").patch("merge", "deployments", name, { metadata: { annotations: { "example.org/note": "changed" } } }, namespace);
    await seen;
    const before = await last(page, other);
    await expect.poll(() => last(page, other)).toBeGreaterThan(before + 2);
    await expect(choice).not.toBeChecked();
    await expect(page.getByRole("searchbox", { name: "Search in the lines" })).toHaveValue("line-");
    expect(await last(page, quiet)).toBeGreaterThan(0);
  });

  test("of a new revision join the followed logs", async ({ page }) => {
    const { name, pods } = await talking();
    await signIn(page, "vera", path.deployment(namespace, name, "logs"));
    const [old] = pods as [string];
    await expect.poll(() => last(page, old)).toBeGreaterThan(0);
    const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
    await admin("acme-prod").patch("merge", "deployments", name, { spec: { template: { metadata: { annotations } } } }, namespace);
    await rolledOut(name);
    const [fresh] = (await podsOf(name)).filter((pod) => !pods.includes(pod)) as [string];
    await expect.poll(() => last(page, fresh), { timeout: 30_000 }).toBeGreaterThan(0);
    // lines of the removed pods stay
    expect(await last(page, old)).toBeGreaterThan(0);
  });

  test("are offered for a terminal", async ({ page }) => {
    const { name, pods } = await talking();
    await signIn(page, "devi", path.deployment(namespace, name));
    await page.getByRole("navigation", { name: "Parts of this object" }).getByRole("link", { name: "Terminal" }).click();
    await expect(page.getByRole("heading", { name: "Choose a pod" })).toBeVisible();
    for (const pod of pods) await expect(main(page).getByRole("link", { name: pod, exact: true })).toHaveAttribute("href", path.pod(namespace, pod, "terminal"));
    await main(page).getByRole("link", { name: pods[1], exact: true }).click();
    const screen = page.locator("portico-terminal");
    await screen.click();
    await expect(screen).toContainText("$");
    await page.keyboard.type("hostname\n");
    await expect(screen).toContainText(pods[1] as string);
  });
});

test.describe("logs of a label selector", () => {
  const selected = (name: string) => path.list("core/v1/pods", `namespace=${namespace}&labels=${encodeURIComponent(`app=${name}`)}`);
  const choices = (page: Page) => page.getByRole("group", { name: "Pods" }).getByRole("checkbox");

  test("the pods of the selector are followed together", async ({ page }) => {
    const { name, pods } = await talking();
    const other = await deployed();
    await signIn(page, "vera", selected(name));
    await main(page).getByRole("link", { name: "Logs", exact: true }).click();
    await expect(page).toHaveURL(/view=logs/);
    for (const pod of pods) await expect.poll(() => last(page, pod)).toBeGreaterThan(0);
    await expect(choices(page)).toHaveCount(pods.length);
    await expect(main(page).getByRole("table")).toHaveCount(0);
    // a pod that appears joins
    await scale(name, 4);
    await rolledOut(name);
    const [fresh] = (await podsOf(name)).filter((pod) => !pods.includes(pod)) as [string];
    await expect.poll(() => last(page, fresh), { timeout: 30_000 }).toBeGreaterThan(0);
    // the address is the whole view
    await page.reload();
    for (const pod of [...pods, fresh]) await expect.poll(() => last(page, pod)).toBeGreaterThan(0);
    // another selector is another view
    await page.getByRole("combobox", { name: "Labels" }).fill(`app=${other}`);
    const [quiet] = (await podsOf(other)) as [string];
    await expect(page.getByRole("group", { name: "Pods" }).getByLabel(quiet)).toBeChecked();
    await expect(choices(page)).toHaveCount(1);
    await expect(page).toHaveURL(new RegExp(`labels=app%3D${other}.*view=logs`));
    await main(page).getByRole("link", { name: "Back to the list" }).click();
    await expect(page).not.toHaveURL(/view=logs/);
    await expect(main(page).getByRole("link", { name: quiet, exact: true })).toBeVisible();
    expect(takeComplaints(page.context()).filter((text) => !ofTheBrowser.test(text))).toEqual([]);
  });

  test("only lists of pods have it", async ({ page }) => {
    await signIn(page, "vera", path.list("apps/v1/deployments", `namespace=${namespace}&view=logs`));
    await expect(main(page).getByRole("searchbox", { name: "Search by name, namespace or column" })).toBeVisible();
    await expect(main(page).getByRole("link", { name: "Logs", exact: true })).toHaveCount(0);
    await expect(lines(page)).toHaveCount(0);
  });
});

test.describe("the lines of all pods", () => {
  test("previous run of a workload", async ({ page }) => {
    const name = unique("again");
    const made = deploymentManifest(namespace, name, 2, "if [ -e /state/ran ]; then echo second-run; sleep infinity; fi; touch /state/ran; echo first-run; exit 1");
    const { spec } = made.spec.template;
    // a volume of the pod outlives its containers
    Object.assign(spec, { volumes: [{ name: "state", emptyDir: {} }] });
    Object.assign(spec.containers[0] as object, { volumeMounts: [{ name: "state", mountPath: "/state" }] });
    await admin("acme-prod").apply(made);
    const restarts = async () => (await labelled("pods", name)).map(({ status }) => status.containerStatuses?.[0]?.restartCount);
    await expect.poll(restarts, { timeout: 60_000 }).toEqual([1, 1]);
    await rolledOut(name);
    const pods = await podsOf(name);
    await signIn(page, "vera", path.deployment(namespace, name, "logs"));
    for (const pod of pods) await expect(lines(page)).toContainText(`[${pod}] second-run`);
    await page.getByLabel("Previous run").check();
    for (const pod of pods) await expect(lines(page)).toContainText(`[${pod}] first-run`);
    await expect(lines(page)).not.toContainText("second-run");
    await expect(page.getByText("The log ends here.")).toBeVisible();
    await page.getByLabel("Previous run").uncheck();
    for (const pod of pods) await expect(lines(page)).toContainText(`[${pod}] second-run`);
    await expect(lines(page)).not.toContainText("first-run");
  });

  test("a range with an end shows only its lines", async ({ page }) => {
    const { name, pods } = await talking();
    await signIn(page, "vera", path.deployment(namespace, name, "logs"));
    for (const pod of pods) await expect.poll(() => last(page, pod)).toBeGreaterThan(0);
    // as a browser writes it: without seconds if they are 0
    const moment = (at: number) => new Date(at).toISOString().slice(0, 19).replace(/:00$/, "");
    const end = moment(Date.now());
    for (const pod of pods) {
      const before = await last(page, pod);
      await expect.poll(() => last(page, pod)).toBeGreaterThan(before + 4);
    }
    const until = page.getByLabel("Until (UTC)");
    await page.getByLabel("Timestamps").check();
    await until.fill(end);
    await expect(page.getByText("The time range ends here.")).toBeVisible();
    const shown = async () => (await lines(page).innerText()).split("\n").filter((line) => line.startsWith("["));
    for (const pod of pods) await expect.poll(async () => (await shown()).filter((line) => line.startsWith(`[${pod}] `)).length).toBeGreaterThan(0);
    const times = (await shown()).map((line) => Date.parse(line.split(" ")[1] as string));
    expect(Math.max(...times)).toBeLessThanOrEqual(Date.parse(`${end}Z`));
    // a range that ends before it begins
    await page.getByLabel("Time range").selectOption("300");
    await until.fill(moment(Date.now() - 3_600_000));
    await expect(page.getByRole("alert").filter({ hasText: "The time range ends before it begins." })).toBeVisible();
    await expect.poll(shown).toEqual([]);
    // without an end the log is followed
    await until.fill("");
    await expect(page.getByText("Following", { exact: true })).toBeVisible();
    await expect.poll(async () => (await shown()).length).toBeGreaterThan(0);
  });
});

test.describe("who can", () => {
  async function askFromDelete(page: Page, name: string) {
    await signIn(page, "vera", path.deployment(namespace, name));
    const button = page.getByRole("button", { name: "Delete" });
    await expect(button).toHaveAttribute("aria-disabled", "true");
    await button.focus();
    const link = page.locator(".why", { has: page.locator("[data-action=delete]") }).getByRole("link", { name: "Who can?" });
    await expect(link).toBeVisible();
    await link.click();
    await expect(page).toHaveURL(new RegExp(`/access\\?verb=delete&resource=deployments(\\.apps)?&namespace=${namespace}`));
    const answer = page.locator("#who-can");
    await expect(answer.getByLabel("Verb")).toHaveValue("delete");
    await expect(answer.getByLabel("Namespace")).toHaveValue(namespace);
    return answer;
  }

  test("a disabled Delete leads to the subjects that may, and to those that could grant it", async ({ page }) => {
    const [name, role] = [await deployed(), unique("rbac-reader")];
    const kind = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: role } };
    await admin("acme-prod").apply({ ...kind, kind: "ClusterRole", rules: [{ apiGroups: [kind.apiVersion.split("/")[0]], resources: ["*"], verbs: ["get", "list"] }] });
    const group = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `portico:user:${userId("vera")}` };
    await admin("acme-prod").apply({ ...kind, kind: "ClusterRoleBinding", roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role }, subjects: [group] });
    // the API server applies a change of bindings a moment later
    const bindings = { group: group.apiGroup, resource: "rolebindings", namespace };
    const mayListBindings = () => admin("acme-prod").permits([group.name], "list", bindings);
    try {
      await expect.poll(mayListBindings).toBe(true);
      const answer = await askFromDelete(page, name);
      await expect(answer.getByRole("heading", { name: new RegExp(`^Can delete deployments(\\.apps)? in ${namespace}$`) })).toBeVisible();
      const holders = answer.getByRole("region", { name: "Subjects" }).first();
      await expect(holders.getByRole("row").filter({ hasText: "k8s_developer" })).toBeVisible();
      await expect(holders.getByRole("row").filter({ hasText: "k8s_viewer" })).toHaveCount(0);
      await expect(answer.getByRole("heading", { name: "Can grant it" })).toBeVisible();
    } finally {
      for (const resource of ["clusterroles", "clusterrolebindings"] as const) await admin("acme-prod").delete(resource, role);
      await expect.poll(mayListBindings).toBe(false);
    }
  });

  test("a viewer who may not read bindings is shown which right is missing", async ({ page }) => {
    const answer = await askFromDelete(page, await deployed());
    // refused by Portico, or by the API server where Portico remembers the right of a moment ago
    await expect(answer.getByRole("alert")).toContainText("list on rolebindings");
  });

  test("an administrator sees roles, bindings and rules, and asks for something else", async ({ page }) => {
    await signIn(page, "ada", `${path.accessPage()}?verb=delete&resource=pods&namespace=${namespace}`);
    const answer = page.locator("#who-can");
    const tables = answer.getByRole("region", { name: "Subjects" });
    await expect(tables.first().getByRole("row").filter({ hasText: "k8s_developer" })).toBeVisible();
    await expect(tables.first().getByRole("row").filter({ hasText: "k8s_viewer" })).toHaveCount(0);
    await expect(answer.getByLabel("Verb")).toHaveValue("delete");
    // what is typed before scripts take the form over may be lost
    await interactive(page);
    await answer.getByLabel("Verb").fill("get");
    await answer.getByLabel("Resource").fill("pods/log");
    await answer.getByRole("button", { name: "Ask" }).click();
    await expect(page).toHaveURL(/verb=get&resource=pods%2Flog/);
    await expect(answer.getByRole("heading", { name: `Can get pods/log in ${namespace}` })).toBeVisible();
    await expect(tables.first().getByRole("row").filter({ hasText: "k8s_viewer" })).toBeVisible();
  });
});
