// Certificates that may log in, and revocation lists for them. All of it is deleted with its auth method.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const certificateLoginsMigration: Migration = {
  name: "0055-certificate-logins",
  async up(session) {
    for (const text of tables(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const tables = ({ text, blob, integer, keyed, plain }: Words): string[] => [
  `create table certificate_login_configs (
    auth_method_id ${text} not null primary key references auth_methods on delete cascade,
    config ${text} not null
  ) ${plain}`,
  `create table certificate_login_roles (
    auth_method_id ${text} not null references auth_methods on delete cascade,
    name ${text} not null,
    definition ${text} not null,
    primary key (auth_method_id, name)
  ) ${keyed}`,
  `create table certificate_login_crls (
    auth_method_id ${text} not null references auth_methods on delete cascade,
    name ${text} not null,
    url ${text} not null,
    issuer ${blob} not null,
    digest ${text} not null,
    next_update ${integer},
    stored_at ${integer} not null,
    content ${blob} not null,
    primary key (auth_method_id, name)
  ) ${plain}`,
]
