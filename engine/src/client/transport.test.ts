import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { afterEach, describe, expect, test } from "vitest"
import { EngineError } from "../core/errors.ts"
import { seededRandom } from "../../testing/seeded-random.ts"
import { createTransport, type OutgoingRequest, path, type Transport, type TransportOptions } from "./transport.ts"

const token = "chy_do-not-print-me"
const show: OutgoingRequest = { method: "GET", path: "/workspaces/ws-1" }
const lock: OutgoingRequest = { method: "POST", path: "/workspaces/ws-1/actions/lock", document: { reason: "why" } }

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const json =
  (status: number, document: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/vnd.api+json", ...headers }).end(JSON.stringify(document))
const errorAnswer = (status: number, detail: string, headers?: Record<string, string>): Answer =>
  json(status, { errors: [{ status: String(status), title: "refused", detail }] }, headers)
const fine = json(200, { data: { id: "ws-1" } })

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

/** Serves `answers` in order; the last one answers all further requests. */
async function serving(answers: readonly Answer[], options: Partial<TransportOptions> = {}) {
  const seen: {
    method: string | undefined
    url: string | undefined
    headers: IncomingMessage["headers"]
    body: string
  }[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      answers[Math.min(seen.length, answers.length) - 1]?.(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  opened.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, seen, transport: connected(url, options), close: () => new Promise((done) => server.close(done)) }
}

function connected(url: string, options: Partial<TransportOptions> = {}): Transport {
  const transport = createTransport(url, { token, random: seededRandom(1), ...options })
  opened.push(() => transport[Symbol.asyncDispose]())
  return transport
}

describe("a request", () => {
  test("has the token, the JSON:API media type and its document", async () => {
    const { seen, transport } = await serving([fine])
    expect(await transport.send(lock)).toEqual({ data: { id: "ws-1" } })
    expect(seen).toMatchObject([
      {
        method: "POST",
        url: "/api/v2/workspaces/ws-1/actions/lock",
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/vnd.api+json",
          "content-type": "application/vnd.api+json",
        },
        body: '{"reason":"why"}',
      },
    ])
  })

  test("without a document has no content type", async () => {
    const { seen, transport } = await serving([fine])
    await transport.send({ ...show, query: new URLSearchParams({ "page[size]": "5" }) })
    expect(seen[0]).toMatchObject({ method: "GET", url: "/api/v2/workspaces/ws-1?page%5Bsize%5D=5", body: "" })
    expect(seen[0]?.headers["content-type"]).toBeUndefined()
  })

  test.each([
    { given: "", sent: "/api/v2/ping" },
    { given: "/", sent: "/api/v2/ping" },
    { given: "/api/v2", sent: "/api/v2/ping" },
    { given: "/api/v2/", sent: "/api/v2/ping" },
    { given: "/behind/a/proxy", sent: "/behind/a/proxy/api/v2/ping" },
  ])('is sent to "$sent" for an address that ends with "$given"', async ({ given, sent }) => {
    const { url, seen } = await serving([fine])
    await connected(`${url}${given}`).send({ method: "GET", path: "/ping" })
    expect(seen[0]?.url).toBe(sent)
  })

  test("is part of the trace of its span", async () => {
    const named = ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined]
    const { transport, seen } = await serving([fine], { traceparent: () => named.shift() })
    await transport.send(show)
    await transport.send(show)
    expect(seen.map(({ headers }) => headers["traceparent"])).toEqual([
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      undefined,
    ])
  })

  test.each([
    "",
    "yes",
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx-evil: 1",
  ])("has no trace when the trace context is %j", async (text) => {
    const { transport, seen } = await serving([fine], { traceparent: () => text })
    await transport.send(show)
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain("traceparent")
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain("x-evil")
  })

  test("reuses the connection of earlier requests", async () => {
    const sockets = new Set<unknown>()
    const { transport } = await serving([(response, request) => (sockets.add(request.socket), fine(response, request))])
    for (let count = 0; count < 10; count += 1) await transport.send(show)
    // The client opens a second connection if it does not know yet that the first is idle.
    expect(sockets.size).toBeLessThanOrEqual(2)
  })

  test("returns undefined for a response without body", async () => {
    const { transport } = await serving([(response) => response.writeHead(204).end()])
    expect(await transport.send(lock)).toBeUndefined()
  })

  test("for bytes returns them unchanged", async () => {
    const { transport } = await serving([(response) => response.end(Buffer.from([0, 255, 1]))])
    expect(await transport.download("/x")).toEqual(Uint8Array.of(0, 255, 1))
  })
})

describe("a path", () => {
  test("encodes its values", () => {
    expect(path`/organizations/${"a/b?c#d"}/workspaces/${"ü%"}`).toBe(
      "/organizations/a%2Fb%3Fc%23d/workspaces/%C3%BC%25",
    )
  })

  test.each(["", ".", "..", "x".repeat(1_001)])("rejects %j as a value", (name) => {
    expect(() => path`/workspaces/${name}`).toThrow(expect.objectContaining({ code: "not-found" }))
  })
})

describe("text that the database cannot store", () => {
  test.each([
    { name: "U+0000", text: "a\0b" },
    { name: "an unpaired surrogate", text: "a\ud800b" },
  ])("is not sent: $name", async ({ text }) => {
    const { seen, transport } = await serving([fine])
    expect(() => path`/workspaces/${text}`).toThrow(expect.objectContaining({ code: "bad-request" }))
    await expect(transport.send({ ...lock, document: { data: [{ reason: text }] } })).rejects.toMatchObject({
      code: "bad-request",
    })
    expect(seen).toEqual([])
  })
})

describe("a response that allows a retry", () => {
  test.each([
    { status: 429, headers: { "retry-after": "0" } },
    { status: 429, headers: { "x-ratelimit-reset": "0.01" } },
    { status: 503, headers: { "retry-after": "0" } },
    { status: 503, headers: {} },
  ])("$status $headers is retried, even for a change", async ({ status, headers }) => {
    const { seen, transport } = await serving([errorAnswer(status, "not now", headers), fine])
    expect(await transport.send(lock)).toEqual({ data: { id: "ws-1" } })
    expect(seen.map(({ body }) => body)).toEqual(['{"reason":"why"}', '{"reason":"why"}'])
  })

  test.each([
    { header: "retry-after", value: () => "1" },
    { header: "x-ratelimit-reset", value: () => "1" },
    { header: "retry-after", value: (now: number) => new Date(now + 1_000).toUTCString() },
  ])("is retried after the pause in $header", async ({ header, value }) => {
    const now = Date.now()
    const { transport } = await serving([
      errorAnswer(429, "not now", { [header]: value(now), date: new Date(now).toUTCString() }),
      fine,
    ])
    await transport.send(show)
    expect(Date.now() - now).toBeGreaterThanOrEqual(990)
  })

  test("is not retried when the pause exceeds the client's maximum", async () => {
    const { seen, transport } = await serving([errorAnswer(429, "Too many requests", { "retry-after": "3600" })])
    await expect(transport.send(show)).rejects.toMatchObject({ code: "rate-limited", retryAfterMs: 3_600_000 })
    expect(seen).toHaveLength(1)
  })

  test("fails with busy after the last attempt", async () => {
    const { seen, transport } = await serving([errorAnswer(503, "The store is busy")], { attempts: 3 })
    await expect(transport.send(lock)).rejects.toMatchObject({ code: "busy", message: "The store is busy" })
    expect(seen).toHaveLength(3)
  })

  test("fails with busy when the total pause is exceeded", async () => {
    const { seen, transport } = await serving([errorAnswer(503, "The store is busy")], {
      attempts: 100,
      patienceMs: 250,
    })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "busy" })
    expect(seen).toHaveLength(2)
  })

  test("for a pending state is retried for a short time", async () => {
    const { seen, transport } = await serving([errorAnswer(503, "The latest state version is still pending")], {
      pendingPatienceMs: 0,
    })
    await expect(transport.send(lock)).rejects.toMatchObject({ code: "pending" })
    expect(seen).toHaveLength(1)
  })
})

describe("an error response", () => {
  test("becomes the error of the embedded engine, with its fields", async () => {
    const { seen, transport } = await serving([
      json(422, {
        errors: [
          {
            status: "422",
            title: "invalid attribute",
            detail: "Identifier can't be blank",
            source: { pointer: "/data/attributes/vcs-repo/identifier" },
          },
        ],
      }),
    ])
    await expect(transport.send(lock)).rejects.toMatchObject({
      code: "invalid",
      faults: [{ detail: "Identifier can't be blank", field: ["vcsRepo", "identifier"] }],
    })
    expect(seen).toHaveLength(1)
  })

  test.each([
    { status: 401, code: "unauthenticated" },
    { status: 404, code: "not-found" },
    { status: 409, code: "conflict" },
    { status: 500, code: "internal" },
    { status: 502, code: "unavailable" },
    { status: 307, code: "unavailable" },
  ])("$status without a document becomes $code", async ({ status, code }) => {
    const { seen, transport } = await serving([(response) => response.writeHead(status).end("<html>")])
    await expect(transport.send(show)).rejects.toMatchObject({ code })
    expect(seen).toHaveLength(1)
  })
})

describe("a server that sends no response", () => {
  const cut: Answer = (response) => response.destroy()

  test("receives a retry of a read", async () => {
    const { seen, transport } = await serving([cut, fine])
    expect(await transport.send(show)).toEqual({ data: { id: "ws-1" } })
    expect(seen).toHaveLength(2)
  })

  test("receives no retry of a change", async () => {
    const { seen, transport } = await serving([cut, fine])
    await expect(transport.send(lock)).rejects.toMatchObject({ code: "unavailable" })
    expect(seen).toHaveLength(1)
  })

  test("or half a response is unavailable", async () => {
    const { transport } = await serving([
      (response) => {
        response.writeHead(200, { "content-length": "1000" }).write("{")
        setTimeout(() => response.destroy(), 20)
      },
    ])
    await expect(transport.send(lock)).rejects.toMatchObject({ code: "unavailable" })
  })

  test("within the timeout is unavailable and receives no retry", async () => {
    const { seen, transport } = await serving([() => undefined], { answerTimeoutMs: 50 })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "unavailable" })
    expect(seen.length).toBeLessThanOrEqual(1)
  })

  test("[F-U3] is tried four times when it refuses the connection, and the error states that nothing was sent", async () => {
    const { url, close } = await serving([fine])
    await close()
    let pauses = 0
    const random = { bytes: (length: number) => ((pauses += 1), new Uint8Array(length)) }
    const outcome = connected(url, { attempts: 11, patienceMs: 240_000, random }).send(lock)
    await expect(outcome).rejects.toMatchObject({ code: "unavailable", notSent: "unreachable" })
    expect(pauses).toBe(3)
  })

  test("because it does not exist is unavailable", async () => {
    const { url, close } = await serving([fine])
    await close()
    const transport = connected(url, { attempts: 2 })
    await expect(transport.send(lock)).rejects.toMatchObject({
      code: "unavailable",
      message: `${url} cannot be reached (ECONNREFUSED).`,
    })
  })

  test("receives a retry after it has started", async () => {
    const { url, close } = await serving([fine])
    await close()
    const sent = connected(url).send(lock)
    const server = createServer((request, response) => fine(response, request))
    setTimeout(() => server.listen(Number(new URL(url).port), "127.0.0.1"), 150)
    opened.push(() => {
      server.closeAllConnections()
      server.close()
    })
    expect(await sent).toEqual({ data: { id: "ws-1" } })
  })
})

describe("a response that cannot be parsed", () => {
  test("is unavailable when it is not JSON", async () => {
    const { url, transport } = await serving([(response) => response.end("<html>")])
    await expect(transport.send(show)).rejects.toMatchObject({
      code: "unavailable",
      message: `The response of ${url} is not JSON; check the server's address.`,
    })
  })

  test("is unavailable when it is larger than allowed", async () => {
    const { seen, transport } = await serving([json(200, { data: "x".repeat(100_000) })], { maximumAnswerBytes: 1_000 })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "unavailable" })
    expect(seen).toHaveLength(1)
  })
})

describe("aborting", () => {
  test("a request by its signal fails with the signal's reason", async () => {
    const { transport } = await serving([() => undefined])
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error("enough")), 20)
    await expect(transport.send({ ...show, signal: controller.signal })).rejects.toThrow("enough")
  })

  test("a pause by the engine's signal ends the request", async () => {
    const controller = new AbortController()
    const tooMany = errorAnswer(429, "not now", { "retry-after": "10" })
    const refusing: Answer = (response, request) => {
      response.once("finish", () => setTimeout(() => controller.abort(new Error("enough")), 50))
      tooMany(response, request)
    }
    const { seen, transport } = await serving([refusing], { signal: controller.signal })
    await expect(transport.send(show)).rejects.toThrow("enough")
    expect(seen).toHaveLength(1)
  })

  test("by closing the transport ends pending requests and rejects new ones", async () => {
    const { transport } = await serving([() => undefined])
    const sent = transport.send(show)
    setTimeout(() => void transport[Symbol.asyncDispose](), 20)
    await expect(sent).rejects.toMatchObject({ code: "unavailable", message: "The engine has been closed." })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "unavailable" })
  })
})

describe("the token", () => {
  test("is not contained in any error", async () => {
    const { url } = await serving([fine])
    const failures = await Promise.all(
      [
        connected(url.replace(/\d+$/, "1"), { attempts: 1 }).send(show),
        (await serving([(response) => response.end("<html>")])).transport.send(show),
        (await serving([(response) => response.destroy()])).transport.send(lock),
      ].map((sent) => sent.then(String, (error: unknown) => error)),
    )
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Error)
      expect(inspected(failure)).not.toContain(token)
    }
  })

  test.each(["", "two words", "line\nbreak", "ünicode"])("%j is rejected", (text) => {
    expect(() => connected("http://127.0.0.1:1", { token: text })).toThrow(
      expect.objectContaining({ code: "unauthenticated" }),
    )
  })

  test("in the URL is rejected, and the error does not contain it", () => {
    const connect = () => connected(`http://user:${token}@127.0.0.1:1`)
    expect(connect).toThrow("pass the token as an option")
    expect(connect).not.toThrow(token)
  })
})

const inspected = (error: unknown): string => inspect(error, { depth: 20, showHidden: true })

describe("a transport with permitted addresses", () => {
  const nowhere = { kinds: [], ranges: [] }
  const onLoopback = { kinds: ["loopback"], ranges: [] } as const

  test("connects to permitted addresses, given as literals or names", async () => {
    const { url, seen } = await serving([fine])
    for (const address of [url, url.replace("127.0.0.1", "localhost")]) {
      const outcome = connected(address, { addresses: nowhere, attempts: 1 }).send(show)
      await expect(outcome).rejects.toMatchObject({
        code: "unprocessable",
        message: expect.stringContaining("may not connect") as string,
      })
    }
    expect(seen).toEqual([])
    expect(await connected(url, { addresses: onLoopback }).send(show)).toEqual({ data: { id: "ws-1" } })
  })

  test("connects only to a permitted proxy", async () => {
    const proxy = await serving([fine])
    const options = { proxyUrl: proxy.url, attempts: 1 }
    const outcome = connected("http://engine.invalid", { ...options, addresses: nowhere }).send(show)
    await expect(outcome).rejects.toMatchObject({ code: "unprocessable" })
    expect(proxy.seen).toEqual([])
    const permitted = connected("http://engine.invalid", { ...options, addresses: onLoopback })
    expect(await permitted.send(show)).toEqual({ data: { id: "ws-1" } })
    expect(proxy.seen).toMatchObject([{ url: "http://engine.invalid/api/v2/workspaces/ws-1" }])
  })
})

describe("a shared rate limiter", () => {
  test("is called before each request, and receives the server's pause", async () => {
    const calls: (number | "asked")[] = []
    const pace = {
      admit: async () => void calls.push("asked"),
      defer: (retryAfterMs: number) => void calls.push(retryAfterMs),
    }
    const answers = [errorAnswer(429, "slow down", { "retry-after": "7" }), errorAnswer(503, "busy"), fine]
    const { transport } = await serving(answers, { pace, attempts: 1 })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "rate-limited" })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "busy" })
    await transport.send(show)
    expect(calls).toEqual(["asked", 7_000, "asked", "asked"])
  })

  test("that rejects sends nothing", async () => {
    const pace = {
      admit: () => Promise.reject(new EngineError("rate-limited", "as often as it may be", { retryAfterMs: 60_000 })),
      defer: () => {},
    }
    const { transport, seen } = await serving([fine], { pace, attempts: 1 })
    await expect(transport.send(show)).rejects.toMatchObject({ code: "rate-limited", retryAfterMs: 60_000 })
    expect(seen).toEqual([])
  })
})
