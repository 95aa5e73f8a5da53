import { describe, expect, test } from "vitest"
import { storeFull } from "../../core/errors.ts"
import { type Runtime, silentLog, systemRuntime } from "../../core/runtime.ts"
import { createMetrics } from "../../telemetry/metrics.ts"
import { parseTrustedProxies } from "./client-address.ts"
import type { App } from "./exchange.ts"
import { createFront, type FrontOptions } from "./front.ts"
import { respond } from "./message.ts"
import { rateLimiter } from "./rate-limit.ts"
import { fromWebRequest, toWebResponse } from "./web-fetch.ts"

interface Line {
  readonly level: string
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

function fixture(app: App["handle"], overrides: Partial<FrontOptions> = {}) {
  const lines: Line[] = []
  const record = (level: string) => (event: string, fields?: Readonly<Record<string, unknown>>) =>
    void lines.push({ level, event, fields })
  const log = {
    ...silentLog,
    debug: record("debug"),
    info: record("info"),
    warn: record("warn"),
    error: record("error"),
  }
  let now = 0
  const runtime: Runtime = { ...systemRuntime(log), clock: { now: () => now } }
  const metrics = createMetrics()
  const serve = createFront({
    app: { handle: app },
    runtime,
    metrics,
    rateLimiter: undefined,
    accessLog: "info",
    ready: async () => {},
    draining: () => false,
    stopwatch: () => now,
    ...overrides,
  })
  return {
    lines,
    metrics,
    advance: (ms: number) => void (now += ms),
    async send(path: string, init?: RequestInit) {
      const answer = await serve(fromWebRequest(new Request(`http://chancery.test${path}`, init), "192.0.2.7"))
      const response = toWebResponse(answer)
      return { response, headers: response.headers, errors: () => response.json() }
    },
  }
}

const ok: App["handle"] = (_request, exchange) => {
  if (exchange !== undefined) {
    exchange.route = "/things/:id"
    exchange.authenticated = true
  }
  return respond("{}")
}

describe("every request", () => {
  test("is answered with the client's request id, or a new one", async () => {
    const { send } = fixture(ok)
    expect((await send("/things/1", { headers: { "x-request-id": "abc" } })).headers.get("x-request-id")).toBe("abc")
    expect((await send("/things/1")).headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  test("writes one access log line without query and secrets", async () => {
    const { send, lines, advance } = fixture((request, exchange) => {
      advance(12.5)
      return ok(request, exchange)
    })
    await send("/things/1?search[name]=secret-project", {
      headers: { authorization: "Bearer secret-token", "x-request-id": "abc" },
    })
    expect(lines).toEqual([
      {
        level: "info",
        event: "request",
        fields: {
          requestId: "abc",
          method: "GET",
          path: "/things/1",
          route: "/things/:id",
          status: 200,
          durationMs: 12.5,
          remoteAddress: "192.0.2.7",
        },
      },
    ])
    expect(JSON.stringify(lines)).not.toContain("secret")
  })

  test("is logged by its route pattern when its URL contains a credential", async () => {
    const { send, lines } = fixture((_request, exchange) => {
      Object.assign(exchange ?? {}, { route: "/uploads/:signature", secretPath: true })
      return respond(null, { status: 204 })
    })
    await send("/uploads/secret")
    expect(lines[0]?.fields).toMatchObject({ route: "/uploads/:signature", status: 204 })
    expect(JSON.stringify(lines)).not.toContain("secret")
  })

  test("uses the client address of a trusted proxy for the log, the app and the rate limit", async () => {
    const addresses: unknown[] = []
    const trusted = parseTrustedProxies("192.0.2.7/32")
    const { send, lines } = fixture(
      (request, exchange) => {
        addresses.push(exchange?.remoteAddress)
        return ok(request, exchange)
      },
      { rateLimiter: rateLimiter(1), proxies: trusted && { trusted, header: "x-forwarded-for" } },
    )
    const from = (...hops: string[]) => send("/things/1", { headers: { "x-forwarded-for": hops.join(", ") } })
    const statuses = []
    for (const hops of [["198.51.100.1"], ["198.51.100.2"], ["203.0.113.9", "198.51.100.1"]])
      statuses.push((await from(...hops)).response.status)
    expect(statuses).toEqual([200, 200, 429])
    expect(addresses).toEqual(["198.51.100.1", "198.51.100.2"])
    expect(lines.map(({ fields }) => fields?.["remoteAddress"])).toEqual([
      "198.51.100.1",
      "198.51.100.2",
      "198.51.100.1",
    ])
  })

  test("writes no access log line when the access log is disabled", async () => {
    const { send, lines } = fixture(ok, { accessLog: "off" })
    await send("/things/1")
    expect(lines).toEqual([])
  })

  test("is answered with 500 without the error's text, which is logged, when the app throws", async () => {
    const { send, lines } = fixture(() => {
      throw new Error("the database password is hunter2")
    })
    const { response, errors } = await send("/things/1", { headers: { "x-request-id": "abc" } })
    expect(response.status).toBe(500)
    expect(await errors()).toEqual({
      errors: [{ status: "500", title: "internal error", detail: "The server could not complete the request." }],
    })
    expect(lines[0]).toMatchObject({ level: "error", event: "request failed", fields: { requestId: "abc" } })
  })
})

describe("the rate limit", () => {
  test("is sent with every response, and answers 429 when it is exceeded", async () => {
    const { send, advance } = fixture(ok, { rateLimiter: rateLimiter(2) })
    const limits = (headers: Headers) =>
      ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`))
    expect(limits((await send("/things/1")).headers)).toEqual(["2", "1", "0.5"])
    expect(limits((await send("/things/1")).headers)).toEqual(["2", "0", "1"])

    const refused = await send("/things/1")
    expect(refused.response.status).toBe(429)
    expect(limits(refused.headers)).toEqual(["2", "0", "1"])
    expect(refused.headers.get("retry-after")).toBe("1")
    expect(await refused.errors()).toEqual({
      errors: [{ status: "429", title: "Too many requests", detail: "You have exceeded the API's rate limit." }],
    })

    advance(500)
    expect((await send("/things/1")).response.status).toBe(200)
  })

  test("is counted per token after the token was valid once", async () => {
    const { send } = fixture(ok, { rateLimiter: rateLimiter(1) })
    const as = async (token: string) =>
      (await send("/things/1", { headers: { authorization: `Bearer ${token}` } })).response.status
    expect([await as("one"), await as("one")]).toEqual([200, 429])
  })

  test.each(["/api/v2/things", "/v1/pki/roles"])(
    "is shared by all spellings of the header of one token on %s",
    async (path) => {
      const { send } = fixture(ok, { rateLimiter: rateLimiter(2) })
      const as = async (authorization: string) => (await send(path, { headers: { authorization } })).response.status
      // The first request is charged to the client's address, because its token is not known to the rate limiter yet.
      expect([
        await as("Bearer one"),
        await as("bearer one"),
        await as("Bearer  one"),
        await as("BEARER   one"),
      ]).toEqual([200, 200, 429, 429])
    },
  )

  test("is not extended by invalid tokens", async () => {
    const { send } = fixture(() => respond(null, { status: 403 }), { rateLimiter: rateLimiter(2) })
    const as = async (token: string) =>
      (await send("/v1/pki/roles", { headers: { "x-service-token": token } })).response.status
    expect([await as("a"), await as("b"), await as("c")]).toEqual([403, 403, 429])
  })

  test.each(["x-service-token", "x-vault-token"])(
    "counts requests of the certificate API by its own header %s",
    async (name) => {
      const { send } = fixture(ok, { rateLimiter: rateLimiter(2) })
      const as = async (path: string, authorization: string) =>
        (await send(path, { headers: { [name]: "one", authorization } })).response
      expect([
        (await as("/v1/pki/roles", "Bearer a")).status,
        (await as("/v1/pki/roles", "Bearer b")).status,
        (await as("/api/v2/things", "Bearer c")).status,
      ]).toEqual([200, 200, 200])
      const refused = await as("/v1/pki/roles", "Bearer d")
      expect([refused.status, await refused.json()]).toEqual([
        429,
        { errors: ["You have exceeded the API's rate limit."] },
      ])
    },
  )

  test("does not apply to probes", async () => {
    const { send } = fixture(ok, { rateLimiter: rateLimiter(1) })
    await send("/things/1")
    const { response, headers } = await send("/healthz")
    expect(response.status).toBe(200)
    expect(headers.has("x-ratelimit-limit")).toBe(false)
  })

  test("sends no header when it is disabled", async () => {
    const { send } = fixture(ok)
    expect([...(await send("/things/1")).headers.keys()]).toEqual(["x-request-id"])
  })
})

describe("the probes", () => {
  test.each([
    { path: "/healthz", overrides: {}, status: 200, body: "ok\n" },
    { path: "/readyz", overrides: {}, status: 200, body: "ok\n" },
    { path: "/readyz", overrides: { draining: () => true }, status: 503, body: "shutting down\n" },
    {
      path: "/readyz",
      overrides: { ready: () => Promise.reject(new Error("connection refused")) },
      status: 503,
      body: "the database does not respond\n",
    },
    {
      path: "/readyz",
      overrides: { ready: () => Promise.reject(storeFull(new Error("database or disk is full"))) },
      status: 503,
      body: "The disk of the database is full; free space on it or enlarge it.\n",
    },
    { path: "/healthz", overrides: { draining: () => true }, status: 200, body: "ok\n" },
  ])("$path answers $status $body", async ({ path, overrides, status, body }) => {
    const { send } = fixture(ok, overrides)
    const { response } = await send(path)
    expect([response.status, await response.text()]).toEqual([status, body])
  })

  test("metrics count requests by route pattern and status, not by path", async () => {
    const { send } = fixture(ok)
    await send("/things/1")
    await send("/things/2")
    const { response } = await send("/metrics")
    expect(response.headers.get("content-type")).toContain("text/plain")
    const text = await response.text()
    expect(text).toContain(
      'chancery_http_request_duration_seconds_count{method="GET",route="/things/:id",status="200"} 2',
    )
    expect(text).toContain("chancery_http_requests_in_flight 1")
    expect(text).toContain("nodejs_eventloop_lag_seconds")
    expect(text).not.toContain("/things/1")
  })
})
