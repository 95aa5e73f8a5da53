import { type ExpressionBuilder, sql } from "kysely"
import type { AcmeAccountId } from "../../../acme/accounts/account.ts"
import {
  type AcmeOrderRepository,
  type ClaimedOrder,
  type AttemptSchedule,
  turnToleranceMs,
} from "../../../acme/acme.ts"
import type { Identifier } from "../../../acme/orders/identifier.ts"
import type { AcmeOrder, AcmeOrderId, AuthorizationId } from "../../../acme/orders/order.ts"
import type { Problem } from "../../../acme/problem.ts"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { keptSerialNumber, type SerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { AcmeOrderRow, Tables } from "../../schema/tables.ts"

export class SqlAcmeOrderRepository implements AcmeOrderRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async insert(order: AcmeOrder, authorizations: readonly AuthorizationId[]): Promise<void> {
    await this.#session.execute(insertOrder, {
      id: order.id,
      mount_id: order.mountId,
      account_id: order.accountId,
      state: order.state,
      created_at: order.createdAt,
      expires_at: order.expiresAt,
      identifiers: JSON.stringify(order.identifiers),
      not_before: order.notBefore,
      not_after: order.notAfter,
      profile: order.profile,
      replaces: order.replaces,
      csr: null,
      serial_number: null,
      error: null,
      attempts: 0,
      attempt_at: null,
    })
    for (const [position, authorizationId] of authorizations.entries())
      await this.#session.execute(insertOrderAuthorization, { orderId: order.id, position, authorizationId })
  }

  async find(mountId: MountId, accountId: AcmeAccountId, id: AcmeOrderId): Promise<AcmeOrder | undefined> {
    const row = await this.#session.queryOne(orderById, { mountId, accountId, id })
    return row && orderOf(row)
  }

  async ofAccount(
    accountId: AcmeAccountId,
    { now, before, limit }: { readonly now: Instant; readonly before?: AcmeOrderId; readonly limit: number },
  ): Promise<readonly AcmeOrderId[]> {
    const rows =
      before === undefined
        ? await this.#session.queryMany(newestOrders, { accountId, now, limit })
        : await this.#session.queryMany(ordersBefore, { accountId, now, before, limit })
    return rows.map(({ id }) => id as AcmeOrderId)
  }

  async replacementOf(mountId: MountId, replaces: string, now: Instant): Promise<AcmeOrderId | undefined> {
    const row = await this.#session.queryOne(replacement, { mountId, replaces, now })
    return row?.id as AcmeOrderId | undefined
  }

  async wasToBeReplaced(mountId: MountId, certificateId: string): Promise<boolean> {
    return (await this.#session.queryOne(anyReplacement, { mountId, certificateId })) !== undefined
  }

  async beginFinalizing(id: AcmeOrderId, csr: Uint8Array, turn: AttemptSchedule): Promise<boolean> {
    return (await this.#session.execute(beginFinalizing, { id, csr, ...turn })) > 0
  }

  async claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedOrder[]> {
    const due = await this.#session.queryMany(dueOrders, { now, latest: leasedUntil + turnToleranceMs, limit })
    const claimed: ClaimedOrder[] = []
    for (const { directory, attempts, ...row } of due) {
      const { id, csr } = row
      // If another server claimed the order first, `attempts` has increased and no row matches.
      if (csr === null || (await this.#session.execute(claimOrder, { id, attempts, leasedUntil })) === 0) continue
      claimed.push({ ...orderOf(row), csr, attempts: attempts + 1, directory })
    }
    return claimed
  }

  async nextAttemptAt(): Promise<Instant | undefined> {
    return (await this.#session.queryOne(nextAttempt, {}))?.attempt_at ?? undefined
  }

  async complete(
    { id, attempts }: Pick<ClaimedOrder, "id" | "attempts">,
    { serialNumber, keptUntil }: { readonly serialNumber: SerialNumber; readonly keptUntil: Instant },
  ): Promise<boolean> {
    const completed = { id, attempts, keptUntil, serialNumber: serialNumberOctets(serialNumber) }
    return (await this.#session.execute(completeOrder, completed)) > 0
  }

  async retry({ id, attempts }: Pick<ClaimedOrder, "id" | "attempts">, attemptAt: Instant): Promise<boolean> {
    return (await this.#session.execute(retryOrder, { id, attempts, attemptAt })) > 0
  }

  async fail({ id, attempts }: Pick<ClaimedOrder, "id" | "attempts">, error: Problem): Promise<boolean> {
    return (await this.#session.execute(failOrder, { id, attempts, error: JSON.stringify(error) })) > 0
  }

  async failAll(accountId: AcmeAccountId, error: Problem): Promise<void> {
    await this.#session.execute(failOrdersOfAccount, { accountId, error: JSON.stringify(error) })
  }

  async endedWith(id: AuthorizationId, now: Instant): Promise<number> {
    return Number((await this.#session.queryOne(endedWith, { id, now }))?.count ?? 0)
  }

  async endExpired(
    mountId: MountId,
    { after, until }: { readonly after: Instant; readonly until: Instant },
    limit: number,
  ): Promise<{ readonly ended: number; readonly newly: number }> {
    const expired = await this.#session.queryMany(expiredOrders, { mountId, after, until, limit })
    let ended = 0
    let newly = 0
    for (const { id, failed } of expired) {
      if ((await this.#session.execute(endExpired, { id })) === 0) continue
      ended += 1
      if (failed === null) newly += 1
    }
    return { ended, newly }
  }

  async ofCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeOrder | undefined> {
    const row = await this.#session.queryOne(orderOfCertificate, {
      mountId,
      serialNumber: serialNumberOctets(serialNumber),
    })
    return row && orderOf(row)
  }

  async accountOfCertificate(mountId: MountId, serialNumber: SerialNumber): Promise<AcmeAccountId | undefined> {
    const certificate = { mountId, serialNumber: serialNumberOctets(serialNumber) }
    const row =
      (await this.#session.queryOne(accountOfOrder, certificate)) ??
      (await this.#session.queryOne(accountOfDeletedOrder, certificate))
    return row?.account_id as AcmeAccountId | undefined
  }

  async removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number> {
    await this.#session.execute(removeCertificates, { mountId, before, limit })
    return this.#session.execute(removeOrders, { mountId, before, limit })
  }
}

export function orderOf(row: Omit<AcmeOrderRow, "attempts" | "attempt_at">): AcmeOrder {
  return {
    id: row.id as AcmeOrderId,
    mountId: row.mount_id as MountId,
    accountId: row.account_id as AcmeAccountId,
    state: row.state as AcmeOrder["state"],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    identifiers: JSON.parse(row.identifiers) as readonly Identifier[],
    notBefore: row.not_before,
    notAfter: row.not_after,
    profile: row.profile,
    replaces: row.replaces,
    csr: row.csr,
    serialNumber: row.serial_number === null ? null : keptSerialNumber(row.serial_number),
    error: row.error === null ? null : (JSON.parse(row.error) as Problem),
  }
}

export const orderColumns = [
  "id",
  "mount_id",
  "account_id",
  "state",
  "created_at",
  "expires_at",
  "identifiers",
  "not_before",
  "not_after",
  "profile",
  "replaces",
  "csr",
  "serial_number",
  "error",
] as const

const insertOrder = statement((db, row: AcmeOrderRow) =>
  db.insertInto("acme_orders").values({
    id: row.id,
    mount_id: row.mount_id,
    account_id: row.account_id,
    state: row.state,
    created_at: row.created_at,
    expires_at: row.expires_at,
    identifiers: row.identifiers,
    not_before: row.not_before,
    not_after: row.not_after,
    profile: row.profile,
    replaces: row.replaces,
    csr: row.csr,
    serial_number: row.serial_number,
    error: row.error,
    attempts: row.attempts,
    attempt_at: row.attempt_at,
  }),
)

const insertOrderAuthorization = statement(
  (db, { orderId, position, authorizationId }: { orderId: string; position: number; authorizationId: string }) =>
    db
      .insertInto("acme_order_authorizations")
      .values({ order_id: orderId, position, authorization_id: authorizationId }),
)

interface Owned {
  readonly mountId: string
  readonly accountId: string
  readonly id: string
}

const orderById = statement((db, { mountId, accountId, id }: Owned) =>
  db
    .selectFrom("acme_orders")
    .select(orderColumns)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("mount_id", "=", mountId),
)

/**
 * Builds the condition that an order is not invalid. An open order is invalid after its expiry, or if one of its authorizations failed or
 * was deactivated (`orderStatusOf`).
 */
const isNotInvalid = (where: ExpressionBuilder<Tables & { o: AcmeOrderRow }, "o">, now: number) =>
  where.or([
    where("o.state", "in", ["processing", "valid"]),
    where.and([
      where("o.state", "=", "open"),
      where("o.expires_at", ">", now),
      where.not(
        where.exists(
          where
            .selectFrom("acme_order_authorizations as asked")
            .innerJoin("acme_authorizations as a", "a.id", "asked.authorization_id")
            .select("a.id")
            .whereRef("asked.order_id", "=", "o.id")
            .where("a.state", "in", ["invalid", "deactivated"]),
        ),
      ),
    ]),
  ])

const newestOrders = statement((db, { accountId, now, limit }: { accountId: string; now: number; limit: number }) =>
  db
    .selectFrom("acme_orders as o")
    .select("o.id")
    .where("o.account_id", "=", accountId)
    .where((where) => isNotInvalid(where, now))
    .orderBy("o.created_at", "desc")
    .orderBy("o.id", "desc")
    .limit(limit),
)

const ordersBefore = statement(
  (db, { accountId, now, before, limit }: { accountId: string; now: number; before: string; limit: number }) =>
    db
      .selectFrom("acme_orders as o")
      .innerJoin("acme_orders as last", (join) => join.on("last.id", "=", before).on("last.account_id", "=", accountId))
      .select("o.id")
      .where("o.account_id", "=", accountId)
      .where((where) => isNotInvalid(where, now))
      .where((where) =>
        where.or([
          where("o.created_at", "<", where.ref("last.created_at")),
          where.and([
            where("o.created_at", "=", where.ref("last.created_at")),
            where("o.id", "<", where.ref("last.id")),
          ]),
        ]),
      )
      .orderBy("o.created_at", "desc")
      .orderBy("o.id", "desc")
      .limit(limit),
)

const replacement = statement((db, { mountId, replaces, now }: { mountId: string; replaces: string; now: number }) =>
  db
    .selectFrom("acme_orders as o")
    .select("o.id")
    .where("o.mount_id", "=", mountId)
    .where("o.replaces", "=", replaces)
    .where((where) => isNotInvalid(where, now))
    .limit(1),
)

const anyReplacement = statement((db, { mountId, certificateId }: { mountId: string; certificateId: string }) =>
  db
    .selectFrom("acme_orders")
    .select("id")
    .where("mount_id", "=", mountId)
    .where("replaces", "=", certificateId)
    .limit(1),
)

const beginFinalizing = statement(
  (db, { id, csr, attempts, attemptAt }: { id: string; csr: Uint8Array; attempts: number; attemptAt: number }) =>
    db
      .updateTable("acme_orders")
      .set({ state: "processing", csr, attempts, attempt_at: attemptAt })
      .where("id", "=", id)
      .where("state", "=", "open"),
)

const dueOrders = statement((db, { now, latest, limit }: Readonly<Record<"now" | "latest" | "limit", number>>) =>
  db
    .selectFrom("acme_orders as o")
    .innerJoin("acme_accounts as account", "account.id", "o.account_id")
    .select([
      "o.id",
      "o.mount_id",
      "o.account_id",
      "o.state",
      "o.created_at",
      "o.expires_at",
      "o.identifiers",
      "o.not_before",
      "o.not_after",
      "o.profile",
      "o.replaces",
      "o.csr",
      "o.serial_number",
      "o.error",
      "o.attempts",
      "account.directory",
    ])
    .where((where) => where.or([where("o.attempt_at", "<=", now), where("o.attempt_at", ">", latest)]))
    .orderBy("o.attempt_at")
    .limit(limit),
)

interface Attempted {
  readonly id: string
  readonly attempts: number
}

const claimOrder = statement((db, { id, attempts, leasedUntil }: Attempted & { readonly leasedUntil: number }) =>
  db
    .updateTable("acme_orders")
    .set((set) => ({ attempts: set("attempts", "+", 1), attempt_at: leasedUntil }))
    .where("id", "=", id)
    .where("state", "=", "processing")
    .where("attempts", "=", attempts),
)

const nextAttempt = statement<Record<string, never>, { attempt_at: number | null }>((db) =>
  db.selectFrom("acme_orders").select("attempt_at").where("attempt_at", "is not", null).orderBy("attempt_at").limit(1),
)

const completeOrder = statement(
  (
    db,
    {
      id,
      attempts,
      serialNumber,
      keptUntil,
    }: Attempted & { readonly serialNumber: Uint8Array; readonly keptUntil: number },
  ) =>
    db
      .updateTable("acme_orders")
      .set({ state: "valid", serial_number: serialNumber, expires_at: keptUntil, attempt_at: null })
      .where("id", "=", id)
      .where("state", "=", "processing")
      .where("attempts", "=", attempts),
)

const retryOrder = statement((db, { id, attempts, attemptAt }: Attempted & { readonly attemptAt: number }) =>
  db
    .updateTable("acme_orders")
    .set({ attempt_at: attemptAt })
    .where("id", "=", id)
    .where("state", "=", "processing")
    .where("attempts", "=", attempts),
)

const failOrder = statement((db, { id, attempts, error }: Attempted & { readonly error: string }) =>
  db
    .updateTable("acme_orders")
    .set({ state: "invalid", error, attempt_at: null })
    .where("id", "=", id)
    .where("state", "=", "processing")
    .where("attempts", "=", attempts),
)

const failOrdersOfAccount = statement((db, { accountId, error }: { accountId: string; error: string }) =>
  db
    .updateTable("acme_orders")
    .set({ state: "invalid", error, attempt_at: null })
    .where("account_id", "=", accountId)
    .where("state", "=", "processing"),
)

const endedWith = statement((db, { id, now }: { id: string; now: number }) =>
  db
    .selectFrom("acme_order_authorizations as asked")
    .innerJoin("acme_orders as o", "o.id", "asked.order_id")
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .where("asked.authorization_id", "=", id)
    .where("o.state", "=", "open")
    .where("o.expires_at", ">", now)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("acme_order_authorizations as other")
            .innerJoin("acme_authorizations as a", "a.id", "other.authorization_id")
            .select("a.id")
            .whereRef("other.order_id", "=", "o.id")
            .whereRef("other.authorization_id", "!=", "asked.authorization_id")
            .where("a.state", "in", ["invalid", "deactivated"]),
        ),
      ),
    ),
)

interface Expired {
  readonly mountId: string
  readonly after: number
  readonly until: number
  readonly limit: number
}

/**
 * Selects open orders that have expired. `failed` is an authorization that failed or was deactivated, which made the order invalid before
 * its expiry.
 */
const expiredOrders = statement((db, { mountId, after, until, limit }: Expired) =>
  db
    .selectFrom("acme_orders as o")
    .select((select) => [
      "o.id",
      select
        .selectFrom("acme_order_authorizations as asked")
        .innerJoin("acme_authorizations as a", "a.id", "asked.authorization_id")
        .select("a.id")
        .whereRef("asked.order_id", "=", "o.id")
        .where("a.state", "in", ["invalid", "deactivated"])
        .limit(1)
        .as("failed"),
    ])
    .where("o.mount_id", "=", mountId)
    .where("o.expires_at", ">", after)
    .where("o.expires_at", "<=", until)
    .where("o.state", "=", "open")
    .orderBy("o.expires_at")
    .limit(limit),
)

const endExpired = statement((db, { id }: { id: string }) =>
  db.updateTable("acme_orders").set({ state: "invalid" }).where("id", "=", id).where("state", "=", "open"),
)

const orderOfCertificate = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("acme_orders")
    .select(orderColumns)
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)

interface OfCertificate {
  readonly mountId: string
  readonly serialNumber: Uint8Array
}

const accountOfOrder = statement((db, { mountId, serialNumber }: OfCertificate) =>
  db
    .selectFrom("acme_orders")
    .select("account_id")
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)

const accountOfDeletedOrder = statement((db, { mountId, serialNumber }: OfCertificate) =>
  db
    .selectFrom("acme_certificates")
    .select("account_id")
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)

interface Ended {
  readonly mountId: string
  readonly before: number
  readonly limit: number
}

const removeOrders = statement((db, { mountId, before, limit }: Ended) =>
  db
    .deleteFrom("acme_orders")
    .where(
      "id",
      "in",
      db
        .selectFrom("acme_orders")
        .select("id")
        .where("mount_id", "=", mountId)
        .where("expires_at", "<", before)
        .orderBy("expires_at")
        .limit(limit),
    ),
)

const removeCertificates = statement((db, { mountId, before, limit }: Ended) =>
  db
    .deleteFrom("acme_certificates")
    .where(
      (where) =>
        sql<boolean>`${where.refTuple("mount_id", "serial_number")} in (${db
          .selectFrom("acme_certificates")
          .select(["mount_id", "serial_number"])
          .where("mount_id", "=", mountId)
          .where("expires_at", "<", before)
          .orderBy("expires_at")
          .limit(limit)})`,
    ),
)
