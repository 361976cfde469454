// The API server's audit log: one JSON object a line, at level Metadata.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { expect } from "@playwright/test";
import { cluster, type ClusterName } from "./env";

export interface AuditEvent {
  auditID: string;
  verb: string;
  requestURI: string;
  user: { username: string; uid?: string; groups?: string[] };
  userAgent?: string;
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string };
  responseStatus?: { code?: number; reason?: string };
  annotations?: Record<string, string>;
}

/** A place in a cluster's audit log: what was written later is read with `since`. */
export class AuditMark {
  private constructor(
    private readonly file: string,
    private readonly offset: number,
  ) {}

  static now(name: ClusterName): AuditMark {
    const file = cluster(name).auditLog;
    const descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    closeSync(descriptor);
    return new AuditMark(file, size);
  }

  since(): AuditEvent[] {
    const descriptor = openSync(this.file, "r");
    try {
      // a log that was rotated meanwhile starts anew
      const { size } = fstatSync(descriptor);
      const start = size < this.offset ? 0 : this.offset;
      const bytes = Buffer.alloc(size - start);
      readSync(descriptor, bytes, 0, bytes.length, start);
      return bytes
        .toString("utf8")
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line) as AuditEvent);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Waits until an event stands in the log, and returns it. */
  async event(description: string, matches: (event: AuditEvent) => boolean): Promise<AuditEvent> {
    let found: AuditEvent | undefined;
    await expect
      .poll(() => (found = this.since().find(matches)) !== undefined, { message: `audit log: ${description}`, timeout: 10_000 })
      .toBe(true);
    return found as AuditEvent;
  }
}
