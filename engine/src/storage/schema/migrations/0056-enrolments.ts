// Enrolment requests that wait for a decision, until they expire. A request has one current enrolment. Issued
// enrolments whose requests have a newer one are kept for the list.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const enrolmentsMigration: Migration = {
  name: "0056-enrolments",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, blob, plain }: Words): string[] => [
  `create table enrolments (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    protocol ${text} not null,
    operation ${text} not null,
    path ${text} not null,
    policy ${text} not null,
    decider ${text} not null,
    accessor ${text} not null,
    display_name ${text} not null,
    csr ${blob} not null,
    csr_sha256 ${text} not null,
    subject ${text} not null,
    names ${text} not null,
    state ${text} not null,
    created_at ${integer} not null,
    expires_at ${integer} not null,
    retry_after_ms ${integer} not null,
    asked_at ${integer} not null,
    decided_at ${integer},
    decided_by ${text} not null,
    comment ${text} not null,
    serial_number ${blob},
    superseded_at ${integer}
  ) ${plain}`,
  `create unique index enrolments_current on enrolments (mount_id, csr_sha256, accessor, display_name, path)
    where superseded_at is null`,
  "create index enrolments_of_mount on enrolments (mount_id, id)",
  "create index enrolments_of_state on enrolments (mount_id, state, id)",
  "create index enrolments_state_expiry on enrolments (mount_id, state, expires_at, created_at)",
  "create index enrolments_of_requester on enrolments (mount_id, accessor, display_name, state, expires_at)",
  "create index enrolments_expiry on enrolments (expires_at)",
]
