// A proxy on the loopback: tunnels by CONNECT, or forwards what is asked for by a whole URL.

import { request as ask, createServer } from "node:http";
import { connect } from "node:net";

/**
 * @param {{ after(done: () => any): void }} t
 * @param {{ refuses?: number, sendsTo?: number, drops?: boolean }} how `refuses` with a status; `sendsTo` this port
 *   whatever host was asked for; `drops` the connection after CONNECT
 */
export async function proxy(t, { refuses, sendsTo, drops } = {}) {
  /** @type {{ method: string, url: string, headers: any }[]} */
  const seen = [];
  /** @type {Set<any>} */
  const sockets = new Set();
  const note = (/** @type {any} */ { method, url, headers }) => seen.push({ method, url, headers });
  const server = createServer((incoming, response) => {
    note(incoming);
    if (refuses) return void response.writeHead(refuses).end("PROXY-WORDS");
    forward(incoming, response, sendsTo);
  });
  server.on("connect", (incoming, socket) => {
    note(incoming);
    sockets.add(socket.on("error", () => {}));
    if (drops) return void socket.destroy();
    if (refuses) return void socket.end(`HTTP/1.1 ${refuses} No\r\ncontent-length: 11\r\n\r\nPROXY-WORDS`);
    tunnel(socket, incoming.url ?? "", sendsTo, sockets);
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { seen, port, url: `http://127.0.0.1:${port}` };
}

/** @param {any} incoming @param {any} response @param {number} [sendsTo] */
function forward(incoming, response, sendsTo) {
  const url = new URL(incoming.url);
  const { method, headers } = incoming;
  const options = {
    host: "127.0.0.1",
    port: sendsTo ?? url.port,
    path: url.pathname + url.search,
    method,
    headers,
  };
  const outgoing = ask(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
}

/** @param {any} socket @param {string} target @param {number | undefined} sendsTo @param {Set<any>} sockets */
function tunnel(socket, target, sendsTo, sockets) {
  const port = sendsTo ?? Number(target.split(":").at(-1));
  const far = connect(port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    socket.pipe(far).pipe(socket);
  });
  sockets.add(far.on("error", () => socket.destroy()));
}
