import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createSecureServer, type ServerOptions } from "node:https"
import { type AddressInfo, createServer as createPlainServer, type Server } from "node:net"
import type { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { FetchFailure, OutgoingRequest } from "../../core/fetch.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { parsePermittedAddresses } from "./address-guard.ts"
import { type GuardedFetchOptions, guardedFetch } from "./guarded-fetch.ts"

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const authority = await pem("authority")
const server = { cert: await pem("server"), key: await pem("server-key") }
const client = { certificates: await pem("client"), privateKey: await pem("client-key") }
const selfSigned = { cert: await pem("certificate"), key: await pem("key") }
const strange = await pem("renewed-certificate")

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  opened.push(() => server.close())
  return (server.address() as AddressInfo).port
}

const serving = async (handler: Handler): Promise<string> =>
  `http://127.0.0.1:${await listening(createServer(handler))}`

const servingSecurely = async (options: ServerOptions, handler: Handler): Promise<string> => {
  const secure = createSecureServer(options, handler)
  // Clients abort some handshakes on purpose.
  secure.on("tlsClientError", () => undefined)
  return `https://localhost:${await listening(secure)}`
}

function fetcher(options: Partial<GuardedFetchOptions> & { readonly permit?: string } = {}) {
  const permitted = parsePermittedAddresses(options.permit ?? "loopback")
  if (permitted === undefined) throw new Error("not read")
  const guarded = guardedFetch({ digest: systemRuntime().digest, ...options, permitted })
  opened.push(() => guarded[Symbol.asyncDispose]())
  return (request: Partial<OutgoingRequest> & { readonly url: string }) =>
    guarded.fetch({ method: "GET", timeoutMs: 5_000, maxAnswerBytes: 1_000, ...request })
}

const hello: Handler = (_request, response) => response.end("hello")
const text = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body)
const failing = (promise: Promise<unknown>): Promise<FetchFailure> =>
  promise.then(
    () => {
      throw new Error("answered")
    },
    (error: FetchFailure) => error,
  )

test("a request sends its headers and body, and returns status, headers and body", async () => {
  const url = await serving((request, response) => {
    let body = ""
    request.on("data", (piece) => (body += String(piece)))
    request.on("end", () =>
      response
        .writeHead(418, { "X-Seen": "yes" })
        .end(`${request.method} ${request.url} ${String(request.headers["x-a"])} ${body}`),
    )
  })
  const answer = await fetcher()({ url: `${url}/path?q=1`, method: "POST", headers: { "x-a": "b" }, body: "{}" })
  expect([answer.status, answer.headers["x-seen"], text(answer)]).toEqual([418, "yes", "POST /path?q=1 b {}"])
})

test("connections are reused for the next request", async () => {
  const ports = new Set<number | undefined>()
  const url = await serving((request, response) => {
    ports.add(request.socket.remotePort)
    response.end()
  })
  const fetch = fetcher()
  for (let index = 0; index < 5; index += 1) await fetch({ url })
  expect(ports.size).toBeLessThan(5)
})

describe.each<{ why: string; terms: Pick<OutgoingRequest, "closes"> }>([
  { why: "a reused connection", terms: {} },
  { why: "a connection of its own", terms: { closes: true } },
])("over $why,", ({ terms }) => {
  const fetching: typeof fetcher = (options) => {
    const fetch = fetcher(options)
    return (request) => fetch({ ...terms, ...request })
  }

  test.each([
    { host: "127.0.0.1", permit: "none" },
    { host: "[::1]", permit: "private" },
    { host: "0x7f.1", permit: "none" },
    { host: "2130706433", permit: "none" },
    { host: "[::ffff:127.0.0.1]", permit: "none" },
    { host: "0.0.0.0", permit: "loopback" },
    { host: "169.254.169.254", permit: "loopback,private,link-local" },
  ])("with $permit permitted, http://$host/ is not connected to", async ({ host, permit }) => {
    let connections = 0
    const port = await listening(createPlainServer(() => (connections += 1)))
    const failure = await failing(fetching({ permit })({ url: `http://${host}:${port}/` }))
    expect(failure).toMatchObject({
      kind: "refused-address",
      message: expect.stringContaining("may not connect") as string,
    })
    expect(connections).toBe(0)
  })

  test("a name is resolved once, and the connection uses the checked address", async () => {
    const url = await serving((request, response) => response.end(request.headers.host))
    const { port } = new URL(url)
    let lookups = 0
    const fetch = fetching({
      async resolve() {
        lookups += 1
        // An attacker's DNS server: a permitted address at first, a forbidden one afterwards (DNS rebinding).
        return [{ address: lookups === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }]
      },
    })
    expect(text(await fetch({ url: `http://policy.example:${port}/` }))).toBe(`policy.example:${port}`)
    expect(lookups).toBe(1)
  })

  test("only the permitted addresses of a name are tried", async () => {
    const url = await serving(hello)
    const resolve = async () => [
      { address: "169.254.169.254", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ]
    expect(text(await fetching({ resolve })({ url: `http://policy.example:${new URL(url).port}/` }))).toBe("hello")
    const failure = await failing(fetching({ resolve, permit: "none" })({ url: `http://policy.example/` }))
    expect(failure).toMatchObject({
      kind: "refused-address",
      message: "policy.example resolves to 169.254.169.254, 127.0.0.1, to which this server may not connect.",
    })
  })

  test("a redirect is returned unless redirects are followed", async () => {
    const target = await serving(hello)
    const url = await serving((_request, response) =>
      response.writeHead(302, { location: `${target}/there` }).end("here"),
    )
    const kept = await fetching()({ url })
    expect([kept.status, kept.headers["location"], text(kept)]).toEqual([302, `${target}/there`, "here"])
    expect(text(await fetching()({ url, maxRedirects: 1 }))).toBe("hello")
    const posted = await fetching()({ url, method: "POST", maxRedirects: 1 })
    expect(posted.status).toBe(302)
  })

  test.each([
    { why: "to a forbidden address", location: "http://169.254.169.254/latest/", kind: "refused-address" },
    { why: "to a name that resolves to one", location: "http://inside.example/", kind: "refused-address" },
    { why: "to a URL that is not HTTP", location: "file:///etc/passwd", kind: "redirects" },
    { why: "in a circle", location: "/", kind: "redirects" },
  ])("a redirect $why fails with $kind", async ({ location, kind }) => {
    let requests = 0
    const url = await serving((_request, response) => {
      requests += 1
      response.writeHead(301, { location }).end()
    })
    const resolve = async () => [{ address: "10.0.0.1", family: 4 }]
    expect(await failing(fetching({ resolve })({ url, maxRedirects: 3 }))).toMatchObject({ kind })
    expect(requests).toBe(location === "/" ? 4 : 1)
  })

  test("a response over the limit is cut off, with and without a declared length", async () => {
    for (const chunked of [true, false]) {
      const url = await serving((_request, response) => {
        const body = "x".repeat(1_001)
        if (chunked) response.write(body.slice(0, 500))
        response.end(chunked ? body.slice(500) : body)
      })
      expect(await failing(fetching()({ url }))).toMatchObject({
        kind: "too-large",
        message: `${url} sent more than 1000 bytes.`,
      })
    }
  })

  test.each([
    { why: "never begins", handler: () => undefined },
    { why: "never ends", handler: (_request, response) => response.write("a") },
    {
      why: "arrives byte by byte",
      handler(_request, response) {
        const timer = setInterval(() => response.write("a"), 20)
        response.on("close", () => clearInterval(timer))
      },
    },
  ] satisfies { why: string; handler: Handler }[])("a response that $why fails at the timeout", async ({ handler }) => {
    const web = createServer(handler)
    const url = `http://127.0.0.1:${await listening(web)}`
    const began = performance.now()
    expect(await failing(fetching()({ url, timeoutMs: 200 }))).toMatchObject({
      kind: "timeout",
      message: `${url} did not answer within 200 ms.`,
    })
    expect(performance.now() - began).toBeLessThan(2_000)
    web.closeAllConnections()
  })

  test("a name without address, a closed port and a protocol error have failure kinds of their own", async () => {
    const closedServer = createPlainServer()
    const closed = await listening(closedServer)
    await new Promise((resolve) => closedServer.close(resolve))
    const noise = await listening(createPlainServer((socket) => socket.end("hello\r\n\r\n")))
    const unresolved = async () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }))
    expect(await failing(fetching({ resolve: unresolved })({ url: "http://nowhere.example/" }))).toMatchObject({
      kind: "unresolved",
      message: "http://nowhere.example has no address (ENOTFOUND).",
    })
    expect(await failing(fetching()({ url: `http://127.0.0.1:${closed}/` }))).toMatchObject({
      kind: "unreachable",
      message: `http://127.0.0.1:${closed} cannot be reached (ECONNREFUSED).`,
    })
    expect(await failing(fetching()({ url: `http://127.0.0.1:${noise}/` }))).toMatchObject({ kind: "broken" })
  })

  test("a response without length ends with the connection, and one that ends early is broken", async () => {
    const says = async (text: string) =>
      `http://127.0.0.1:${await listening(createPlainServer((socket) => socket.end(text)))}`
    expect(text(await fetching()({ url: await says("HTTP/1.1 200 OK\r\n\r\nhello") }))).toBe("hello")
    expect(
      await failing(fetching()({ url: await says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello") })),
    ).toMatchObject({
      kind: "broken",
    })
    expect(await failing(fetching()({ url: await says("") }))).toMatchObject({ kind: "broken" })
  })

  test("a response that upgrades to another protocol is rejected", async () => {
    const server = createPlainServer((socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
    )
    const url = `http://127.0.0.1:${await listening(server)}`
    expect(await failing(fetching()({ url, timeoutMs: 500 }))).toMatchObject({ kind: "broken" })
  })

  test("the first value of a repeated header is used", async () => {
    const url = await serving((_request, response) => response.writeHead(200, ["X-A", "1", "X-A", "2"]).end())
    expect((await fetching()({ url })).headers["x-a"]).toBe("1")
  })

  test("a pending request is aborted when the fetch is disposed", async () => {
    const web = createServer(() => undefined)
    const url = `http://127.0.0.1:${await listening(web)}`
    const guarded = guardedFetch({
      digest: systemRuntime().digest,
      permitted: parsePermittedAddresses("loopback") ?? { kinds: [], ranges: [] },
    })
    const requestSeen = once(web, "request")
    const failure = failing(guarded.fetch({ method: "GET", url, timeoutMs: 5_000, maxAnswerBytes: 1, ...terms }))
    await requestSeen
    await guarded[Symbol.asyncDispose]()
    expect(await failure).toMatchObject({ kind: "broken" })
  })
})

test("only the system's CAs are trusted by default", async () => {
  const url = await servingSecurely(server, hello)
  expect(await failing(fetcher()({ url }))).toMatchObject({
    kind: "untrusted",
    message: `${url} is not trusted, or does not trust this server (UNABLE_TO_VERIFY_LEAF_SIGNATURE).`,
  })
})

test.each<{ why: string; shown: ServerOptions; trust: OutgoingRequest["trust"]; host?: string; trusted: boolean }>([
  {
    why: "of a trusted CA",
    shown: server,
    trust: { kind: "authorities", certificates: authority },
    trusted: true,
  },
  {
    why: "that is itself a trusted CA",
    shown: server,
    trust: { kind: "authorities", certificates: server.cert },
    trusted: true,
  },
  { why: "of another CA", shown: server, trust: { kind: "authorities", certificates: strange }, trusted: false },
  {
    why: "of a trusted CA for another name",
    shown: server,
    trust: { kind: "authorities", certificates: authority },
    host: "policy.example",
    trusted: false,
  },
  {
    why: "that is pinned",
    shown: server,
    trust: { kind: "pinned", certificates: strange + server.cert },
    trusted: true,
  },
  {
    why: "that is pinned and self-signed",
    shown: selfSigned,
    trust: { kind: "pinned", certificates: selfSigned.cert },
    trusted: true,
  },
  {
    why: "that is pinned, for another name",
    shown: server,
    trust: { kind: "pinned", certificates: server.cert },
    host: "policy.example",
    trusted: true,
  },
  {
    why: "other than the pinned one",
    shown: selfSigned,
    trust: { kind: "pinned", certificates: strange },
    trusted: false,
  },
  {
    why: "issued by the pinned one",
    shown: server,
    trust: { kind: "pinned", certificates: authority },
    trusted: false,
  },
])("a certificate $why is trusted: $trusted", async ({ shown, trust, host, trusted }) => {
  let requests = 0
  const url = await servingSecurely(shown, (_request, response) => {
    requests += 1
    response.end("hello")
  })
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }]
  const fetch = fetcher({ resolve })
  const answer = fetch({ url: url.replace("localhost", host ?? "localhost"), ...(trust && { trust }) })
  const outcome = await answer.then(text, (failure: FetchFailure) => failure.kind)
  expect(outcome).toBe(trusted ? "hello" : "untrusted")
  expect(requests).toBe(trusted ? 1 : 0)
})

test("a server that requires a client certificate accepts ours and rejects clients without one", async () => {
  const url = await servingSecurely(
    { ...server, ca: authority, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      response.end(subject.CN)
    },
  )
  const trust = { kind: "authorities", certificates: authority } as const
  const fetch = fetcher()
  expect(await failing(fetch({ url, trust }))).toMatchObject({
    kind: expect.stringMatching(/untrusted|broken/) as string,
  })
  expect(text(await fetch({ url, trust, identity: client }))).toBe("chancery test client")
  // A connection made with a client certificate is not reused for requests without it.
  expect(await failing(fetch({ url, trust }))).toMatchObject({
    kind: expect.stringMatching(/untrusted|broken/) as string,
  })
})

test("a failure does not contain the key", async () => {
  const failure = await failing(fetcher()({ url: "https://127.0.0.1:1/", identity: client }))
  expect(JSON.stringify([failure.message, failure.stack, String(failure.cause)])).not.toContain("PRIVATE KEY")
})
