// Settings of organizations, teams and agent pools that HCP Terraform clients write and read back. Also the permissions of custom project
// access, and a flag of tag bindings without a value.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const tfeSettingsMigration: Migration = {
  name: "0037-tfe-settings",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
    await session.execute(keepSecretTeamsVisible)
  },
}

/**
 * Teams that manage teams or memberships could see secret teams before there was a permission for it. This migration grants it to them.
 * `access` is a flat JSON object of permissions that are true.
 */
const keepSecretTeamsVisible = sql`
  update teams set access = replace(access, '{', '{"accessSecretTeams":true,')
  where access like '{%"manageTeams":true%' or access like '{%"manageMembership":true%'
    or access like '{%"manageOrganizationAccess":true%'`

const changes = ({ text, flag, blob, keyed }: Words): string[] => [
  `alter table organizations add column settings ${text}`,
  `alter table teams add column sso_team_id ${text}`,
  `alter table teams add column members_manage_token ${flag}`,
  `alter table projects add column overwrites_agent_pool ${flag}`,
  `alter table users add column invited ${flag}`,
  `alter table tokens add column audit_organization_id ${text} references organizations on delete cascade`,
  `alter table oauth_clients add column consumer_key ${text}`,
  `alter table oauth_clients add column rsa_public_key ${text}`,
  `alter table oauth_clients add column secret_sealed ${blob}`,
  `alter table workspace_bindings add column is_binding ${flag}`,
  `alter table agent_pools add column organization_scoped ${flag}`,
  `create table agent_pool_workspaces (
    agent_pool_id ${text} not null references agent_pools on delete cascade,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    rule ${text} not null,
    primary key (agent_pool_id, workspace_id, rule)
  ) ${keyed}`,
  `create table agent_pool_projects (
    agent_pool_id ${text} not null references agent_pools on delete cascade,
    project_id ${text} not null references projects on delete cascade,
    primary key (agent_pool_id, project_id)
  ) ${keyed}`,
  "create index tokens_audit_organization on tokens (audit_organization_id) where audit_organization_id is not null",
  "create index agent_pool_workspaces_workspace on agent_pool_workspaces (workspace_id)",
  "create index agent_pool_projects_project on agent_pool_projects (project_id)",
]
