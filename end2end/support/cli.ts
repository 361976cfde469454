// The people's half of the command line: `portico login`, approved in a browser, and the kubeconfig that it makes.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "@playwright/test";
import { cluster, homeCluster, optionalSetting, porticoUrl, projectRoot, setting, type ClusterName, type UserName } from "./env";
import { run, type Result } from "./kubectl";
import { record } from "./secrets";
import { enter, signedIn, type Account } from "./sign-in";

/** Of this worker: a test that signs a user out ends no session of another file's tests, and a second try begins anew. */
const homes = path.join(projectRoot, "end2end/.run/homes", String(process.pid));

/** The two that people are likely to have: the build's, and a current one. */
export type Kubectl = "1.20" | "current";

const programOf = (kubectl: Kubectl) => setting(kubectl === "current" ? "KUBECTL_CURRENT" : "KUBECTL");

export class CommandLine {
  constructor(
    readonly owner: string,
    readonly home = path.join(homes, owner),
  ) {
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
  }

  /** Nothing of the caller's but a PATH, on which a person's own kubectl would be; a home of its own. */
  environment(kubectl: Kubectl = "1.20"): Record<string, string> {
    return {
      PATH: `${this.kubectlOnPath(kubectl)}:${process.env.PATH ?? "/usr/bin:/bin"}`,
      HOME: this.home,
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_CACHE_HOME: path.join(this.home, ".cache"),
    };
  }

  private kubectlOnPath(kubectl: Kubectl): string {
    const directory = path.join(this.home, `bin-${kubectl}`);
    mkdirSync(directory, { recursive: true });
    const link = path.join(directory, "kubectl");
    if (!existsSync(link)) symlinkSync(programOf(kubectl), link);
    return directory;
  }

  portico(...parameters: string[]): Promise<Result> {
    return run(setting("PORTICO_BIN"), parameters, { environment: this.environment() });
  }

  /** `portico login`, with the click that approves it made on `page`, where a user is signed in. */
  async login(page: Page, parameters: string[] = [], signingInAs?: Account): Promise<string> {
    const authority = optionalSetting("PORTICO_CA_FILE");
    const how = parameters.includes("--device") ? parameters : ["--no-browser", ...parameters];
    const trust = authority ? ["--ca-file", authority] : [];
    const child = spawn(setting("PORTICO_BIN"), ["login", porticoUrl, ...how, ...trust], { env: this.environment() });
    let output = "";
    const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 255)));
    const address = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk.toString();
        const found = output.match(/https?:\/\/\S*\/oauth2\/(authorize|device)\S*/);
        if (found) resolve(found[0]);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      void ended.then((code) => reject(new Error(`portico login ended with ${code}: ${output}`)));
    });
    await page.goto(address);
    if (signingInAs) await enter(page, signingInAs);
    const code = output.match(/\b[A-Z0-9]{4}-[A-Z0-9]{4}\b/)?.[0];
    const field = page.getByLabel("Code");
    if (code && (await field.isVisible())) {
      await field.fill(code);
      await page.getByRole("button", { name: "Continue" }).click();
    }
    await page.getByRole("button", { name: "Approve" }).click();
    const result = await ended;
    if (result !== 0) throw new Error(`portico login ended with ${result}: ${output}`);
    this.recordSecrets();
    return output;
  }

  /** What the commands keep for themselves, so that the search at the end knows it. */
  private recordSecrets() {
    for (const file of files(this.home)) {
      if (!file.endsWith(".json")) continue;
      for (const [, value = ""] of readFileSync(file, "utf8").matchAll(/token"\s*:\s*"([^"\s]{20,})"/g)) {
        record(value.startsWith("portico_v1.") ? "cluster token" : "cli token", value);
      }
    }
  }

  /** Makes the kubeconfig that this person uses for one cluster (name or UUID), as the kubectl on their PATH understands it. */
  async kubeconfig(name: string, kubectl: Kubectl = "1.20"): Promise<string> {
    const file = this.kubeconfigFile(name, kubectl);
    const made = await run(setting("PORTICO_BIN"), ["kubeconfig", "--cluster", name, "--stdout"], {
      environment: this.environment(kubectl),
    });
    if (made.code !== 0) throw new Error(`portico kubeconfig: ${made.stderr}`);
    writeFileSync(file, made.stdout, { mode: 0o600 });
    return file;
  }

  private kubeconfigFile(name: string, kubectl: Kubectl): string {
    return path.join(this.home, `${name}-${kubectl}.kubeconfig`);
  }

  async kubectl(name: string, parameters: string[], options: { kubectl?: Kubectl; input?: string } = {}): Promise<Result> {
    const kubectl = options.kubectl ?? "1.20";
    const kubeconfig = this.kubeconfigFile(name, kubectl);
    if (!existsSync(kubeconfig)) await this.kubeconfig(name, kubectl);
    const result = await run(programOf(kubectl), ["--kubeconfig", kubeconfig, ...parameters], {
      environment: this.environment(kubectl),
      ...(options.input ? { input: options.input } : {}),
    });
    this.recordSecrets();
    return result;
  }

  /** The bearer that kubectl would send, from `portico credential`'s ExecCredential. */
  async clusterToken(name: ClusterName): Promise<string> {
    const request = { kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1beta1", spec: {} };
    const answer = await run(
      setting("PORTICO_BIN"),
      ["credential", "--cluster", cluster(name).id, "--gateway", porticoUrl],
      { environment: { ...this.environment(), KUBERNETES_EXEC_INFO: JSON.stringify(request) } },
    );
    if (answer.code !== 0) throw new Error(`portico credential: ${answer.stderr}`);
    const { token } = JSON.parse(answer.stdout).status as { token: string };
    record("cluster token", token);
    return token;
  }
}

function files(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => path.join(directory, name))
      .filter((name) => statSync(name).isFile());
  } catch {
    return [];
  }
}

/** A user with a browser and a terminal, both signed in. */
export interface Person {
  page: Page;
  terminal: CommandLine;
  cluster: ClusterName;
}

export async function person(browser: Browser, who: UserName | Account, name?: ClusterName): Promise<Person> {
  const owner = typeof who === "string" ? who : who.name;
  const on = name ?? (typeof who === "string" ? homeCluster(who) : "acme-prod");
  const page = await signedIn(browser, who);
  const terminal = new CommandLine(owner);
  await terminal.login(page);
  await terminal.kubeconfig(on);
  return { page, terminal, cluster: on };
}
