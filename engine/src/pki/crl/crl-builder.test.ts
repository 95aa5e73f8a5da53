import { afterAll, beforeAll, expect, test } from "vitest"
import type { ServedEngine } from "../../engine.ts"
import { openEmbedded } from "../../embedded.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { SqlCrlRepository } from "../../storage/repositories/pki/crl-repository.ts"
import { type Database, openDatabase } from "../../storage/sql/database.ts"
import { SqlRevocationRepository } from "../../storage/repositories/pki/revocation-repository.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { newSerialNumber, type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import type { MountId } from "../mounts/mount.ts"
import type { CrlListId } from "./crl-list.ts"
import { wholeList } from "./shard.ts"

const { random } = systemRuntime()

/** Compares joined strings: `toEqual` takes seconds for 100 000 values. */
const expectSame = (found: readonly unknown[], expected: readonly unknown[]) =>
  expect(found.join() === expected.join() || { found: found.length, wanted: expected.length }).toBe(true)

const sealKeys = { text: Buffer.alloc(32).toString("base64") }
/** More entries than a segment holds. For SQLite, where rows are inserted quickly, also more than one write takes. */
const counts = { "SQLite file": 60_000, "SQLite memory": 0, PostgreSQL: 16_000 } as const
const batch = 5_000

for (const kind of databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")) {
  const many = counts[kind.name]
  const opened = new AsyncDisposableStack()
  /** Two servers of one database. */
  let one: ServedEngine
  let other: ServedEngine
  let database: Database
  let mountId: MountId
  let list: CrlListId
  beforeAll(async () => {
    const { url } = opened.use(await kind.place())
    one = opened.use(await openEmbedded(url, { jobs: false, sealKeys }))
    for (const path of ["pki", "busy"]) {
      await one.mounts.create({ path })
      const { issuers, roles, crls } = one.pki(path)
      await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
      await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
      await crls.configure({ maxCrlEntries: -1 })
    }
    await one.pki("pki").crls.get()
    other = opened.use(await openEmbedded(url, { jobs: false, sealKeys }))
    mountId = (await one.mountTable()).at("pki").id
    database = opened.use(await openDatabase(url))
    const [key] = await database.read((session) => new SqlCrlRepository(session).keys(mountId))
    if (key === undefined) throw new Error("no list was built")
    list = key.list
  })
  afterAll(() => opened.disposeAsync())

  const serialsOf = async (engine: ServedEngine, path = "pki") => {
    const crl = await engine.pki(path).crls.get()
    return parseCertificateList(crl?.der ?? new Uint8Array()).entries.map((entry) => serialNumberOf(entry.serialNumber))
  }
  const revoke = async (engine: ServedEngine, path = "pki") => {
    const { serialNumber } = await engine.pki(path).certificates.issue("any", { commonName: "a.test" })
    await engine.pki(path).revocations.revoke({ serialNumber })
    return serialNumber
  }
  const stateOf = () =>
    database.read((session) => new SqlCrlRepository(session).find({ mountId, list, shard: wholeList }))

  test(`on ${kind.name} a list of many segments is extended at its end, rewritten without removed entries, and identical on all servers`, async () => {
    const seeded = Array.from({ length: many }, () => newSerialNumber(random))
    for (let at = 0; at < many; at += batch)
      await database.transact(async (session) => {
        const rows = new SqlRevocationRepository(session)
        for (const serialNumber of seeded.slice(at, at + batch))
          await rows.insert({
            mountId,
            serialNumber,
            issuerId: null,
            revokedAt: 1_000,
            reason: "unspecified",
            notAfter: 2_000,
            list,
          })
      })
    expectSame(await serialsOf(one), seeded)
    const first = await stateOf()
    expect(first?.complete?.segmentCount).toBeGreaterThan(many > 50_000 ? 4 : 1)
    const added: SerialNumber[] = []
    for (const engine of [other, one, other]) {
      added.push(await revoke(engine))
      expectSame(await serialsOf(one), [...seeded, ...added])
      expectSame(await serialsOf(other), [...seeded, ...added])
    }
    const grown = await stateOf()
    expect(grown?.complete).toMatchObject({
      epoch: first?.complete?.epoch,
      segmentCount: first?.complete?.segmentCount,
      entryCount: many + 3,
    })
    const removed = seeded.slice(0, 1_000)
    await database.transact((session) => new SqlRevocationRepository(session).remove(mountId, removed))
    await other.pki("pki").crls.rotate()
    const left = [...seeded.slice(1_000), ...added]
    expectSame(await serialsOf(one), left)
    expect((await stateOf())?.complete?.epoch).toBe((grown?.complete?.epoch ?? 0) + 1)
    const old = await database.read((session) =>
      new SqlCrlRepository(session).segment({ mountId, list, shard: wholeList }, grown?.complete?.epoch ?? 0, 0),
    )
    expect(old).toBeUndefined()
  })

  test(`on ${kind.name} servers that build concurrently publish their lists one after another and lose no revocation`, async () => {
    const revoked: SerialNumber[] = []
    const numbers: number[] = []
    await Promise.all(
      [one, other].flatMap((engine) =>
        Array.from({ length: 5 }, async () => {
          const serialNumber = await revoke(engine, "busy")
          revoked.push(serialNumber)
          const crl = await engine.pki("busy").crls.get()
          numbers.push(crl?.number ?? 0)
          const listed = parseCertificateList(crl?.der ?? new Uint8Array()).entries.map((entry) =>
            serialNumberOf(entry.serialNumber),
          )
          expect(listed).toContain(serialNumber)
        }),
      ),
    )
    const last = await serialsOf(one, "busy")
    expect(revoked.filter((serialNumber) => !last.includes(serialNumber))).toEqual([])
    expect((await one.pki("busy").crls.get())?.number).toBeGreaterThanOrEqual(Math.max(...numbers))
  })
}
