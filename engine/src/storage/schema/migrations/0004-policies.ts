// Policies, their attachments, and the columns of service tokens. The policy `default` is written both as text and as parsed rules, because
// a released migration must not change with the parser.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words, type Words } from "./words.ts"

export const policiesMigration: Migration = {
  name: "0004-policies",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
    const insert = session.db.insertInto("policies")
    await session.execute(insert.values({ name: "root", text: "", rules: "[]" }))
    const rules = defaultRules.map(([path, capability]) => ({ path, capabilities: [capability] }))
    await session.execute(insert.values({ name: "default", text: defaultText, rules: JSON.stringify(rules) }))
  },
}

const changes = ({ text, integer, keyed, plain }: Words): string[] => [
  `create table policies (
    name ${text} not null primary key,
    text ${text} not null,
    rules ${text} not null
  ) ${keyed}`,
  `create table policy_attachments (
    policy_name ${text} not null references policies on delete cascade,
    user_id ${text} references users on delete cascade,
    team_id ${text} references teams on delete cascade,
    token_id ${text} references tokens on delete cascade,
    unique (user_id, policy_name),
    unique (team_id, policy_name),
    unique (token_id, policy_name)
  ) ${plain}`,
  "create index policy_attachments_policy on policy_attachments (policy_name)",
  "alter table tokens drop column policies",
  `alter table tokens add column parent_id ${text} references tokens on delete cascade`,
  `alter table tokens add column uses_left ${integer}`,
  `alter table tokens add column last_renewed_at ${integer}`,
  `alter table tokens add column service ${text}`,
  "create index tokens_parent on tokens (parent_id) where parent_id is not null",
  "create index tokens_service_end on tokens (expires_at) where kind = 'service'",
]

/** Any authenticated caller may revoke a certificate by proof of its key, on every mount. */
const defaultRules = [
  ["auth/token/lookup-self", "read"],
  ["auth/token/renew-self", "update"],
  ["auth/token/revoke-self", "update"],
  ["sys/capabilities-self", "update"],
  ["+/revoke-with-key", "update"],
  ["+/+/revoke-with-key", "update"],
  ["+/+/+/revoke-with-key", "update"],
] as const

const defaultText = `# What every service token may do, unless it is made without this policy.

# Look at itself, live longer and end.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}

# Ask what it may do.
path "sys/capabilities-self" {
  capabilities = ["update"]
}

# Revoke a certificate whose key it has.
path "+/revoke-with-key" {
  capabilities = ["update"]
}
path "+/+/revoke-with-key" {
  capabilities = ["update"]
}
path "+/+/+/revoke-with-key" {
  capabilities = ["update"]
}
`
