import { readFile } from "node:fs/promises"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { Readable } from "node:stream"
import { Agent, request } from "undici"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import { busy, storeAway } from "../core/errors.ts"
import { silentLog, systemRuntime } from "../core/runtime.ts"
import { parseTrustedProxies } from "./http/client-address.ts"
import type { App } from "./http/exchange.ts"
import { openEmbedded } from "../embedded.ts"
import { respond } from "./http/message.ts"
import {
  ReloadableIdentity,
  ListenError,
  type RunningServer,
  serveApp,
  startSealedServer,
  startServer,
} from "./server.ts"
import { defaultKind } from "../../testing/temporary-database.ts"
import { createMetrics } from "../telemetry/metrics.ts"

const sealKeys = { text: Buffer.alloc(32).toString("base64") }

const opened: RunningServer[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()))
})

async function serving(handle: App["handle"], options: Partial<Parameters<typeof serveApp>[1]> = {}) {
  const server = await serveApp(
    { handle },
    { runtime: systemRuntime(), ready: async () => {}, shutdownGraceMs: 100, ...options },
  )
  opened.push(server)
  return server
}

test("a server on port 0 returns its URL, and answers with a request id", async () => {
  const { url } = await serving(() => respond("{}"))
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const { statusCode, headers } = await request(url, { headers: { "x-request-id": "abc" } })
  expect([statusCode, headers["x-request-id"]]).toEqual([200, "abc"])
})

test("/readyz fails and responses close their connections before the server stops accepting", async () => {
  const server = await serving(() => respond("{}"), { shutdownDelayMs: 1_500 })
  const status = async (path: string) => (await request(`${server.url}${path}`)).statusCode
  expect(await status("/readyz")).toBe(200)
  const closing = server.close()
  expect([await status("/readyz"), await status("/healthz")]).toEqual([503, 200])
  const { statusCode, headers } = await request(`${server.url}/anything`)
  expect([statusCode, headers.connection]).toEqual([200, "close"])
  expect(await closing).toEqual({ cut: 0 })
  await expect(request(server.url, { dispatcher: new Agent() })).rejects.toThrow("ECONNREFUSED")
})

test("/readyz fails when the database does not answer in time", async () => {
  const { url } = await serving(() => respond("{}"), { ready: () => new Promise(() => {}) })
  const { statusCode, body } = await request(`${url}/readyz`)
  expect([statusCode, await body.text()]).toEqual([503, "the database does not respond\n"])
})

test("the rate limit applies over the network, and every response has its headers", async () => {
  const { url } = await serving(() => respond("{}"), { rateLimit: 2 })
  // Enough requests to exceed the limit even on a slow machine.
  const answers = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { statusCode, headers } = await request(url, { headers: { authorization: "Bearer a" } })
      return [statusCode, headers["x-ratelimit-limit"], typeof headers["x-ratelimit-reset"]]
    }),
  )
  expect(answers).toContainEqual([200, "2", "string"])
  expect(answers).toContainEqual([429, "2", "string"])
  expect(answers.every(([, limit, reset]) => limit === "2" && reset === "string")).toBe(true)
})

test("a client that disconnects during a request leaves the server running", async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { url } = await serving(async (incoming) => {
    if (incoming.url.endsWith("/slow")) {
      started.resolve()
      await release.promise
    }
    return respond("{}")
  })
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
  await started.promise
  socket.destroy()
  release.resolve()
  expect((await request(url)).statusCode).toBe(200)
})

test.each([
  { why: "declared", chunked: false },
  { why: "chunked, without a declared length", chunked: true },
])("a body over the limit is answered 413 and the server keeps running: $why", async ({ chunked }) => {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, { sealKeys })
  const { caller } = engine
  const { secret } = await engine.tokens.createForUser(caller.kind === "user" ? caller.userId : "", {})
  const server = await startServer({ engine, bodyLimitBytes: 1024, shutdownGraceMs: 100 })
  opened.push(server)
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/vnd.api+json" }
  const long = "x".repeat(4096)
  const { statusCode, body } = await request(`${server.url}/api/v2/organizations`, {
    method: "POST",
    headers,
    body: chunked ? Readable.from([long.slice(0, 1000), long.slice(1000)]) : long,
  })
  expect(statusCode).toBe(413)
  expect(await body.json()).toEqual({
    errors: [{ status: "413", title: "payload too large", detail: "The body is larger than 1024 bytes." }],
  })
  expect((await request(`${server.url}/api/v2/organizations`, { headers })).statusCode).toBe(200)
})

test("/metrics reports when CAs expire, and no CAs when the database is sealed", async () => {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, { metrics: createMetrics(), sealKeys })
  await engine.mounts.create({ path: "pki" })
  await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root" })
  const server = await startServer({ engine })
  const sealed = await startSealedServer({})
  opened.push(server, sealed)
  const metricsOf = async ({ url }: typeof server) => (await request(`${url}/metrics`)).body.text()
  expect(await metricsOf(server)).toMatch(
    /^chancery_pki_issuer_expiration_timestamp_seconds\{mount="pki",issuer="iss-\w+",issuer_name="root",signs="true"\} \d{10}$/m,
  )
  expect(await metricsOf(sealed)).not.toContain("chancery_pki")
})

test("/metrics counts database statements by kind and outcome", async () => {
  await using place = await defaultKind.place()
  // Without jobs and the event feed, which write at times of their own.
  await using engine = await openEmbedded(place.url, {
    metrics: createMetrics(),
    sealKeys,
    jobs: false,
    events: { on: false },
  })
  const server = await startServer({ engine })
  opened.push(server)
  const metrics = async () => {
    const text = await (await request(`${server.url}/metrics`)).body.text()
    return (line: string) =>
      Number(
        text
          .split("\n")
          .find((one) => one.startsWith(`${line} `))
          ?.slice(line.length + 1),
      )
  }
  const before = await metrics()
  await engine.organizations.create({ name: "acme", email: "a@example.com" })
  await engine.organizations.create({ name: "acme", email: "a@example.com" }).catch(() => {})
  await engine.organizations.get("acme")
  const after = await metrics()
  const grown = (line: string) => after(line) - before(line)

  expect(grown('chancery_storage_transactions_total{kind="write",outcome="done"}')).toBe(1)
  expect(grown('chancery_storage_transactions_total{kind="write",outcome="refused"}')).toBe(1)
  expect(grown('chancery_storage_transactions_total{kind="read",outcome="done"}')).toBeGreaterThanOrEqual(1)
  // SQLite groups concurrent writes into one commit. Elsewhere the refused transaction has nothing to commit.
  expect(grown("chancery_storage_commits_total")).toBeGreaterThanOrEqual(1)
  expect(grown('chancery_storage_wait_seconds_total{kind="write"}')).toBeGreaterThan(0)
  expect(after('chancery_storage_waiting{kind="write"}')).toBe(0)
  expect(after("chancery_storage_retries_total")).toBe(0)
})

test.each([
  { name: "with a declared length", header: "Content-Length: 100", body: "{" },
  { name: "in chunks", header: "Transfer-Encoding: chunked", body: "1\r\n{\r\n" },
])("a client that disconnects during its body, sent $name, is logged as its own fault", async ({ header, body }) => {
  const failures: string[] = []
  const runtime = systemRuntime({ ...silentLog, error: (event) => void failures.push(event) })
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, { sealKeys, runtime })
  await engine.organizations.create({ name: "acme", email: "a@example.com" })
  if (engine.caller.kind !== "user") throw new Error("not a user")
  const { secret } = await engine.tokens.createForUser(engine.caller.userId, { description: "test" })
  const server = await startServer({ engine, runtime })
  opened.push(server)
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1")
  socket.write(
    `POST /api/v2/organizations/acme/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n` +
      `Content-Type: application/vnd.api+json\r\n${header}\r\n\r\n${body}`,
    () => setTimeout(() => socket.destroy(), 100),
  )
  await expect
    .poll(async () => (await request(`${server.url}/metrics`)).body.text())
    .toMatch(/chancery_http_request_duration_seconds_count\{method="POST",route="[^"]*\/workspaces",status="400"\} 1/)
  expect(failures).toEqual([])
})

test.each([
  {
    name: "the database was unavailable",
    error: () => storeAway("The database cannot be reached.", new Error("EPIPE")),
    told: [],
  },
  { name: "of a serialization conflict", error: () => busy("Not beside others."), told: ["warn answer cut short"] },
  { name: "of an internal error", error: () => new Error("oh"), told: ["error answer cut short"] },
])("a response that fails half-way because $name is cut off, and nothing is printed besides the log", async (row) => {
  const output: string[] = []
  const tell = (level: string) => (event: string) => void output.push(`${level} ${event}`)
  const runtime = systemRuntime({ ...silentLog, error: tell("error"), warn: tell("warn") })
  await using engine = await openEmbedded("sqlite::memory:", { runtime })
  if (engine.caller.kind !== "user") throw new Error("not a user")
  const { secret } = await engine.tokens.createForUser(engine.caller.userId, { description: "test" })
  const failing = async function* () {
    yield []
    throw row.error()
  }
  const run = async () => ({ id: "bulk-1", totalCount: 2, results: failing() })
  Object.defineProperty(engine, "as", { value: () => ({ bulkActions: { run } }) })
  const server = await startServer({ engine, runtime })
  opened.push(server)
  const printed = vi.spyOn(console, "error").mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())

  const { statusCode, body } = await request(`${server.url}/api/v2/organizations/acme/workspaces/actions/bulk`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/vnd.api+json" },
    body: JSON.stringify({ data: { type: "bulk-actions", attributes: { action: "lock" } } }),
  })
  let received = ""
  const reading = async () => {
    for await (const piece of body.setEncoding("utf8")) received += piece as string
  }
  await expect(reading()).rejects.toThrow(/closed|terminated|aborted/)
  expect([statusCode, received.includes("Error")]).toEqual([200, false])
  expect(output).toEqual(row.told)
  expect(printed).not.toHaveBeenCalled()
})

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const identity = { certificate: await pem("certificate"), privateKey: await pem("key") }
const free = { host: "127.0.0.1", port: 0 }

test("HTTPS and HTTP share the app, use links of their own scheme, and close together", async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const server = await serving(
    async (incoming) => {
      if (incoming.url.endsWith("/slow")) {
        started.resolve()
        await release.promise
      }
      return respond(incoming.url)
    },
    { tls: { source: new ReloadableIdentity(identity), listen: free }, shutdownGraceMs: 10_000 },
  )
  const { url, httpsUrl } = server
  const dispatcher = new Agent({ connect: { ca: identity.certificate } })
  const text = async (at: string) => (await request(at, { dispatcher })).body.text()
  expect(await text(`${url}/a`)).toBe(`${url}/a`)
  expect(await text(`${httpsUrl}/a`)).toBe(`${httpsUrl}/a`)
  expect([url, httpsUrl]).toEqual([
    expect.stringMatching(/^http:\/\/127/) as string,
    expect.stringMatching(/^https:\/\/127/) as string,
  ])

  const slow = text(`${httpsUrl}/slow`)
  await started.promise
  const closing = server.close()
  await expect
    .poll(() => request(url, { dispatcher: new Agent() }).catch((error: Error) => error.message))
    .toContain("ECONNREFUSED")
  release.resolve()
  expect(await slow).toBe(`${httpsUrl}/slow`)
  expect(await closing).toEqual({ cut: 0 })
  await dispatcher.close()
})

test("[F-S6] the HSTS header is sent over HTTPS only", async () => {
  const server = await serving(() => respond("{}"), {
    tls: { source: new ReloadableIdentity(identity), listen: free },
    hstsMs: 86_400_000,
  })
  const dispatcher = new Agent({ connect: { ca: identity.certificate } })
  onTestFinished(() => dispatcher.close())
  const header = async (url: string) => (await request(url, { dispatcher })).headers["strict-transport-security"]
  expect(await header(`${server.httpsUrl}/a`)).toBe("max-age=86400")
  expect(await header(`${server.url}/a`)).toBeUndefined()
})

test("[F-S6] metrics with a listener of their own are not served elsewhere, and the listener serves nothing else", async () => {
  const app = () => respond("the app", { status: 404 })
  const server = await serving(app, { metricsListen: free })
  const read = async (url: string, method: "GET" | "POST" = "GET") => {
    const { statusCode, body } = await request(url, { method })
    return [statusCode, await body.text()]
  }
  expect(await read(`${server.metricsUrl}/metrics`)).toEqual([200, expect.stringContaining("chancery_http_")])
  expect((await read(`${server.metricsUrl}/metrics`, "POST"))[0]).toBe(405)
  expect((await read(`${server.metricsUrl}/healthz`))[0]).toBe(404)
  expect(await read(`${server.url}/metrics`)).toEqual([404, "the app"])
  expect((await read(`${server.url}/healthz`))[0]).toBe(200)
  const together = await serving(app)
  expect([(await read(`${together.url}/metrics`))[0], together.metricsUrl]).toEqual([200, undefined])
})

test("[F-S6] an address over its connection limit is logged once a minute, and a trusted proxy has no limit", async () => {
  const warn = vi.fn<(event: string, facts?: object) => void>()
  const runtime = { ...systemRuntime(), log: { ...silentLog, warn } }
  const options = { runtime, connectionsPerAddress: 1 }
  const idle = async (url: string) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    onTestFinished(() => void socket.destroy())
    const outcome = Promise.withResolvers<string>()
    socket.once("data", () => outcome.resolve("answered"))
    socket.once("error", () => outcome.resolve("refused"))
    socket.once("close", () => outcome.resolve("refused"))
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    return outcome.promise
  }
  const { url } = await serving(() => respond("{}"), options)
  expect([await idle(url), await idle(url), await idle(url)]).toEqual(["answered", "refused", "refused"])
  expect(warn.mock.calls).toEqual([["connections refused", { remoteAddress: "127.0.0.1", maxConnections: 1 }]])
  const trusted = parseTrustedProxies("loopback")
  const proxies = trusted && ({ trusted, header: "forwarded" } as const)
  const behind = await serving(() => respond("{}"), { ...options, proxies })
  expect([await idle(behind.url), await idle(behind.url)]).toEqual(["answered", "answered"])
})

test("HTTP is closed when HTTPS cannot listen, and the error names the flag", async () => {
  const { url } = await serving(() => respond("{}"))
  const port = Number(new URL(url).port)
  const tls = { source: new ReloadableIdentity(identity), listen: { host: "127.0.0.1", port } }
  const path = `${process.env["TMPDIR"] ?? "/tmp"}/chancery-${process.pid}-${port}.sock`
  const error: unknown = await serving(() => respond("{}"), { listen: { path }, tls }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ListenError)
  expect(error).toMatchObject({
    message: `127.0.0.1:${port} is already in use; stop the process that listens there, or set another address with --tls-listen.`,
  })
  const closed = new Promise((resolve, reject) => connect(path, () => resolve("open")).on("error", reject))
  await expect(closed).rejects.toThrow("ENOENT")
})

test("[P-4-p1] the certificate API is served over a socket, including LIST and HEAD", async () => {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, { sealKeys })
  await engine.mounts.create({ path: "pki" })
  await engine.pki("pki").roles.save("web", {})
  if (engine.caller.kind !== "user") throw new Error("the engine acts as a user")
  const token = (await engine.tokens.createForUser(engine.caller.userId, {})).secret
  const server = await startServer({ engine })
  opened.push(server)
  const ask = async (method: string, path: string) => {
    const headers = { "x-service-token": token }
    const { statusCode, body } = await request(`${server.url}/v1${path}`, { method: method as "GET", headers })
    const text = await body.text()
    return [statusCode, text === "" ? undefined : JSON.parse(text)] as const
  }
  const listed = [200, expect.objectContaining({ data: { keys: ["web"] } })]
  expect(await ask("LIST", "/pki/roles")).toEqual(listed)
  expect(await ask("GET", "/pki/roles?list=true")).toEqual(listed)
  expect(await ask("HEAD", "/pki/roles/web")).toEqual([200, undefined])
  expect(await ask("LIST", "/pki/roles")).toEqual(listed)
  expect(await ask("GET", "/pki/roles//web")).toEqual([404, { errors: ["unsupported path"] }])
  expect(await ask("DELETE", "/pki/roles/web")).toEqual([204, undefined])
})
