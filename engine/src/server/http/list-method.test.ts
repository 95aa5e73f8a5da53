import { once } from "node:events"
import { readFileSync } from "node:fs"
import { connect as connectPlain, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { connect as connectTls } from "node:tls"
import { Client } from "undici"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { boundedBytes } from "./body.ts"
import type { Serve } from "./exchange.ts"
import { respond } from "./message.ts"
import { createNodeServer, type NodeServer, type NodeServerOptions } from "./node-server.ts"
import { ReloadableIdentity } from "./secure-context.ts"

const opened: NodeServer[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close(0)))
})

/** Answers with the request that it received, for example `LIST /v1/pki/roles "body"`. */
const echo: Serve = async (request) =>
  respond(
    `${request.method} ${new URL(request.url).pathname} ${JSON.stringify(Buffer.from(await boundedBytes(request, 2 ** 20)).toString())}`,
  )

const tlsFile = (name: string) => readFileSync(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url), "utf8")
const certificate = tlsFile("certificate")
const tls = new ReloadableIdentity({ certificate, privateKey: tlsFile("key") })

async function listening(options: NodeServerOptions = {}, serve = echo): Promise<number> {
  const server = createNodeServer(serve, options)
  opened.push(server)
  const address = await server.listen({ host: "127.0.0.1", port: 0 })
  if (!("port" in address)) throw new Error("not a port")
  return address.port
}

/** Wraps a connection whose answers are read one at a time. */
function talkOver(socket: Socket) {
  let received = ""
  let ended = false
  socket.setEncoding("utf8")
  socket.on("data", (chunk: string) => (received += chunk))
  socket.on("close", () => (ended = true))
  socket.on("error", () => {})
  return {
    socket,
    /** Returns the next answer's status and body; the body is "" for an answer without one. */
    async answer(): Promise<string> {
      for (let waits = 0; waits < 4_000; waits += 1) {
        const [head, ...rest] = received.split("\r\n\r\n")
        const length = Number(/content-length: (\d+)/i.exec(head ?? "")?.[1] ?? Number.NaN)
        const body = rest.join("\r\n\r\n")
        if (rest.length > 0 && body.length >= length) {
          received = body.slice(length)
          return `${head?.slice(9, 12)} ${body.slice(0, length)}`
        }
        if (ended) return `ended with ${JSON.stringify(received)}`
        await sleep(5)
      }
      throw new Error(`no answer in ${JSON.stringify(received)}`)
    },
  }
}

const request = (line: string, body = "") =>
  `${line} HTTP/1.1\r\nHost: chancery\r\n${body === "" ? "" : `Content-Length: ${body.length}\r\n`}\r\n${body}`
const listRoles = request("LIST /v1/pki/roles")
const listed = '200 LIST /v1/pki/roles ""'

const transports = {
  "a plain connection": { options: {}, connect: (port: number): Socket => connectPlain(port, "127.0.0.1") },
  "a TLS connection": {
    options: { tls },
    connect: (port: number): Socket =>
      connectTls({ port, host: "127.0.0.1", ca: certificate, checkServerIdentity: () => undefined }),
  },
}

describe.each(Object.entries(transports))("over %s", (_name, { options, connect }) => {
  test("[P-4-p1] LIST is accepted like other methods", async () => {
    const { socket, answer } = talkOver(connect(await listening(options)))
    socket.write(listRoles)
    expect(await answer()).toBe(listed)
    socket.destroy()
  })

  test("a keep-alive connection accepts LIST and other methods in turn", async () => {
    const warnings: string[] = []
    const warn = (warning: Error) => void warnings.push(warning.message)
    process.on("warning", warn)
    const { socket, answer } = talkOver(connect(await listening(options)))
    for (let round = 0; round < 30; round += 1) {
      const turns = [
        [listRoles, listed],
        [request("POST /v1/pki/issue/web", "LIST /x HTTP/1.1"), '200 POST /v1/pki/issue/web "LIST /x HTTP/1.1"'],
        [request("LIST /v1/pki/certs", '{"limit":2}'), '200 LIST /v1/pki/certs "{\\"limit\\":2}"'],
        [request("GET /LIST"), '200 GET /LIST ""'],
      ] as const
      for (const [text, expected] of turns) {
        socket.write(text)
        expect(await answer()).toBe(expected)
      }
    }
    process.removeListener("warning", warn)
    expect(warnings).toEqual([])
    socket.destroy()
  })

  test.each(Array.from({ length: 6 }, (_, index) => index + 1))(
    "LIST is read as one method when the network splits it after %i bytes",
    async (cut) => {
      const { socket, answer } = talkOver(connect(await listening(options)))
      socket.setNoDelay(true)
      for (let round = 0; round < 2; round += 1) {
        socket.write(listRoles.slice(0, cut))
        await sleep(30)
        socket.write(listRoles.slice(cut))
        expect(await answer()).toBe(listed)
      }
      socket.destroy()
    },
  )

  test("LIST is read as one request when it arrives byte by byte", async () => {
    const { socket, answer } = talkOver(connect(await listening(options)))
    socket.setNoDelay(true)
    for (const byte of listRoles) {
      socket.write(byte)
      await sleep(3)
    }
    expect(await answer()).toBe(listed)
    socket.destroy()
  })

  test("the replaced parser cannot close the connection later", async () => {
    const limits = { headersTimeoutMs: 450, requestTimeoutMs: 1_200, timeoutCheckMs: 20 }
    const serve: Serve = async (incoming) => {
      if (incoming.url.endsWith("/slow")) await sleep(900)
      return echo(incoming)
    }
    const { socket, answer } = talkOver(connect(await listening({ ...options, ...limits }, serve)))
    socket.write(request("LIST /slow"))
    expect(await answer()).toBe('200 LIST /slow ""')
    await sleep(900)
    socket.write(request("GET /again"))
    expect(await answer()).toBe('200 GET /again ""')
    socket.destroy()
  })

  test("an incomplete LIST request times out like any other request", async () => {
    const limits = { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, timeoutCheckMs: 20 }
    const { socket, answer } = talkOver(connect(await listening({ ...options, ...limits })))
    socket.write("LIST /v1/pki/roles HTTP/1.1\r\n")
    expect(await answer()).toMatch(/^408 /)
  })

  test.each(["LISTEN / HTTP/1.1", "LIS / HTTP/1.1", "LIXT / HTTP/1.1", "list / HTTP/1.1", "LI"])(
    "%s is not LIST",
    async (line) => {
      const { socket, answer } = talkOver(connect(await listening(options)))
      socket.write(`${line}\r\nHost: chancery\r\n\r\n`)
      expect(await answer()).toMatch(/^400 /)
    },
  )

  describe("[F-S5] pipelined requests", () => {
    /** Serves requests that stay pending until the test releases each of them, in any order. */
    async function answeredByHand(limits: NodeServerOptions = {}) {
      const releases = new Map<string, () => void>()
      const serve: Serve = async (incoming) => {
        const released = Promise.withResolvers<void>()
        releases.set(new URL(incoming.url).pathname, released.resolve)
        await released.promise
        return echo(incoming)
      }
      const talk = talkOver(connect(await listening({ ...options, ...limits }, serve)))
      onTestFinished(() => void talk.socket.destroy())
      const release = async (path: string) => {
        await expect.poll(() => releases.has(path)).toBe(true)
        releases.get(path)?.()
      }
      return { ...talk, releases, release }
    }

    test("are answered in order, with LIST among them", async () => {
      const { socket, answer, releases, release } = await answeredByHand()
      const all = [
        request("POST /first", "body"),
        listRoles,
        request("GET /third"),
        request("LIST /fourth"),
        request("LIST /fifth"),
      ]
      socket.write(all.join(""))
      await release("/first")
      expect(await answer()).toBe('200 POST /first "body"')
      await release("/v1/pki/roles")
      expect(await answer()).toBe(listed)
      expect([...releases.keys()]).not.toContain("/fifth")
      await release("/third")
      expect(await answer()).toBe('200 GET /third ""')
      await release("/fourth")
      expect(await answer()).toBe('200 LIST /fourth ""')
      await release("/fifth")
      expect(await answer()).toBe('200 LIST /fifth ""')
    })

    test("are answered when LIST is third", async () => {
      const { socket, answer, release } = await answeredByHand()
      socket.write(`${request("GET /one")}${request("GET /two")}${listRoles}`)
      await release("/two")
      await release("/one")
      expect([await answer(), await answer()]).toEqual(['200 GET /one ""', '200 GET /two ""'])
      await release("/v1/pki/roles")
      expect(await answer()).toBe(listed)
    })

    test("are answered when the rest of a LIST arrives during the first response", async () => {
      const { socket, answer, release } = await answeredByHand()
      const body = "x".repeat(200_000)
      socket.write(`${request("POST /first", "body")}LI`)
      await release("/first").catch(() => {})
      socket.write(`ST /v1/pki/roles HTTP/1.1\r\nHost: chancery\r\n\r\n${request("POST /third", body)}`)
      await answer()
      await release("/v1/pki/roles")
      expect(await answer()).toBe(listed)
      await release("/third")
      expect(await answer()).toBe(`200 POST /third "${body}"`)
    })

    test("are answered when the first response takes longer than the request timeout", async () => {
      const limits = { headersTimeoutMs: 100, requestTimeoutMs: 200, timeoutCheckMs: 10 }
      const { socket, answer, release } = await answeredByHand(limits)
      socket.write(`${request("GET /first")}${listRoles}`)
      await sleep(500)
      await release("/first")
      expect(await answer()).toBe('200 GET /first ""')
      await release("/v1/pki/roles")
      expect(await answer()).toBe(listed)
    })

    test("are answered before an unreadable one that follows", async () => {
      const { socket, answer, release } = await answeredByHand()
      socket.write(`${request("POST /first", "body")}${request("GET /second")}nonsense\r\n\r\n`)
      await release("/second")
      await release("/first")
      expect([await answer(), await answer()]).toEqual(['200 POST /first "body"', '200 GET /second ""'])
      expect(await answer()).toMatch(/^400 /)
      expect(await answer()).toBe('ended with ""')
    })

    test("are dropped when the first response closes the connection", async () => {
      const { socket, answer, release } = await answeredByHand()
      socket.write(`GET /first HTTP/1.1\r\nHost: chancery\r\nConnection: close\r\n\r\n${listRoles}`)
      await release("/first")
      expect(await answer()).toBe('200 GET /first ""')
      expect(await answer()).toBe('ended with ""')
    })
  })

  test("many connections send LIST concurrently", async () => {
    const port = await listening(options)
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const { socket, answer } = talkOver(connect(port))
        socket.write(listRoles)
        const text = await answer()
        socket.destroy()
        return text
      }),
    )
    expect(new Set(answers)).toEqual(new Set([listed]))
  })
})

test("a connection that the client closes within the method is dropped", async () => {
  const { socket } = talkOver(connectPlain(await listening(), "127.0.0.1"))
  socket.write("LIS")
  await sleep(30)
  socket.end()
  await expect(once(socket, "close")).resolves.toBeDefined()
})

test("the server keeps serving LIST after another client closed its connection", async () => {
  const client = new Client(`http://127.0.0.1:${await listening()}`)
  onTestFinished(() => client.close())
  const ask = async (method: string, path: string) => (await client.request({ method: method, path })).body.text()
  expect(await ask("LIST", "/v1/pki/roles")).toBe('LIST /v1/pki/roles ""')
  expect(await ask("GET", "/v1/pki/roles")).toBe('GET /v1/pki/roles ""')
  expect(await ask("LIST", "/v1/pki/issuers")).toBe('LIST /v1/pki/issuers ""')
})
