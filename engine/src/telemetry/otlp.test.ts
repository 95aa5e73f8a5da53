import { request as dial } from "undici"
import { describe, expect, test } from "vitest"
import { type Log, type Runtime, silentLog, systemRuntime } from "../core/runtime.ts"
import { hourMs } from "../core/time.ts"
import { apart, during, type Tracer } from "../core/tracing.ts"
import { openEmbedded } from "../embedded.ts"
import type { ServedEngine } from "../engine.ts"
import { type RunningServer, startServer } from "../server/server.ts"
import { openDatabase } from "../storage/sql/database.ts"
import { databaseKinds } from "../../testing/temporary-database.ts"
import { type OtlpReceiver, type SeenSpan, startOtlpReceiver } from "../../testing/otlp-receiver.ts"
import { startPolicyServer, templateFor, testTlsPem } from "../../testing/policy-server.ts"
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts"
import { openOtlp, type Sampling, type Telemetry } from "./otlp.ts"
import { tracedLog } from "./traced-log.ts"

interface LogLine {
  readonly level: keyof Log
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

function memoryLog(): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = []
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (event, fields = {}) =>
      void lines.push({ level, event, fields })
  return { lines, log: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") } }
}

interface Traced extends AsyncDisposable {
  readonly receiver: OtlpReceiver
  readonly telemetry: Telemetry
  readonly engine: ServedEngine
  readonly server: RunningServer
  readonly token: string
  readonly lines: readonly LogLine[]
  request(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<number>
  /** Returns all spans that have ended by now, after the receiver got them. */
  flushed(): Promise<readonly SeenSpan[]>
}

const batch = { maxQueue: 100_000, delayMs: 20 }

async function openTraced(
  place: { readonly url: string } & AsyncDisposable,
  options: { readonly sampler?: Sampling; readonly jobs?: boolean } = {},
): Promise<Traced> {
  const closing = new AsyncDisposableStack()
  const receiver = closing.use(await startOtlpReceiver())
  closing.use(place)
  const { log, lines } = memoryLog()
  const telemetry = openOtlp({
    traces: {
      url: `${receiver.url}/v1/traces`,
      protocol: "http/json",
      sampler: options.sampler ?? { followsParent: true, ratio: 1 },
      batch,
    },
    resource: { "service.name": "chancery-test" },
    release: "0.0.0",
    log: silentLog,
  })
  const tracer = tracerOf(telemetry)
  const runtime: Runtime = { ...systemRuntime(tracedLog(log, tracer)), tracer }
  const engine = closing.use(
    await openEmbedded(place.url, {
      runtime,
      sealKeys: { text: Buffer.alloc(32, "traced").toString("base64") },
      jobs: options.jobs ?? false,
      outgoing: { kinds: ["loopback"], ranges: [] },
    }),
  )
  if (engine.caller.kind !== "user") throw new Error("the engine acts as a user")
  const { secret: token } = await engine.tokens.createForUser(engine.caller.userId, { description: "test" })
  const server = await startServer({ engine, runtime, accessLog: "info" })
  closing.defer(async () => void (await server.close()))
  let flushes = 0
  return {
    receiver,
    telemetry,
    engine,
    server,
    token,
    lines,
    async request(method, path, { body, headers = {} } = {}) {
      const answer = await dial(`${server.url}${path}`, {
        method: method as "GET",
        headers: {
          authorization: `Bearer ${token}`,
          "x-service-token": token,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      await answer.body.dump()
      return answer.statusCode
    },
    async flushed() {
      // Spans arrive in the order in which they end, so all earlier ones arrive before this one.
      const mark = `mark ${(flushes += 1)}`
      tracer.root(mark).end()
      await expect.poll(() => receiver.spans().some(({ name }) => name === mark)).toBe(true)
      return receiver.spans()
    },
    async [Symbol.asyncDispose]() {
      await closing.disposeAsync()
      await telemetry[Symbol.asyncDispose]()
    },
  }
}

/** A span with its children, in order of arrival. */
interface Tree {
  readonly span: SeenSpan
  readonly children: readonly Tree[]
}

function treeOf(spans: readonly SeenSpan[], root: SeenSpan): Tree {
  return {
    span: root,
    children: spans.filter((one) => one.parentSpanId === root.spanId).map((one) => treeOf(spans, one)),
  }
}

const everySpan = ({ span, children }: Tree): readonly SeenSpan[] => [span, ...children.flatMap(everySpan)]

const one = (spans: readonly SeenSpan[], name: string): SeenSpan => {
  const found = spans.filter((span) => span.name === name)
  expect([name, found.length]).toEqual([name, 1])
  return found[0] as SeenSpan
}

async function makeMount({ engine }: Traced): Promise<void> {
  await engine.mounts.create({ path: "pki" })
  const pki = engine.pki("pki")
  await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  await pki.roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
}

const kinds = databaseKinds.filter(({ name, available }) => name !== "SQLite memory" && available)

describe.each(kinds)("on $name", (kind) => {
  const system = kind.name === "PostgreSQL" ? "postgresql" : "sqlite"

  test("issuing a certificate is one trace, from the request to statements and keys", async () => {
    await using traced = await openTraced(await kind.place())
    await makeMount(traced)
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
    const status = await traced.request("POST", "/v1/pki/issue/web?secret=in-the-query", {
      body: { common_name: "secret-name.example.com" },
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    })
    expect(status).toBe(200)
    const spans = (await traced.flushed()).filter((span) => span.traceId === traceId)
    const root = one(spans, "POST /v1/:mount/issue/:name")
    expect(root).toMatchObject({
      parentSpanId: "00f067aa0ba902b7",
      kind: 2,
      status: 0,
      resource: { "service.name": "chancery-test" },
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/:mount/issue/:name",
        "url.path": "/v1/pki/issue/web",
        "url.scheme": "http",
        "http.response.status_code": 200,
        "client.address": "127.0.0.1",
      },
    })
    const tree = treeOf(spans, root)
    // Every span of the trace is below the request.
    expect(everySpan(tree).length).toBe(spans.length)
    const verb = one(spans, "pki.certificates.issue")
    expect([verb.parentSpanId, verb.attributes]).toEqual([root.spanId, { "chancery.mount": "pki" }])
    const generate = one(spans, "key generate")
    expect(generate.attributes).toEqual({
      "chancery.key.operation": "generate",
      "chancery.key.algorithm": "EC P-256",
      "chancery.key.place": "process",
    })
    const sign = one(spans, "key sign")
    expect(sign.attributes).toMatchObject({
      "chancery.key.operation": "sign",
      "chancery.key.algorithm": "EC P-256",
      "chancery.key.signature_algorithm": "ECDSAWithSHA256",
    })
    const write = one(spans, "storage write")
    expect(write.attributes).toMatchObject({ "db.system.name": system, "chancery.storage.kind": "write" })
    expect(write.attributes["chancery.storage.wait_ms"]).toEqual(expect.any(Number))
    expect([generate, sign, write].map(({ parentSpanId }) => parentSpanId)).toEqual([
      verb.spanId,
      verb.spanId,
      verb.spanId,
    ])
    const insert = one(spans, "INSERT certificates")
    expect([insert.parentSpanId, insert.kind]).toEqual([write.spanId, 3])
    expect(insert.attributes).toMatchObject({
      "db.system.name": system,
      "db.operation.name": "INSERT",
      "db.collection.name": "certificates",
    })
    expect(insert.attributes["db.query.text"]).toMatch(kind.name === "PostgreSQL" ? /\$1\b/ : /\?/)
    const commit = one(spans, "COMMIT")
    expect(commit.parentSpanId).toBe(write.spanId)
    // Spans must not contain the token, the body, the query, or values made from them.
    const everything = JSON.stringify(spans)
    for (const secret of [traced.token, "secret-name", "in-the-query", "PRIVATE KEY"])
      expect([secret, everything.includes(secret)]).toEqual([secret, false])
    const line = traced.lines.find(
      ({ event, fields }) => event === "request" && fields["route"] === root.attributes["http.route"],
    )
    expect(line?.fields).toMatchObject({ traceId, spanId: root.spanId })
  })

  test("a lock is one trace, and a refused lock is recorded without an error status", async () => {
    await using traced = await openTraced(await kind.place())
    await traced.engine.organizations.create({ name: "acme", email: "ops@example.com" })
    const { id } = await traced.engine.workspaces.create("acme", { name: "api" })
    const lock = () =>
      traced.request("POST", `/api/v2/workspaces/${id}/actions/lock`, { body: { reason: "a reason of one's own" } })
    expect([await lock(), await lock()]).toEqual([200, 409])
    const spans = await traced.flushed()
    const [done, refused] = spans.filter(({ name }) => name === "POST /api/v2/workspaces/:workspace_id/actions/lock")
    if (done === undefined || refused === undefined) throw new Error("two requests were made")
    expect(done.parentSpanId).toBe(undefined)
    const tree = everySpan(treeOf(spans, done))
    const verb = one(tree, "workspaces.lock")
    const write = one(tree, "storage write")
    expect([verb.parentSpanId, write.parentSpanId]).toEqual([done.spanId, verb.spanId])
    const update = tree.filter(({ attributes }) => String(attributes["db.query.text"]).includes('update "workspaces"'))
    expect(update.map(({ parentSpanId }) => parentSpanId)).toEqual([write.spanId])
    expect(one(tree, "COMMIT").parentSpanId).toBe(write.spanId)
    expect(JSON.stringify(tree)).not.toContain("of one's own")
    const refusal = one(everySpan(treeOf(spans, refused)), "workspaces.lock")
    expect([refusal.status, refusal.attributes["error.type"]]).toEqual([0, "conflict"])
    expect([refused.status, refused.attributes["http.response.status_code"]]).toEqual([0, 409])
  })
})

const [file] = kinds
if (file === undefined) throw new Error("there is no store to test on")

test("transactions that share a SQLite commit have one commit span with links", async () => {
  await using receiver = await startOtlpReceiver()
  await using telemetry = tracesTo(receiver.url)
  await using place = await file.place()
  const tracer = tracerOf(telemetry)
  await using database = await openDatabase(place.url, { tracer, connections: 2 })
  await database.migrate()
  const insert = (name: string) =>
    during(tracer, tracer.root(name), () =>
      database.transact((session) =>
        session.execute(session.db.insertInto("settings").values({ name, value: "a secret of its own" })),
      ),
    )
  await Promise.all([insert("first"), insert("second")])
  await telemetry[Symbol.asyncDispose]()
  const spans = receiver.spans()
  const [first, second] = ["first", "second"].map((name) => {
    const root = one(spans, name)
    return one(everySpan(treeOf(spans, root)), "storage write")
  })
  const commit = one(spans, "COMMIT")
  expect(commit.attributes["chancery.storage.batch_size"]).toBe(2)
  expect([commit.traceId, commit.parentSpanId]).toEqual([first?.traceId, first?.spanId])
  expect(commit.links.map(({ spanId }) => spanId)).toEqual([second?.spanId])
  expect(second?.links.map(({ spanId }) => spanId)).toEqual([commit.spanId])
  expect(JSON.stringify(spans)).not.toContain("a secret of its own")
})

test("policy services get the trace context, and webhook receivers do not", async () => {
  await using traced = await openTraced(await file.place(), { jobs: true })
  await using service = await startPolicyServer()
  await using hook = await startWebhookReceiver()
  await makeMount(traced)
  service.answerWith((question) => ({ certificate: templateFor(question) }))
  expect(
    await traced.request("POST", "/v1/pki/config/external-policy", {
      body: {
        enabled: "true",
        external_service_url: service.url,
        trusted_leaf_certificate_bundle: testTlsPem("server"),
      },
    }),
  ).toBe(200)
  expect(await traced.request("POST", "/v1/pki/external-policy/issue", { body: { common_name: "a.example" } })).toBe(
    200,
  )
  await traced.engine.organizations.create({ name: "acme", email: "ops@example.com" })
  await traced.engine.webhooks.create("acme", { name: "hook", url: `${hook.url}/a-secret-path`, enabled: true })
  expect(
    await traced.request("POST", "/api/v2/organizations/acme/workspaces", {
      body: { data: { type: "workspaces", attributes: { name: "api" } } },
    }),
  ).toBe(201)
  await expect.poll(() => hook.seen.length).toBeGreaterThan(0)
  await expect.poll(async () => (await traced.flushed()).some(({ name }) => name === "POST webhook")).toBe(true)
  const spans = await traced.flushed()

  const span = one(spans, "POST policy service")
  expect(span.kind).toBe(3)
  expect(span.attributes).toEqual({
    "http.request.method": "POST",
    "url.scheme": "https",
    "server.address": "localhost",
    "server.port": Number(new URL(service.url).port),
    "http.response.status_code": 200,
  })
  expect(service.seen[0]?.headers["traceparent"]).toBe(`00-${span.traceId}-${span.spanId}-01`)
  const [delivered] = spans.filter(({ name }) => name === "POST webhook")
  expect(delivered?.attributes["http.response.status_code"]).toBe(204)
  expect(Object.keys(hook.seen[0]?.headers ?? {})).not.toContain("traceparent")
  expect(JSON.stringify(spans)).not.toContain("a-secret-path")
  // A delivery is not part of a request, so it has a trace of its own.
  const delivery = spans.find(({ spanId }) => spanId === delivered?.parentSpanId)
  expect([delivery?.name, delivery?.parentSpanId]).toEqual(["webhook", undefined])
  const made = one(spans, "POST /api/v2/organizations/:organization_name/workspaces")
  expect(delivery?.traceId).not.toBe(made.traceId)
})

test("a trace that is not sampled exports nothing, and propagates the flag", async () => {
  await using receiver = await startOtlpReceiver()
  await using telemetry = tracesTo(receiver.url, { followsParent: true, ratio: 1 })
  const tracer = tracerOf(telemetry)
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const headers = new Headers({ traceparent: `00-${traceId}-b7ad6b7169203331-00`, tracestate: "vendor=a" })
  const unchosen = tracer.root("unchosen", { headers })
  expect([unchosen.isRecorded, unchosen.traceId]).toEqual([false, traceId])
  expect(unchosen.child("below").headers).toEqual({
    traceparent: expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`)),
    tracestate: "vendor=a",
  })
  unchosen.end()
  tracer.root("chosen").end()
  await telemetry[Symbol.asyncDispose]()
  expect(receiver.spans().map(({ name }) => name)).toEqual(["chosen"])
})

test.each([
  { text: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", isTaken: true },
  { text: "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", isTaken: true },
  { text: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", isTaken: false },
  { text: "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", isTaken: false },
  { text: "00-00000000000000000000000000000000-b7ad6b7169203331-01", isTaken: false },
  { text: "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", isTaken: false },
  { text: "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", isTaken: false },
  { text: "nonsense", isTaken: false },
])("a request that says traceparent: $text goes on with it: $isTaken", async ({ text, isTaken }) => {
  await using receiver = await startOtlpReceiver()
  await using telemetry = tracesTo(receiver.url)
  const span = tracerOf(telemetry).root("request", { headers: new Headers({ traceparent: text }) })
  span.end()
  expect(span.traceId === "0af7651916cd43dd8448eb211c80319c").toBe(isTaken)
  expect(span.isRecorded).toBe(true)
})

test("a trace contains a thousand spans, and counts the spans beyond", async () => {
  await using receiver = await startOtlpReceiver()
  await using telemetry = tracesTo(receiver.url)
  const root = tracerOf(telemetry).root("large")
  for (let count = 0; count < 1_500; count += 1) root.child("one of many").end()
  root.end()
  await telemetry[Symbol.asyncDispose]()
  const spans = receiver.spans()
  expect(spans.length).toBe(1_000)
  expect(Number(one(spans, "large").attributes["chancery.spans_left_out"])).toBe(501)
})

test("work that outlasts its request is a separate trace with a link", async () => {
  await using receiver = await startOtlpReceiver()
  await using telemetry = tracesTo(receiver.url)
  const tracer = tracerOf(telemetry)
  const request = tracer.root("request")
  const goOn = Promise.withResolvers<void>()
  let later = Promise.resolve<unknown>(undefined)
  await during(tracer, request, async () => {
    await apart(tracer, "job", async () => {
      tracer.current()?.child("of the job").end()
    })
    later = goOn.promise.then(() => tracer.current())
  })
  goOn.resolve()
  expect(await later).toBe(undefined)
  await telemetry[Symbol.asyncDispose]()
  const spans = receiver.spans()
  const job = one(spans, "job")
  expect([job.parentSpanId, job.traceId === request.traceId]).toEqual([undefined, false])
  expect(job.links.map(({ spanId }) => spanId)).toEqual([request.spanId])
  expect(one(spans, "of the job").parentSpanId).toBe(job.spanId)
})

test("requests are served while the collector is down, with one warning and one line when it is back", async () => {
  await using receiver = await startOtlpReceiver()
  const { log, lines } = memoryLog()
  const telemetry = tracesTo(receiver.url, undefined, log)
  const tracer = tracerOf(telemetry)
  receiver.answerWith((response) => void response.writeHead(400).end("no"))
  const exported = async (count: number) => {
    tracer.root("request").end()
    await expect.poll(() => receiver.exports.length).toBe(count)
  }
  await exported(1)
  await expect.poll(() => lines.length).toBe(1)
  await exported(2)
  await exported(3)
  receiver.answerWith((response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}"))
  await exported(4)
  await expect.poll(() => lines.length).toBe(2)
  await telemetry[Symbol.asyncDispose]()
  expect(lines.map(({ level, event }) => [level, event])).toEqual([
    ["warn", "telemetry-not-sent"],
    ["info", "telemetry-sent-again"],
  ])
  expect(lines[0]?.fields).toMatchObject({ what: "traces", to: receiver.url })
})

test("shutdown waits for an unresponsive collector no longer than its limit", async () => {
  await using receiver = await startOtlpReceiver()
  receiver.answerWith(() => {})
  const telemetry = openOtlp({
    traces: {
      url: `${receiver.url}/v1/traces`,
      protocol: "http/json",
      sampler: { followsParent: true, ratio: 1 },
      batch,
    },
    resource: {},
    release: "0.0.0",
    log: silentLog,
    timeoutMs: 50,
  })
  tracerOf(telemetry).root("request").end()
  // Waits until the export was sent, so that the close waits for its answer only.
  await expect.poll(() => receiver.spans().map(({ name }) => name)).toEqual(["request"])
  await expect(telemetry[Symbol.asyncDispose]()).resolves.toBeUndefined()
})

test("spans beyond the queue limit are dropped", async () => {
  await using receiver = await startOtlpReceiver()
  const telemetry = openOtlp({
    traces: {
      url: `${receiver.url}/v1/traces`,
      protocol: "http/json",
      sampler: { followsParent: true, ratio: 1 },
      batch: { maxQueue: 10, maxExport: 10, delayMs: 60_000 },
    },
    resource: {},
    release: "0.0.0",
    log: silentLog,
  })
  receiver.answerWith(() => {})
  const tracer = tracerOf(telemetry)
  // The first ten spans are in an export without an answer, and the next ten fill the queue.
  for (let count = 0; count < 100; count += 1) tracer.root("request").end()
  await expect.poll(() => receiver.exports.length).toBe(1)
  receiver.answerWith((response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}"))
  await telemetry[Symbol.asyncDispose]()
  expect(receiver.spans().length).toBe(20)
})

function tracesTo(url: string, sampler: Sampling = { followsParent: true, ratio: 1 }, log: Log = silentLog): Telemetry {
  return openOtlp({
    traces: { url: `${url}/v1/traces`, protocol: "http/json", sampler, batch },
    resource: { "service.name": "chancery-test" },
    release: "0.0.0",
    log,
  })
}

function tracerOf({ tracer }: Telemetry): Tracer {
  if (tracer === undefined) throw new Error("no tracer")
  return tracer
}
