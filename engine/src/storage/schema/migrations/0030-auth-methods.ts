// Auth methods, and columns of tokens made by a login. Text columns are null in rows written by releases that do not know them.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const authMethodsMigration: Migration = {
  name: "0030-auth-methods",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, plain }: Words): string[] => [
  `create table auth_methods (
    id ${text} not null primary key,
    path ${text} not null unique,
    type ${text} not null,
    description ${text} not null,
    config ${text} not null,
    accessor ${text} not null,
    uuid ${text} not null,
    created_at ${integer} not null
  ) ${plain}`,
  `alter table tokens add column auth_method_id ${text} references auth_methods on delete cascade`,
  `alter table tokens add column bound_cidrs ${text}`,
  "create index tokens_auth_method on tokens (auth_method_id) where auth_method_id is not null",
]
