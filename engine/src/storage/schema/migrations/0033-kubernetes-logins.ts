// Kubernetes clusters whose service accounts may log in, and the roles of these logins. All of it is deleted with its auth method.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const kubernetesLoginsMigration: Migration = {
  name: "0033-kubernetes-logins",
  async up(session) {
    for (const text of tables(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const tables = ({ text, blob, keyed, plain }: Words): string[] => [
  `create table kubernetes_clusters (
    auth_method_id ${text} not null primary key references auth_methods on delete cascade,
    config ${text} not null,
    reviewer_token_sealed ${blob}
  ) ${plain}`,
  `create table kubernetes_roles (
    auth_method_id ${text} not null references auth_methods on delete cascade,
    name ${text} not null,
    definition ${text} not null,
    primary key (auth_method_id, name)
  ) ${keyed}`,
]
