// AppRoles and their secret ids. The stored values of a secret id cannot be used to log in.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const appRolesMigration: Migration = {
  name: "0032-app-roles",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, keyed, plain }: Words): string[] => [
  `create table app_roles (
    method_id ${text} not null references auth_methods on delete cascade,
    name ${text} not null,
    role_id ${text} not null,
    definition ${text} not null,
    primary key (method_id, name),
    unique (method_id, role_id)
  ) ${keyed}`,
  `create table app_role_secret_ids (
    accessor ${text} not null primary key,
    method_id ${text} not null,
    role_name ${text} not null,
    digest ${text} not null,
    uses_left ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null,
    expires_at ${integer},
    definition ${text} not null,
    unique (method_id, role_name, digest),
    foreign key (method_id, role_name) references app_roles (method_id, name) on delete cascade
  ) ${plain}`,
  "create index app_role_secret_ids_accessors on app_role_secret_ids (method_id, role_name, accessor)",
  "create index app_role_secret_ids_end on app_role_secret_ids (expires_at) where expires_at is not null",
]
