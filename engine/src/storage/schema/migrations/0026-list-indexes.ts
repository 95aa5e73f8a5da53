// Indexes for queries that scanned a table, or sorted all of it to return a page.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const listIndexesMigration: Migration = {
  name: "0026-list-indexes",
  async up(session) {
    for (const text of changes) await session.execute(sql.raw(text))
  },
}

const changes: readonly string[] = [
  "create index projects_agent_pool on projects (default_agent_pool_id) where default_agent_pool_id is not null",
  "create index organizations_agent_pool on organizations (default_agent_pool_id) where default_agent_pool_id is not null",
  "create index projects_auto_destroy on projects (id) where auto_destroy_activity_duration is not null",
  "create index projects_default on projects (organization_id) where is_default = 1",
  "create index retention_policies_kind on retention_policies (kind)",
  "create index tokens_service on tokens (id) where kind = 'service'",
  "create index oauth_tokens_by_age on oauth_tokens (organization_id, created_at, id)",
  "drop index oauth_tokens_organization",
  "create index app_installations_by_age on app_installations (organization_id, created_at, id)",
  "drop index app_installations_organization",
]
