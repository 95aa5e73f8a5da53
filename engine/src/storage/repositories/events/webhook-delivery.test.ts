// Deliveries from each kind of database to a real receiver on the loopback interface, with a manual clock.
import { sql } from "kysely"
import { describe, expect, test } from "vitest"
import { guardedFetch } from "../../../client/outgoing/guarded-fetch.ts"
import { webhookClient } from "../../../client/outgoing/webhook-client.ts"
import { firstPage } from "../../../core/page.ts"
import { silentLog, systemRuntime } from "../../../core/runtime.ts"
import { dayMs, hourMs, secondMs } from "../../../core/time.ts"
import { systemTimers } from "../../../core/timers.ts"
import { openEmbedded } from "../../../embedded.ts"
import { sweepEvents } from "../../../events/feed/delete-old-events.ts"
import { type WebhookInput } from "../../../events/webhooks/webhook.ts"
import { createWebhookMetrics } from "../../../events/webhooks/webhook-metrics.ts"
import { WebhookDelivery, webhooksJob } from "../../../events/webhooks/webhook-delivery.ts"
import { maxAttempts, maxDeadInARow } from "../../../events/webhooks/webhook-progress.ts"
import { type ManualClock, manualClock } from "../../../../testing/manual-clock.ts"
import { recordedMetrics } from "../../../../testing/recorded-metrics.ts"
import { startWebhookReceiver, type WebhookReceiver } from "../../../../testing/webhook-receiver.ts"
import { openDatabase } from "../../sql/database.ts"
import { hmacHex } from "../../sealing/hmac-signer.ts"
import { keySealer, parseKeyRing } from "../../sealing/key-sealing.ts"
import { repositoriesOver } from "../repositories.ts"
import { type DatabaseKind, databaseKinds } from "../../../../testing/temporary-database.ts"

const keyText = Buffer.alloc(32, "webhooks").toString("base64")
const { random, digest } = systemRuntime()
const never = new AbortController().signal

interface Fixture extends AsyncDisposable {
  readonly engine: Awaited<ReturnType<typeof openEmbedded>>
  readonly storage: ReturnType<typeof repositoriesOver>
  readonly receiver: WebhookReceiver
  readonly clock: ManualClock
  readonly counts: () => {
    readonly delivered: number
    readonly failed: number
    readonly dead: number
    readonly disabled: number
  }
  readonly woken: string[]
  /** Names of events logged as errors. */
  readonly errors: string[]
  readonly url: string
  /** Creates the delivery of a server that has just started and loads the stored state. */
  newServer(): WebhookDelivery
  newWebhook(input?: Partial<WebhookInput>): Promise<string>
  /** Locks the workspace of this name, and creates it if it does not exist. */
  lock(name: string): Promise<void>
}

async function createFixture(kind: DatabaseKind): Promise<Fixture> {
  const closing = new AsyncDisposableStack()
  const { url } = closing.use(await kind.place())
  const clock = manualClock()
  const errors: string[] = []
  const runtime = { clock, random, digest, log: { ...silentLog, error: (event: string) => void errors.push(event) } }
  const engine = closing.use(await openEmbedded(url, { sealKeys: { text: keyText }, jobs: false, runtime }))
  const database = closing.use(await openDatabase(url))
  const feed = { committed: () => {} }
  const storage = repositoriesOver(database, keySealer(parseKeyRing(keyText), random), clock, feed)
  const receiver = closing.use(await startWebhookReceiver())
  const outgoing = closing.use(guardedFetch({ permitted: { kinds: ["loopback"], ranges: [] }, digest }))
  const metrics = recordedMetrics()
  const woken: string[] = []
  await engine.organizations.create({ name: "acme", email: "a@example.com" })
  return {
    engine,
    storage,
    receiver,
    clock,
    counts: () => ({
      delivered: metrics.value("chancery_webhook_deliveries_total", { outcome: "delivered" }),
      failed: metrics.value("chancery_webhook_deliveries_total", { outcome: "failed" }),
      dead: metrics.value("chancery_webhook_dead_letters_total"),
      disabled: metrics.value("chancery_webhooks_disabled_total"),
    }),
    woken,
    errors,
    url,
    newServer: () =>
      new WebhookDelivery({
        storage,
        runtime,
        timers: systemTimers,
        client: webhookClient(outgoing.fetch, clock, hmacHex),
        eventRetentionMs: 7 * dayMs,
        metrics: createWebhookMetrics(metrics.meter),
        wakeJob: (name) => woken.push(name),
      }),
    newWebhook: async (input = {}) =>
      (await engine.webhooks.create("acme", { name: "hook", url: receiver.url, kinds: ["workspace.locked"], ...input }))
        .id,
    async lock(name) {
      const ref = { organization: "acme", name }
      const known = await engine.workspaces.get(ref).catch(() => undefined)
      const { id } = known ?? (await engine.workspaces.create("acme", { name }))
      if (known?.lock !== undefined && known.lock !== null) await engine.workspaces.unlock({ id })
      await engine.workspaces.lock({ id }, { reason: "" })
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

async function turn(server: WebhookDelivery): Promise<void> {
  await server.begin(never)
  await server.settled()
}

/** Runs turns until `isDone` is true. Transactions of other tests on the same server may delay the feed for a moment. */
async function turnsUntil(server: WebhookDelivery, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const look = async () => {
    await turn(server)
    return isDone()
  }
  await expect.poll(look, { timeout: 10_000 }).toBe(true)
}

const seenOf = ({ receiver }: Fixture) =>
  receiver.seen.map(({ body }) => {
    const { attributes } = JSON.parse(body).data
    return `${attributes.kind} ${attributes["workspace-name"]}`
  })

describe.each(databaseKinds.filter(({ name }) => name !== "SQLite memory"))("webhooks on $name", (kind) => {
  if (!kind.available) return

  test("deliver matching events since their creation, in order, as the feed shows them", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver, counts } = fixture
    await fixture.lock("before")
    // A webhook starts at the first event that is not readable yet, so that events committed during its creation are not lost.
    const locked = async () => (await engine.events.list("acme", { kinds: ["workspace.locked"] })).items.length
    await expect.poll(locked).toBe(1)
    const id = await fixture.newWebhook()
    for (const name of ["one", "two", "three"]) await fixture.lock(name)
    const server = fixture.newServer()
    await turnsUntil(server, () => seenOf(fixture).includes("workspace.locked three"))
    await turn(server)
    // A transaction of another database that ended during the creation of the webhook may have hidden the event before it.
    const isEarlier = (line: string) => kind.name === "PostgreSQL" && line === "workspace.locked before"
    const earlierCount = seenOf(fixture).findIndex((line) => !isEarlier(line))
    const names = ["one", "two", "three"].map((name) => `workspace.locked ${name}`)
    expect(seenOf(fixture).slice(earlierCount)).toEqual(names)
    const { items } = await engine.events.list("acme", { kinds: ["workspace.locked"], workspaces: ["one"] })
    expect(JSON.parse(receiver.seen[earlierCount]?.body ?? "")).toMatchObject({
      data: { id: items[0]?.id, type: "events" },
    })
    const deliveries = new Set(receiver.seen.map(({ headers }) => headers["x-chancery-delivery"]))
    expect(deliveries.size).toBe(earlierCount + 3)
    expect(await engine.webhooks.get("acme", id)).toMatchObject({ lastError: null, failingSince: null })
    expect((await engine.webhooks.get("acme", id)).lastDeliveredAt).toBe(fixture.clock.now())
    expect(counts()).toMatchObject({ delivered: earlierCount + 3, failed: 0 })
  })

  test("retry a failed event later with the same id, while later events wait", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver, clock } = fixture
    const id = await fixture.newWebhook()
    for (const name of ["one", "two"]) await fixture.lock(name)
    receiver.answerWith((response) => void response.writeHead(500).end("secret of the receiver"))
    await turnsUntil(fixture.newServer(), () => receiver.seen.length > 0)
    await turn(fixture.newServer())
    expect(seenOf(fixture)).toEqual(["workspace.locked one"])
    const failing = await engine.webhooks.get("acme", id)
    expect(failing).toMatchObject({ enabled: true, lastError: "status 500", failingSince: clock.now() })
    receiver.answerWith((response) => void response.writeHead(200).end())
    clock.advance(10 * secondMs)
    // Another server continues where the first one stopped.
    await turn(fixture.newServer())
    expect(seenOf(fixture)).toEqual(["workspace.locked one", "workspace.locked one", "workspace.locked two"])
    const [first, second] = receiver.seen
    expect(first?.headers["x-chancery-delivery"]).toBe(second?.headers["x-chancery-delivery"])
    expect(first?.body).toBe(second?.body)
    expect(await engine.webhooks.get("acme", id)).toMatchObject({ lastError: null, failingSince: null })
  })

  test("lose and skip no event when servers start or stop between deliveries", async () => {
    await using fixture = await createFixture(kind)
    const { receiver } = fixture
    await fixture.newWebhook()
    const names = Array.from({ length: 8 }, (_, index) => `w${index}`)
    for (const name of names) await fixture.lock(name)
    for (let restarts = 0; restarts < 40 && new Set(seenOf(fixture)).size < names.length; restarts += 1) {
      const stopping = new AbortController()
      // Stops the server before the receiver answers, so the result of the delivery is never recorded.
      receiver.answerWith((response) => {
        if (receiver.seen.length % 2 === 0) stopping.abort()
        setTimeout(() => response.writeHead(204).end(), 5)
      })
      const server = fixture.newServer()
      await server.begin(stopping.signal)
      await server.settled()
    }
    const inOrder = seenOf(fixture).filter((event, index, all) => event !== all[index - 1])
    expect(inOrder).toEqual(names.map((name) => `workspace.locked ${name}`))
  })

  test("store an event as a dead letter after the last attempt, and continue with the next", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver, clock, counts } = fixture
    const id = await fixture.newWebhook()
    for (const name of ["one", "two"]) await fixture.lock(name)
    receiver.answerWith((response, { body }) => void response.writeHead(body.includes('"one"') ? 500 : 204).end())
    const server = fixture.newServer()
    await turnsUntil(server, () => receiver.seen.length > 0)
    for (let attempts = 1; attempts < maxAttempts; attempts += 1) {
      clock.advance(hourMs)
      await turn(server)
    }
    expect(seenOf(fixture).filter((event) => event.endsWith("one"))).toHaveLength(maxAttempts)
    await turnsUntil(server, () => seenOf(fixture).includes("workspace.locked two"))
    const { items } = await engine.webhooks.deadLetters("acme", id, firstPage)
    expect(items).toEqual([
      {
        id: receiver.seen[0]?.headers["x-chancery-delivery"],
        eventId: JSON.parse(receiver.seen[0]?.body ?? "").data.id,
        kind: "workspace.locked",
        document: receiver.seen[0]?.body,
        attempts: maxAttempts,
        lastError: "status 500",
        failedAt: expect.any(Number),
        redelivering: false,
      },
    ])
    expect(counts()).toEqual({ delivered: 1, failed: maxAttempts, dead: 1, disabled: 0 })
  })

  test("redeliver a dead letter until it is accepted, also when its event is swept and the webhook disabled", async () => {
    await using fixture = await createFixture(kind)
    const { engine, storage, receiver, clock } = fixture
    const id = await fixture.newWebhook({ enabled: false })
    const letter = {
      id: "whd-1",
      webhookId: id,
      eventId: "c0-1",
      kind: "workspace.locked",
      document: '{"data":1}',
    } as const
    await storage.transact(({ webhooks }) =>
      webhooks.saveLetter({ ...letter, attempts: 8, lastError: "timeout", failedAt: clock.now(), redelivering: false }),
    )
    const server = fixture.newServer()
    expect(await server.begin(never)).toBe(false)
    receiver.answerWith((response) => void response.writeHead(503).end())
    expect(await engine.webhooks.redeliver("acme", id, "whd-1")).toMatchObject({ redelivering: true, attempts: 8 })
    await turn(server)
    const { items } = await engine.webhooks.deadLetters("acme", id, firstPage)
    expect(items).toMatchObject([{ id: "whd-1", redelivering: false, attempts: 9, lastError: "status 503" }])
    await turn(server)
    expect(receiver.seen).toHaveLength(1)
    receiver.answerWith((response) => void response.writeHead(200).end())
    await engine.webhooks.redeliver("acme", id, "whd-1")
    await turn(server)
    expect(receiver.seen.map(({ body, headers }) => [body, headers["x-chancery-delivery"]])).toEqual([
      ['{"data":1}', "whd-1"],
      ['{"data":1}', "whd-1"],
    ])
    expect((await engine.webhooks.deadLetters("acme", id, firstPage)).items).toEqual([])
  })

  test("are disabled after too many consecutive dead letters, with an event, and continue there when enabled", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver, clock, counts } = fixture
    const id = await fixture.newWebhook()
    for (let count = 0; count <= maxDeadInARow; count += 1) await fixture.lock(`w${count}`)
    receiver.answerWith((response) => void response.writeHead(500).end())
    const server = fixture.newServer()
    await turnsUntil(server, async () => {
      clock.advance(hourMs)
      return !(await engine.webhooks.get("acme", id)).enabled
    })
    expect(await engine.webhooks.get("acme", id)).toMatchObject({
      enabled: false,
      disabledReason: expect.stringContaining("status 500"),
    })
    expect(receiver.seen).toHaveLength(maxAttempts * maxDeadInARow)
    expect((await engine.webhooks.deadLetters("acme", id, firstPage)).totalCount).toBe(maxDeadInARow)
    expect(counts()).toMatchObject({ dead: maxDeadInARow, disabled: 1 })
    await expect
      .poll(async () => (await engine.events.list("acme", { kinds: ["webhook.disabled"] })).items)
      .toMatchObject([{ kind: "webhook.disabled", subject: { type: "webhooks", id }, actor: null, workspace: null }])
    expect(await server.begin(never)).toBe(false)
    receiver.answerWith((response) => void response.writeHead(204).end())
    const enabled = await engine.webhooks.update("acme", id, { enabled: true })
    expect(enabled).toMatchObject({ enabled: true, disabledReason: null, failingSince: null })
    await turn(server)
    expect(seenOf(fixture).at(-1)).toBe(`workspace.locked w${maxDeadInARow}`)
    expect(receiver.seen).toHaveLength(maxAttempts * maxDeadInARow + 1)
  })

  test("continue with the oldest event when earlier ones are swept", async () => {
    await using fixture = await createFixture(kind)
    const { engine, storage, receiver, clock } = fixture
    const id = await fixture.newWebhook()
    await engine.webhooks.update("acme", id, { enabled: false })
    await fixture.lock("old")
    clock.advance(8 * dayMs)
    await fixture.lock("new")
    const sweep = () => sweepEvents({ storage, runtime: { clock }, eventRetentionMs: 7 * dayMs }, { signal: never })
    await expect
      .poll(async () => {
        await sweep()
        return (await engine.events.list("acme", { workspaces: ["old"] })).items.length
      })
      .toBe(0)
    await engine.webhooks.update("acme", id, { enabled: true })
    await turnsUntil(fixture.newServer(), () => receiver.seen.length > 0)
    expect(seenOf(fixture)).toEqual(["workspace.locked new"])
  })

  test("retry waiting events at once when they are changed, with the new URL and secret", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver } = fixture
    const id = await fixture.newWebhook({ url: "http://127.0.0.1:1" })
    await fixture.lock("one")
    const server = fixture.newServer()
    await turnsUntil(server, async () => (await engine.webhooks.get("acme", id)).lastError === "unreachable")
    const secret = "another-secret-of-it"
    await engine.webhooks.update("acme", id, { url: receiver.url, secret })
    await turn(server)
    const [seen] = receiver.seen
    const [, time, code] = /^t=(\d+),v1=(.+)$/.exec(String(seen?.headers["x-chancery-signature"])) ?? []
    expect(code).toBe(hmacHex(secret, `${time}.${seen?.body}`))
  })

  test("do not delay others when one is slow", async () => {
    await using fixture = await createFixture(kind)
    const { receiver } = fixture
    await fixture.newWebhook({ name: "slow", url: `${receiver.url}/slow` })
    await fixture.newWebhook({ name: "quick", url: `${receiver.url}/quick` })
    for (const name of ["one", "two", "three"]) await fixture.lock(name)
    const pending: (() => void)[] = []
    receiver.answerWith((response, { path }) => {
      const end = () => void response.writeHead(204).end()
      if (path === "/slow") pending.push(end)
      else end()
    })
    const server = fixture.newServer()
    const quick = () => receiver.seen.filter(({ path }) => path === "/quick").length
    await expect
      .poll(
        async () => {
          await server.begin(never)
          return quick()
        },
        { timeout: 10_000 },
      )
      .toBe(3)
    expect(receiver.seen.filter(({ path }) => path === "/slow")).toHaveLength(1)
    receiver.answerWith((response) => void response.writeHead(204).end())
    for (const end of pending) end()
    await server.settled()
  })

  test("do not delay other organizations when many of one are slow", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver } = fixture
    const names = Array.from({ length: 12 }, (_, index) => `slow-${index}`)
    for (const name of names) await fixture.newWebhook({ name, url: `${receiver.url}/slow` })
    await engine.organizations.create({ name: "other", email: "o@example.com" })
    await engine.webhooks.create("other", { name: "quick", url: `${receiver.url}/quick` })
    await fixture.lock("one")
    await engine.workspaces.create("other", { name: "two" })
    const pending: (() => void)[] = []
    receiver.answerWith((response, { path }) => {
      const end = () => void response.writeHead(204).end()
      if (path === "/slow") pending.push(end)
      else end()
    })
    const server = fixture.newServer()
    const seenAt = (place: string) => receiver.seen.filter(({ path }) => path === place).length
    await expect
      .poll(
        async () => {
          await server.begin(never)
          return [seenAt("/slow"), seenAt("/quick")]
        },
        { timeout: 10_000 },
      )
      .toEqual([8, 1])
    receiver.answerWith((response) => void response.writeHead(204).end())
    for (const end of pending) end()
    await server.settled()
    await turnsUntil(server, () => seenAt("/slow") === 12)
  })

  test("are postponed when this server fails to serve them", async () => {
    await using fixture = await createFixture(kind)
    const { receiver, clock } = fixture
    const id = await fixture.newWebhook()
    await fixture.lock("one")
    const database = await openDatabase(fixture.url)
    const [row] = await database.read((session) =>
      session.queryMany(sql<{ sealed: Uint8Array }>`select secret_sealed as sealed from webhooks`),
    )
    const write = (sealed: Uint8Array) =>
      database.transact((session) =>
        session.execute(sql`update webhooks set secret_sealed = ${sealed} where id = ${id}`),
      )
    await write(Buffer.from("unreadable"))
    const server = fixture.newServer()
    await turnsUntil(server, () => fixture.errors.length > 0)
    for (let turns = 0; turns < 5; turns += 1) await turn(server)
    expect(fixture.errors).toEqual(["webhook-not-served"])
    await write(row?.sealed ?? Buffer.of())
    await database.close()
    clock.advance(30 * secondMs)
    await turn(server)
    expect(receiver.seen).toHaveLength(1)
  })

  test("advance past events that do not match, and keep dead letters as long as events", async () => {
    await using fixture = await createFixture(kind)
    const { engine, storage, clock, woken } = fixture
    const id = await fixture.newWebhook({ workspaces: ["wanted"] })
    const found = await storage.read(({ webhooks }) => webhooks.find(id))
    if (found === undefined) throw new Error("there is no webhook")
    const { cursor, organizationId } = found
    const change = { kind: "project.updated", organizationId } as const
    await storage.transact(({ events }) => events.append(...Array.from({ length: 600 }, () => change)))
    const server = fixture.newServer()
    await turnsUntil(server, async () => {
      const webhook = await storage.read(({ webhooks }) => webhooks.find(id))
      return JSON.stringify(webhook?.cursor) !== JSON.stringify(cursor)
    })
    await storage.transact(async ({ webhooks }) => {
      const letter = { webhookId: id, eventId: "c0-1", kind: "workspace.locked", document: "{}", attempts: 8 } as const
      for (const [letterId, failedAt] of [
        ["whd-old", clock.now() - 8 * dayMs],
        ["whd-new", clock.now()],
      ] as const)
        await webhooks.saveLetter({ ...letter, id: letterId, lastError: "timeout", failedAt, redelivering: false })
    })
    const stopping = new AbortController()
    const running = server.run({ signal: stopping.signal })
    await expect.poll(async () => (await engine.webhooks.deadLetters("acme", id, firstPage)).totalCount).toBe(1)
    stopping.abort()
    await running
    expect((await engine.webhooks.deadLetters("acme", id, firstPage)).items[0]?.id).toBe("whd-new")
    expect(woken).toEqual([])
  })

  test("are served by a job run that ends when none is enabled, and requests the next run at its time limit", async () => {
    await using fixture = await createFixture(kind)
    const { engine, receiver, clock, woken } = fixture
    const id = await fixture.newWebhook()
    const server = fixture.newServer()
    const running = server.run({ signal: never })
    await fixture.lock("one")
    server.wake()
    await expect.poll(() => seenOf(fixture), { timeout: 10_000 }).toEqual(["workspace.locked one"])
    clock.advance(hourMs)
    await running
    expect(woken).toEqual([webhooksJob.name])
    await engine.webhooks.update("acme", id, { enabled: false })
    await server.run({ signal: never })
    expect(woken).toEqual([webhooksJob.name])
    expect(receiver.seen).toHaveLength(1)
  })
})
