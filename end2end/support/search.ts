// Looks for secrets in files, by GNU grep's fixed-string matching: thousands of spellings in one pass.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runDirectory, spellings, type Secret } from "./secrets";

export interface Finding {
  secret: Secret;
  spelling: "raw" | "encoded";
  file: string;
}

/** Where spellings of `secrets` occur below `roots`, which are searched at once. Files in `sources` are where they may lie. */
export async function search(secrets: Secret[], roots: string[], sources: string[] = []): Promise<Finding[]> {
  const owners = new Map<string, Secret>();
  for (const secret of secrets) for (const spelling of spellings(secret.value)) owners.set(spelling, secret);
  const patterns = path.join(runDirectory, "patterns");
  writeFileSync(patterns, [...owners.keys()].join("\n"), { mode: 0o600 });
  try {
    const hits = (await Promise.all(roots.map((root) => grep(["--file", patterns, root])))).flat();
    const found = new Map<string, Finding>();
    for (const [file, text] of hits) {
      const secret = owners.get(text);
      if (!secret || sources.some((source) => file === source || file.startsWith(`${source}/`))) continue;
      const spelling = text === secret.value ? "raw" : "encoded";
      found.set(`${file}\0${secret.value}\0${spelling}`, { secret, spelling, file });
    }
    return [...found.values()];
  } finally {
    rmSync(patterns, { force: true });
  }
}

function grep(parameters: string[]): Promise<[file: string, text: string][]> {
  const options = ["--recursive", "--fixed-strings", "--text", "--only-matching", "--with-filename", "--null", "--no-messages"];
  return new Promise((resolve, reject) => {
    execFile(
      "grep",
      [...options, "--devices=skip", ...parameters],
      { maxBuffer: 1 << 30, encoding: "utf8", env: { PATH: process.env.PATH, LC_ALL: "C" } },
      (error, stdout) => {
        // 1: nothing found; 2: something could not be read, which --no-messages keeps quiet about for files that went away
        if (error && typeof error.code !== "number") return reject(error);
        const lines = stdout.split("\n").filter((line) => line.includes("\0"));
        resolve(lines.map((line) => [line.slice(0, line.indexOf("\0")), line.slice(line.indexOf("\0") + 1)]));
      },
    );
  });
}
