// Whether runs of an organization execute on agents, and when an executor was last seen. Organizations that exist already keep
// executing on the machines of their clients until the setting is made.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const remoteOperationsMigration: Migration = {
  name: "0052-remote-operations",
  async up(session) {
    const { flag, integer } = words[session.dialect]
    await session.execute(sql.raw(`alter table organizations add column remote_operations ${flag}`))
    await session.execute(sql.raw(`alter table organizations add column executor_seen_at ${integer}`))
    await session.execute(sql.raw(`alter table agent_pools add column agent_seen_at ${integer}`))
  },
}
