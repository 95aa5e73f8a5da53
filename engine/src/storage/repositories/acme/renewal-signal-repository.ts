import type {
  CountedRenewalSignal,
  RenewalSignal,
  RenewalSignalRepository,
} from "../../../acme/accounts/management-repository.ts"
import type { IssuerId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { keptSerialNumber, type SerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { AcmeRenewalSignalRow } from "../../schema/tables.ts"

export class SqlRenewalSignalRepository implements RenewalSignalRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async insert(signal: RenewalSignal, serialNumbers: readonly SerialNumber[]): Promise<void> {
    await this.#session.execute(insertSignal, {
      id: signal.id,
      mount_id: signal.mountId,
      issuer_id: signal.issuerId,
      explanation_url: signal.explanationUrl,
      raised_at: signal.raisedAt,
      renew_by: signal.renewBy,
    })
    for (const serialNumber of serialNumbers)
      await this.#session.execute(insertSerialNumber, {
        signalId: signal.id,
        mountId: signal.mountId,
        serialNumber: serialNumberOctets(serialNumber),
      })
  }

  async list(mountId: MountId): Promise<readonly CountedRenewalSignal[]> {
    const counted = await this.#session.queryMany(countedSerialNumbers, { mountId })
    const counts = new Map(counted.map(({ signal_id: id, total }) => [id, total]))
    const rows = await this.#session.queryMany(signalsOfMount, { mountId })
    return rows.map((row) => ({ ...signalOf(row), serialNumberCount: counts.get(row.id) ?? 0 }))
  }

  async find(mountId: MountId, id: string): Promise<RenewalSignal | undefined> {
    const row = await this.#session.queryOne(signalById, { mountId, id })
    return row && signalOf(row)
  }

  async serialNumbers(id: string): Promise<readonly SerialNumber[]> {
    return (await this.#session.queryMany(serialNumbersOf, { id })).map((row) => keptSerialNumber(row.serial_number))
  }

  async remove(mountId: MountId, id: string): Promise<boolean> {
    return (await this.#session.execute(removeSignal, { mountId, id })) > 0
  }

  async concerning(
    mountId: MountId,
    {
      serialNumber,
      issuerId,
      orderedAt,
    }: { readonly serialNumber: SerialNumber; readonly issuerId: IssuerId | null; readonly orderedAt: Instant },
  ): Promise<RenewalSignal | undefined> {
    const named = await this.#session.queryMany(signalsOfSerialNumber, {
      mountId,
      serialNumber: serialNumberOctets(serialNumber),
    })
    const ofIssuer =
      issuerId === null ? [] : await this.#session.queryMany(signalsOfIssuer, { mountId, issuerId, orderedAt })
    return [...named, ...ofIssuer].map(signalOf).toSorted((one, other) => one.renewBy - other.renewBy)[0]
  }
}

const signalOf = (row: AcmeRenewalSignalRow): RenewalSignal => ({
  id: row.id,
  mountId: row.mount_id as MountId,
  issuerId: row.issuer_id as IssuerId | null,
  explanationUrl: row.explanation_url,
  raisedAt: row.raised_at,
  renewBy: row.renew_by,
})

const columns = ["id", "mount_id", "issuer_id", "explanation_url", "raised_at", "renew_by"] as const

interface OfMount {
  readonly mountId: string
}

const insertSignal = statement((db, row: AcmeRenewalSignalRow) =>
  db.insertInto("acme_renewal_signals").values({
    id: row.id,
    mount_id: row.mount_id,
    issuer_id: row.issuer_id,
    explanation_url: row.explanation_url,
    raised_at: row.raised_at,
    renew_by: row.renew_by,
  }),
)

const insertSerialNumber = statement(
  (db, { signalId, mountId, serialNumber }: OfMount & { signalId: string; serialNumber: Uint8Array }) =>
    db
      .insertInto("acme_renewal_serial_numbers")
      .values({ mount_id: mountId, serial_number: serialNumber, signal_id: signalId }),
)

const signalsOfMount = statement((db, { mountId }: OfMount) =>
  db
    .selectFrom("acme_renewal_signals")
    .select(columns)
    .where("mount_id", "=", mountId)
    .orderBy("raised_at")
    .orderBy("id"),
)

const countedSerialNumbers = statement((db, { mountId }: OfMount) =>
  db
    .selectFrom("acme_renewal_serial_numbers")
    .select((of) => ["signal_id", of.fn.countAll<number>().as("total")])
    .where("mount_id", "=", mountId)
    .groupBy("signal_id"),
)

const signalById = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.selectFrom("acme_renewal_signals").select(columns).where("id", "=", id).where("mount_id", "=", mountId),
)

const serialNumbersOf = statement((db, { id }: { readonly id: string }) =>
  db
    .selectFrom("acme_renewal_serial_numbers")
    .select("serial_number")
    .where("signal_id", "=", id)
    .orderBy("serial_number"),
)

const removeSignal = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.deleteFrom("acme_renewal_signals").where("id", "=", id).where("mount_id", "=", mountId),
)

const signalsOfSerialNumber = statement((db, { mountId, serialNumber }: OfMount & { serialNumber: Uint8Array }) =>
  db
    .selectFrom("acme_renewal_serial_numbers as n")
    .innerJoin("acme_renewal_signals as s", "s.id", "n.signal_id")
    .select(["s.id", "s.mount_id", "s.issuer_id", "s.explanation_url", "s.raised_at", "s.renew_by"])
    .where("n.mount_id", "=", mountId)
    .where("n.serial_number", "=", serialNumber),
)

const signalsOfIssuer = statement(
  (db, { mountId, issuerId, orderedAt }: OfMount & { issuerId: string; orderedAt: number }) =>
    db
      .selectFrom("acme_renewal_signals")
      .select(columns)
      .where("mount_id", "=", mountId)
      .where("issuer_id", "=", issuerId)
      .where("raised_at", ">=", orderedAt)
      .orderBy("renew_by")
      .limit(1),
)
