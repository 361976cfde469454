// WebSocket handshakes and frames by hand: a browser hides the status of a refused upgrade.
import { randomBytes } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import { gatewayAuthority, porticoUrl } from "./env";

export interface Handshake {
  status: number;
  socket?: Duplex;
}

export function open(target: string, headers: Record<string, string>): Promise<Handshake> {
  const url = new URL(target, porticoUrl);
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      ca: gatewayAuthority(),
      agent: false,
      timeout: 20_000,
      lookup: ((_: string, options: { all?: boolean }, done: (...answer: unknown[]) => void) =>
        options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)) as never,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        ...headers,
      },
    });
    outgoing.on("upgrade", (answer, socket) => resolve({ status: answer.statusCode ?? 101, socket }));
    outgoing.on("response", (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0 });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer to the upgrade")));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** The status of an upgrade; one that was granted is closed at once. */
export async function upgrade(target: string, cookie: string, origin = new URL(porticoUrl).origin): Promise<number> {
  const { status, socket } = await open(target, { cookie, origin });
  socket?.destroy();
  return status;
}
