// Reads from the server's own standbys: clients notice neither lag nor failures of a standby.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { exitCodes } from "../../engine/src/cli/exit-code.ts"
import { silentLog } from "../../engine/src/core/runtime.ts"
import { during } from "../../engine/src/core/tracing.ts"
import { startServer } from "../../engine/src/server/server.ts"
import { type Database, openDatabase } from "../../engine/src/storage/sql/database.ts"
import type { QueryRunner } from "../../engine/src/storage/sql/query-runner.ts"
import type { ReplicaState } from "../../engine/src/storage/sql/storage-metrics.ts"
import { UnusableStore } from "../../engine/src/storage/sql/unusable-store.ts"
import { createMetrics } from "../../engine/src/telemetry/metrics.ts"
import { openOtlp } from "../../engine/src/telemetry/otlp.ts"
import { startOtlpReceiver } from "../../engine/testing/otlp-receiver.ts"
import { recordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { run, serve, temporaryFolder } from "../cli/chancery.ts"
import { codeBlocks } from "../readme/shell-blocks.ts"
import { warnMissing } from "../toolchain/missing.ts"
import {
  findPostgresBinaries,
  type OwnPostgres,
  postgresInstallation,
  startOwnPostgres,
} from "../toolchain/postgres.ts"

const binaries = await findPostgresBinaries()
if (binaries === undefined) warnMissing(postgresInstallation)

const patient = { timeout: 60_000 }
/** Longer than a standby needs to catch up, unless a test prevents it. */
const waitMs = 20_000

interface Followed {
  readonly database: Database
  readonly reads: () => { readonly replica: number; readonly primary: number }
  readonly replica: ReplicaState
  /** Logged events about read replicas, in order. */
  readonly logged: readonly { readonly event: string; readonly [field: string]: unknown }[]
}

async function follow(primary: string, replica: string, { waitMs: replicaWaitMs = waitMs } = {}): Promise<Followed> {
  const logged: Followed["logged"][number][] = []
  const tell = (event: string, fields: object = {}) => {
    if (event.startsWith("read-replica")) logged.push({ event, ...fields })
  }
  const metrics = recordedMetrics()
  const database = await openDatabase(primary, {
    meter: metrics.meter,
    log: { ...silentLog, info: tell, warn: tell },
    readReplicas: { urls: [replica], waitMs: replicaWaitMs },
  })
  onTestFinished(() => database.close())
  await database.migrate()
  const up = () => metrics.series("chancery_storage_read_replica_up")[0]
  const name = up()?.labels["replica"]
  if (typeof name !== "string") throw new Error("no replica has an address")
  const reads = (target: string) => metrics.value("chancery_storage_read_replica_reads_total", { target })
  return {
    database,
    reads: () => ({ replica: reads("replica"), primary: reads("primary") }),
    replica: {
      name,
      get isUp() {
        return up()?.value === 1
      },
      get lagMs() {
        const [lag] = metrics.series("chancery_storage_read_replica_lag_seconds")
        return lag && lag.value * 1_000
      },
    },
    logged,
  }
}

const bump = (database: Database, family: string) =>
  database.transact((session) =>
    session.execute(
      session.db
        .insertInto("generations")
        .values({ family, number: 1 })
        .onConflict((known) =>
          known.column("family").doUpdateSet(({ eb }) => ({ number: eb("generations.number", "+", 1) })),
        ),
    ),
  )

/** Returns the cache version of a family, and the kind of server that answered. */
const looked = (family: string) => async (session: QueryRunner) => {
  const row = await session.queryOne(
    session.db.selectNoFrom(({ selectFrom, fn }) => [
      selectFrom("generations").select("number").where("family", "=", family).as("number"),
      fn<boolean>("pg_is_in_recovery", []).as("standby"),
    ]),
  )
  return { number: row?.number ?? 0, by: row?.standby === true ? "standby" : "primary" }
}

describe.runIf(binaries !== undefined)("read replicas", () => {
  const opened = new AsyncDisposableStack()
  let primary: OwnPostgres
  let standby: OwnPostgres
  let other: OwnPostgres

  const started = async (options?: Parameters<typeof startOwnPostgres>[1]) => {
    const server = await startOwnPostgres(binaries ?? "", options)
    opened.defer(() => server.stop())
    return server
  }

  beforeAll(async () => {
    primary = await started()
    await (await openTestEngine({ url: primary.url, jobs: false }))[Symbol.asyncDispose]()
    await primary.query("create role reader login")
    await primary.query("grant select on all tables in schema public to reader")
    // The standby applies each change late, and cancels reads that conflict with one.
    standby = await started({
      copyOf: primary,
      settings: { recovery_min_apply_delay: "100ms", max_standby_streaming_delay: "0" },
    })
    other = await started({ copyOf: primary })
  }, 60_000)
  afterAll(() => opened.disposeAsync())

  test("a lagging standby answers with everything committed before the request, for every reader", async () => {
    const reader = standby.url.replace("//chancery@", "//reader@")
    expect(reader).not.toBe(standby.url)
    const { database, reads, replica, logged } = await follow(primary.url, reader)
    expect(replica.isUp).toBe(true)
    for (let round = 1; round <= 10; round += 1) {
      await bump(database, "written")
      expect(await database.readReplica(looked("written"))).toEqual({ number: round, by: "standby" })
    }
    expect(reads()).toEqual({ replica: 10, primary: 0 })
    expect(logged).toEqual([{ event: "read-replica-used", replica: replica.name }])
    expect(replica.name).not.toContain("reader")
  })

  test("a read sees commits of another server", async () => {
    const { database } = await follow(primary.url, standby.url)
    const { database: another } = await follow(primary.url, standby.url)
    await bump(another, "by-another")
    expect(await database.readReplica(looked("by-another"))).toEqual({ number: 1, by: "standby" })
  })

  test("writes are rejected by a replica, and errors of the callback are passed on", async () => {
    const { database } = await follow(primary.url, standby.url)
    let attempts = 0
    const failing = database.readReplica(async () => {
      attempts += 1
      throw new Error("the work has failed")
    })
    await expect(failing).rejects.toThrow("the work has failed")
    // The work runs again on the primary, because the standby could have caused the error.
    expect(attempts).toBe(2)
    await expect(
      database.readReplica((session) => session.execute(session.db.deleteFrom("generations"))),
    ).rejects.toThrow(/read-only transaction/)
  })

  test("a stalled replica is skipped, and used again later", async () => {
    const { database, reads, replica, logged } = await follow(primary.url, other.url, { waitMs: 500 })
    await other.query("select pg_wal_replay_pause()")
    await bump(database, "paused")
    expect(await database.readReplica(looked("paused"))).toEqual({ number: 1, by: "primary" })
    await vi.waitUntil(() => !replica.isUp, patient)
    expect(replica.lagMs).toBeGreaterThan(0)
    expect(await database.readReplica(looked("paused"))).toEqual({ number: 1, by: "primary" })
    expect(reads()).toEqual({ replica: 0, primary: 2 })
    await other.query("select pg_wal_replay_resume()")
    await vi.waitUntil(() => replica.isUp, patient)
    expect(await database.readReplica(looked("paused"))).toEqual({ number: 1, by: "standby" })
    expect(logged.map(({ event, reason }) => [event, reason])).toEqual([
      ["read-replica-used", undefined],
      ["read-replica-left-out", "the server is too far behind"],
      ["read-replica-used", undefined],
    ])
  })

  test("a read cancelled by a replay conflict is repeated on the primary", async () => {
    const { database, replica } = await follow(primary.url, standby.url)
    await primary.query("insert into generations select 'passing/' || n, n from generate_series(1, 1000) as n")
    const seen: string[] = []
    const count = await database.readReplica(async (session) => {
      const found = await session.queryOne(
        session.db
          .selectFrom("generations")
          .select(({ fn }) => [fn.countAll<number>().as("count"), fn<boolean>("pg_is_in_recovery", []).as("standby")])
          .where("family", "like", "passing/%"),
      )
      seen.push(found?.standby === true ? "standby" : "primary")
      if (found?.standby === true) {
        await primary.query("delete from generations where family like 'passing/%'")
        await primary.query("vacuum generations")
        await session.queryMany(session.db.selectNoFrom(({ fn, lit }) => fn("pg_sleep", [lit(8)]).as("slept")))
      }
      return found?.count
    })
    expect(seen).toEqual(["standby", "primary"])
    expect(count).toBe(0)
    await vi.waitUntil(() => replica.isUp, patient)
  })

  test("lists show a row just created, and metrics count the answers by database", async () => {
    await using testEngine = await openTestEngine({
      url: primary.url,
      metrics: createMetrics(),
      jobs: false,
      readReplicas: { urls: [standby.url], waitMs },
    })
    await testEngine.request("POST", "/organizations", {
      body: { data: { type: "organizations", attributes: { name: "acme", email: "ops@acme.example" } } },
    })
    const names: string[] = []
    for (let number = 1; number <= 5; number += 1) {
      const name = `made-${number}`
      names.push(name)
      const { status } = await testEngine.request("POST", "/organizations/acme/workspaces", {
        body: { data: { type: "workspaces", attributes: { name } } },
      })
      expect(status).toBe(201)
      const { body } = await testEngine.request("GET", "/organizations/acme/workspaces")
      const { data } = body as { readonly data: readonly { readonly attributes: { readonly name: string } }[] }
      expect(data.map(({ attributes }) => attributes.name).toSorted()).toEqual(names)
    }
    const server = await startServer({ engine: testEngine.engine })
    onTestFinished(() => server.close().then(() => {}))
    const text = await (await fetch(`${server.url}/metrics`)).text()
    expect(text).toContain('chancery_storage_read_replica_reads_total{target="replica"} 5')
    expect(text).toContain('chancery_storage_read_replica_reads_total{target="primary"} 0')
    expect(text).toMatch(/chancery_storage_read_replica_up\{replica=".*\/postgres"\} 1/)
    expect(text).toMatch(/chancery_storage_read_replica_lag_seconds\{replica=".*"\} \d/)
    expect(text).not.toContain("chancery@")
  })

  test("a trace names the database that answered", async () => {
    await using receiver = await startOtlpReceiver()
    const telemetry = openOtlp({
      traces: {
        url: `${receiver.url}/v1/traces`,
        protocol: "http/json",
        sampler: { followsParent: true, ratio: 1 },
        batch: { maxQueue: 1_000, delayMs: 20 },
      },
      resource: {},
      release: "0.0.0",
      log: silentLog,
    })
    const { tracer } = telemetry
    if (tracer === undefined) throw new Error("no traces are kept")
    const metrics = recordedMetrics()
    await using database = await openDatabase(primary.url, {
      meter: metrics.meter,
      tracer,
      readReplicas: { urls: [standby.url], waitMs },
    })
    await database.migrate()
    const seen = await during(tracer, tracer.root("asked"), () => database.readReplica(looked("traced")))
    expect(seen.by).toBe("standby")
    await telemetry[Symbol.asyncDispose]()
    const reads = receiver.spans().filter(({ name }) => name === "storage read")
    expect(reads.map(({ attributes }) => attributes["chancery.storage.replica"])).toEqual([
      metrics.series("chancery_storage_read_replica_up")[0]?.labels["replica"],
    ])
  })

  test("an embedded store has no replicas", async () => {
    const opening = openDatabase("sqlite::memory:", { readReplicas: { urls: [standby.url] } })
    await expect(opening).rejects.toThrow(/^Read replicas need a store in PostgreSQL/)
  })

  test("an unreachable replica is skipped, and used again when it is back", async () => {
    const { database, replica, logged } = await follow(primary.url, other.url)
    await other.signal("SIGKILL")
    expect(await database.readReplica(looked("gone"))).toMatchObject({ by: "primary" })
    await vi.waitUntil(() => !replica.isUp, patient)
    expect(replica.lagMs).toBeUndefined()
    await vi.waitFor(() => other.start(), { ...patient, interval: 500 })
    await vi.waitUntil(() => replica.isUp, patient)
    expect(await database.readReplica(looked("gone"))).toMatchObject({ by: "standby" })
    expect(logged.at(-1)).toEqual({ event: "read-replica-used", replica: replica.name })
  })

  test("an unresponsive replica is given up soon, and used again when it responds", async () => {
    const { database, replica, logged } = await follow(primary.url, other.url, { waitMs: 500 })
    expect(replica.isUp).toBe(true)
    await other.signal("SIGSTOP")
    try {
      expect(await database.readReplica(looked("silent"))).toMatchObject({ by: "primary" })
      await vi.waitUntil(() => !replica.isUp, patient)
    } finally {
      await other.signal("SIGCONT")
    }
    await vi.waitUntil(() => replica.isUp, patient)
    expect(logged.map(({ event }) => event)).toEqual([
      "read-replica-used",
      "read-replica-left-out",
      "read-replica-used",
    ])
  })

  test("a server starts although a replica is unreachable", async () => {
    await other.halt("fast")
    const { database, replica, logged } = await follow(primary.url, other.url)
    expect(replica.isUp).toBe(false)
    expect(logged).toMatchObject([{ event: "read-replica-left-out" }])
    expect(await database.readReplica(looked("away"))).toMatchObject({ by: "primary" })
    await other.start()
    await vi.waitUntil(() => replica.isUp, patient)
  })

  test("the guide's servers read from the configured standbys, and doctor checks each", async () => {
    await using folder = await temporaryFolder()
    const [block = ""] = await codeBlocks("docs/operations.md", "Read replicas", "sh")
    const [, named = ""] = /^export CHANCERY_STORAGE_READ_REPLICA=(.*)$/m.exec(block) ?? []
    const environment = {
      CHANCERY_DATA: folder.path,
      CHANCERY_STORAGE: primary.url,
      CHANCERY_SEAL_KEY: Buffer.alloc(32, "seal").toString("base64"),
      CHANCERY_STORAGE_READ_REPLICA: named
        .replace("postgres://chancery:secret@db-2.example/chancery", standby.url)
        .replace("postgres://chancery:secret@db-3.example/chancery", other.url),
      CHANCERY_STORAGE_READ_REPLICA_WAIT: "10s",
    }
    await using served = await serve(["serve"], { environment })
    // The server checks its standbys after it has begun to answer.
    const up = async () => {
      const text = await (await fetch(`${served.url}/metrics`)).text()
      return text.match(/^chancery_storage_read_replica_up\{replica=".*"\} 1$/gm) ?? []
    }
    await expect.poll(up).toHaveLength(2)

    const { out } = await run(["doctor", "--quick"], { environment })
    expect(out.match(/ok +storage +The read replica .* has replayed all commits/g)).toHaveLength(2)
  })

  test("a server does not start with a standby of another cluster, and reports it in one sentence", async () => {
    await using folder = await temporaryFolder()
    const stranger = await started()
    const environment = {
      CHANCERY_DATA: folder.path,
      CHANCERY_STORAGE: primary.url,
      CHANCERY_SEAL_KEY: Buffer.alloc(32, "seal").toString("base64"),
      CHANCERY_STORAGE_READ_REPLICA: stranger.url,
    }
    const { code, stderr } = await run(["serve"], { environment })
    expect(stderr).toMatch(
      /^chancery: The store postgres:.* cannot be opened\. The read replica .* is a separate database server, .*\.\n$/,
    )
    expect(code).toBe(exitCodes.configuration)
    const looked = await run(["doctor", "--quick"], { environment })
    expect(looked.out).toMatch(/fail +storage +The read replica .* is a separate database server/)
    expect(looked.code).toBe(exitCodes.configuration)
    await expect(openDatabase(primary.url, { log: silentLog, readReplicas: { urls: [stranger.url] } })).rejects.toThrow(
      UnusableStore,
    )
  })

  test("the primary is not accepted as its own replica", async () => {
    const { database, replica, logged } = await follow(primary.url, primary.url)
    expect(replica.isUp).toBe(false)
    expect(logged).toMatchObject([{ event: "read-replica-left-out", reason: "the server is not a standby" }])
    expect(await database.readReplica(looked("own"))).toMatchObject({ by: "primary" })
  })

  test("a promoted standby is skipped, and one left behind by a failover is not a replica of the new primary", async () => {
    const before = await follow(primary.url, other.url)
    expect(before.replica.isUp).toBe(true)
    await other.promote()
    await vi.waitUntil(() => !before.replica.isUp, patient)
    expect(await before.database.readReplica(looked("promoted"))).toMatchObject({ by: "primary" })
    expect(before.logged.at(-1)).toMatchObject({ reason: "the server is not a standby" })
    // The old primary continues, so that its standby is further ahead than the new primary, on a diverging timeline.
    await primary.query("create table lost as select generate_series(1, 100000) as number")
    const after = await follow(other.url, standby.url)
    expect(after.logged).toMatchObject([{ reason: "the server does not follow the primary" }])
    await bump(after.database, "after")
    expect(await after.database.readReplica(looked("after"))).toEqual({ number: 1, by: "primary" })
  })
})
