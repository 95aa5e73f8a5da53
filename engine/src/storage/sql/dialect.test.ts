import { constants, DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { textOf } from "./dialect.ts"
import { statement } from "./query-runner.ts"

const leases = statement((db, { now, limit }: { now: number; limit: number }) =>
  db.selectFrom("leases").select("name").where("expires_at", ">", now).orderBy("expires_at").limit(limit),
)

/** Counts the authorizer calls while a prepared statement runs. SQLite calls the authorizer whenever it plans a statement. */
function plannings(text: string): number {
  using database = new DatabaseSync(":memory:")
  database.exec("create table leases (name text primary key, expires_at integer) strict")
  database.exec("insert into leases values ('one', 1), ('two', 2), ('three', 3)")
  let count = 0
  database.setAuthorizer(() => {
    count += 1
    return constants.SQLITE_OK
  })
  const prepared = database.prepare(text)
  const before = count
  expect(prepared.all(0, 2).map(({ name }) => name)).toEqual(["one", "two"])
  expect(prepared.all(2, 5).map(({ name }) => name)).toEqual(["three"])
  expect(before).toBeGreaterThan(0)
  return count - before
}

test("a prepared statement is not planned again for each limit", () => {
  const text = textOf("sqlite", leases)
  expect(plannings(text)).toBe(0)
  expect(plannings(text.replace("limit ? + 0", "limit ?"))).toBeGreaterThan(0)
})

test("PostgreSQL gets the limit unchanged", () => {
  expect(textOf("postgres", leases)).toMatch(/ limit \$2$/)
})
