// An inventory of certificates for searches, inserted as rows, because issuing them would take longer than the tests.
import { sql } from "kysely"
import type { MountId } from "../src/pki/mounts/mount.ts"
import { backwards } from "../src/storage/repositories/pki/certificate-search.ts"
import type { QueryRunner } from "../src/storage/sql/query-runner.ts"

const mounts = ["mnt-a", "mnt-b"] as const
export const inventoryMount = "mnt-a" as MountId
/** Certificates in each mount. Those of the second mount have higher numbers. */
const count = 6_000
/** Instant at which half of the certificates have expired. */
export const inventoryNow = 3_000_000
const perWrite = 500

/** Facts about certificate `n`, the same in every mount. */
const facts = (n: number) => ({
  serialNumber: Buffer.from(`01${n.toString(16).padStart(8, "0")}`, "hex"),
  role: `role-${n % 3}`,
  issuerId: `iss-${n % 2}`,
  notAfter: (n * 7_000) % 6_000_000,
  revokedAt: n % 10 === 0 ? 1_000 : null,
  name: `n${n}.${n % 4 === 0 ? "a" : "b"}.test`,
  metadata: n % 5 === 0 ? "dGVhbQ==" : n % 5 === 1 ? "b3RoZXI=" : undefined,
})
export const inventory = Array.from({ length: count }, (_, index) => ({ n: index + 1, ...facts(index + 1) }))

/** Writes the inventory. `filedAt` selects the partition of a certificate. */
export async function writeInventory(session: QueryRunner, filedAt: (n: number) => number = () => 0): Promise<void> {
  const { db } = session
  for (const [index, id] of mounts.entries()) {
    const mount = {
      id,
      path: id,
      type: "pki" as const,
      description: "",
      config: "{}",
      accessor: id,
      uuid: id,
      created_at: 0,
    }
    await session.execute(db.insertInto("mounts").values(mount))
    for (let from = 0; from < count; from += perWrite) {
      const some = inventory.slice(from, from + perWrite)
      const numberOf = (n: number) => index * count + n
      await session.execute(
        db.insertInto("certificates").values(
          some.map(({ n, serialNumber, role, issuerId, notAfter, revokedAt }) => ({
            mount_id: id,
            serial_number: serialNumber,
            certificate: serialNumber,
            issuer_id: issuerId,
            role,
            common_name: String(n),
            not_before: 0,
            not_after: notAfter,
            revoked_at: revokedAt,
            filed_at: filedAt(n),
          })),
        ),
      )
      await session.execute(
        db.insertInto("certificate_names").values(
          some.map(({ n, name }) => ({
            mount_id: id,
            name: backwards(name),
            certificate_number: numberOf(n),
            filed_at: filedAt(n),
          })),
        ),
      )
      await session.execute(
        db.insertInto("certificate_metadata").values(
          some.flatMap(({ serialNumber, issuerId, role, notAfter, metadata }) =>
            metadata === undefined
              ? []
              : [
                  {
                    mount_id: id,
                    serial_number: serialNumber,
                    issuer_id: issuerId,
                    role,
                    expires_at: notAfter,
                    metadata,
                  },
                ],
          ),
        ),
      )
    }
  }
  // PostgreSQL's autovacuum analyzes neither partitioned parents nor empty tables, so they are left out here too.
  const tables = session.dialect === "sqlite" ? [""] : await writtenTables(session)
  for (const table of tables) await session.execute(sql.raw(`analyze ${table}`))
}

async function writtenTables(session: QueryRunner): Promise<readonly string[]> {
  const rows = await session.queryMany(sql<{ name: string }>`select c.oid::regclass::text as name from pg_class as c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0`)
  return rows.map(({ name }) => name)
}
