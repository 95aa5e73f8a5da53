import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { hourMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { openEmbedded } from "../../embedded.ts"
import type { ServedEngine } from "../../engine.ts"
import { openDatabase, type Database } from "../../storage/sql/database.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { SqlCertificateRepository } from "../../storage/repositories/pki/certificate-repository.ts"
import { SqlRevocationRepository } from "../../storage/repositories/pki/revocation-repository.ts"
import { SqlStatisticsRepository } from "../../storage/repositories/pki/statistics-repository.ts"
import { SqlTidyRepository } from "../../storage/repositories/pki/tidy-run-repository.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { newSerialNumber } from "../../x509/serial-number.ts"
import { crlListOf } from "../crl/crl-list.ts"
import { parseIssuer } from "../issuers/parsed-issuer.ts"
import type { Issuer } from "../issuers/issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import { defaultTidyOptions, resolvedTidyOptions } from "./tidy-options.ts"
import { noTidyCounts } from "./tidy-run.ts"

const clock = manualClock(Date.UTC(2030, 0, 1))
const runtime = { ...systemRuntime(), clock }
const sealKeys = { text: Buffer.alloc(32).toString("base64") }

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "tidy on $name",
  (kind) => {
    const opened = new AsyncDisposableStack()
    let url: string
    let database: Database
    let first: ServedEngine
    beforeAll(async () => {
      ;({ url } = opened.use(await kind.place()))
      first = await openEmbedded(url, { runtime, sealKeys })
      database = opened.use(await openDatabase(url))
    })
    afterAll(() => opened.disposeAsync())

    let mounts = 0
    async function newMount(engine = first) {
      const path = `m${(mounts += 1)}`
      await engine.mounts.create({ path })
      const { issuers, roles } = engine.pki(path)
      await issuers.generateRoot({ commonName: `Root of ${path}`, keyType: "ec", ttlMs: 700 * hourMs })
      await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
      const mountId = (await engine.mountTable()).at(path).id
      const issue = async () =>
        (await engine.pki(path).certificates.issue("any", { commonName: "a.test" })).serialNumber
      return { path, mountId, issue }
    }
    const statusOf = async (engine: ServedEngine, path: string) => (await engine.pki(path).tidy.getStatus()).run
    const rows = <T>(work: (rows: SqlTidyRepository) => Promise<T>) =>
      database.transact((session) => work(new SqlTidyRepository(session)))
    const options = resolvedTidyOptions({ ...defaultTidyOptions, tidyCertStore: true })
    const begin = (mountId: MountId) =>
      rows((one) =>
        one.begin({
          mountId,
          automatic: true,
          options,
          progress: { phase: "certificates", after: "" },
          startedAt: clock.now(),
        }),
      )

    test("another server continues a run and its counts when a server stops", async () => {
      const { path, issue } = await newMount()
      const serials = [await issue(), await issue(), await issue()]
      clock.advance(2 * hourMs)
      const slow = { tidyCertStore: true, safetyBufferMs: 1_000, pageSize: 1, pauseDurationMs: hourMs }
      await first.pki(path).tidy.start(slow)
      await vi.waitFor(async () => expect((await statusOf(first, path))?.counts.certificates).toBe(1), 10_000)
      await first[Symbol.asyncDispose]()
      first = opened.use(await openEmbedded(url, { runtime, sealKeys }))
      expect(await statusOf(first, path)).toMatchObject({ state: "running", counts: { certificates: 1 } })
      expect(await first.pki(path).tidy.start({})).toEqual(["Tidy operation already in progress."])
      await vi.waitFor(async () => expect((await statusOf(first, path))?.counts.certificates).toBe(2), 10_000)
      const left = await first.pki(path).certificates.list()
      expect(serials.filter((serial) => left.includes(serial))).toHaveLength(1)
      await first.pki(path).tidy.cancel()
      await vi.waitFor(async () => expect((await statusOf(first, path))?.state).toBe("cancelled"), 10_000)
    }, 30_000)

    test("two servers execute each step of a run once", async () => {
      await using second = await openEmbedded(url, { runtime, sealKeys })
      const { path, issue } = await newMount()
      for (let index = 0; index < 12; index += 1) await issue()
      clock.advance(2 * hourMs)
      const run = { tidyCertStore: true, safetyBufferMs: 1_000, pageSize: 2, pauseDurationMs: 50 }
      expect(await first.pki(path).tidy.start(run)).toEqual([expect.stringContaining("successfully started")])
      for (const engine of [second, first, second])
        expect(await engine.pki(path).tidy.start(run)).toEqual(["Tidy operation already in progress."])
      await vi.waitFor(async () => expect((await statusOf(first, path))?.state).toBe("finished"), 10_000)
      expect((await statusOf(second, path))?.counts).toEqual({ ...noTidyCounts, certificates: 12 })
      expect(await first.pki(path).certificates.list()).toHaveLength(1)
    }, 30_000)

    test("a mount has one run at a time, advanced only by a server that knows its last step", async () => {
      const idle = await openEmbedded(url, { runtime, sealKeys, jobs: false })
      opened.use(idle)
      const { mountId } = await newMount(idle)
      await first[Symbol.asyncDispose]()
      expect(await begin(mountId)).toBe(true)
      expect(await begin(mountId)).toBe(false)
      const seen = (await rows((one) => one.find(mountId))).run
      if (seen === undefined) throw new Error("no run was begun")
      expect(seen).toMatchObject({ number: 1, step: 0, state: "running", options, counts: noTidyCounts })
      expect(await rows((one) => one.active())).toContainEqual(seen)
      const to = { progress: { phase: undefined, after: "" }, counts: { ...noTidyCounts, issuers: 1 }, message: "m" }
      expect(await rows((one) => one.advance(seen, to))).toBe(true)
      expect(await rows((one) => one.advance(seen, to))).toBe(false)
      const next = (await rows((one) => one.find(mountId))).run ?? seen
      expect(next).toMatchObject({ step: 1, message: "m", counts: { issuers: 1 } })
      expect(await rows((one) => one.cancel(mountId))).toBe(true)
      expect(await rows((one) => one.cancel(mountId))).toBe(false)
      expect(await rows((one) => one.advance(next, to))).toBe(false)
      expect(await begin(mountId)).toBe(false)
      const end = { state: "cancelled", message: null, error: null, now: clock.now() } as const
      expect(await rows((one) => one.finish(seen, end))).toBe(false)
      expect(await rows((one) => one.finish(next, end))).toBe(true)
      expect(await rows((one) => one.finish(next, end))).toBe(false)
      const record = await rows((one) => one.find(mountId))
      expect(record).toMatchObject({ run: { state: "cancelled", finishedAt: clock.now() } })
      expect(record.lastAutomaticFinishedAt).toBe(clock.now())
      expect(await begin(mountId)).toBe(true)
      expect((await rows((one) => one.find(mountId))).run).toMatchObject({ number: 2, step: 0, finishedAt: null })
      const other = await newMount(idle)
      await begin(other.mountId)
      await idle.mounts.delete(other.path)
      expect((await rows((one) => one.find(other.mountId))).run).toBeUndefined()
    })

    test("certificates are read by expiry, page by page", async () => {
      await using idle = await openEmbedded(url, { runtime, sealKeys, jobs: false })
      const { mountId, issue, path } = await newMount(idle)
      const serials = [await issue(), await issue(), await issue()]
      const revoked = serials[1] ?? newSerialNumber(runtime.random)
      await idle.pki(path).revocations.revoke({ serialNumber: revoked })
      clock.advance(2 * hourMs)
      const found = await database.transact(async (session) => {
        const certificates = new SqlCertificateRepository(session)
        const page = { before: clock.now(), limit: 2 }
        const one = await certificates.ended(mountId, page)
        const last = one.at(-1)
        const two = await certificates.ended(mountId, { ...page, ...(last === undefined ? {} : { after: last }) })
        return [...one, ...two].map(({ isRevoked }) => isRevoked)
      })
      expect(found).toEqual([false, true, false])
    })

    test("the status has the number of certificates when the mount maintains it", async () => {
      await using idle = await openEmbedded(url, { runtime, sealKeys, jobs: false })
      const { mountId, path } = await newMount(idle)
      const counted = { countedAt: 1, valid: 4, expired: 2, revoked: 1, expiringWithin: [], soonestOfRoles: [] }
      await database.transact((session) =>
        new SqlStatisticsRepository(session).save(mountId, { ...counted, rolesLeftOut: 0 }),
      )
      const { tidy } = idle.pki(path)
      expect((await tidy.getStatus()).stored).toBeUndefined()
      await tidy.changeAutomatic({ maintainStoredCertificateCounts: true })
      expect((await tidy.getStatus()).stored).toEqual({ certificates: 7, revoked: 1 })
    })

    test("a revocation that gets its issuer is appended to the list of the issuer", async () => {
      await using idle = await openEmbedded(url, { runtime, sealKeys, jobs: false })
      const { mountId, issue, path } = await newMount(idle)
      const serialNumber = await issue()
      const pki = idle.pki(path)
      await pki.revocations.revoke({ serialNumber })
      await pki.crls.get()
      const { issuerId: id, certificate } = await pki.issuers.generateRoot({ commonName: "Other", keyType: "ec" })
      const list = crlListOf(parseIssuer({ id, mountId, certificate } as Issuer))
      await database.transact((session) =>
        new SqlRevocationRepository(session).associate(mountId, serialNumber, { issuerId: id, list }),
      )
      const [moved] = await database.read((session) =>
        new SqlRevocationRepository(session).ended(mountId, { before: clock.now() + 10 * hourMs, limit: 10 }),
      )
      expect(moved).toMatchObject({ serialNumber, list, number: 2 })
      await pki.crls.rotate()
      expect((await pki.crls.get({ issuerRef: id }))?.der.length).toBeGreaterThan(
        (await pki.crls.get())?.der.length ?? Infinity,
      )
    })

    test("invalid certificates are removed when tidy_invalid_certs is set", async () => {
      await using idle = await openEmbedded(url, { runtime, sealKeys })
      const { mountId, path, issue } = await newMount(idle)
      const remaining = await issue()
      const invalid = newSerialNumber(runtime.random)
      await database.transact((session) =>
        new SqlCertificateRepository(session).insert({
          mountId,
          serialNumber: invalid,
          certificate: Uint8Array.of(0x30, 0x03, 0x02, 0x01),
          issuerId: null,
          role: null,
          commonName: "",
          names: ["a.test"],
          notBefore: clock.now(),
          notAfter: clock.now() + hourMs,
        }),
      )
      await idle.pki(path).tidy.start({ tidyInvalidCerts: true })
      await vi.waitFor(async () => expect((await statusOf(idle, path))?.state).toBe("finished"), 10_000)
      expect((await statusOf(idle, path))?.counts.certificates).toBe(1)
      const left = await idle.pki(path).certificates.list()
      expect(left).toContain(remaining)
      expect(left).not.toContain(invalid)
    }, 20_000)
  },
)
