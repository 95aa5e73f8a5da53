// Tidies a hundred thousand expired certificates while certificates are issued. The steps are short, and not too many.
import { expect, test } from "vitest"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { crlListOf } from "../../engine/src/pki/crl/crl-list.ts"
import { parseIssuer } from "../../engine/src/pki/issuers/parsed-issuer.ts"
import type { Issuer } from "../../engine/src/pki/issuers/issuer.ts"
import { openDatabase } from "../../engine/src/storage/sql/database.ts"
import { SqlRevocationRepository } from "../../engine/src/storage/repositories/pki/revocation-repository.ts"
import { databaseKinds } from "../../engine/testing/temporary-database.ts"
import { SqlTidyRepository } from "../../engine/src/storage/repositories/pki/tidy-run-repository.ts"
import { newSerialNumber, serialNumberOctets } from "../../engine/src/x509/serial-number.ts"

const expiredCount = process.env["CHANCERY_SHORT"] === undefined ? 100_000 : 10_000
const revokedCount = expiredCount / 20
/** Maximum number of rows that one write may delete, whatever the page size. */
const rowsPerWrite = 500
const runtime = systemRuntime()
const ended = runtime.clock.now() - 10 * dayMs

test.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "on $name expired certificates are removed in short steps, and certificates issued during the run stay",
  async (kind) => {
    await using opened = new AsyncDisposableStack()
    const { url } = opened.use(await kind.place())
    const sealKeys = { text: Buffer.alloc(32).toString("base64") }
    const engine = opened.use(await openEmbedded(url, { runtime, sealKeys }))
    await engine.mounts.create({ path: "pki" })
    const { issuers, roles, certificates, revocations, tidy } = engine.pki("pki")
    const root = await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 700 * hourMs })
    await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: hourMs })
    const mountId = (await engine.mountTable()).at("pki").id
    const database = opened.use(await openDatabase(url))
    const certificate = new Uint8Array(450)
    for (let count = 0; count < expiredCount; count += rowsPerWrite)
      await database.transact(async (session) => {
        const expired = Array.from({ length: rowsPerWrite }, (_, index) => ({
          mount_id: mountId,
          serial_number: serialNumberOctets(newSerialNumber(runtime.random)),
          certificate,
          issuer_id: null,
          role: null,
          common_name: "a.test",
          not_before: 0,
          not_after: ended + count + index,
        }))
        await session.execute(session.db.insertInto("certificates").values(expired))
      })
    await database.transact((session) =>
      session.execute(
        session.db
          .insertInto("certificate_names")
          .columns(["mount_id", "name", "certificate_number"])
          .expression(
            session.db
              .selectFrom("certificates")
              .select(["mount_id", "common_name", "number"])
              .where("common_name", "=", "a.test"),
          ),
      ),
    )
    const list = crlListOf(parseIssuer({ id: root.issuerId, mountId, certificate: root.certificate } as Issuer))
    for (let count = 0; count < revokedCount; count += rowsPerWrite)
      await database.transact(async (session) => {
        for (let index = 0; index < rowsPerWrite; index += 1)
          await new SqlRevocationRepository(session).insert({
            mountId,
            serialNumber: newSerialNumber(runtime.random),
            issuerId: root.issuerId,
            revokedAt: ended - hourMs,
            reason: "unspecified",
            notAfter: ended,
            list,
          })
      })

    await tidy.start({ tidyCertStore: true, tidyRevokedCerts: true, pageSize: 10_000 })
    const issued: string[] = []
    const waits: number[] = []
    const runOf = async () => {
      const { run } = await database.read((session) => new SqlTidyRepository(session).find(mountId))
      if (run === undefined) throw new Error("no run was begun")
      return run
    }
    let run = await runOf()
    for (; run.finishedAt === null; run = await runOf()) {
      const began = performance.now()
      issued.push((await certificates.issue("any", { commonName: "b.test" })).serialNumber)
      waits.push(performance.now() - began)
    }
    expect(run).toMatchObject({ state: "finished", counts: { certificates: expiredCount, revocations: revokedCount } })
    // No step deletes more than one write may.
    expect(run.step).toBeGreaterThanOrEqual((expiredCount + revokedCount) / rowsPerWrite)
    expect(issued.length).toBeGreaterThan(20)
    const left = await certificates.list()
    expect(left).toHaveLength(issued.length + 1)
    expect(left).toEqual(expect.arrayContaining(issued.slice(0, 100)))
    expect(await revocations.list()).toEqual([])
    const sorted = waits.toSorted((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
    console.log(`${kind.name}: ${issued.length} issued meanwhile; ${at(0.5)} ms each, at most ${at(1)} ms`)
  },
)
