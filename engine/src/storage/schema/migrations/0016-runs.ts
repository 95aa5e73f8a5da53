// Runs that executors claim and report on: all options, the claim, logs and results. Agents of a pool have their own tokens.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const runsMigration: Migration = {
  name: "0016-runs",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, flag, blob, keyed }: Words): string[] => [
  `alter table runs add column operation ${text} not null default 'plan_and_apply'`,
  `alter table runs add column refresh ${flag} not null default 1`,
  `alter table runs add column save_plan ${flag} not null default 0`,
  `alter table runs add column allow_empty_apply ${flag} not null default 0`,
  `alter table runs add column allow_config_generation ${flag} not null default 0`,
  `alter table runs add column engine_version ${text}`,
  `alter table runs add column target_addrs ${text} not null default '[]'`,
  `alter table runs add column replace_addrs ${text} not null default '[]'`,
  `alter table runs add column variables_sealed ${blob}`,
  `alter table runs add column plan_counts ${text}`,
  `alter table runs add column apply_counts ${text}`,
  `alter table runs add column claim_id ${text}`,
  `alter table runs add column claimed_by_kind ${text}`,
  `alter table runs add column claimed_by_id ${text}`,
  `alter table runs add column claimed_by_name ${text}`,
  `alter table runs add column claimed_at ${integer}`,
  `alter table runs add column claim_expires_at ${integer}`,
  `alter table runs add column claim_lease_ms ${integer}`,
  `update runs set operation = case when is_destroy = 1 then 'destroy' when plan_only = 1 then 'plan_only'
    when refresh_only = 1 then 'refresh_only' else 'plan_and_apply' end`,
  "create unique index runs_claim on runs (claim_id) where claim_id is not null",
  "create index runs_claim_end on runs (claim_expires_at) where claim_expires_at is not null and finished_at is null",
  "create index runs_unfinished on runs (organization_id, created_at) where finished_at is null",
  "create index runs_organization on runs (organization_id, created_at)",
  // Log output of a plan or an apply, in chunks. A chunk starts where the previous one ends.
  `create table run_logs (
    run_id ${text} not null references runs on delete cascade,
    stage ${text} not null,
    start ${integer} not null,
    size ${integer} not null,
    sealed ${blob} not null,
    primary key (run_id, stage, start)
  ) ${keyed}`,
  // The plan as JSON, and the plan file for the executor that applies it.
  `create table run_documents (
    run_id ${text} not null references runs on delete cascade,
    document ${text} not null,
    chunk ${integer} not null,
    sealed ${blob} not null,
    primary key (run_id, document, chunk)
  ) ${keyed}`,
  `alter table tokens add column agent_pool_id ${text} references agent_pools on delete cascade`,
  "create index tokens_agent_pool on tokens (agent_pool_id, created_at) where agent_pool_id is not null",
  // Last activity after which the workspace was automatically destroyed, or could not be. Later activity starts the period again.
  `alter table workspaces add column auto_destroy_settled_at ${integer}`,
  `create index workspaces_auto_destroy_duration on workspaces (auto_destroy_activity_duration)
    where auto_destroy_activity_duration is not null`,
]
