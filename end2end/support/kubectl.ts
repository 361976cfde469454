// kubectl, run as a person runs it: with a kubeconfig.
import { execFile } from "node:child_process";
import { cluster, setting, type ClusterName } from "./env";

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

export function run(
  program: string,
  parameters: string[],
  options: { environment?: Record<string, string>; input?: string; timeout?: number } = {},
): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      parameters,
      {
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.environment },
        timeout: options.timeout ?? 30_000,
        maxBuffer: 64 << 20,
      },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === "number" ? error.code : 255) : 0;
        resolve({ code, stdout, stderr });
      },
    );
    // a program that ends without reading its input closes the pipe; its exit code says whether that is a failure
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(options.input ?? "");
  });
}

/** With the administrator's certificate, which no person of the suite has. */
export async function admin(name: ClusterName, ...parameters: string[]): Promise<string> {
  return adminWith(name, "", ...parameters);
}

export async function adminWith(name: ClusterName, input: string, ...parameters: string[]): Promise<string> {
  const all = ["--kubeconfig", cluster(name).adminKubeconfig, ...parameters];
  const result = await run(setting("KUBECTL"), all, { input });
  if (result.code !== 0) throw new Error(`kubectl ${parameters.join(" ")}: ${result.stderr}`);
  return result.stdout.trim();
}

export async function apply(name: ClusterName, manifest: object) {
  await adminWith(name, JSON.stringify(manifest), "apply", "-f", "-");
}
