import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { inventoryStatusOf } from "../../../pki/issuance/certificate.ts"
import { countMount } from "../../../pki/statistics/count-certificates.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import { SqlStatisticsRepository } from "./statistics-repository.ts"
import { databaseKinds, type TemporaryDatabase, temporaryDatabase } from "../../../../testing/temporary-database.ts"
import { inventory, inventoryMount, inventoryNow, writeInventory } from "../../../../testing/temporary-inventory.ts"

const countedRows = () => {
  const statuses = inventory.map((one) => inventoryStatusOf(one, inventoryNow))
  const soonest = (role: string) =>
    Math.min(
      ...inventory
        .filter((one, index) => one.role === role && statuses[index] === "valid")
        .map(({ notAfter }) => notAfter),
    )
  return {
    valid: statuses.filter((status) => status === "valid").length,
    expired: statuses.filter((status) => status === "expired").length,
    revoked: statuses.filter((status) => status === "revoked").length,
    soonestOfRoles: ["role-0", "role-1", "role-2"]
      .map((role) => ({ role, notAfter: soonest(role) }))
      .toSorted((one, other) => one.notAfter - other.notAfter),
  }
}

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "certificates on $name",
  (kind) => {
    let opened: TemporaryDatabase
    beforeAll(async () => {
      opened = await temporaryDatabase(kind, { unused: true })
      await opened.database.transact(writeInventory)
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    const rows = <T>(work: (rows: SqlStatisticsRepository) => Promise<T>) =>
      opened.database.read((session) => work(new SqlStatisticsRepository(session)))

    test("are counted, stored and read for one mount only", async () => {
      const counted = await countMount(rows, inventoryMount, inventoryNow, new AbortController().signal)
      expect(counted).toMatchObject(countedRows())
      expect(await rows((one) => one.find(inventoryMount))).toBeUndefined()
      for (const statistics of [counted, { ...counted, valid: 1 }]) {
        await opened.database.transact((session) =>
          new SqlStatisticsRepository(session).save(inventoryMount, statistics),
        )
        expect(await rows((one) => one.find(inventoryMount))).toEqual(statistics)
      }
    })

    test.each([1, 7, 599, 600, 10_000])("have equal counts in parts of %d", async (limit) => {
      for (const revoked of [false, true]) {
        let count = 0
        let after = { notAfter: 100_000, number: 0 } as { notAfter: number; number: number } | undefined
        for (let steps = 0; after !== undefined && steps < 700; steps += 1) {
          const from = after
          const range = { mountId: inventoryMount, revoked, after: from, before: 700_000 }
          const part = await rows((one) => one.countPart(range, limit))
          count += part.count
          after = part.next
        }
        const within = inventory.filter(
          ({ notAfter, revokedAt }) => notAfter >= 100_000 && notAfter < 700_000 && (!revoked || revokedAt !== null),
        )
        expect([revoked, count]).toEqual([revoked, within.length])
      }
    })

    test("are counted in indexes only, and roles are found by index jumps", async () => {
      const plans = await opened.database.read(async (session) => {
        const plans: string[] = []
        const repository = new SqlStatisticsRepository(explaining(session, plans))
        const range = { mountId: inventoryMount, after: { notAfter: 100_000, number: 0 }, before: 700_000 }
        for (const revoked of [false, true]) await repository.countPart({ ...range, revoked }, 10)
        await repository.nextRole(inventoryMount, "role-0")
        await repository.ofRole(inventoryMount, "role-0", range.after, 8)
        return plans
      })
      expect(plans).toHaveLength(6)
      const indexes = ["by_expiry", "by_expiry", "revoked", "revoked", "by_role", "by_role"]
      for (const [at, plan] of plans.entries()) {
        expect(plan).toMatch(
          new RegExp(`INDEX certificates_${indexes[at]}|Scan (using|on) certificates_${indexes[at]}`),
        )
        expect(plan).not.toMatch(/SCAN c|Seq Scan|USE TEMP B-TREE/)
      }
      // Until the table has been vacuumed, PostgreSQL reads the visibility of rows from the table, so other index scans are accepted too.
      const isCovered = /COVERING INDEX|Index Only Scan|Bitmap Index Scan|Index Scan using/
      for (const plan of plans.slice(0, 4)) expect(plan).toMatch(isCovered)
    })
  },
)

/** Wraps a query runner: records the plan of each query and returns no rows. */
function explaining(session: QueryRunner, plans: string[]): QueryRunner {
  const explained = async (query: unknown, parameters: unknown): Promise<undefined> => {
    const { build } = query as { build: (db: unknown, parameters: unknown, dialect: string) => never }
    const built = build(session.db, parameters, session.dialect)
    const keyword = session.dialect === "sqlite" ? sql`explain query plan` : sql`explain`
    const rows = await session.queryMany(sql<Record<string, unknown>>`${keyword} ${built}`)
    plans.push(rows.map((row) => String(row["detail"] ?? row["QUERY PLAN"])).join("\n"))
  }
  return {
    ...session,
    dialect: session.dialect,
    db: session.db,
    queryOne: explained,
    queryMany: async (query: unknown, parameters: unknown) => {
      await explained(query, parameters)
      return []
    },
  } as unknown as QueryRunner
}
