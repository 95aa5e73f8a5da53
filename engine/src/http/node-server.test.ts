import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, request } from "undici"
import { afterEach, expect, test } from "vitest"
import type { Serve } from "./exchange.ts"
import { urlOf } from "./listen-address.ts"
import { createNodeServer, ListenError } from "./node-server.ts"
import type { NodeServer, NodeServerOptions } from "./node-server.ts"

const opened: NodeServer[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close(0)))
})

async function listening(serve: Serve, options: NodeServerOptions = {}) {
  const server = createNodeServer(serve, options)
  opened.push(server)
  const address = await server.listen({ host: "127.0.0.1", port: 0 })
  if (!("port" in address)) throw new Error("not a port")
  return { server, url: urlOf(address, "http"), port: address.port }
}

/** Writes raw bytes and returns everything that comes back until the connection ends. */
const converse = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    let answer = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk) => (answer += chunk))
    socket.on("end", () => resolve(answer))
    socket.on("error", reject)
  })

const ok: Serve = async (_request, connection) => {
  connection.setHeader("x-request-id", "abc")
  return new Response("{}", { status: 201, headers: { "content-type": "application/vnd.api+json" } })
}

test("an answer carries the app's headers and the connection's", async () => {
  const { url } = await listening(ok)
  const { statusCode, headers, body } = await request(url)
  expect([
    statusCode,
    headers["content-type"],
    headers["x-request-id"],
    headers["content-length"],
    await body.text(),
  ]).toEqual([201, "application/vnd.api+json", "abc", "2", "{}"])
})

test("closing lets a slow request finish, ends its connection, and closes idle ones at once", async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { server, url, port } = await listening(async (incoming) => {
    if (new URL(incoming.url).pathname === "/slow") {
      started.resolve()
      await release.promise
    }
    return new Response("done")
  })
  // One connection that has answered and waits, one that never sent a byte.
  const answered = converse(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  const silent = converse(port, "")
  const slow = request(`${url}/slow`)
  await started.promise

  const closing = server.close(5_000)
  expect(await answered).toContain("200 OK")
  expect(await silent).toBe("")
  await expect(request(`${url}/late`, { dispatcher: new Agent() })).rejects.toThrow("ECONNREFUSED")

  release.resolve()
  const { headers, body } = await slow
  expect(headers.connection).toBe("close")
  expect(await body.text()).toBe("done")
  expect(await closing).toEqual({ cut: 0 })
})

test("closing cuts what has not finished after the grace period, and counts it", async () => {
  const started = Promise.withResolvers<void>()
  const { server, url } = await listening(async () => {
    started.resolve()
    return new Promise<Response>(() => {})
  })
  const stuck = request(url).catch((error: Error) => error)
  await started.promise
  expect(await server.close(50)).toEqual({ cut: 1 })
  expect(await stuck).toBeInstanceOf(Error)
})

test("closing twice is one closing", async () => {
  const { server } = await listening(ok)
  expect(await Promise.all([server.close(0), server.close(0)])).toEqual([{ cut: 0 }, { cut: 0 }])
})

test.each([
  { why: "no HTTP at all", bytes: "hello there\r\n\r\n", status: 400 },
  { why: "a request without a Host", bytes: "GET / HTTP/1.1\r\n\r\n", status: 400 },
  { why: "a Host that is none", bytes: "GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", status: 400 },
  { why: "a header line without a colon", bytes: "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n", status: 400 },
  {
    why: "two lengths",
    bytes: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    status: 400,
  },
  {
    why: "a length and chunks",
    bytes: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    status: 400,
  },
  { why: "headers without end", bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(20_000)}\r\n\r\n`, status: 431 },
])("$why is answered $status, and the server goes on", async ({ bytes, status }) => {
  const { url, port } = await listening(ok)
  expect(await converse(port, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect((await request(url)).statusCode).toBe(201)
})

test("a request that does not arrive in time is ended", async () => {
  const { port } = await listening(ok, { headersTimeoutMs: 100, requestTimeoutMs: 100, timeoutCheckMs: 50 })
  expect(await converse(port, "GET / HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1.1 408 /)
})

test("a client that asks first is not told to send a body over the limit", async () => {
  const { port } = await listening(async () => new Response(null, { status: 413 }), { bodyLimitBytes: 10 })
  const head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n"
  expect(await converse(port, `${head}Content-Length: 11\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /)
  expect(await converse(port, `${head}Content-Length: 3\r\n\r\nabc`)).toMatch(/^HTTP\/1.1 100 Continue/)
})

test("a taken port is one clear sentence", async () => {
  const { port } = await listening(ok)
  const error: unknown = await createNodeServer(ok)
    .listen({ host: "127.0.0.1", port })
    .catch((refused: unknown) => refused)
  expect(error).toBeInstanceOf(ListenError)
  expect(error).toMatchObject({
    code: "EADDRINUSE",
    message: `127.0.0.1:${port} is already in use; stop what listens there, or listen elsewhere with --listen.`,
  })
})

test("a unix socket serves too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  const path = join(folder, "chancery.sock")
  const server = createNodeServer(ok)
  opened.push(server)
  expect(urlOf(await server.listen({ path }), "http")).toBe(`unix:${path}`)
  const { statusCode } = await request("http://localhost/", {
    dispatcher: new Agent({ connect: { socketPath: path } }),
  })
  expect(statusCode).toBe(201)
  await rm(folder, { recursive: true })
})

test("a socket that a killed server left behind is taken over; one in use and a plain file are not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  const path = join(folder, "chancery.sock")
  const killed = spawn(process.execPath, [
    "-e",
    "require('node:net').createServer().listen(process.argv[1], () => console.log('up'))",
    path,
  ])
  await once(killed.stdout, "data")
  killed.kill("SIGKILL")
  await once(killed, "exit")

  const server = createNodeServer(ok)
  opened.push(server)
  expect(await server.listen({ path })).toEqual({ path })
  await expect(createNodeServer(ok).listen({ path })).rejects.toThrow("already in use")
  const file = join(folder, "file")
  await writeFile(file, "kept")
  await expect(createNodeServer(ok).listen({ path: file })).rejects.toThrow("already in use")
  expect(await readFile(file, "utf8")).toBe("kept")
  await rm(folder, { recursive: true })
})
