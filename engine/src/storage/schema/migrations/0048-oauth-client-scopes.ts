// Scope of an OAuth client, which is the organization or selected projects, and the agent pool that reaches its VCS provider.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const oauthClientScopesMigration: Migration = {
  name: "0048-oauth-client-scopes",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, flag, keyed }: Words): string[] => [
  `alter table oauth_clients add column organization_scoped ${flag}`,
  `alter table oauth_clients add column agent_pool_id ${text} references agent_pools`,
  `create table oauth_client_projects (
    oauth_client_id ${text} not null references oauth_clients on delete cascade,
    project_id ${text} not null references projects on delete cascade,
    primary key (oauth_client_id, project_id)
  ) ${keyed}`,
  "create index oauth_client_projects_project on oauth_client_projects (project_id)",
  "create index oauth_clients_agent_pool on oauth_clients (agent_pool_id) where agent_pool_id is not null",
]
