import { sql } from "kysely"
import { expect, test } from "vitest"
import { openDatabase } from "../../sql/database.ts"
import { migrate } from "../migrate.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"
import { migrations } from "./index.ts"

test.each(databaseKinds.filter(({ available }) => available))(
  "certificates revoked before the migration are revoked afterwards, on $name",
  async ({ place }) => {
    await using where = await place({ empty: true })
    const database = await openDatabase(where.url)
    try {
      const before = migrations.findIndex(({ name }) => name === "0009-reading")
      await database.transact(async (session) => {
        await migrate(session, migrations.slice(0, before))
        const { db } = session
        const mount = {
          id: "m",
          path: "m",
          type: "pki" as const,
          description: "",
          config: "{}",
          accessor: "m",
          uuid: "m",
        }
        await session.execute(db.insertInto("mounts").values({ ...mount, created_at: 0 }))
        for (const octet of [1, 2]) {
          const serial_number = Buffer.of(octet)
          const facts = { mount_id: "m", serial_number, issuer_id: null, not_after: 9 }
          const certificate = { certificate: serial_number, role: null, common_name: "", not_before: 0 }
          await session.execute(db.insertInto("certificates").values({ ...facts, ...certificate }))
          const revocation = { list: "l", number: 1, shard_key: 0, revoked_at: 7, reason: "unspecified" }
          if (octet === 1)
            await session.execute(
              db.insertInto("revocations").values({ ...facts, ...revocation, entry: serial_number }),
            )
        }
      })
      await database.migrate()
      const rows = await database.read((session) =>
        session.queryMany(sql<{ revoked_at: number | null }>`select revoked_at from certificates order by number`),
      )
      expect(rows.map(({ revoked_at: at }) => at)).toEqual([7, null])
    } finally {
      await database.close()
    }
  },
)
