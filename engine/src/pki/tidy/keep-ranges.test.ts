// Partitions by week on a real PostgreSQL server: certificates are stored into them, and deleted by dropping them.
import { sql } from "kysely"
import { afterEach, describe, expect, test } from "vitest"
import { acmeTidySteps } from "../../acme/tidy-acme.ts"
import type { HeldLease } from "../../core/leases.ts"
import { type Log, systemRuntime } from "../../core/runtime.ts"
import { dayMs, hourMs } from "../../core/time.ts"
import { systemTimers } from "../../core/timers.ts"
import { openEmbedded } from "../../embedded.ts"
import type { ServedEngine } from "../../engine.ts"
import { currentCacheVersions } from "../../storage/sql/cache-versions.ts"
import { type Database, openDatabase } from "../../storage/sql/database.ts"
import { filingRangesOver } from "../../storage/partitions/certificate-partitions.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { MountSnapshots } from "../mounts/mount-snapshots.ts"
import { filingRangeAt } from "../issuance/certificate-partitions.ts"
import { MountDirectory } from "../mounts/mount-directory.ts"
import { keepRanges, type RangeContext } from "./keep-ranges.ts"
import { createTidyMetrics } from "./tidy-metrics.ts"
import { TidyWorker } from "./tidy-mounts.ts"

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")!
const weekMs = 7 * dayMs
const monday = Date.UTC(2030, 0, 7)
const lease: HeldLease = { signal: new AbortController().signal, fence: 1 }

describe.runIf(postgres.available)("on PostgreSQL", () => {
  let closing = new AsyncDisposableStack()
  afterEach(async () => {
    await closing.disposeAsync()
    closing = new AsyncDisposableStack()
  })

  async function open() {
    const clock = manualClock(monday + dayMs)
    const logged: { readonly name: string; readonly facts: unknown }[] = []
    const note = (name: string, facts?: unknown) => void logged.push({ name, facts })
    const log: Log = { debug() {}, info: note, warn: note, error: note }
    const runtime = { ...systemRuntime(log), clock }
    const { url } = closing.use(await postgres.place())
    const sealKeys = { text: Buffer.alloc(32).toString("base64") }
    const engine = closing.use(await openEmbedded(url, { runtime, sealKeys, jobs: false }))
    const database = closing.use(await openDatabase(url))
    const refused = (): never => {
      throw new Error("nothing is sealed or opened here")
    }
    const storage = repositoriesOver(database, { seal: refused, open: refused }, clock)
    const context = {
      storage,
      runtime,
      mountDirectory: new MountDirectory(storage, currentCacheVersions(database)),
      mountSnapshots: new MountSnapshots(),
      filingRanges: filingRangesOver(database),
    } satisfies RangeContext
    const metrics = recordedMetrics()
    const tidyMetrics = createTidyMetrics(metrics.meter)
    const worker = new TidyWorker({ ...context, acmeTidySteps, wakeJob() {}, timers: systemTimers }, tidyMetrics)
    return {
      clock,
      told: logged,
      engine,
      database,
      context,
      removed: (kind: string) => metrics.value("chancery_tidy_removed_total", { kind }),
      keep: () => keepRanges(context, tidyMetrics, lease),
      tidy: () => worker.run(lease),
    }
  }

  const automatic = { enabled: true, tidyCertStore: true, intervalDurationMs: hourMs, safetyBufferMs: 72 * hourMs }

  async function newMount(engine: ServedEngine, path: string) {
    await engine.mounts.create({ path, config: { maxLeaseTtlMs: 3_650 * dayMs } })
    const { issuers, roles, certificates, tidy } = engine.pki(path)
    await issuers.generateRoot({ commonName: `Root of ${path}`, keyType: "ec", ttlMs: 500 * dayMs })
    await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, noStoreMetadata: false })
    const root = await certificates.list()
    return {
      tidy,
      issue: async (certMetadata = "") =>
        (await certificates.issue("any", { commonName: "a.test", ...(certMetadata === "" ? {} : { certMetadata }) }))
          .serialNumber,
      left: async () => (await certificates.list()).filter((serial) => !root.includes(serial)).length,
    }
  }

  const partitionsOf = async (database: Database, table: string) => {
    const rows = await database.read((session) =>
      session.queryMany(sql<{ name: string; count: number }>`
        select c.relname::text as name, (xpath('/row/n/text()', query_to_xml(
          format('select count(*) as n from %I', c.relname), false, true, '')))[1]::text::int as count
        from pg_inherits as i join pg_class as c on c.oid = i.inhrelid
        where i.inhparent = to_regclass(${table}) order by 1`),
    )
    return new Map(rows.map(({ name, count }) => [name.slice(table.length + 1), count]))
  }

  test("partitions are created in advance, and earlier certificates move into theirs", async () => {
    const { engine, database, keep, clock } = await open()
    const pki = await newMount(engine, "pki")
    await pki.issue()
    expect(Object.fromEntries(await partitionsOf(database, "certificates"))).toEqual({ unfiled: 1, default: 1 })
    await keep()
    for (const table of ["certificates", "certificate_names"]) {
      const made = await partitionsOf(database, table)
      expect(made.size).toBe(2 + 15)
      expect([made.get("unfiled"), made.get("default"), made.get("2030_01_07")]).toEqual([1, 0, 1])
    }
    await pki.issue()
    expect((await partitionsOf(database, "certificates")).get("2030_01_07")).toBe(2)
    clock.advance(weekMs)
    await keep()
    expect((await partitionsOf(database, "certificates")).has("2030_04_22")).toBe(true)
    expect(await pki.left()).toBe(2)
    const [found] = (await engine.pki("pki").certificates.search({ name: "a.test" })).items
    expect(found?.names).toEqual(["a.test"])
  }, 60_000)

  test("expired certificates wait for their week and are dropped with it, with the same result as row by row", async () => {
    const { engine, database, keep, tidy, clock, removed, told: logged } = await open()
    await keep()
    const [one, other] = [await newMount(engine, "one"), await newMount(engine, "other")]
    for (const pki of [one, other]) await pki.tidy.changeAutomatic(automatic)
    const remaining = await one.issue("dGVhbQ==")
    await one.issue()
    const revoked = await other.issue("dGVhbQ==")
    await engine.pki("other").revocations.revoke({ serialNumber: revoked })
    // Metadata of a certificate that was never stored. Deleting expired certificates must keep it.
    await database.transact((session) =>
      session.execute(sql`insert into certificate_metadata (mount_id, serial_number, issuer_id, role, expires_at, metadata)
        select mount_id, decode('77', 'hex'), issuer_id, role, expires_at, metadata from certificate_metadata limit 1`),
    )

    clock.set(monday + 6 * dayMs)
    await tidy()
    expect([await one.left(), await other.left()]).toEqual([2, 1])
    clock.set(monday + weekMs + 72 * hourMs - 1)
    await keep()
    expect([await one.left(), await other.left()]).toEqual([2, 1])
    expect(["certificates", "metadata"].map(removed)).toEqual([0, 0])

    clock.advance(1)
    await keep()
    expect([await one.left(), await other.left()]).toEqual([0, 0])
    expect((await partitionsOf(database, "certificates")).has("2030_01_07")).toBe(false)
    const names = await partitionsOf(database, "certificate_names")
    expect([names.has("2030_01_07"), [...names.values()].reduce((sum, count) => sum + count)]).toEqual([false, 2])
    expect(["certificates", "metadata", "revocations"].map(removed)).toEqual([3, 2, 0])
    expect(logged.filter(({ name }) => name === "partition-removed").map(({ facts }) => facts)).toEqual([
      {
        from: "2030-01-07T00:00:00.000Z",
        to: "2030-01-14T00:00:00.000Z",
        mounts: 2,
        certificates: 3,
        metadata: 2,
      },
    ])
    const metadata = await database.read((session) => session.queryMany(sql`select 1 from certificate_metadata`))
    expect(metadata).toHaveLength(1)
    await expect(engine.pki("one").certificates.get(remaining)).rejects.toMatchObject({ code: "not-found" })
    // The revocation is kept until tidy may delete it too.
    expect(await engine.pki("other").revocations.list()).toEqual([revoked])
  }, 60_000)

  test("the week is kept while a mount keeps its certificates, and other mounts delete row by row", async () => {
    const { engine, database, keep, tidy, clock, removed } = await open()
    await keep()
    const [one, other] = [await newMount(engine, "one"), await newMount(engine, "other")]
    await one.tidy.changeAutomatic(automatic)
    for (const pki of [one, one, other]) await pki.issue()
    clock.set(monday + weekMs + 80 * hourMs)
    await keep()
    expect([await one.left(), await other.left()]).toEqual([2, 1])
    await tidy()
    expect([await one.left(), await other.left()]).toEqual([0, 1])
    expect(removed("certificates")).toBe(2)
    expect((await partitionsOf(database, "certificate_names")).get("2030_01_07")).toBe(1)
    await other.tidy.changeAutomatic(automatic)
    await keep()
    expect(await other.left()).toBe(0)
    expect(removed("certificates")).toBe(3)
    expect((await partitionsOf(database, "certificates")).has("2030_01_07")).toBe(false)
  }, 60_000)

  test("a manual run does not wait for the week, and an automatic run stops waiting when the week could not be dropped", async () => {
    const { engine, keep, tidy, clock, removed } = await open()
    await keep()
    const pki = await newMount(engine, "pki")
    await pki.issue()
    clock.advance(2 * hourMs)
    await pki.tidy.start({ tidyCertStore: true, safetyBufferMs: 1_000 })
    await tidy()
    expect(await pki.left()).toBe(0)

    await pki.tidy.changeAutomatic(automatic)
    await pki.issue()
    clock.set(monday + weekMs + 72 * hourMs + dayMs - 1)
    await tidy()
    expect(await pki.left()).toBe(1)
    clock.advance(hourMs + 1)
    await tidy()
    expect(await pki.left()).toBe(0)
    expect(removed("certificates")).toBe(2)
  }, 60_000)

  test("a certificate that a mount stores during the drop keeps the week", async () => {
    const { engine, context, keep, clock } = await open()
    await keep()
    const [one, other] = [await newMount(engine, "one"), await newMount(engine, "other")]
    for (const pki of [one, other]) await pki.issue()
    const range = filingRangeAt(clock.now())
    const [first, ...rest] = await context.filingRanges.mountsIn(range)
    expect(rest).toHaveLength(1)
    expect(await context.filingRanges.drop(range, [first!])).toBe(false)
    expect([await one.left(), await other.left()]).toEqual([1, 1])
    const [found] = (await engine.pki("other").certificates.search({ name: "a.test" })).items
    expect(found?.names).toEqual(["a.test"])
  }, 60_000)
})
