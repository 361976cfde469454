// The suite's own tools: a search that finds nothing must be one that can find.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "@playwright/test";
import { search } from "../support/search";
import type { Secret } from "../support/secrets";
import { totpCode } from "../support/totp";

const secret: Secret = { kind: "canary", value: "Zm9v/+key?with=every&kind of-character~1" };

for (const [name, text] of [
  ["as it is", `x${secret.value}x`],
  ["URL-encoded", `?q=${encodeURIComponent(secret.value)}&x=1`],
  ["as a form's field", new URLSearchParams({ q: secret.value }).toString()],
  ...[0, 1, 2].flatMap((shift) => {
    const padded = Buffer.from(`${"-".repeat(shift)}${secret.value}tail`);
    return [
      [`in base64, ${shift} bytes in`, `a${padded.toString("base64")}`],
      [`in base64url, ${shift} bytes in`, padded.toString("base64url")],
    ];
  }),
] as [string, string][]) {
  test(`the search finds a secret ${name}`, async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "portico-search-"));
    try {
      writeFileSync(path.join(directory, "log"), Buffer.concat([Buffer.from([0, 255, 10]), Buffer.from(text), Buffer.from([0])]));
      const found = await search([secret], [directory]);
      expect(found.map(({ file }) => path.basename(file))).toEqual(["log"]);
      expect(await search([secret], [directory], [directory])).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
}

test("one-time codes are those of RFC 6238", () => {
  const rfc = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  expect(totpCode(rfc, 59_000)).toBe("287082");
  expect(totpCode(rfc, 1_111_111_109_000)).toBe("081804");
});
