// Revocations and CRLs. Revocations have their own table, ordered by revocation within each CRL. A CRL is therefore one ordered read, and
// new entries are at its end (docs/decisions/crl-on-read.md).
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const revocationsMigration: Migration = {
  name: "0007-revocations",
  async up(session) {
    for (const text of tables(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const tables = ({ text, integer, blob, keyed }: Words): string[] => [
  // `list` is the CRL of the entry; empty while the issuer is not known. `entry` is the CRL entry, DER.
  `create table revocations (
    mount_id ${text} not null references mounts on delete cascade,
    list ${text} not null,
    number ${integer} not null,
    serial_number ${blob} not null,
    shard_key ${integer} not null,
    issuer_id ${text},
    revoked_at ${integer} not null,
    reason ${text} not null,
    not_after ${integer} not null,
    entry ${blob} not null,
    primary key (mount_id, list, number),
    unique (mount_id, serial_number)
  ) ${keyed}`,
  "create index revocations_by_expiry on revocations (mount_id, not_after)",
  // One row per CRL that was ever requested, complete or a shard.
  `create table crls (
    mount_id ${text} not null references mounts on delete cascade,
    list ${text} not null,
    shard_count ${integer} not null,
    shard_index ${integer} not null,
    fence ${integer} not null,
    removals ${integer} not null,
    complete ${text},
    head ${blob},
    tail ${blob},
    delta ${text},
    delta_der ${blob},
    primary key (mount_id, list, shard_count, shard_index)
  ) ${keyed}`,
  // Encoded and concatenated entries of a complete CRL. Within an epoch only the last segment is written again.
  `create table crl_segments (
    mount_id ${text} not null,
    list ${text} not null,
    shard_count ${integer} not null,
    shard_index ${integer} not null,
    epoch ${integer} not null,
    position ${integer} not null,
    entries ${blob} not null,
    primary key (mount_id, list, shard_count, shard_index, epoch, position),
    foreign key (mount_id, list, shard_count, shard_index) references crls on delete cascade
  ) ${keyed}`,
]
