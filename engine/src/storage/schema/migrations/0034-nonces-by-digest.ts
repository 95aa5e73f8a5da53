// Digests of nonces begin with the time at which they end: an index by that time is one more to be written with each request.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const noncesByDigestMigration: Migration = {
  name: "0034-nonces-by-digest",
  async up(session) {
    await session.execute(sql`drop index acme_nonces_by_expiry`)
  },
}
