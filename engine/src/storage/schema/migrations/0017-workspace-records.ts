// State sharing with the project of a workspace, and the uploaded archives of configuration versions.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const workspaceRecordsMigration: Migration = {
  name: "0017-workspace-records",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, flag, blob, plain }: Words): string[] => [
  `alter table workspaces add column project_remote_state ${flag} not null default 0`,
  `alter table configuration_versions add column created_by_kind ${text}`,
  `alter table configuration_versions add column created_by_id ${text}`,
  `alter table configuration_versions add column content_digest ${text}`,
  // Archive, sealed in chunks.
  `create table configuration_contents (
    configuration_version_id ${text} not null references configuration_versions on delete cascade,
    chunk ${integer} not null,
    sealed ${blob} not null,
    primary key (configuration_version_id, chunk)
  ) ${plain}`,
]
