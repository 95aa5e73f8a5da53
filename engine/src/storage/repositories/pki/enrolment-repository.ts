import type { Instant } from "../../../core/time.ts"
import type {
  Enrolment,
  EnrolmentDecider,
  EnrolmentDecision,
  EnrolmentId,
  EnrolmentKey,
  EnrolmentOperation,
  EnrolmentProtocol,
  EnrolmentRequester,
  EnrolmentState,
} from "../../../pki/enrolments/enrolment.ts"
import type {
  EnrolmentPage,
  EnrolmentRepository,
  PendingEnrolments,
} from "../../../pki/enrolments/enrolment-repository.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { keptSerialNumber, type SerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { EnrolmentRow } from "../../schema/tables.ts"

export class SqlEnrolmentRepository implements EnrolmentRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(mountId: MountId, id: EnrolmentId): Promise<Enrolment | undefined> {
    const row = await this.#session.queryOne(byId, { mountId, id })
    return row && enrolmentOf(row)
  }

  async findByRequest({
    mountId,
    csrSha256,
    accessor,
    displayName,
    path,
  }: EnrolmentKey): Promise<Enrolment | undefined> {
    const row = await this.#session.queryOne(byRequest, { mountId, csrSha256, accessor, displayName, path })
    return row && enrolmentOf(row)
  }

  async list(mountId: MountId, { state, now, after, limit }: EnrolmentPage): Promise<readonly Enrolment[]> {
    const rows =
      state === undefined
        ? await this.#session.queryMany(pageAfter, { mountId, now, after, limit })
        : await this.#session.queryMany(pageOfStateAfter, { mountId, state, now, after, limit })
    return rows.map(enrolmentOf)
  }

  async countPending(
    mountId: MountId,
    { requester, now, limit }: { requester?: EnrolmentRequester; now: Instant; limit: number },
  ): Promise<number> {
    const rows =
      requester === undefined
        ? await this.#session.queryMany(pendingOfMount, { mountId, now, limit })
        : await this.#session.queryMany(pendingOfRequester, { mountId, ...requester, now, limit })
    return rows.length
  }

  async insert(enrolment: Enrolment): Promise<boolean> {
    return (await this.#session.execute(insertNew, toRow(enrolment))) > 0
  }

  async supersede({ id, state }: Pick<Enrolment, "id" | "state">, now: Instant): Promise<void> {
    await (state === "issued"
      ? this.#session.execute(supersede, { id, now })
      : this.#session.execute(this.#session.db.deleteFrom("enrolments").where("id", "=", id)))
  }

  async decide(
    id: EnrolmentId,
    decision: { state: EnrolmentDecision; decidedAt: Instant; decidedBy: string; comment: string },
  ): Promise<boolean> {
    return (await this.#session.execute(decide, { id, ...decision })) > 0
  }

  async postpone(id: EnrolmentId, answer: { askedAt: Instant; retryAfterMs: number }): Promise<boolean> {
    return (await this.#session.execute(postpone, { id, ...answer })) > 0
  }

  async markIssued(id: EnrolmentId, serialNumber: SerialNumber, now: Instant): Promise<boolean> {
    return (await this.#session.execute(markIssued, { id, serialNumber: serialNumberOctets(serialNumber), now })) > 0
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(sweep, { now, limit })
  }

  async pending(mountId: MountId, now: Instant): Promise<PendingEnrolments | undefined> {
    const row = await this.#session.queryOne(pendingFigures, { mountId, now })
    return row === undefined || row.oldest === null ? undefined : { count: row.total, oldestAt: row.oldest }
  }
}

const enrolmentOf = (row: EnrolmentRow): Enrolment => ({
  id: row.id as EnrolmentId,
  mountId: row.mount_id as MountId,
  protocol: row.protocol as EnrolmentProtocol,
  operation: row.operation as EnrolmentOperation,
  path: row.path,
  policy: row.policy,
  decider: row.decider as EnrolmentDecider,
  accessor: row.accessor,
  displayName: row.display_name,
  csr: row.csr,
  csrSha256: row.csr_sha256,
  subject: row.subject,
  names: JSON.parse(row.names) as readonly string[],
  state: row.state as EnrolmentState,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  retryAfterMs: row.retry_after_ms,
  askedAt: row.asked_at,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  comment: row.comment,
  serialNumber: row.serial_number === null ? null : keptSerialNumber(row.serial_number),
})

const toRow = (enrolment: Enrolment): EnrolmentRow => ({
  id: enrolment.id,
  mount_id: enrolment.mountId,
  protocol: enrolment.protocol,
  operation: enrolment.operation,
  path: enrolment.path,
  policy: enrolment.policy,
  decider: enrolment.decider,
  accessor: enrolment.accessor,
  display_name: enrolment.displayName,
  csr: enrolment.csr,
  csr_sha256: enrolment.csrSha256,
  subject: enrolment.subject,
  names: JSON.stringify(enrolment.names),
  state: enrolment.state,
  created_at: enrolment.createdAt,
  expires_at: enrolment.expiresAt,
  retry_after_ms: enrolment.retryAfterMs,
  asked_at: enrolment.askedAt,
  decided_at: enrolment.decidedAt,
  decided_by: enrolment.decidedBy,
  comment: enrolment.comment,
  serial_number: enrolment.serialNumber === null ? null : serialNumberOctets(enrolment.serialNumber),
  superseded_at: null,
})

const columns = [
  "id",
  "mount_id",
  "protocol",
  "operation",
  "path",
  "policy",
  "decider",
  "accessor",
  "display_name",
  "csr",
  "csr_sha256",
  "subject",
  "names",
  "state",
  "created_at",
  "expires_at",
  "retry_after_ms",
  "asked_at",
  "decided_at",
  "decided_by",
  "comment",
  "serial_number",
  "superseded_at",
] as const

interface OfMount {
  readonly mountId: string
}
interface Counted extends OfMount {
  readonly now: Instant
  readonly limit: number
}

const byId = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.selectFrom("enrolments").select(columns).where("id", "=", id).where("mount_id", "=", mountId),
)

const byRequest = statement((db, { mountId, csrSha256, accessor, displayName, path }: EnrolmentKey) =>
  db
    .selectFrom("enrolments")
    .select(columns)
    .where("mount_id", "=", mountId)
    .where("csr_sha256", "=", csrSha256)
    .where("accessor", "=", accessor)
    .where("display_name", "=", displayName)
    .where("path", "=", path)
    .where("superseded_at", "is", null),
)

const pageAfter = statement((db, { mountId, now, after, limit }: Counted & { readonly after: string }) =>
  db
    .selectFrom("enrolments")
    .select(columns)
    .where("mount_id", "=", mountId)
    .where("id", ">", after)
    .where("expires_at", ">", now)
    .orderBy("id")
    .limit(limit),
)

const pageOfStateAfter = statement(
  (db, { mountId, state, now, after, limit }: Counted & { readonly after: string; readonly state: string }) =>
    db
      .selectFrom("enrolments")
      .select(columns)
      .where("mount_id", "=", mountId)
      .where("state", "=", state)
      .where("id", ">", after)
      .where("expires_at", ">", now)
      .orderBy("id")
      .limit(limit),
)

// Rows instead of a count, because the limit ends the search of the index.
const pendingOfMount = statement((db, { mountId, now, limit }: Counted) =>
  db
    .selectFrom("enrolments")
    .select("expires_at")
    .where("mount_id", "=", mountId)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .limit(limit),
)

const pendingOfRequester = statement(
  (db, { mountId, accessor, displayName, now, limit }: Counted & EnrolmentRequester) =>
    db
      .selectFrom("enrolments")
      .select("expires_at")
      .where("mount_id", "=", mountId)
      .where("accessor", "=", accessor)
      .where("display_name", "=", displayName)
      .where("state", "=", "pending")
      .where("expires_at", ">", now)
      .limit(limit),
)

const insertNew = statement((db, row: EnrolmentRow) =>
  db
    .insertInto("enrolments")
    .values(Object.fromEntries(columns.map((name) => [name, row[name]])) as unknown as EnrolmentRow)
    .onConflict((known) => known.doNothing()),
)

const supersede = statement((db, { id, now }: { readonly id: string; readonly now: Instant }) =>
  db.updateTable("enrolments").set({ superseded_at: now }).where("id", "=", id),
)

const decide = statement(
  (
    db,
    {
      id,
      state,
      decidedAt,
      decidedBy,
      comment,
    }: { id: string; state: string; decidedAt: Instant; decidedBy: string; comment: string },
  ) =>
    db
      .updateTable("enrolments")
      .set({ state, decided_at: decidedAt, decided_by: decidedBy, comment })
      .where("id", "=", id)
      .where("state", "=", "pending")
      .where("expires_at", ">", decidedAt),
)

const postpone = statement(
  (db, { id, askedAt, retryAfterMs }: { id: string; askedAt: Instant; retryAfterMs: number }) =>
    db
      .updateTable("enrolments")
      .set({ asked_at: askedAt, retry_after_ms: retryAfterMs })
      .where("id", "=", id)
      .where("state", "=", "pending"),
)

const markIssued = statement((db, { id, serialNumber, now }: { id: string; serialNumber: Uint8Array; now: Instant }) =>
  db
    .updateTable("enrolments")
    .set({ state: "issued", serial_number: serialNumber })
    .where("id", "=", id)
    .where("expires_at", ">", now)
    .where("superseded_at", "is", null)
    .where((row) =>
      row.or([
        row("state", "=", "approved"),
        row.and([row("state", "=", "pending"), row("decider", "=", "external-policy")]),
      ]),
    ),
)

const sweep = statement((db, { now, limit }: { now: Instant; limit: number }) =>
  db
    .deleteFrom("enrolments")
    .where("id", "in", (rows) =>
      rows.selectFrom("enrolments").select("id").where("expires_at", "<=", now).orderBy("expires_at").limit(limit),
    ),
)

const pendingFigures = statement((db, { mountId, now }: OfMount & { readonly now: Instant }) =>
  db
    .selectFrom("enrolments")
    .select((row) => [row.fn.countAll<number>().as("total"), row.fn.min<number | null>("created_at").as("oldest")])
    .where("mount_id", "=", mountId)
    .where("state", "=", "pending")
    .where("expires_at", ">", now),
)
