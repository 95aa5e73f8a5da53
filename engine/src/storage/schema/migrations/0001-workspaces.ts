// Tables of organizations, users, workspaces, tags and permissions. Text compares by code point in both dialects, so that both sort and
// search alike.
// Rows below a workspace are deleted with it, and the workspace with its organization. Only the nearest parent is a foreign key, because
// each foreign key costs an index for deletions.
import { sql } from "kysely"
import { createNameSearch } from "../../sql/name-search.ts"
import type { Migration } from "../migrate.ts"
import type { DialectName } from "../../sql/query-runner.ts"
import { type Words, words } from "./words.ts"

export const workspacesMigration: Migration = {
  name: "0001-workspaces",
  async up(session) {
    for (const text of tables({ ...words[session.dialect], ...workspaceWords[session.dialect] }))
      await session.execute(sql.raw(text))
    for (const text of indexes) await session.execute(sql.raw(text))
    await createNameSearch(session)
    await session.execute(session.db.insertInto("generations").values({ family: "identity", number: 0 }))
  },
}

/** SQL that only this migration needs. */
interface WorkspaceWords {
  /** First column of `workspaces` on SQLite: the stable row number that the name index refers to. */
  readonly workspaceNumber: string
  readonly workspaceKey: string
}

const workspaceWords: Record<DialectName, WorkspaceWords> = {
  sqlite: { workspaceNumber: "number integer primary key autoincrement,", workspaceKey: "unique" },
  postgres: { workspaceNumber: "", workspaceKey: "primary key" },
}

const tables = ({
  text,
  integer,
  flag,
  blob,
  keyed,
  plain,
  workspaceNumber,
  workspaceKey,
}: Words & WorkspaceWords): string[] => [
  `create table generations (
    family ${text} not null primary key,
    number ${integer} not null
  ) ${keyed}`,
  `create table settings (
    name ${text} not null primary key,
    value ${text} not null
  ) ${keyed}`,
  `create table organizations (
    id ${text} not null primary key,
    name ${text} not null,
    name_folded ${text} not null unique,
    email ${text} not null,
    created_at ${integer} not null,
    default_execution_mode ${text} not null,
    default_agent_pool_id ${text},
    allow_force_delete_workspaces ${flag} not null,
    assessments_enforced ${flag} not null,
    plan ${text} not null,
    cost_estimation_enabled ${flag} not null,
    collaborator_auth_policy ${text} not null
  ) ${plain}`,
  `create table users (
    id ${text} not null primary key,
    username ${text} not null,
    username_folded ${text} not null unique,
    email ${text} not null,
    email_folded ${text} unique,
    site_admin ${flag} not null,
    service_account ${flag} not null,
    created_at ${integer} not null
  ) ${plain}`,
  `create table organization_memberships (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    user_id ${text} not null references users on delete cascade,
    status ${text} not null,
    created_at ${integer} not null,
    unique (organization_id, user_id)
  ) ${plain}`,
  `create table teams (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    name_folded ${text} not null,
    visibility ${text} not null,
    access ${text} not null,
    created_at ${integer} not null,
    unique (organization_id, name_folded)
  ) ${plain}`,
  `create table team_members (
    team_id ${text} not null references teams on delete cascade,
    user_id ${text} not null references users on delete cascade,
    primary key (team_id, user_id)
  ) ${keyed}`,
  `create table projects (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    name_folded ${text} not null,
    description ${text} not null,
    is_default ${flag} not null,
    created_at ${integer} not null,
    auto_destroy_activity_duration ${text},
    default_execution_mode ${text},
    default_agent_pool_id ${text},
    unique (organization_id, name_folded)
  ) ${plain}`,
  `create table project_bindings (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    project_id ${text} not null references projects on delete cascade,
    key ${text} not null,
    key_folded ${text} not null,
    value ${text} not null,
    created_at ${integer} not null,
    unique (project_id, key_folded)
  ) ${plain}`,
  `create table ssh_keys (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    value_sealed ${blob} not null,
    created_at ${integer} not null,
    unique (organization_id, name)
  ) ${plain}`,
  `create table agent_pools (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    name_folded ${text} not null,
    created_at ${integer} not null,
    unique (organization_id, name_folded)
  ) ${plain}`,
  `create table oauth_clients (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text},
    service_provider ${text} not null,
    http_url ${text} not null,
    api_url ${text} not null,
    created_at ${integer} not null
  ) ${plain}`,
  `create table oauth_tokens (
    id ${text} not null primary key,
    oauth_client_id ${text} not null references oauth_clients on delete cascade,
    organization_id ${text} not null references organizations on delete cascade,
    service_provider_user ${text},
    value_sealed ${blob} not null,
    created_at ${integer} not null
  ) ${plain}`,
  `create table app_installations (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    installation_id ${integer} not null,
    created_at ${integer} not null
  ) ${plain}`,
  `create table workspaces (
    ${workspaceNumber}
    id ${text} not null ${workspaceKey},
    organization_id ${text} not null references organizations on delete cascade,
    project_id ${text} not null references projects,
    name ${text} not null,
    name_folded ${text} not null,
    name_reversed ${text} not null,
    description ${text},
    created_at ${integer} not null,
    updated_at ${integer} not null,
    latest_change_at ${integer} not null,
    environment ${text} not null,
    source ${text} not null,
    source_name ${text},
    source_url ${text},
    execution_mode ${text} not null,
    agent_pool_id ${text} references agent_pools,
    overwrites_execution_mode ${flag} not null,
    overwrites_agent_pool ${flag} not null,
    allow_destroy_plan ${flag} not null,
    assessments_enabled ${flag} not null,
    auto_apply ${flag} not null,
    auto_apply_run_trigger ${flag} not null,
    auto_destroy_at ${integer},
    auto_destroy_status ${text},
    auto_destroy_activity_duration ${text},
    inherits_project_auto_destroy ${flag} not null,
    file_triggers_enabled ${flag} not null,
    global_remote_state ${flag} not null,
    queue_all_runs ${flag} not null,
    speculative_enabled ${flag} not null,
    structured_run_output_enabled ${flag} not null,
    engine_version ${text} not null,
    trigger_patterns ${text} not null,
    trigger_prefixes ${text} not null,
    working_directory ${text},
    vcs_repo ${text},
    oauth_token_id ${text} references oauth_tokens,
    app_installation_id ${text} references app_installations,
    ssh_key_id ${text} references ssh_keys on delete set null,
    locked_at ${integer},
    locked_by_kind ${text},
    locked_by_id ${text},
    locked_reason ${text},
    lock_number ${integer} not null,
    current_run_id ${text},
    current_run_status ${text},
    current_run_created_at ${integer},
    current_state_version_id ${text},
    current_configuration_version_id ${text},
    current_assessment_result_id ${text},
    last_assessment_result_at ${integer},
    resource_count ${integer} not null,
    apply_duration_average_ms ${integer},
    plan_duration_average_ms ${integer},
    policy_check_failures ${integer},
    run_failures ${integer},
    kpis_runs_count ${integer},
    unique (organization_id, name_folded)
  ) ${plain}`,
  `create table team_workspaces (
    id ${text} not null primary key,
    team_id ${text} not null references teams on delete cascade,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    access ${text} not null,
    custom ${text},
    unique (team_id, workspace_id)
  ) ${plain}`,
  `create table team_projects (
    id ${text} not null primary key,
    team_id ${text} not null references teams on delete cascade,
    project_id ${text} not null references projects on delete cascade,
    access ${text} not null,
    custom ${text},
    unique (team_id, project_id)
  ) ${plain}`,
  `create table tokens (
    id ${text} not null primary key,
    hash ${text} not null unique,
    kind ${text} not null,
    user_id ${text} references users on delete cascade,
    team_id ${text} references teams on delete cascade,
    organization_id ${text} references organizations on delete cascade,
    description ${text} not null,
    created_by ${text},
    created_at ${integer} not null,
    last_used_at ${integer},
    expires_at ${integer},
    policies ${text} not null
  ) ${plain}`,
  `create table tags (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    name_folded ${text} not null,
    created_at ${integer} not null,
    unique (organization_id, name_folded)
  ) ${plain}`,
  `create table workspace_bindings (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    tag_id ${text} references tags on delete cascade,
    key ${text} not null,
    key_folded ${text} not null,
    value ${text} not null,
    created_at ${integer} not null,
    unique (workspace_id, key_folded)
  ) ${plain}`,
  `create table remote_state_consumers (
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    consumer_id ${text} not null references workspaces (id) on delete cascade,
    primary key (workspace_id, consumer_id)
  ) ${keyed}`,
  `create table retention_policies (
    id ${text} not null primary key,
    target_kind ${text} not null,
    target_id ${text} not null,
    kind ${text} not null,
    delete_older_than_days ${integer},
    unique (target_kind, target_id)
  ) ${plain}`,
  `create table state_versions (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    organization_id ${text} not null,
    serial ${integer} not null,
    lineage ${text},
    md5 ${text} not null,
    size ${integer},
    status ${text} not null,
    intermediate ${flag} not null,
    lock_number ${integer} not null,
    created_at ${integer} not null,
    created_by_kind ${text},
    created_by_id ${text},
    run_id ${text},
    terraform_version ${text},
    format_version ${integer},
    resource_count ${integer},
    resources ${text},
    modules ${text},
    providers ${text},
    resources_processed ${flag} not null,
    vcs_commit_sha ${text},
    vcs_commit_url ${text}
  ) ${plain}`,
  `create table state_contents (
    state_version_id ${text} not null references state_versions on delete cascade,
    document ${text} not null,
    chunk ${integer} not null,
    sealed ${blob} not null,
    primary key (state_version_id, document, chunk)
  ) ${plain}`,
  `create table state_version_outputs (
    id ${text} not null primary key,
    state_version_id ${text} not null references state_versions on delete cascade,
    position ${integer} not null,
    name ${text} not null,
    sensitive ${flag} not null,
    type ${text} not null,
    value_sealed ${blob} not null,
    detailed_type ${text} not null,
    unique (state_version_id, name)
  ) ${plain}`,
  `create table runs (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    organization_id ${text} not null,
    status ${text} not null,
    message ${text} not null,
    source ${text} not null,
    is_destroy ${flag} not null,
    auto_apply ${flag} not null,
    plan_only ${flag} not null,
    refresh_only ${flag} not null,
    has_changes ${flag} not null,
    created_at ${integer} not null,
    created_by_kind ${text},
    created_by_id ${text},
    status_timestamps ${text} not null,
    configuration_version_id ${text},
    plan_id ${text} not null unique,
    apply_id ${text} not null unique,
    plan_duration_ms ${integer},
    apply_duration_ms ${integer},
    policy_failed ${flag} not null,
    finished_at ${integer}
  ) ${plain}`,
  `create table configuration_versions (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    organization_id ${text} not null,
    source ${text} not null,
    status ${text} not null,
    speculative ${flag} not null,
    provisional ${flag} not null,
    auto_queue_runs ${flag} not null,
    error ${text},
    error_message ${text},
    created_at ${integer} not null,
    ingress_attributes_id ${text} unique,
    ingress_attributes ${text},
    readme_id ${text} unique,
    readme ${text}
  ) ${plain}`,
  `create table variables (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    organization_id ${text} not null,
    key ${text} not null,
    category ${text} not null,
    value_sealed ${blob} not null,
    description ${text} not null,
    hcl ${flag} not null,
    sensitive ${flag} not null,
    version_id ${text} not null,
    created_at ${integer} not null,
    unique (workspace_id, category, key)
  ) ${plain}`,
  `create table assessment_results (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    organization_id ${text} not null,
    drifted ${flag} not null,
    succeeded ${flag} not null,
    error_message ${text},
    created_at ${integer} not null
  ) ${plain}`,
]

const indexes: readonly string[] = [
  "create index organization_memberships_user on organization_memberships (user_id)",
  "create index team_members_user on team_members (user_id)",
  "create index team_workspaces_workspace on team_workspaces (workspace_id, team_id)",
  "create index team_projects_project on team_projects (project_id, team_id)",
  "create index tokens_user on tokens (user_id, created_at)",
  "create index tokens_team on tokens (team_id, created_at)",
  "create index tokens_organization on tokens (organization_id, created_at)",
  "create index project_bindings_pair on project_bindings (organization_id, key_folded, value, project_id)",
  "create index oauth_clients_organization on oauth_clients (organization_id, created_at)",
  "create index oauth_tokens_client on oauth_tokens (oauth_client_id, created_at)",
  "create index oauth_tokens_organization on oauth_tokens (organization_id)",
  "create index app_installations_organization on app_installations (organization_id)",
  "create index workspaces_by_name on workspaces (organization_id, name_folded, id)",
  "create index workspaces_by_reversed_name on workspaces (organization_id, name_reversed)",
  "create index workspaces_by_project on workspaces (organization_id, project_id, name_folded, id)",
  "create index workspaces_by_change on workspaces (organization_id, latest_change_at, id)",
  "create index workspaces_by_run on workspaces (organization_id, current_run_created_at, id)",
  "create index workspaces_by_run_status on workspaces (organization_id, current_run_status, name_folded, id)",
  "create index workspaces_project on workspaces (project_id)",
  "create index workspaces_agent_pool on workspaces (agent_pool_id) where agent_pool_id is not null",
  "create index workspaces_oauth_token on workspaces (oauth_token_id) where oauth_token_id is not null",
  "create index workspaces_app_installation on workspaces (app_installation_id) where app_installation_id is not null",
  "create index workspaces_ssh_key on workspaces (ssh_key_id) where ssh_key_id is not null",
  "create index workspaces_auto_destroy on workspaces (auto_destroy_at) where auto_destroy_at is not null",
  "create index workspace_bindings_tag on workspace_bindings (tag_id, workspace_id)",
  "create index workspace_bindings_pair on workspace_bindings (organization_id, key_folded, value, workspace_id)",
  "create index workspace_bindings_value on workspace_bindings (organization_id, value, workspace_id) where value <> ''",
  "create index remote_state_consumers_consumer on remote_state_consumers (consumer_id, workspace_id)",
  "create index state_versions_workspace on state_versions (workspace_id, created_at)",
  "create index state_versions_run on state_versions (run_id) where run_id is not null",
  "create index runs_workspace on runs (workspace_id, created_at)",
  "create index runs_finished on runs (workspace_id, finished_at) where finished_at is not null",
  "create index configuration_versions_workspace on configuration_versions (workspace_id, created_at)",
  "create index assessment_results_workspace on assessment_results (workspace_id, created_at)",
]
