import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { connect } from "node:net"
import { connect as connectSecurely, type TLSSocket } from "node:tls"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, request } from "undici"
import { afterEach, expect, test } from "vitest"
import { hourMs } from "../../core/time.ts"
import { boundedBytes } from "./body.ts"
import type { Serve } from "./exchange.ts"
import { urlOf } from "./listen-address.ts"
import { type HttpRequest, type HttpResponse, respond } from "./message.ts"
import {
  assertListenable,
  createNodeServer,
  ListenError,
  type NodeServer,
  type NodeServerOptions,
} from "./node-server.ts"
import { ReloadableIdentity, UnusableIdentity } from "./secure-context.ts"

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

const textOf = async (incoming: HttpRequest): Promise<string> =>
  Buffer.from(await boundedBytes(incoming, 10_000)).toString()

/** Writes raw bytes and returns everything that comes back until the connection ends. */
const converse = (
  port: number,
  text: string,
  later?: { readonly text: string; readonly afterMs: number },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(text)
      if (later !== undefined) setTimeout(() => socket.write(later.text), later.afterMs)
    })
    let answer = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk) => (answer += chunk))
    socket.on("end", () => resolve(answer))
    socket.on("error", reject)
  })

const ok: Serve = async () =>
  respond("{}", { status: 201, headers: { "content-type": "application/vnd.api+json", "x-request-id": "abc" } })

test("a response has the app's headers, and its length", async () => {
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

/** Chunks that do not fit into the socket's buffer together, so that it accepts them one after another. */
const pieces = Array.from({ length: 64 }, (_, index) => Buffer.alloc(256 * 1024, index))

test("a body is sent as the socket accepts it, and each chunk's memory is released; HEAD sends none", async () => {
  const given: Uint8Array[] = []
  const { url } = await listening(async () => {
    async function* content() {
      for (const piece of pieces) {
        const chunk = Uint8Array.from(piece)
        given.push(chunk)
        yield chunk
      }
    }
    return respond(content(), { headers: { "content-type": "text/plain" } })
  })
  const { headers, body } = await request(url)
  expect(headers["content-type"]).toBe("text/plain")
  expect(Buffer.concat(pieces).equals(Buffer.from(await body.arrayBuffer()))).toBe(true)
  expect(given.map(({ length }) => length)).toEqual(pieces.map(() => 0))
  const head = await request(url, { method: "HEAD" })
  expect([head.statusCode, await head.body.text(), given.length]).toEqual([200, "", pieces.length])
})

test("a failing body is cut off, and a body without a reader is dropped", async () => {
  const left = Promise.withResolvers<void>()
  async function* failing() {
    yield Buffer.alloc(100_000)
    throw new Error("it is gone")
  }
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(100_000)
    } finally {
      left.resolve()
    }
  }
  const { url } = await listening(async (incoming) =>
    respond(incoming.url.endsWith("/endless") ? endless() : failing()),
  )
  const failed = await request(`${url}/failing`)
  await expect(failed.body.arrayBuffer()).rejects.toThrow(/terminated|closed|other side/)
  const going = await request(`${url}/endless`)
  going.body.once("error", () => {}).destroy()
  await left.promise
})

const octetsOfLongAnswer = 20 * 2 ** 20

/** Long answers, one for each way to produce a body: a buffer and a generator. */
const longAnswers: readonly { readonly how: string; readonly serve: Serve }[] = [
  { how: "made as a whole", serve: async () => respond(Buffer.alloc(octetsOfLongAnswer)) },
  {
    how: "still being made",
    async serve() {
      const octetsOfPiece = 2 ** 16
      async function* content() {
        for (let left = octetsOfLongAnswer; left > 0; left -= octetsOfPiece) yield Buffer.alloc(octetsOfPiece)
      }
      return respond(content())
    },
  },
]

const readers = longAnswers.flatMap((answer) =>
  [true, false].flatMap((isSecure) => [true, false].map((isLast) => ({ ...answer, isSecure, isLast }))),
)
const describedReader = "an answer $how (TLS: $isSecure, last of its connection: $isLast)"

/** Requests an answer that exceeds the socket's buffer, and stops reading after the first chunk. `read` counts received bytes. */
async function readingOf({ serve, isSecure, isLast }: (typeof readers)[number], unreadTimeoutMs: number) {
  const tls = isSecure ? { tls: new ReloadableIdentity(old) } : {}
  const { server, port } = await listening(serve, { ...tls, unreadTimeoutMs, timeoutCheckMs: unreadTimeoutMs / 4 })
  const host = { port, host: "127.0.0.1" }
  const socket = isSecure ? connectSecurely({ ...host, rejectUnauthorized: false }) : connect(host)
  const read = { octets: 0 }
  // The connection may also end with an error, if the kernel still had data to send.
  const over = new Promise<void>((resolve) => socket.on("error", () => undefined).once("close", () => resolve()))
  socket.on("data", (piece) => {
    if (read.octets === 0) socket.pause()
    read.octets += piece.length
  })
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${isLast ? "Connection: close\r\n" : ""}\r\n`)
  await expect.poll(() => read.octets).toBeGreaterThan(0)
  return { server, socket, read, over }
}

test.each(readers)(`a client that does not read ${describedReader} loses the connection`, async (reader) => {
  const { server, socket, read, over } = await readingOf(reader, 200)
  // A graceful close would wait for the unsent data of a connection that was not cut.
  expect(await server.close(hourMs)).toEqual({ cut: 0 })
  socket.resume()
  await over
  expect(read.octets).toBeLessThan(octetsOfLongAnswer)
})

/** Reads one MiB at a time with pauses, and returns the number of bytes received before the end of the connection. */
async function readSlowly(reader: (typeof readers)[number]): Promise<number> {
  // Long enough for a busy machine, and shorter than reading the whole answer takes.
  const { socket, read, over } = await readingOf(reader, 2_000)
  while (read.octets < octetsOfLongAnswer && !socket.destroyed) {
    const enough = read.octets + 2 ** 20
    const onData = () => {
      if (read.octets >= Math.min(enough, octetsOfLongAnswer)) socket.pause().emit("enough")
    }
    socket.on("data", onData).resume()
    await Promise.race([new Promise((resolve) => socket.once("enough", resolve)), over])
    socket.off("data", onData)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  socket.destroy()
  return read.octets
}

test("a slow client receives the whole response, however its body is produced", async () => {
  const cut = await Promise.all(
    readers.map(async (reader) => ((await readSlowly(reader)) < octetsOfLongAnswer ? [reader] : [])),
  )
  expect(cut.flat()).toEqual([])
})

test("a slow body is awaited", async () => {
  const taken = Promise.withResolvers<void>()
  const { url } = await listening(
    async () => {
      async function* content() {
        yield Buffer.alloc(octetsOfLongAnswer)
        await taken.promise
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        yield Buffer.from("the end")
      }
      return respond(content())
    },
    // Far longer than a reader waits for the processor on a busy machine.
    { unreadTimeoutMs: 1_000, timeoutCheckMs: 10 },
  )
  const { body } = await request(url)
  let octets = 0
  let last = Buffer.alloc(0)
  for await (const piece of body as AsyncIterable<Buffer>) {
    octets += piece.length
    last = Buffer.concat([last, piece]).subarray(-7)
    if (octets === octetsOfLongAnswer) taken.resolve()
  }
  expect(last.toString()).toBe("the end")
})

test("a request body is streamed, and fails when it ends too early", async () => {
  const told: unknown[] = []
  const { url, port } = await listening(async (incoming) => {
    let length = 0
    try {
      for await (const piece of incoming.stream()) length += piece.length
      told.push(length)
    } catch (error) {
      told.push(String(error))
    }
    return respond(incoming.method)
  })
  const { body } = await request(url, { method: "PUT", body: Buffer.concat(pieces) })
  expect([await body.text(), told.splice(0)]).toEqual(["PUT", [Buffer.concat(pieces).length]])
  const socket = connect(port, "127.0.0.1", () => {
    socket.write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", () => socket.destroy())
  })
  await expect.poll(() => told).toEqual([expect.stringContaining("The body ended before it was complete")])
})

test("a request body that arrived with its head is available as a whole, once, and the connection continues", async () => {
  const text = Buffer.from(JSON.stringify({ name: "x".repeat(1_000) }))
  const { url } = await listening(async (incoming) => {
    await Promise.resolve()
    const there = incoming.arrived()
    const rest = await boundedBytes(incoming, 10_000)
    return respond(
      JSON.stringify([Buffer.from(there ?? []).toString(), String(incoming.arrived()), Buffer.from(rest).toString()]),
    )
  })
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  let connected = 0
  dispatcher.on("connect", () => (connected += 1))
  const ask = async (sent: Buffer | string | undefined) => {
    const { body } = await request(url, { method: "POST", dispatcher, ...(sent === undefined ? {} : { body: sent }) })
    return [...((await body.json()) as unknown[]), connected]
  }
  for (let round = 0; round < 3; round += 1) expect(await ask(text)).toEqual([text.toString(), "undefined", "", 1])
  expect(await ask("")).toEqual(["", "", "", 1])
  await dispatcher.close()
})

test("a request body is available as a whole when all its chunks have arrived", async () => {
  const { port } = await listening(async (incoming) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return respond(Buffer.from(incoming.arrived() ?? []).toString())
  })
  const ask = (head: string, body: string, later = "") =>
    converse(
      port,
      `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n${body}`,
      ...(later === "" ? [] : [{ text: later, afterMs: 10 }]),
    )
  expect(await ask("Transfer-Encoding: chunked", "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n")).toMatch(/\r\n0123456789$/)
  expect(await ask("Content-Length: 10", "01234", "56789")).toMatch(/\r\n0123456789$/)
  expect(await ask("Content-Length: 0", "")).toMatch(/\r\n\r\n$/)
})

test.each([
  ["in pieces", "Content-Length: 10", "01234", "56789"],
  ["in chunks", "Transfer-Encoding: chunked", "5\r\n01234\r\n", "5\r\n56789\r\n0\r\n\r\n"],
])(
  "a request body that arrives %s is not available as a whole before its end, and nothing is lost",
  async (_how, head, first, later) => {
    const { port } = await listening(async (incoming) => {
      await Promise.resolve()
      const there = incoming.arrived()
      return respond(`${there === undefined ? "not yet" : "there"}, then ${await textOf(incoming)}`)
    })
    const answer = await converse(port, `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n${first}`, {
      text: later,
      afterMs: 50,
    })
    expect(answer).toMatch(/not yet, then 0123456789/)
  },
)

test("headers of the server are added unless the app sets them", async () => {
  const added = { "x-request-id": "abc", "retry-after": "1" }
  const { url } = await listening(
    async (incoming) => {
      if (incoming.url.endsWith("/none")) return respond(null, { status: 204 })
      return respond("{}", { headers: { "retry-after": "9", link: "<a>", "content-type": "application/json" } })
    },
    { headers: added },
  )
  const asked = async (path: string) => {
    const { statusCode, headers, body } = await request(`${url}${path}`)
    await body.dump()
    const { "x-request-id": id, "retry-after": after, link, "content-type": type, "content-length": length } = headers
    return [statusCode, id, after, link, type, length]
  }
  expect(await asked("/")).toEqual([200, "abc", "9", "<a>", "application/json", "2"])
  expect(await asked("/none")).toEqual([204, "abc", "1", undefined, undefined, undefined])
})

test.each([
  ["two Host headers", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"],
  ["two Host headers in different case", "GET / HTTP/1.1\r\nhost: a\r\nX-A: 1\r\nHOST: b\r\n\r\n"],
  ["two Host headers and an unknown method", "LIST /v1/pki/roles HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  ["HTTP/2.0 in clear", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"],
  ["HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"],
])("[F-S6] %s is answered with 400, and the connection is closed", async (_, text) => {
  const served: string[] = []
  const { port } = await listening(async (request) => {
    served.push(request.url)
    return ok(request)
  })
  const answer = await converse(port, text)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n/i)
  expect(answer).toMatch(/\r\nconnection: close\r\n/i)
  expect(served).toEqual([])
})

test("[F-S6] every response has X-Content-Type-Options and the configured headers", async () => {
  const { url, port } = await listening(ok, { headers: { "strict-transport-security": "max-age=1" } })
  const { headers } = await request(url)
  expect([headers["x-content-type-options"], headers["strict-transport-security"]]).toEqual(["nosniff", "max-age=1"])
  expect(await converse(port, "nonsense\r\n\r\n")).toContain("strict-transport-security: max-age=1\r\n")
})

test("a keep-alive connection is closed with the next response while connections are sent away, and the client can reconnect", async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { server, url } = await listening(async (incoming) => {
    if (incoming.url.endsWith("/slow")) {
      started.resolve()
      await release.promise
    }
    return respond("done")
  })
  const dispatcher = new Agent({ connections: 1 })
  let connected = 0
  dispatcher.on("connect", () => (connected += 1))
  const ask = async (path: string) => {
    const { headers, body } = await request(`${url}${path}`, { dispatcher })
    return [headers.connection, await body.text(), connected]
  }
  expect(await ask("/")).toEqual(["keep-alive", "done", 1])
  const slow = ask("/slow")
  await started.promise
  server.sendAway()
  release.resolve()
  expect(await slow).toEqual(["close", "done", 1])
  expect(await ask("/")).toEqual(["close", "done", 2])
  expect(await ask("/")).toEqual(["close", "done", 3])
  await dispatcher.close()
})

test("close finishes a slow request, closes its connection, and closes idle connections at once", async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { server, url, port } = await listening(async (incoming) => {
    if (new URL(incoming.url).pathname === "/slow") {
      started.resolve()
      await release.promise
    }
    return respond("done")
  })
  // One connection is idle after its answer; the other never sent a byte.
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

test("close ends the connection of a response that started earlier as soon as it is complete", async () => {
  const release = Promise.withResolvers<void>()
  const { server, port } = await listening(async () => {
    async function* content() {
      yield Buffer.from("first ")
      await release.promise
      yield Buffer.from("last")
    }
    return respond(content())
  })
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece))
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  await expect.poll(() => text).toContain("first")
  const closing = server.close(hourMs)
  release.resolve()
  expect(await closing).toEqual({ cut: 0 })
  expect(text).toContain("last")
})

test("close answers a request that arrived on a keep-alive connection but was not read yet", async () => {
  const { server, port } = await listening(ok)
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece))
  const ended = once(socket, "close")
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  await expect.poll(() => text).toContain("keep-alive")
  text = ""
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  expect(await server.close(hourMs)).toEqual({ cut: 0 })
  await ended
  expect(text).toMatch(/^HTTP\/1.1 201 [^]*connection: close/i)
})

test("close sends a finished response completely", async () => {
  const answer = "long ".repeat(4_000_000)
  const { server, port } = await listening(async () => respond(answer))
  const socket = connect(port, "127.0.0.1")
  let length = 0
  let ended = false
  socket.setEncoding("latin1").on("data", (piece: string) => {
    if (length === 0) socket.pause()
    length += piece.length
  })
  socket.once("end", () => (ended = true))
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  await expect.poll(() => length).toBeGreaterThan(0)
  const closing = server.close(hourMs)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(length).toBeLessThan(answer.length)
  socket.resume()
  expect(await closing).toEqual({ cut: 0 })
  await expect.poll(() => ended).toBe(true)
  expect(length).toBeGreaterThan(answer.length)
})

test("close aborts unfinished requests after the grace period and counts them", async () => {
  const started = Promise.withResolvers<void>()
  const { server, url } = await listening(async () => {
    started.resolve()
    return new Promise<HttpResponse>(() => {})
  })
  const stuck = request(url).catch((error: Error) => error)
  await started.promise
  expect(await server.close(50)).toEqual({ cut: 1 })
  expect(await stuck).toBeInstanceOf(Error)
})

test("close can be called twice", async () => {
  const { server } = await listening(ok)
  expect(await Promise.all([server.close(0), server.close(0)])).toEqual([{ cut: 0 }, { cut: 0 }])
})

test.each([
  { why: "text that is not HTTP", bytes: "hello there\r\n\r\n", status: 400 },
  { why: "a request without a Host", bytes: "GET / HTTP/1.1\r\n\r\n", status: 400 },
  { why: "an invalid Host", bytes: "GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", status: 400 },
  { why: "a header line without a colon", bytes: "GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n", status: 400 },
  {
    why: "two Content-Length headers",
    bytes: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    status: 400,
  },
  {
    why: "Content-Length together with chunks",
    bytes: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    status: 400,
  },
  { why: "endless headers", bytes: `GET / HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(20_000)}\r\n\r\n`, status: 431 },
])("$why is answered with $status, and the server continues", async ({ bytes, status }) => {
  const { url, port } = await listening(ok)
  // Without `connection: close`, a client that reads to the end would wait until the server closes the idle connection.
  expect(await converse(port, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nconnection: close\r\n`, "i"))
  expect((await request(url)).statusCode).toBe(201)
})

test("a request that does not arrive in time is aborted", async () => {
  const { port } = await listening(ok, { headersTimeoutMs: 100, requestTimeoutMs: 100, timeoutCheckMs: 50 })
  expect(await converse(port, "GET / HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1.1 408 /)
})

test("with long upload timeouts, bodies of other requests still time out", async () => {
  const { port } = await listening(async (incoming) => respond(await textOf(incoming)), {
    requestTimeoutMs: 100,
    uploads: { matches: (path) => path === "/upload", bodyLimitBytes: 1_000, requestTimeoutMs: 60_000 },
  })
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\n`
  expect(await converse(port, `${head("/other")}he`)).toMatch(/^HTTP\/1.1 408 /)
  expect(await converse(port, `${head("/upload")}he`, { text: "llo", afterMs: 300 })).toMatch(
    /^HTTP\/1.1 200 [^]*hello$/,
  )
})

test("a client that sends Expect: 100-continue gets no 100 for a body above the limit", async () => {
  const { port } = await listening(async () => respond(null, { status: 413 }), { bodyLimitBytes: 10 })
  const head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n"
  expect(await converse(port, `${head}Content-Length: 11\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /)
  expect(await converse(port, `${head}Content-Length: 3\r\n\r\nabc`)).toMatch(/^HTTP\/1.1 100 Continue/)
})

test("a port in use fails with one clear sentence", async () => {
  const { port } = await listening(ok)
  const error: unknown = await createNodeServer(ok)
    .listen({ host: "127.0.0.1", port })
    .catch((refused: unknown) => refused)
  expect(error).toBeInstanceOf(ListenError)
  expect(error).toMatchObject({
    code: "EADDRINUSE",
    message: `127.0.0.1:${port} is already in use; stop the process that listens there, or set another address with --listen.`,
  })
})

test("a unix socket is served", async () => {
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

test("an abandoned socket file is replaced; a socket in use and a plain file are not", async () => {
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

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const old = { certificate: await pem("certificate"), privateKey: await pem("key") }
const renewed = { certificate: await pem("renewed-certificate"), privateKey: await pem("renewed-key") }

async function secured(port: number, ca: string): Promise<{ socket: TLSSocket; name: unknown }> {
  const socket = connectSecurely({ port, host: "127.0.0.1", ca, servername: "localhost" })
  await once(socket, "secureConnect")
  return { socket, name: socket.getPeerCertificate().subject.CN }
}

async function statusOver(socket: TLSSocket): Promise<string> {
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  const [answer] = (await once(socket, "data")) as [Buffer]
  return answer.toString("latin1").slice(0, 12)
}

test("a new certificate is used for new connections, and open ones continue", async () => {
  const tls = new ReloadableIdentity(old)
  const { port } = await listening(ok, { tls })
  const before = await secured(port, old.certificate)
  tls.replace(renewed)
  const after = await secured(port, renewed.certificate)
  expect([before.name, after.name]).toEqual(["chancery test server", "chancery test server renewed"])
  expect([await statusOver(before.socket), await statusOver(after.socket)]).toEqual(["HTTP/1.1 201", "HTTP/1.1 201"])
  await expect(secured(port, old.certificate)).rejects.toThrow("self-signed certificate")
  before.socket.destroy()
  after.socket.destroy()
})

test("a certificate that does not match the key is rejected, and the old one stays", async () => {
  const tls = new ReloadableIdentity(old)
  const { port } = await listening(ok, { tls })
  expect(() => tls.replace({ ...renewed, privateKey: old.privateKey })).toThrow(UnusableIdentity)
  const { socket, name } = await secured(port, old.certificate)
  expect(name).toBe("chancery test server")
  socket.destroy()
})

test.each([
  "ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA",
  "ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA384",
  "AES128-GCM-SHA256:AES256-SHA",
])("[F-S6] TLS 1.2 is rejected with %s, and accepted with an AEAD suite with forward secrecy", async (ciphers) => {
  const { port } = await listening(ok, { tls: new ReloadableIdentity(old) })
  const shaken = (suites: string) =>
    new Promise<string>((resolve) => {
      const socket = connectSecurely(
        { port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion: "TLSv1.2", ciphers: suites },
        () => {
          resolve(socket.getCipher().name)
          socket.destroy()
        },
      )
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""))
    })
  expect(await shaken(ciphers)).toMatch(/HANDSHAKE_FAILURE|ECONNRESET/)
  expect(await shaken("ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256")).toMatch(
    /^ECDHE-(?:RSA|ECDSA)-AES128-GCM-SHA256$/,
  )
})

test("old TLS versions are rejected after a replacement as before", async () => {
  const tls = new ReloadableIdentity(old)
  const { port } = await listening(ok, { tls })
  tls.replace(renewed)
  const outdated = connectSecurely({
    port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    maxVersion: "TLSv1.1",
    minVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  })
  const [error] = (await once(outdated, "error")) as [NodeJS.ErrnoException]
  expect(error.code).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION")
})

test.each([
  { why: "sends nothing", bytes: Buffer.alloc(0) },
  { why: "stops within its first message", bytes: Buffer.from([22, 3, 1, 2, 0, 1]) },
])("a client that $why is disconnected after the handshake timeout", async ({ bytes }) => {
  const { port } = await listening(ok, { tls: new ReloadableIdentity(old), headersTimeoutMs: 100 })
  const client = connect(port, "127.0.0.1")
  client.on("error", () => undefined)
  client.resume().write(bytes)
  await once(client, "close")
  expect(client.bytesRead).toBe(0)
})

test("close does not wait for connections with unfinished handshakes", async () => {
  const { server, port } = await listening(ok, { tls: new ReloadableIdentity(old) })
  const silent = connect(port, "127.0.0.1")
  await once(silent, "connect")
  const idle = await secured(port, old.certificate)
  expect(await statusOver(idle.socket)).toBe("HTTP/1.1 201")
  const ended = Promise.all([once(silent, "close"), once(idle.socket, "close")])
  silent.on("error", () => undefined)
  silent.resume()
  idle.socket.resume()
  expect(await server.close(60_000)).toEqual({ cut: 0 })
  await ended
})

test("an address check serves no client, releases the address, and fails when it is in use", async () => {
  const free = createNodeServer(async () => respond(null))
  const address = await free.listen({ host: "127.0.0.1", port: 0 })
  await expect(assertListenable(address, "--metrics-listen")).rejects.toThrow(ListenError)
  await free.close(0)
  const { port } = address as { readonly port: number }
  const answerTo = async (): Promise<string> => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    let answer = ""
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text))
    // The connection may be refused or reset.
    socket.on("error", () => {})
    return new Promise((resolve) => socket.on("close", () => resolve(answer)))
  }
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const [, ...answers] = await Promise.all([assertListenable(address), answerTo(), answerTo()])
    expect(answers).toEqual(["", ""])
  }
})
