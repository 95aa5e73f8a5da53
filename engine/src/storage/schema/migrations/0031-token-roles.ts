// Token roles: rules for service tokens that may have policies which their creator does not have.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const tokenRolesMigration: Migration = {
  name: "0031-token-roles",
  async up(session) {
    await session.execute(sql.raw(change(words[session.dialect])))
  },
}

const change = ({ text, keyed }: Words): string =>
  `create table token_roles (
    name ${text} not null primary key,
    definition ${text} not null
  ) ${keyed}`
