// Digests of nonces begin with their expiry, so an index by expiry would only be another write per request.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const noncesByDigestMigration: Migration = {
  name: "0034-nonces-by-digest",
  async up(session) {
    await session.execute(sql`drop index acme_nonces_by_expiry`)
  },
}
