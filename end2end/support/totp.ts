// RFC 6238 with Keystone's choices: SHA-1, six digits, 30 seconds.
import { createHash, createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "@playwright/test";
import { runDirectory } from "./secrets";

const period = 30_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function decodeBase32(text: string): Buffer {
  let bits = "";
  for (const character of text.replace(/=+$/, "")) bits += alphabet.indexOf(character).toString(2).padStart(5, "0");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}

export function totpCode(secret: string, at = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / period)));
  const digest = createHmac("sha1", decodeBase32(secret)).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** The code of a period in which no test has used one yet: Keystone takes each once. */
export async function unusedTotpCode(secret: string): Promise<string> {
  const name = createHash("sha256").update(secret).digest("hex").slice(0, 16);
  let used = 0;
  const take = () => {
    used = Math.floor(Date.now() / period);
    return created(path.join(runDirectory, `totp-${name}-${used}`));
  };
  await expect.poll(take, { timeout: 3 * period, intervals: [250] }).toBe(true);
  return totpCode(secret, used * period);
}

/** Whether this call made the file: of several workers, one makes it. */
function created(file: string): boolean {
  try {
    writeFileSync(file, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
