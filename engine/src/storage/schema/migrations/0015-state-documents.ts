// State documents that are uploaded as streams, sealed chunk by chunk. The last chunk shows that a document is complete. Earlier documents
// stay in `state_contents` and are read from there.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const stateDocumentsMigration: Migration = {
  name: "0015-state-documents",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, blob, keyed, plain }: Words): string[] => [
  `create table state_documents (
    id ${text} not null primary key,
    state_version_id ${text} not null references state_versions on delete cascade,
    document ${text} not null,
    status ${text} not null,
    chunk_count ${integer},
    size ${integer},
    started_at ${integer} not null
  ) ${keyed}`,
  "create index state_documents_by_version on state_documents (state_version_id)",
  "create unique index state_documents_kept on state_documents (state_version_id, document) where status = 'kept'",
  "create index state_documents_not_kept on state_documents (status, started_at) where status <> 'kept'",
  `create table state_chunks (
    document_id ${text} not null references state_documents on delete cascade,
    chunk ${integer} not null,
    sealed ${blob} not null,
    primary key (document_id, chunk)
  ) ${plain}`,
  `alter table state_versions add column reading_attempts ${integer} not null default 0`,
  `create index state_versions_unread on state_versions (created_at)
    where status = 'finalized' and resources_processed = 0`,
  "create index state_versions_pending on state_versions (created_at) where status = 'pending'",
  // Resources of the current state of a workspace, as of the state version that they were listed from.
  `create table workspace_resources (
    id ${text} not null primary key,
    workspace_id ${text} not null references workspaces (id) on delete cascade,
    address ${text} not null,
    name ${text} not null,
    module ${text} not null,
    provider ${text} not null,
    provider_type ${text} not null,
    name_index ${text},
    digest ${text} not null,
    created_at ${integer} not null,
    updated_at ${integer} not null,
    state_version_id ${text} not null,
    unique (workspace_id, address)
  ) ${plain}`,
  `create table workspace_resource_listings (
    workspace_id ${text} not null primary key references workspaces (id) on delete cascade,
    state_version_id ${text} not null
  ) ${keyed}`,
]
