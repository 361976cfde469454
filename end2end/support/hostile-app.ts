// An app that wants more than its own: it keeps what it was sent and answers with whatever a test puts in its mouth.
import http, { type IncomingMessage } from "node:http";

export interface HostileApp {
  requests: IncomingMessage[];
  close(): Promise<void>;
}

export async function startHostileApp(upstream: string): Promise<HostileApp> {
  const requests: IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    request.resume();
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "set-cookie": [
        "tossed=1; Domain=localhost; Path=/",
        "__Host-portico=tossed; Path=/; Secure",
        "portico=tossed; Path=/",
        "own=1; Path=/",
      ],
      "access-control-allow-origin": "*",
      "service-worker-allowed": "/",
    });
    response.end("<!doctype html><title>Innocent</title><h1>An innocent app</h1>");
  });
  const { port } = new URL(upstream);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(Number(port), "127.0.0.1", resolve));
  return {
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
