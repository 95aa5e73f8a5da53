// Users who log in with a password, with the count of their failed logins. All of them are deleted with their auth method.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const userpassUsersMigration: Migration = {
  name: "0054-userpass-users",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, keyed }: Words): string[] => [
  `create table userpass_users (
    auth_method_id ${text} not null references auth_methods on delete cascade,
    name ${text} not null,
    definition ${text} not null,
    password_hash ${text} not null,
    failed_logins ${integer} not null,
    last_failed_at ${integer},
    primary key (auth_method_id, name)
  ) ${keyed}`,
  "create index userpass_users_failed on userpass_users (auth_method_id, name) where failed_logins > 0",
]
