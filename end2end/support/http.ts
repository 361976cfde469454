// Requests made outside a browser: exactly the headers that a test names, no redirects followed, no cookies kept.
import http from "node:http";
import https from "node:https";
import { gatewayAuthority, porticoUrl } from "./env";
import { recordBody } from "./secrets";

export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Another authority than the gateway's. */
  authority?: Buffer | string;
  /** A client's certificate and key (PEM). */
  identity?: { cert: Buffer; key: Buffer };
  /** The name that the certificate must have, where the Host header says another. */
  servername?: string;
  timeout?: number;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

// Names below localhost are this machine in every browser, but not for every resolver.
const lookup = ((_host: string, options: { all?: boolean }, done: (...answer: unknown[]) => void) =>
  options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)) as never;

/** Sends one request; a path alone goes to the gateway. */
export function send(target: string, request: Request = {}): Promise<Answer> {
  const url = new URL(target, porticoUrl);
  const { request: start } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = start(
      url,
      {
        method: request.method ?? "GET",
        headers: { ...(request.body ? { "content-length": String(Buffer.byteLength(request.body)) } : {}), ...request.headers },
        ca: request.authority ?? gatewayAuthority(),
        ...request.identity,
        ...(request.servername ? { servername: request.servername } : {}),
        agent: false,
        lookup,
        timeout: request.timeout ?? 20_000,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const body = Buffer.concat(chunks).toString("utf8");
          recordBody(url.href, incoming.headers["content-type"] ?? "", body);
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${url.href} did not answer in time`)));
    outgoing.on("error", reject);
    outgoing.end(request.body);
  });
}

export const form = (fields: Record<string, string>) => ({
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString(),
});
