import type { AcmeAccountId } from "../../../acme/accounts/account.ts"
import {
  type AcmeAuthorizationRepository,
  type ClaimedChallenge,
  type AttemptSchedule,
  turnToleranceMs,
} from "../../../acme/acme.ts"
import type { ProvedIdentifier } from "../../../acme/orders/identifier.ts"
import {
  type AcmeOrderId,
  type Authorization,
  type AuthorizationId,
  type Challenge,
  type ChallengeStatus,
  type ChallengeType,
  challengeTypes,
} from "../../../acme/orders/order.ts"
import type { Problem } from "../../../acme/problem.ts"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { AcmeAuthorizationRow, AcmeChallengeRow, Flag } from "../../schema/tables.ts"

export class SqlAcmeAuthorizationRepository implements AcmeAuthorizationRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async insert(authorization: Authorization, challenges: readonly Challenge[]): Promise<void> {
    const { identifier } = authorization
    await this.#session.execute(insertAuthorization, {
      id: authorization.id,
      mount_id: authorization.mountId,
      account_id: authorization.accountId,
      type: identifier.type,
      value: identifier.value,
      wildcard: flagOf(identifier.wildcard),
      state: authorization.state,
      created_at: authorization.createdAt,
      expires_at: authorization.expiresAt,
    })
    const inserting = insertChallenges[challenges.length - 1]
    if (inserting === undefined) throw new Error(`an authorization cannot have ${challenges.length} challenges`)
    const columns = challenges.map(({ authorizationId, type, token, status }, at) => ({
      [`authorizationId${at}`]: authorizationId,
      [`type${at}`]: type,
      [`token${at}`]: token,
      [`status${at}`]: status,
    }))
    await this.#session.execute(inserting, Object.assign({}, ...columns) as Record<string, string>)
  }

  async find(mountId: MountId, accountId: AcmeAccountId, id: AuthorizationId): Promise<Authorization | undefined> {
    const row = await this.#session.queryOne(authorizationById, { mountId, accountId, id })
    return row && authorizationOf(row)
  }

  async ofOrder(id: AcmeOrderId): Promise<readonly Authorization[]> {
    return (await this.#session.queryMany(authorizationsOfOrder, { id })).map(authorizationOf)
  }

  async challenges(id: AuthorizationId): Promise<readonly Challenge[]> {
    return (await this.#session.queryMany(challengesOf, { id })).map(challengeOf)
  }

  async validFor(
    accountId: AcmeAccountId,
    { type, value, wildcard }: ProvedIdentifier,
    beyond: Instant,
  ): Promise<Authorization | undefined> {
    const row = await this.#session.queryOne(validAuthorization, {
      accountId,
      type,
      value,
      wildcard: flagOf(wildcard),
      beyond,
    })
    return row && authorizationOf(row)
  }

  async deactivate(id: AuthorizationId): Promise<boolean> {
    if ((await this.#session.execute(deactivate, { id })) === 0) return false
    await this.#session.execute(forgetAttempts, { id })
    return true
  }

  async deactivateAll(accountId: AcmeAccountId): Promise<void> {
    await this.#session.execute(forgetAttemptsOfAccount, { accountId })
    await this.#session.execute(deactivateAll, { accountId })
  }

  async beginChallenge(id: AuthorizationId, type: ChallengeType, turn: AttemptSchedule): Promise<boolean> {
    return (await this.#session.execute(beginChallenge, { id, type, ...turn })) > 0
  }

  async claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly ClaimedChallenge[]> {
    const due = await this.#session.queryMany(dueChallenges, { now, latest: leasedUntil + turnToleranceMs, limit })
    const claimed: ClaimedChallenge[] = []
    for (const row of due) {
      const { authorization_id: id, type, attempts } = row
      // If another server claimed the challenge first, `attempts` has increased and no row matches.
      if ((await this.#session.execute(claimChallenge, { id, type, attempts, leasedUntil })) === 0) continue
      claimed.push({
        ...challengeOf({ ...row, attempts: attempts + 1 }),
        mountId: row.mount_id as MountId,
        accountId: row.account_id as AcmeAccountId,
        identifier: {
          type: row.identifier_type as ProvedIdentifier["type"],
          value: row.value,
          wildcard: row.wildcard === 1,
        },
        thumbprint: row.thumbprint,
        directory: row.directory,
      })
    }
    return claimed
  }

  async nextAttemptAt(): Promise<Instant | undefined> {
    return (await this.#session.queryOne(nextAttempt, {}))?.attempt_at ?? undefined
  }

  async succeed(challenge: Challenge, validatedAt: Instant, validUntil: Instant): Promise<boolean> {
    const { authorizationId: id, type, attempts } = challenge
    if ((await this.#session.execute(succeedChallenge, { id, type, attempts, validatedAt })) === 0) return false
    await this.#session.execute(settleAuthorization, { id, state: "valid", expiresAt: validUntil })
    return true
  }

  async retry(
    { authorizationId: id, type, attempts }: Challenge,
    error: Problem,
    attemptAt: Instant,
  ): Promise<boolean> {
    return (
      (await this.#session.execute(retryChallenge, { id, type, attempts, error: JSON.stringify(error), attemptAt })) > 0
    )
  }

  async failChallenge({ authorizationId: id, type, attempts }: Challenge, error: Problem): Promise<boolean> {
    if ((await this.#session.execute(failChallenge, { id, type, attempts, error: JSON.stringify(error) })) === 0)
      return false
    await this.#session.execute(invalidateAuthorization, { id })
    return true
  }

  async removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number> {
    return this.#session.execute(removeAuthorizations, { mountId, before, limit })
  }
}

const flagOf = (value: boolean): Flag => (value ? 1 : 0)

const authorizationOf = (row: AcmeAuthorizationRow): Authorization => ({
  id: row.id as AuthorizationId,
  mountId: row.mount_id as MountId,
  accountId: row.account_id as AcmeAccountId,
  identifier: { type: row.type as ProvedIdentifier["type"], value: row.value, wildcard: row.wildcard === 1 },
  state: row.state as Authorization["state"],
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

const challengeOf = (row: Omit<AcmeChallengeRow, "attempt_at">): Challenge => ({
  authorizationId: row.authorization_id as AuthorizationId,
  type: row.type as ChallengeType,
  token: row.token,
  status: row.status as ChallengeStatus,
  validatedAt: row.validated_at,
  error: row.error === null ? null : (JSON.parse(row.error) as Problem),
  attempts: row.attempts,
})

const authorizationColumns = [
  "id",
  "mount_id",
  "account_id",
  "type",
  "value",
  "wildcard",
  "state",
  "created_at",
  "expires_at",
] as const

const insertAuthorization = statement((db, row: AcmeAuthorizationRow) =>
  db.insertInto("acme_authorizations").values({
    id: row.id,
    mount_id: row.mount_id,
    account_id: row.account_id,
    type: row.type,
    value: row.value,
    wildcard: row.wildcard,
    state: row.state,
    created_at: row.created_at,
    expires_at: row.expires_at,
  }),
)

/** Multi-row inserts, one for each possible number of challenges. Parameter names end with the index of the row. */
const insertChallenges = challengeTypes.map((_type, last) =>
  statement((db, parameters: Readonly<Record<string, string>>) =>
    db.insertInto("acme_challenges").values(
      Array.from({ length: last + 1 }, (_row, at) => ({
        authorization_id: parameters[`authorizationId${at}`] ?? "",
        type: parameters[`type${at}`] ?? "",
        token: parameters[`token${at}`] ?? "",
        status: parameters[`status${at}`] ?? "",
        validated_at: null,
        error: null,
        attempts: 0,
        attempt_at: null,
      })),
    ),
  ),
)

interface Owned {
  readonly mountId: string
  readonly accountId: string
  readonly id: string
}

const authorizationById = statement((db, { mountId, accountId, id }: Owned) =>
  db
    .selectFrom("acme_authorizations")
    .select(authorizationColumns)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("mount_id", "=", mountId),
)

const authorizationsOfOrder = statement((db, { id }: { id: string }) =>
  db
    .selectFrom("acme_order_authorizations as o")
    .innerJoin("acme_authorizations as a", "a.id", "o.authorization_id")
    .select([
      "a.id",
      "a.mount_id",
      "a.account_id",
      "a.type",
      "a.value",
      "a.wildcard",
      "a.state",
      "a.created_at",
      "a.expires_at",
    ])
    .where("o.order_id", "=", id)
    .orderBy("o.position"),
)

const validAuthorization = statement(
  (db, parameters: { accountId: string; type: string; value: string; wildcard: number; beyond: number }) =>
    db
      .selectFrom("acme_authorizations")
      .select(authorizationColumns)
      .where("account_id", "=", parameters.accountId)
      .where("type", "=", parameters.type)
      .where("value", "=", parameters.value)
      .where("wildcard", "=", parameters.wildcard as Flag)
      .where("state", "=", "valid")
      .where("expires_at", ">", parameters.beyond)
      .orderBy("expires_at", "desc")
      .limit(1),
)

const challengeColumns = ["authorization_id", "type", "token", "status", "validated_at", "error", "attempts"] as const

const challengesOf = statement((db, { id }: { id: string }) =>
  db.selectFrom("acme_challenges").select(challengeColumns).where("authorization_id", "=", id).orderBy("type", "desc"),
)

const deactivate = statement((db, { id }: { id: string }) =>
  db
    .updateTable("acme_authorizations")
    .set({ state: "deactivated" })
    .where("id", "=", id)
    .where("state", "in", ["pending", "valid"]),
)

const forgetAttempts = statement((db, { id }: { id: string }) =>
  db.updateTable("acme_challenges").set({ attempt_at: null }).where("authorization_id", "=", id),
)

const deactivateAll = statement((db, { accountId }: { accountId: string }) =>
  db
    .updateTable("acme_authorizations")
    .set({ state: "deactivated" })
    .where("account_id", "=", accountId)
    .where("state", "in", ["pending", "valid"]),
)

const forgetAttemptsOfAccount = statement((db, { accountId }: { accountId: string }) =>
  db
    .updateTable("acme_challenges")
    .set({ attempt_at: null })
    .where("attempt_at", "is not", null)
    .where(
      "authorization_id",
      "in",
      db.selectFrom("acme_authorizations").select("id").where("account_id", "=", accountId),
    ),
)

const beginChallenge = statement((db, { id, type, attempts, attemptAt }: Attempted & { readonly attemptAt: number }) =>
  db
    .updateTable("acme_challenges")
    .set({ status: "processing", attempts, attempt_at: attemptAt })
    .where("authorization_id", "=", id)
    .where("type", "=", type)
    .where("status", "=", "pending"),
)

const dueChallenges = statement((db, { now, latest, limit }: Readonly<Record<"now" | "latest" | "limit", number>>) =>
  db
    .selectFrom("acme_challenges as c")
    .innerJoin("acme_authorizations as a", "a.id", "c.authorization_id")
    .innerJoin("acme_accounts as account", "account.id", "a.account_id")
    .select([
      "c.authorization_id",
      "c.type",
      "c.token",
      "c.status",
      "c.validated_at",
      "c.error",
      "c.attempts",
      "a.mount_id",
      "a.account_id",
      "a.type as identifier_type",
      "a.value",
      "a.wildcard",
      "account.thumbprint",
      "account.directory",
    ])
    .where((where) => where.or([where("c.attempt_at", "<=", now), where("c.attempt_at", ">", latest)]))
    .orderBy("c.attempt_at")
    .limit(limit),
)

interface Attempted {
  readonly id: string
  readonly type: string
  readonly attempts: number
}

const claimChallenge = statement(
  (db, { id, type, attempts, leasedUntil }: Attempted & { readonly leasedUntil: number }) =>
    db
      .updateTable("acme_challenges")
      .set((set) => ({ attempts: set("attempts", "+", 1), attempt_at: leasedUntil }))
      .where("authorization_id", "=", id)
      .where("type", "=", type)
      .where("status", "=", "processing")
      .where("attempts", "=", attempts),
)

const nextAttempt = statement<Record<string, never>, { attempt_at: number | null }>((db) =>
  db
    .selectFrom("acme_challenges")
    .select("attempt_at")
    .where("attempt_at", "is not", null)
    .orderBy("attempt_at")
    .limit(1),
)

const succeedChallenge = statement(
  (db, { id, type, attempts, validatedAt }: Attempted & { readonly validatedAt: number }) =>
    db
      .updateTable("acme_challenges")
      .set({ status: "valid", validated_at: validatedAt, error: null, attempt_at: null })
      .where("authorization_id", "=", id)
      .where("type", "=", type)
      .where("status", "=", "processing")
      .where("attempts", "=", attempts),
)

const settleAuthorization = statement(
  (db, { id, state, expiresAt }: { id: string; state: string; expiresAt: number }) =>
    db
      .updateTable("acme_authorizations")
      .set({ state, expires_at: expiresAt })
      .where("id", "=", id)
      .where("state", "=", "pending"),
)

const retryChallenge = statement(
  (db, { id, type, attempts, error, attemptAt }: Attempted & { readonly error: string; readonly attemptAt: number }) =>
    db
      .updateTable("acme_challenges")
      .set({ error, attempt_at: attemptAt })
      .where("authorization_id", "=", id)
      .where("type", "=", type)
      .where("status", "=", "processing")
      .where("attempts", "=", attempts),
)

const failChallenge = statement((db, { id, type, attempts, error }: Attempted & { readonly error: string }) =>
  db
    .updateTable("acme_challenges")
    .set({ status: "invalid", error, attempt_at: null })
    .where("authorization_id", "=", id)
    .where("type", "=", type)
    .where("status", "=", "processing")
    .where("attempts", "=", attempts),
)

const invalidateAuthorization = statement((db, { id }: { id: string }) =>
  db.updateTable("acme_authorizations").set({ state: "invalid" }).where("id", "=", id).where("state", "=", "pending"),
)

interface Ended {
  readonly mountId: string
  readonly before: number
  readonly limit: number
}

const removeAuthorizations = statement((db, { mountId, before, limit }: Ended) =>
  db
    .deleteFrom("acme_authorizations")
    .where(
      "id",
      "in",
      db
        .selectFrom("acme_authorizations as a")
        .leftJoin("acme_order_authorizations as o", "o.authorization_id", "a.id")
        .select("a.id")
        .where("a.mount_id", "=", mountId)
        .where("a.expires_at", "<", before)
        .where("o.order_id", "is", null)
        .limit(limit),
    ),
)
