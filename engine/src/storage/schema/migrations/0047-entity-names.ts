// Names of users and teams in templates of roles. A name belongs to one id permanently: neither a rename nor a deletion frees it.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const entityNamesMigration: Migration = {
  name: "0047-entity-names",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
    await session.execute(nameUsers)
    await session.execute(nameTeams)
  },
}

const changes = ({ text, integer, keyed }: Words): string[] => [
  `create table entity_names (
    name_folded ${text} not null primary key,
    name ${text} not null,
    entity_id ${text} not null unique,
    base_folded ${text} not null,
    number ${integer} not null
  ) ${keyed}`,
  "create index entity_names_by_base on entity_names (base_folded, number)",
]

const nameUsers = sql`
  insert into entity_names (name_folded, name, entity_id, base_folded, number)
  select username_folded, username, id, username_folded, 1 from users`

/**
 * Teams of several organizations may have the same name and get a number. A team whose numbered name is already used gets its name when it
 * is first needed.
 */
const nameTeams = sql`
  insert into entity_names (name_folded, name, entity_id, base_folded, number)
  select name_folded || case when number = 1 then '' else '-' || number end,
    name || case when number = 1 then '' else '-' || number end, id, name_folded, number
  from (
    select t.id, t.name, t.name_folded,
      row_number() over (partition by t.name_folded order by t.created_at, t.id)
        + (select count(*) from users as u where u.username_folded = t.name_folded) as number
    from teams as t
  ) as numbered
  where true
  on conflict do nothing`
