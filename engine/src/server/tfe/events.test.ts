import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { dayMs, hourMs } from "../../core/time.ts"
import { formatCursor } from "../../events/feed/cursor.ts"
import { sweepEvents } from "../../events/feed/delete-old-events.ts"
import { startServer } from "../server.ts"
import { keySealer, parseKeyRing } from "../../storage/sealing/key-sealing.ts"
import { statement } from "../../storage/sql/query-runner.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { databaseKinds, defaultKind } from "../../../testing/temporary-database.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { openEmbedded } from "../../embedded.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine()
  await testEngine.request("POST", "/organizations", {
    body: { data: { type: "organizations", attributes: { name: "acme", email: "a@example.com" } } },
  })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const events = "/organizations/acme/events"

async function newWorkspace(name: string): Promise<string> {
  const attributes = { name }
  const made = await testEngine.request("POST", "/organizations/acme/workspaces", {
    body: { data: { type: "workspaces", attributes } },
  })
  return made.body.data.id
}

/** Reads a page until it is not empty. On a shared PostgreSQL server, an event can become readable a moment after its change. */
const page = (query: string) =>
  vi.waitFor(
    async () => {
      const answer = await testEngine.request("GET", `${events}?${query}`)
      expect([answer.status, answer.body.data.length > 0]).toEqual([200, true])
      return answer
    },
    { timeout: 20_000 },
  )

/** Reads the event stream until `enough` returns true, and returns the text. */
async function streamed(
  headers: Readonly<Record<string, string>>,
  enough: (text: string) => boolean,
  query = "",
  during = async () => {},
): Promise<string> {
  const response = await testEngine.app.fetch(
    new Request(`http://chancery.test/api/v2${events}${query}`, {
      headers: { authorization: `Bearer ${testEngine.rootToken}`, accept: "text/event-stream", ...headers },
    }),
  )
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"])
  await during()
  let text = ""
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString()
    if (enough(text)) break
  }
  return text
}

describe("a page of events", () => {
  test("[F-W17] has events as resources, the name of the actor, and the cursor of the next page", async () => {
    const id = await newWorkspace("paged")
    const { body } = await page("filter[workspace]=paged&page[size]=1")
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^c/),
        type: "events",
        attributes: {
          kind: "workspace.created",
          at: expect.stringMatching(/Z$/),
          "organization-name": "acme",
          "workspace-name": "paged",
          tags: [],
          changed: [],
          subject: null,
          actor: { type: "users", id: expect.stringMatching(/^user-/), name: "root" },
          "token-id": expect.stringMatching(/^at-/),
          "request-id": expect.any(String),
        },
        relationships: { workspace: { data: { type: "workspaces", id } } },
      },
    ])
    expect(body.links.next).toBeNull()
    expect(body.meta).toEqual({ cursor: expect.any(String), more: false })
    await testEngine.request("POST", `/workspaces/${id}/actions/lock`, { body: { reason: "" } })
    const next = await page(`filter[workspace]=paged&since=${body.meta.cursor}`)
    expect(next.body.data.map((event: { attributes: { kind: string } }) => event.attributes.kind)).toEqual([
      "workspace.locked",
    ])
  })

  test.each([
    ["filter[kind]=nothing", "filter[kind]"],
    ["since=nonsense", "since"],
    ["page[number]=2", "page[number]"],
  ])("is rejected for %s", async (query, parameter) => {
    const { status, body } = await testEngine.request("GET", `${events}?${query}`)
    expect([status, body.errors[0].source]).toEqual([400, { parameter }])
  })
})

describe("a stream of events", () => {
  test("begins with its position, and has an id, a kind and the resource of each event", async () => {
    await newWorkspace("streamed")
    const text = await streamed(
      {},
      (seen) => seen.includes("workspace.created"),
      "?since=2020-01-01T00:00:00Z&filter[workspace]=streamed",
    )
    expect(text).toMatch(/^retry: \d+\n: following\n\n: heartbeat\nid: c[^\n]+\n\n/)
    const [, id, data] = /\nid: (c[^\n]+)\nevent: workspace\.created\ndata: (\{[^\n]+\})\n\n/.exec(text) ?? []
    expect(JSON.parse(data ?? "")).toMatchObject({ id, type: "events", attributes: { "workspace-name": "streamed" } })
  })

  test("continues after the last event of the client, whatever the URL contains", async () => {
    const id = await newWorkspace("continued")
    const first = await page(`filter[workspace]=${id}`)
    await testEngine.request("POST", `/workspaces/${id}/actions/lock`, { body: { reason: "" } })
    const text = await streamed(
      { "last-event-id": first.body.data[0].id },
      (seen) => seen.includes("workspace.locked"),
      `?filter[workspace]=${id}&since=2020-01-01T00:00:00Z`,
    )
    expect(text).not.toContain("workspace.created")
  })

  test("sends events that occur while it is open", async () => {
    const text = await streamed(
      {},
      (seen) => seen.includes('"workspace-name":"live"'),
      "?filter[kind]=workspace.*",
      async () => {
        await newWorkspace("live")
      },
    )
    expect(text).toContain('"workspace-name":"live"')
  })

  test("is rejected like any other request", async () => {
    const options = { headers: { accept: "text/event-stream" } }
    expect((await testEngine.request("GET", events, { ...options, token: null })).status).toBe(401)
    expect((await testEngine.request("GET", "/organizations/none/events", options)).status).toBe(404)
  })
})

const sealKey = Buffer.alloc(32, "events").toString("base64")
const assignTransactionId = statement<unknown, unknown>(() => sql`select pg_current_xact_id()`)

for (const kind of databaseKinds.filter(({ name }) => name !== "SQLite memory"))
  describe.skipIf(!kind.available)(`on ${kind.name},`, () => {
    test("events older than the retention answer 410 with the oldest position", async () => {
      await using place = await kind.place()
      const { random } = systemRuntime()
      let now = 1_700_000_000_000
      const runtime = { ...systemRuntime(), clock: { now: () => now } }
      await using engine = await openEmbedded(place.url, { runtime, sealKeys: { text: sealKey }, jobs: false })
      await using database = await openDatabase(place.url)
      const storage = repositoriesOver(database, keySealer(parseKeyRing(sealKey), random), runtime.clock)
      await engine.organizations.create({ name: "acme", email: "a@example.com" })
      const first = (await engine.events.list("acme", { since: "2023-01-01T00:00:00Z" })).cursor
      for (const name of ["one", "two", "three"]) {
        await engine.workspaces.create("acme", { name })
        now += dayMs
      }
      const lastThere = async () => (await engine.events.list("acme", {})).items.at(-1)?.workspace?.name
      await expect.poll(lastThere).toBe("three")
      const { signal } = new AbortController()
      await sweepEvents({ storage, runtime, eventRetentionMs: 2 * dayMs - hourMs }, { signal })
      const refusal = await engine.events.follow("acme", { since: first }).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: "gone", facts: { oldest: expect.any(String) } })
      await expect(engine.events.list("acme", { since: "2023-11-14T00:00:00Z" })).rejects.toMatchObject({
        code: "gone",
      })
      const { oldest } = (refusal as { facts: { oldest: string } }).facts
      const kept = (await engine.events.list("acme", { since: oldest })).items
      expect(kept.map(({ workspace }) => workspace?.name)).toEqual(["two", "three"].slice(-kept.length))
      expect(kept.length).toBeGreaterThan(0)
      await expect.poll(async () => (await engine.events.list("acme", {})).items).toEqual(kept)
    })

    test("one server sends events that another committed", async () => {
      await using place = await kind.place()
      const options = { sealKeys: { text: sealKey }, jobs: false }
      await using one = await openEmbedded(place.url, options)
      await using other = await openEmbedded(place.url, options)
      await one.organizations.create({ name: "acme", email: "a@example.com" })
      const following = await one.events.follow("acme", {})
      await other.workspaces.create("acme", { name: "elsewhere" })
      const names: (string | undefined)[] = []
      for await (const { workspace } of following) {
        names.push(workspace?.name)
        if (workspace !== null) break
      }
      // The event of the organization's creation may become readable after `follow` was called.
      expect(names.filter((name) => name !== undefined)).toEqual(["elsewhere"])
    })
  })

// SQLite has one writer, so no event waits there.
for (const kind of databaseKinds.filter(({ name }) => name === "PostgreSQL"))
  describe.skipIf(!kind.available)("on PostgreSQL,", () => {
    test("a cursor is accepted while its event waits for an earlier transaction", async () => {
      await using place = await kind.place()
      await using engine = await openEmbedded(place.url, { sealKeys: { text: sealKey }, jobs: false })
      await engine.organizations.create({ name: "acme", email: "a@example.com" })
      await using database = await openDatabase(place.url)
      const { random, clock } = systemRuntime()
      const storage = repositoriesOver(database, keySealer(parseKeyRing(sealKey), random), clock)
      const newest = () => storage.read(({ events }) => events.newest())
      const released = Promise.withResolvers<void>()
      const started = Promise.withResolvers<void>()
      const earlier = database.transact(async (session) => {
        await session.queryOne(assignTransactionId, {})
        started.resolve()
        await released.promise
      })
      const names = async () => (await engine.events.list("acme", {})).items.map(({ workspace }) => workspace?.name)
      let since = ""
      try {
        await started.promise
        await engine.workspaces.create("acme", { name: "waiting" })
        since = formatCursor(await newest())
        expect(await names()).not.toContain("waiting")
        await expect(engine.events.list("acme", { since })).resolves.toMatchObject({ items: [], cursor: since })
      } finally {
        released.resolve()
      }
      await earlier
      await expect.poll(names).toContain("waiting")
      await expect(engine.events.list("acme", { since })).resolves.toMatchObject({ items: [] })
    })
  })

test("no events are sent and stored when the feed is disabled", async () => {
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, {
    jobs: false,
    events: { on: false },
    sealKeys: { text: Buffer.alloc(32).toString("base64") },
  })
  await engine.organizations.create({ name: "acme", email: "a@example.com" })
  await engine.workspaces.create("acme", { name: "one" })
  await expect(engine.events.list("acme", {})).rejects.toMatchObject({ code: "out-of-service" })
})

test("streams end when the server stops, without being aborted", async () => {
  const metrics = recordedMetrics()
  await using place = await defaultKind.place()
  await using engine = await openEmbedded(place.url, {
    metrics,
    jobs: false,
    sealKeys: { text: Buffer.alloc(32).toString("base64") },
  })
  await engine.organizations.create({ name: "acme", email: "a@example.com" })
  const { secret } = await engine.tokens.createForUser((await engine.users.account()).id, {})
  const server = await startServer({ engine })
  const response = await fetch(`${server.url}/api/v2/organizations/acme/events`, {
    headers: { authorization: `Bearer ${secret}`, accept: "text/event-stream" },
  })
  const whole = response.text()
  expect(metrics.value("chancery_event_followers")).toBe(1)
  expect(await server.close()).toEqual({ cut: 0 })
  expect(await whole).toContain(": following")
  await expect.poll(() => metrics.value("chancery_event_followers")).toBe(0)
})
