// Tidying a hundred thousand expired certificates while certificates are issued: in short steps, and none too many.
import { sql } from "kysely"
import { expect, test } from "vitest"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { crlListOf } from "../../engine/src/pki/crl/crl-list.ts"
import { holdIssuer } from "../../engine/src/pki/issuers/held-issuer.ts"
import type { Issuer } from "../../engine/src/pki/issuers/issuer.ts"
import { openDatabase } from "../../engine/src/storage/database.ts"
import { RevocationRows } from "../../engine/src/storage/revocation-rows.ts"
import type { DialectName } from "../../engine/src/storage/session.ts"
import { databaseKinds } from "../../engine/src/storage/temporary-database.ts"
import { TidyRows } from "../../engine/src/storage/tidy-rows.ts"
import { newSerialNumber } from "../../engine/src/x509/serial-number.ts"

const expiredCount = process.env["CHANCERY_SHORT"] === undefined ? 100_000 : 10_000
const revokedCount = expiredCount / 20
/** What one write may take away, whatever the page size. */
const rowsPerWrite = 500
const runtime = systemRuntime()
const ended = runtime.clock.now() - 10 * dayMs

/** Rows from 1 to the number of certificates, and an octet string of each. */
const numbered: Readonly<
  Record<DialectName, { readonly rows: string; readonly serial: string; readonly octets: string }>
> = {
  sqlite: {
    rows: `(with recursive c(n) as (select 1 union all select n + 1 from c where n < ${expiredCount}) select n from c) as g`,
    serial: "cast(x'01' || randomblob(15) as blob)",
    octets: "randomblob(450)",
  },
  postgres: {
    rows: `generate_series(1::bigint, ${expiredCount}) as g(n)`,
    serial: "decode('01' || md5(n::text), 'hex')",
    octets: "decode(repeat(md5(n::text), 28), 'hex')",
  },
}

test.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "on $name certificates that have expired go in short steps, and those that are issued meanwhile stay",
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
    const { rows, serial, octets } = numbered[database.dialect]
    await database.transact(async (session) => {
      await session.run(
        sql`insert into certificates (mount_id, serial_number, certificate, common_name, not_before, not_after)
          select ${mountId}, ${sql.raw(serial)}, ${sql.raw(octets)}, 'a.test', 0, ${ended} + n from ${sql.raw(rows)}`,
      )
      await session.run(
        sql`insert into certificate_names (mount_id, name, certificate_number)
          select mount_id, 'tset.a', number from certificates where common_name = 'a.test'`,
      )
    })
    const list = crlListOf(holdIssuer({ id: root.issuerId, mountId, certificate: root.certificate } as Issuer))
    for (let count = 0; count < revokedCount; count += rowsPerWrite)
      await database.transact(async (session) => {
        for (let index = 0; index < rowsPerWrite; index += 1)
          await new RevocationRows(session).insert({
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
      const { run } = await database.read((session) => new TidyRows(session).find(mountId))
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
    // No step takes more than one write may.
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
