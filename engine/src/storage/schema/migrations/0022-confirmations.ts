// The user who confirmed a run, and the SSH key of VCS providers that cannot be cloned from with a token alone.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const confirmationsMigration: Migration = {
  name: "0022-confirmations",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, blob }: Words): string[] => [
  `alter table runs add column confirmed_by_kind ${text}`,
  `alter table runs add column confirmed_by_id ${text}`,
  `alter table oauth_tokens add column ssh_key_sealed ${blob}`,
]
