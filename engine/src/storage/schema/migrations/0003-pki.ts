// Tables of certificate authorities. Everything below a mount is deleted with it. Tables written at the rate of issuance have only the
// indexes that queries need: each one costs a write to a random page.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import type { DialectName } from "../../sql/query-runner.ts"

export const pkiMigration: Migration = {
  name: "0003-pki",
  async up(session) {
    for (const text of tables(words[session.dialect])) await session.execute(sql.raw(text))
    for (const text of indexes) await session.execute(sql.raw(text))
  },
}

interface Words {
  readonly text: string
  readonly integer: string
  readonly blob: string
  readonly keyed: string
  readonly plain: string
  /** Column type that numbers rows in insertion order. */
  readonly number: string
}

const words: Record<DialectName, Words> = {
  sqlite: {
    text: "text",
    integer: "integer",
    blob: "blob",
    keyed: "strict, without rowid",
    plain: "strict",
    number: "integer primary key autoincrement",
  },
  postgres: {
    text: 'text collate "C"',
    integer: "bigint",
    blob: "bytea",
    keyed: "",
    plain: "",
    number: "bigint generated always as identity primary key",
  },
}

const tables = ({ text, integer, blob, keyed, plain, number }: Words): string[] => [
  `create table ca_keys (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    name ${text},
    public_key ${blob} not null,
    private_key_sealed ${blob} not null,
    created_at ${integer} not null,
    unique (mount_id, name),
    unique (mount_id, public_key)
  ) ${plain}`,
  `create table issuers (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    name ${text},
    key_id ${text} references ca_keys,
    certificate ${blob} not null,
    settings ${text} not null,
    revoked_at ${integer},
    created_at ${integer} not null,
    unique (mount_id, name),
    unique (mount_id, certificate)
  ) ${plain}`,
  `create table roles (
    mount_id ${text} not null references mounts on delete cascade,
    name ${text} not null,
    definition ${text} not null,
    primary key (mount_id, name)
  ) ${keyed}`,
  `create table mount_settings (
    mount_id ${text} not null references mounts on delete cascade,
    name ${text} not null,
    value ${text} not null,
    primary key (mount_id, name)
  ) ${keyed}`,
  `create table mount_secrets (
    mount_id ${text} not null references mounts on delete cascade,
    name ${text} not null,
    value_sealed ${blob} not null,
    primary key (mount_id, name)
  ) ${keyed}`,
  // The issuer is no foreign key: certificates outlive it, and each issuance would pay for the check.
  `create table certificates (
    number ${number},
    mount_id ${text} not null references mounts on delete cascade,
    serial_number ${blob} not null,
    certificate ${blob} not null,
    issuer_id ${text},
    role ${text},
    common_name ${text} not null,
    not_before ${integer} not null,
    not_after ${integer} not null,
    unique (mount_id, serial_number)
  ) ${plain}`,
  // Names are stored in reverse, so that names with the same suffix are adjacent.
  `create table certificate_names (
    mount_id ${text} not null,
    name ${text} not null,
    certificate_number ${integer} not null references certificates on delete cascade,
    primary key (mount_id, name, certificate_number)
  ) ${keyed}`,
  // Metadata may belong to certificates that are not stored themselves.
  `create table certificate_metadata (
    mount_id ${text} not null references mounts on delete cascade,
    serial_number ${blob} not null,
    issuer_id ${text} not null,
    role ${text} not null,
    expires_at ${integer} not null,
    metadata ${text} not null,
    primary key (mount_id, serial_number)
  ) ${plain}`,
  `create table certificate_leases (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    serial_number ${blob} not null,
    issued_at ${integer} not null,
    expires_at ${integer} not null
  ) ${plain}`,
]

const indexes = [
  "create index issuers_by_key on issuers (key_id)",
  "create index certificates_by_expiry on certificates (mount_id, not_after, number)",
  "create index certificates_by_role on certificates (mount_id, role, number)",
  "create index certificates_by_issuer on certificates (mount_id, issuer_id, number)",
  // Metadata may be long. Its beginning distinguishes most values.
  "create index certificate_metadata_by_content on certificate_metadata (mount_id, substr(metadata, 1, 64))",
  "create index certificate_leases_by_certificate on certificate_leases (mount_id, serial_number)",
  "create index certificate_names_by_certificate on certificate_names (certificate_number)",
]
