// ACME (RFC 8555). The queue of validations consists of the challenges in state `processing`. A nonce is written when it is used, not when
// it is issued.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const acmeMigration: Migration = {
  name: "0011-acme",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, flag, blob, keyed }: Words): string[] => [
  `create table acme_accounts (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    directory ${text} not null,
    thumbprint ${text} not null,
    jwk ${text} not null,
    status ${text} not null,
    contact ${text} not null,
    terms_agreed ${flag} not null,
    binding ${text},
    binding_id ${text},
    created_at ${integer} not null,
    status_at ${integer} not null,
    unique (mount_id, directory, thumbprint)
  ) ${keyed}`,
  "create index acme_accounts_by_status on acme_accounts (mount_id, status, status_at)",
  `create table acme_bindings (
    mount_id ${text} not null references mounts on delete cascade,
    id ${text} not null,
    directory ${text} not null,
    key_sealed ${blob} not null,
    created_at ${integer} not null,
    expires_at ${integer},
    primary key (mount_id, id)
  ) ${keyed}`,
  "create index acme_bindings_by_expiry on acme_bindings (expires_at) where expires_at is not null",
  `create table acme_orders (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    account_id ${text} not null references acme_accounts on delete cascade,
    state ${text} not null,
    created_at ${integer} not null,
    expires_at ${integer} not null,
    identifiers ${text} not null,
    not_before ${integer},
    not_after ${integer},
    profile ${text},
    replaces ${text},
    csr ${blob},
    serial_number ${blob}
  ) ${keyed}`,
  "create index acme_orders_by_account on acme_orders (account_id, created_at, id)",
  "create index acme_orders_by_expiry on acme_orders (mount_id, expires_at)",
  "create unique index acme_orders_by_certificate on acme_orders (mount_id, serial_number) where serial_number is not null",
  "create index acme_orders_by_replaced on acme_orders (mount_id, replaces) where replaces is not null",
  `create table acme_authorizations (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    account_id ${text} not null references acme_accounts on delete cascade,
    type ${text} not null,
    value ${text} not null,
    wildcard ${flag} not null,
    state ${text} not null,
    created_at ${integer} not null,
    expires_at ${integer} not null
  ) ${keyed}`,
  "create index acme_authorizations_by_identifier on acme_authorizations (account_id, type, value, wildcard, expires_at)",
  `create table acme_order_authorizations (
    order_id ${text} not null references acme_orders on delete cascade,
    position ${integer} not null,
    authorization_id ${text} not null references acme_authorizations on delete cascade,
    primary key (order_id, position)
  ) ${keyed}`,
  "create index acme_order_authorizations_by_authorization on acme_order_authorizations (authorization_id)",
  `create table acme_challenges (
    authorization_id ${text} not null references acme_authorizations on delete cascade,
    type ${text} not null,
    token ${text} not null,
    status ${text} not null,
    validated_at ${integer},
    error ${text},
    attempts ${integer} not null,
    attempt_at ${integer},
    primary key (authorization_id, type)
  ) ${keyed}`,
  // A validation attempt claims its challenge by postponing the next attempt until after its own timeout.
  "create index acme_challenges_due on acme_challenges (attempt_at) where attempt_at is not null",
  `create table acme_nonces (
    digest ${blob} not null primary key,
    expires_at ${integer} not null
  ) ${keyed}`,
  "create index acme_nonces_by_expiry on acme_nonces (expires_at)",
]
