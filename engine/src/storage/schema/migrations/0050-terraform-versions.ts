// Terraform releases that site administrators list, and an index that counts the workspaces of each.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const terraformVersionsMigration: Migration = {
  name: "0050-terraform-versions",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, flag, keyed }: Words): string[] => [
  `create table terraform_versions (
    id ${text} not null primary key,
    version ${text} not null,
    version_order ${text} not null,
    archs ${text} not null,
    official ${flag} not null,
    deprecated ${flag} not null,
    deprecated_reason ${text},
    enabled ${flag} not null,
    beta ${flag} not null,
    created_at ${integer} not null
  ) ${keyed}`,
  "create unique index terraform_versions_version on terraform_versions (version)",
  "create index terraform_versions_by_order on terraform_versions (version_order)",
  "create index workspaces_engine_version on workspaces (engine_version)",
]
