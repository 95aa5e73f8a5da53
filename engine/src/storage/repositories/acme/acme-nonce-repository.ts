import type { AcmeAccountId } from "../../../acme/accounts/account.ts"
import type { AcmeNonceRepository } from "../../../acme/acme.ts"
import { endOfNonces } from "../../../acme/nonces/nonce.ts"
import type { ProvedIdentifier } from "../../../acme/orders/identifier.ts"
import type { AcmeRateRepository, Nth, Registration } from "../../../acme/orders/rate-limits.ts"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import type { Flag } from "../../schema/tables.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlAcmeNonceRepository implements AcmeNonceRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async redeem(digest: Uint8Array, expiresAt: Instant): Promise<boolean> {
    return (await this.#session.execute(insertNonce, { digest, expiresAt })) > 0
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forgetNonces, { end: endOfNonces(now), limit })
  }
}

// `expires_at` is written for servers of the previous release, which may still run and sweep by it.
const insertNonce = statement((db, { digest, expiresAt }: { digest: Uint8Array; expiresAt: number }) =>
  db
    .insertInto("acme_nonces")
    .values({ digest, expires_at: expiresAt })
    .onConflict((used) => used.column("digest").doNothing()),
)

const forgetNonces = statement((db, { end, limit }: { end: Uint8Array; limit: number }) =>
  db
    .deleteFrom("acme_nonces")
    .where(
      "digest",
      "in",
      db.selectFrom("acme_nonces").select("digest").where("digest", "<", end).orderBy("digest").limit(limit),
    ),
)

export class SqlAcmeRateRepository implements AcmeRateRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async orderOfAccount(accountId: AcmeAccountId, { nth, ...window }: Nth): Promise<Instant | undefined> {
    return (await this.#session.queryOne(orderOfAccount, { accountId, ...window, before: nth - 1 }))?.created_at
  }

  async failure(
    accountId: AcmeAccountId,
    { type, value, wildcard }: ProvedIdentifier,
    { nth, ...window }: Nth,
  ): Promise<Instant | undefined> {
    const parameters = { accountId, type, value, wildcard: wildcard ? 1 : 0, ...window, before: nth - 1 }
    return (await this.#session.queryOne(failure, parameters))?.created_at
  }

  async registration(mountId: MountId, source: string, { nth, ...window }: Nth): Promise<Instant | undefined> {
    return (await this.#session.queryOne(registration, { mountId, source, ...window, before: nth - 1 }))?.registered_at
  }

  async register(made: Registration): Promise<void> {
    await this.#session.execute(insertRegistration, made)
  }

  sweep(before: Instant, limit: number): Promise<number> {
    return this.#session.execute(forgetRegistrations, { before, limit })
  }
}

interface Since {
  readonly since: number
  readonly until: number
  readonly before: number
}

const orderOfAccount = statement((db, { accountId, since, until, before }: Since & { accountId: string }) =>
  db
    .selectFrom("acme_orders")
    .select("created_at")
    .where("account_id", "=", accountId)
    .where("created_at", ">", since)
    .where("created_at", "<=", until)
    .orderBy("created_at", "desc")
    .limit(1)
    .offset(before),
)

const failure = statement(
  (db, parameters: Since & { accountId: string; type: string; value: string; wildcard: number }) =>
    db
      .selectFrom("acme_authorizations")
      .select("created_at")
      .where("account_id", "=", parameters.accountId)
      .where("type", "=", parameters.type)
      .where("value", "=", parameters.value)
      .where("wildcard", "=", parameters.wildcard as Flag)
      .where("state", "=", "invalid")
      .where("created_at", ">", parameters.since)
      .where("created_at", "<=", parameters.until)
      .orderBy("created_at", "desc")
      .limit(1)
      .offset(parameters.before),
)

const registration = statement(
  (db, { mountId, source, since, until, before }: Since & { mountId: string; source: string }) =>
    db
      .selectFrom("acme_registrations")
      .select("registered_at")
      .where("mount_id", "=", mountId)
      .where("address", "=", source)
      .where("registered_at", ">", since)
      .where("registered_at", "<=", until)
      .orderBy("registered_at", "desc")
      .limit(1)
      .offset(before),
)

const insertRegistration = statement(
  (db, { id, mountId, source, at }: { id: string; mountId: string; source: string; at: number }) =>
    db.insertInto("acme_registrations").values({ id, mount_id: mountId, address: source, registered_at: at }),
)

const forgetRegistrations = statement((db, { before, limit }: { before: number; limit: number }) =>
  db
    .deleteFrom("acme_registrations")
    .where(
      "id",
      "in",
      db
        .selectFrom("acme_registrations")
        .select("id")
        .where("registered_at", "<", before)
        .orderBy("registered_at")
        .limit(limit),
    ),
)
