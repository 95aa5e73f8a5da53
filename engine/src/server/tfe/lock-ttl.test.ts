// Locks that expire, on two servers with one database: docs/locks.md.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { minuteMs, secondMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../storage/sealing/key-sealing.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { made, newMember, newTeam } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { expireLocks } from "../../workspaces/lock/lock-expiry.ts"

async function lockEngine() {
  const clock = manualClock()
  const logged: string[] = []
  const log = { debug() {}, error() {}, warn() {}, info: (name: string) => void logged.push(name) }
  const runtime = { ...systemRuntime(log), clock }
  const keyText = newKeyText(runtime.random)
  const place = await defaultSharedKind.place()
  const options = { url: place.url, runtime, sealKeys: { text: keyText }, jobs: false }
  const testEngine = await populatedEngine(options)
  const replica = await openTestEngine(options)
  const holder = await newMember(testEngine, "acme", "holder")
  const other = await newMember(testEngine, "acme", "other")
  await newTeam(testEngine, "acme", "managers", { access: { "manage-workspaces": true }, members: [holder, other] })
  const id = await testEngine.workspace("web")
  return Object.assign(testEngine, {
    id,
    clock,
    holder,
    other,
    replica,
    logged,
    act: (action: string, body?: unknown, { token } = holder, on: Pick<typeof testEngine, "request"> = testEngine) =>
      on.request("POST", `/workspaces/${id}/actions/${action}`, { token, body }),
    shown: async (on: Pick<typeof testEngine, "request"> = testEngine) =>
      (await on.request("GET", `/workspaces/${id}`)).body.data,
    save: (serial: number, attributes: object = {}) =>
      testEngine.request("POST", `/workspaces/${id}/state-versions`, {
        token: holder.token,
        body: stateVersionDocument(stateFile({ serial }), { intermediate: true, ...attributes }),
      }),
    /** Runs the lock expiry job once, on a database connection of its own. */
    async look(): Promise<void> {
      await using database = await openDatabase(place.url)
      const sealer = keySealer(parseKeyRing(keyText), runtime.random)
      const storage = repositoriesOver(database, sealer, clock, { committed() {} })
      await expireLocks({ storage, runtime }, { signal: AbortSignal.timeout(20_000) })
    },
    /** Returns true if the lock is stored, expired or not. */
    async isStored(): Promise<boolean> {
      await using database = await openDatabase(place.url)
      const row = await database.read((session) =>
        session.queryOne(session.db.selectFrom("workspaces").select("locked_at").where("id", "=", id)),
      )
      return row !== undefined && row.locked_at !== null
    },
    async [Symbol.asyncDispose]() {
      await replica[Symbol.asyncDispose]()
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  })
}

describe("a lock with a ttl", () => {
  test("is held until its last millisecond, and expired afterwards on every server", async () => {
    await using testEngine = await lockEngine()
    const { clock, replica } = testEngine
    expect((await testEngine.act("lock", { reason: "deploy", ttl: "15m" })).status).toBe(200)
    clock.advance(15 * minuteMs - 1)
    for (const on of [testEngine, replica])
      expect((await testEngine.shown(on)).attributes).toMatchObject({
        locked: true,
        "locked-until": "2026-01-01T00:15:00.000Z",
        "lock-ttl": 900,
      })
    clock.advance(1)
    for (const on of [replica, testEngine]) {
      const { attributes, relationships } = await testEngine.shown(on)
      expect(attributes).toMatchObject({ locked: false, "locked-reason": null, "locked-at": null })
      expect(attributes).not.toHaveProperty("locked-until")
      expect(relationships["locked-by"].data).toBeNull()
    }
    expect((await testEngine.act("unlock")).body.errors[0].detail).toContain("already unlocked")
  })

  test("can be taken by one other caller in the instant of its expiry", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { ttl: 60 })
    testEngine.clock.advance(minuteMs)
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        testEngine.act("lock", { reason: "next" }, testEngine.other, index % 2 === 0 ? testEngine : testEngine.replica),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(15)
    for (const [action, status] of [
      ["extend-lock", 409],
      ["unlock", 409],
    ] as const)
      expect((await testEngine.act(action)).status).toBe(status)
    expect((await testEngine.shown()).attributes).toMatchObject({ locked: true, "locked-reason": "next" })
  })

  test("promotes the last complete state when it expires, and drops a pending one", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { ttl: 60 })
    const whole = await testEngine.save(1, { inline: true })
    const onItsWay = await testEngine.save(2)
    expect([whole.status, onItsWay.status]).toEqual([201, 201])
    testEngine.clock.advance(minuteMs)
    await testEngine.look()
    const { relationships } = await testEngine.shown(testEngine.replica)
    expect(relationships["current-state-version"].data.id).toBe(whole.body.data.id)
    const { attributes } = await made(testEngine, "GET", `/state-versions/${onItsWay.body.data.id}`)
    expect(attributes.status).toBe("discarded")
    expect((await testEngine.save(3, { inline: true })).status).toBe(409)
  })

  test("is released once by the job unless another request released it first", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { ttl: 60 })
    await testEngine.look()
    expect(testEngine.logged.filter((name) => name === "lock-ran-out")).toEqual([])
    testEngine.clock.advance(minuteMs)
    await Promise.all([testEngine.look(), testEngine.look()])
    await testEngine.look()
    expect(testEngine.logged.filter((name) => name === "lock-ran-out")).toHaveLength(1)
    expect((await testEngine.shown()).attributes.locked).toBe(false)
  })
})

describe("a read of a workspace whose lock has expired", () => {
  test("[F-W19] shows it unlocked and writes nothing; the job writes the event once", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { ttl: 60 })
    const whole = await testEngine.save(1, { inline: true })
    const events = async () => {
      const { body } = await testEngine.request("GET", "/organizations/acme/events?since=2026-01-01T00:00:00Z")
      return body.data.filter(
        ({ attributes }: { attributes: { kind: string } }) => attributes.kind === "workspace.lock-expired",
      )
    }
    testEngine.clock.advance(minuteMs)
    const servers = [testEngine, testEngine.replica]
    for (const on of servers) {
      expect((await testEngine.shown(on)).attributes.locked).toBe(false)
      const list = await on.request("GET", "/organizations/acme/workspaces")
      expect(list.body.data.map((one: { attributes: { locked: boolean } }) => one.attributes.locked)).toEqual([false])
      expect(
        (await on.request("GET", "/organizations/acme/workspaces/web", { token: testEngine.other.token })).body.data
          .attributes.locked,
      ).toBe(false)
    }
    expect(await testEngine.isStored()).toBe(true)
    expect(await events()).toEqual([])
    await testEngine.look()
    expect(await testEngine.isStored()).toBe(false)
    await testEngine.look()
    expect(await events()).toHaveLength(1)
    expect((await testEngine.shown()).relationships["current-state-version"].data.id).toBe(whole.body.data.id)
  })

  test("[F-W19] a write before the job ends the lock first, and the event is written once", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { ttl: 60 })
    const onItsWay = await testEngine.save(1)
    testEngine.clock.advance(minuteMs)
    expect((await testEngine.act("lock", { reason: "next" }, testEngine.other)).status).toBe(200)
    await testEngine.look()
    expect((await made(testEngine, "GET", `/state-versions/${onItsWay.body.data.id}`)).attributes.status).toBe(
      "discarded",
    )
    expect(testEngine.logged.filter((name) => name === "lock-ran-out")).toEqual([])
  })

  test("[F-W19] the next queued run is claimed", async () => {
    await using testEngine = await lockEngine()
    await made(testEngine, "PATCH", `/workspaces/${testEngine.id}`, {
      data: { type: "workspaces", attributes: { "execution-mode": "remote" } },
    })
    await testEngine.act("lock", { ttl: 60 })
    const workspace = { data: { type: "workspaces", id: testEngine.id } }
    const run = await made(testEngine, "POST", "/runs", {
      data: { type: "runs", attributes: {}, relationships: { workspace } },
    })
    const claim = () => testEngine.request("POST", `/workspaces/${testEngine.id}/run-claims`)
    expect((await claim()).status).toBe(204)
    testEngine.clock.advance(minuteMs)
    await testEngine.look()
    const claimed = await claim()
    expect(claimed.status).toBe(201)
    expect(claimed.body.data.relationships.run.data.id).toBe(run.id)
  })
})

describe("many locks that expire at one instant", () => {
  test("are not in a list any more", async () => {
    await using testEngine = await lockEngine()
    const ids = await Promise.all(Array.from({ length: 120 }, (_, index) => testEngine.workspace(`many-${index}`)))
    for (const id of ids) await made(testEngine, "POST", `/workspaces/${id}/actions/lock`, { ttl: 10 })
    testEngine.clock.advance(10 * secondMs)
    const { body } = await testEngine.request("GET", "/organizations/acme/workspaces?page[size]=100")
    expect(body.data).toHaveLength(100)
    expect(body.data.filter(({ attributes }: { attributes: { locked: boolean } }) => attributes.locked)).toEqual([])
  })
})

describe("the holder of a lock", () => {
  test("keeps the lock as long as it extends it", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { reason: "long work", ttl: "60s" })
    for (let beat = 0; beat < 5; beat += 1) {
      testEngine.clock.advance(59 * secondMs)
      expect((await testEngine.act("extend-lock")).status).toBe(200)
    }
    expect((await testEngine.shown()).attributes).toMatchObject({ locked: true, "locked-reason": "long work" })
    const longer = await testEngine.act("extend-lock", { data: { attributes: { ttl: "1h" } } })
    expect(longer.body.data.attributes).toMatchObject({ "lock-ttl": 3_600 })
    testEngine.clock.advance(59 * minuteMs)
    expect((await testEngine.shown()).attributes.locked).toBe(true)
    expect((await testEngine.act("unlock")).status).toBe(200)
  })

  test("[F-W17] is named in conflicts by id and name, with reason and expiry", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { reason: "deploy 7", ttl: 90 })
    testEngine.clock.advance(30 * secondMs + 1)
    for (const action of ["lock", "extend-lock", "unlock"]) {
      const { status, headers, body } = await testEngine.act(action, undefined, testEngine.other)
      expect([status, headers.get("retry-after")]).toEqual([409, "60"])
      expect(body.errors).toEqual([
        {
          status: "409",
          title: "conflict",
          detail: expect.stringContaining(`locked by User ${testEngine.holder.id} (holder)`),
          meta: {
            "locked-by": { type: "users", id: testEngine.holder.id, name: "holder" },
            "locked-reason": "deploy 7",
            "locked-at": "2026-01-01T00:00:00.000Z",
            "locked-until": "2026-01-01T00:01:30.000Z",
          },
        },
      ])
    }
  })

  test("is named without Retry-After when the lock has no expiry", async () => {
    await using testEngine = await lockEngine()
    await testEngine.act("lock", { reason: "for good" })
    const { headers, body } = await testEngine.act("lock", undefined, testEngine.other)
    expect(headers.has("retry-after")).toBe(false)
    expect(body.errors[0].meta).toMatchObject({ "locked-reason": "for good", "locked-until": null })
    expect((await testEngine.shown()).attributes).not.toHaveProperty("locked-until")
    testEngine.clock.advance(365 * 24 * 60 * minuteMs)
    expect((await testEngine.shown()).attributes.locked).toBe(true)
  })
})

describe("a ttl", () => {
  test.each([
    { ttl: 1, lasts: 1 },
    { ttl: "90s", lasts: 90 },
    { ttl: "1h30m", lasts: 5_400 },
    { ttl: "30d", lasts: 2_592_000 },
    { ttl: null, lasts: undefined },
  ])("of $ttl lasts $lasts seconds", async ({ ttl, lasts }) => {
    await using testEngine = await lockEngine()
    for (const body of [{ ttl }, { data: { type: "workspaces", attributes: { ttl } } }]) {
      expect((await testEngine.act("lock", body)).body.data.attributes["lock-ttl"]).toBe(lasts)
      await testEngine.act("unlock")
    }
  })

  test.each([
    { ttl: 0, pointer: "/data/attributes/ttl" },
    { ttl: 1.5, pointer: "/data/attributes/ttl" },
    { ttl: "31d", pointer: "/data/attributes/ttl" },
    { ttl: "90", pointer: "/ttl" },
    { ttl: "soon", pointer: "/ttl" },
    { ttl: true, pointer: "/ttl" },
    { ttl: [60], pointer: "/ttl" },
  ])("of $ttl is rejected with 422 and locks nothing", async ({ ttl, pointer }) => {
    await using testEngine = await lockEngine()
    const { status, body } = await testEngine.act("lock", { ttl })
    expect([status, body.errors.map((error: { source: unknown }) => error.source)]).toEqual([422, [{ pointer }]])
    expect((await testEngine.shown()).attributes.locked).toBe(false)
  })
})
