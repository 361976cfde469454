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

/** The text and binary frames that come until the other side closes. */
export async function frames(socket: Duplex): Promise<{ text: string[]; binary: Buffer[] }> {
  const found = { text: [] as string[], binary: [] as Buffer[] };
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (let frame = firstFrame(bytes); frame; frame = firstFrame(bytes)) {
      bytes = bytes.subarray(frame.end);
      if (frame.opcode === 1) found.text.push(frame.payload.toString());
      if (frame.opcode === 2) found.binary.push(frame.payload);
      if (frame.opcode === 8) {
        socket.destroy();
        return found;
      }
    }
  }
  return found;
}

/** The first whole frame: servers do not mask (RFC 6455 section 5.2). */
function firstFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + extra) return undefined;
  const length = extra === 2 ? bytes.readUInt16BE(2) : extra === 8 ? Number(bytes.readBigUInt64BE(2)) : short;
  const end = 2 + extra + length;
  if (bytes.length < end) return undefined;
  return { opcode: bytes.readUInt8(0) & 0xf, payload: bytes.subarray(2 + extra, end), end };
}

/** Asks for a terminal as the page would: 200 when a shell answers, 403 when the reason of its end is a refusal. */
export async function shell(target: string, cookie: string): Promise<number> {
  const { status, socket } = await open(target, { cookie, origin: new URL(porticoUrl).origin });
  if (!socket) return status;
  const { text, binary } = await frames(socket);
  if (binary.length > 0) return 200;
  return text.some((line) => /roles do not include|refused|not permitted|forbidden/i.test(line)) ? 403 : 0;
}
