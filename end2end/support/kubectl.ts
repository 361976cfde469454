// Programs that tests start, and kubectl as a person runs it: with a kubeconfig.
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

/** With the administrator's certificate, for what is more than a request to the API server (support/kubernetes-api.ts). */
export async function kubectlAsAdmin(name: ClusterName, ...parameters: string[]): Promise<string> {
  const result = await run(setting("KUBECTL"), ["--kubeconfig", cluster(name).adminKubeconfig, ...parameters]);
  if (result.code !== 0) throw new Error(`kubectl ${parameters.join(" ")}: ${result.stderr}`);
  return result.stdout.trim();
}
