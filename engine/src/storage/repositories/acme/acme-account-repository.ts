import { sql } from "kysely"
import type { AccountSummary, AccountStatus, AcmeAccount, AcmeAccountId } from "../../../acme/accounts/account.ts"
import type { AccountBinding, AccountBindingWithKey, AcmeAccountRepository } from "../../../acme/acme.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import type { PublicJwk } from "../../../x509/jwk.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { AcmeAccountRow, AcmeBindingRow } from "../../schema/tables.ts"

export class SqlAcmeAccountRepository implements AcmeAccountRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async insert(account: AcmeAccount): Promise<boolean> {
    const row: AcmeAccountRow = {
      id: account.id,
      mount_id: account.mountId,
      directory: account.directory,
      thumbprint: account.thumbprint,
      jwk: JSON.stringify(account.jwk),
      status: account.status,
      contact: JSON.stringify(account.contact),
      terms_agreed: account.termsOfServiceAgreed ? 1 : 0,
      binding: account.externalAccountBinding === null ? null : JSON.stringify(account.externalAccountBinding),
      binding_id: account.bindingId,
      created_at: account.createdAt,
      status_at: account.statusAt,
    }
    return (await this.#session.execute(insertAccount, row)) > 0
  }

  async find(mountId: MountId, id: AcmeAccountId): Promise<AcmeAccount | undefined> {
    const row = await this.#session.queryOne(accountById, { mountId, id })
    return row && accountOf(row)
  }

  async summary(mountId: MountId, id: AcmeAccountId): Promise<AccountSummary | undefined> {
    const row = await this.#session.queryOne(standingById, { mountId, id })
    if (row === undefined) return undefined
    const { directory, thumbprint, status, binding_id: bindingId } = row
    return { id, mountId, directory, thumbprint, status: status as AccountStatus, bindingId }
  }

  async byThumbprint(mountId: MountId, directory: string, thumbprint: string): Promise<AcmeAccount | undefined> {
    const row = await this.#session.queryOne(accountByKey, { mountId, directory, thumbprint })
    return row && accountOf(row)
  }

  async change(
    id: AcmeAccountId,
    {
      status,
      statusAt,
      contact,
    }: { readonly status: AccountStatus; readonly statusAt: Instant; readonly contact: readonly string[] },
  ): Promise<void> {
    await this.#session.execute(changeAccount, { id, status, statusAt, contact: JSON.stringify(contact) })
  }

  async count(mountId: MountId): Promise<number> {
    return (await this.#session.queryOne(countAccounts, { mountId }))?.total ?? 0
  }

  revokeUnused(
    mountId: MountId,
    parameters: { readonly before: Instant; readonly now: Instant; readonly limit: number },
  ): Promise<number> {
    return this.#session.execute(revokeUnused, { mountId, ...parameters })
  }

  removeEnded(mountId: MountId, before: Instant, limit: number): Promise<number> {
    return this.#session.execute(removeEnded, { mountId, before, limit })
  }

  async changeKey(
    id: AcmeAccountId,
    { jwk, thumbprint }: { readonly jwk: PublicJwk; readonly thumbprint: string },
  ): Promise<boolean> {
    try {
      await this.#session.execute(changeAccountKey, { id, jwk: JSON.stringify(jwk), thumbprint })
      return true
    } catch (error) {
      if (error instanceof UniqueViolation) return false
      throw error
    }
  }

  async insertBinding({ key, ...binding }: AccountBindingWithKey): Promise<void> {
    const { id, mountId, directory, createdAt, expiresAt } = binding
    const row: AcmeBindingRow = {
      mount_id: mountId,
      id,
      directory,
      key_sealed: this.#sealer.seal(sealPaths.acmeBinding(mountId, id), key),
      created_at: createdAt,
      expires_at: expiresAt,
    }
    await this.#session.execute(this.#session.db.insertInto("acme_bindings").values(row))
  }

  async binding(mountId: MountId, id: string): Promise<AccountBindingWithKey | undefined> {
    const row = await this.#session.queryOne(bindingById, { mountId, id })
    return row && { ...bindingOf(row), key: this.#sealer.open(sealPaths.acmeBinding(mountId, id), row.key_sealed) }
  }

  async bindings(mountId: MountId, now: Instant): Promise<readonly AccountBinding[]> {
    return (await this.#session.queryMany(bindingsOfMount, { mountId, now })).map(bindingOf)
  }

  async removeBinding(mountId: MountId, id: string): Promise<boolean> {
    return (await this.#session.execute(removeBinding, { mountId, id })) > 0
  }

  sweepBindings(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forgetBindings, { now, limit })
  }
}

export const accountOf = (row: AcmeAccountRow): AcmeAccount => ({
  id: row.id as AcmeAccountId,
  mountId: row.mount_id as MountId,
  directory: row.directory,
  thumbprint: row.thumbprint,
  jwk: JSON.parse(row.jwk) as PublicJwk,
  status: row.status as AccountStatus,
  contact: JSON.parse(row.contact) as readonly string[],
  termsOfServiceAgreed: row.terms_agreed === 1,
  externalAccountBinding: row.binding === null ? null : (JSON.parse(row.binding) as object),
  bindingId: row.binding_id,
  createdAt: row.created_at,
  statusAt: row.status_at,
})

const bindingOf = (row: Omit<AcmeBindingRow, "key_sealed">): AccountBinding => ({
  id: row.id,
  mountId: row.mount_id as MountId,
  directory: row.directory,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

export const accountColumns = [
  "id",
  "mount_id",
  "directory",
  "thumbprint",
  "jwk",
  "status",
  "contact",
  "terms_agreed",
  "binding",
  "binding_id",
  "created_at",
  "status_at",
] as const

const insertAccount = statement((db, row: AcmeAccountRow) =>
  db
    .insertInto("acme_accounts")
    .values({
      id: row.id,
      mount_id: row.mount_id,
      directory: row.directory,
      thumbprint: row.thumbprint,
      jwk: row.jwk,
      status: row.status,
      contact: row.contact,
      terms_agreed: row.terms_agreed,
      binding: row.binding,
      binding_id: row.binding_id,
      created_at: row.created_at,
      status_at: row.status_at,
    })
    .onConflict((known) => known.columns(["mount_id", "directory", "thumbprint"]).doNothing()),
)

const accountById = statement((db, { mountId, id }: { mountId: string; id: string }) =>
  db.selectFrom("acme_accounts").select(accountColumns).where("id", "=", id).where("mount_id", "=", mountId),
)

const standingById = statement((db, { mountId, id }: { mountId: string; id: string }) =>
  db
    .selectFrom("acme_accounts")
    .select(["directory", "thumbprint", "status", "binding_id"])
    .where("id", "=", id)
    .where("mount_id", "=", mountId),
)

const accountByKey = statement(
  (db, { mountId, directory, thumbprint }: { mountId: string; directory: string; thumbprint: string }) =>
    db
      .selectFrom("acme_accounts")
      .select(accountColumns)
      .where("mount_id", "=", mountId)
      .where("directory", "=", directory)
      .where("thumbprint", "=", thumbprint),
)

const changeAccount = statement(
  (db, { id, status, statusAt, contact }: { id: string; status: string; statusAt: number; contact: string }) =>
    db.updateTable("acme_accounts").set({ status, status_at: statusAt, contact }).where("id", "=", id),
)

const countAccounts = statement((db, { mountId }: { mountId: string }) =>
  db
    .selectFrom("acme_accounts")
    .select((count) => count.fn.countAll<number>().as("total"))
    .where("mount_id", "=", mountId),
)

const revokeUnused = statement(
  (db, { mountId, before, now, limit }: { mountId: string; before: number; now: number; limit: number }) =>
    db
      .updateTable("acme_accounts")
      .set({ status: "revoked", status_at: now })
      .where(
        "id",
        "in",
        db
          .selectFrom("acme_accounts as a")
          .select("a.id")
          .where("a.mount_id", "=", mountId)
          .where("a.status", "=", "valid")
          .where("a.status_at", "<", before)
          .leftJoin("acme_orders as o", "o.account_id", "a.id")
          .where("o.id", "is", null)
          .leftJoin("acme_certificates as c", "c.account_id", "a.id")
          .where("c.account_id", "is", null)
          .limit(limit),
      ),
)

const removeEnded = statement((db, { mountId, before, limit }: { mountId: string; before: number; limit: number }) =>
  db
    .deleteFrom("acme_accounts")
    .where(
      "id",
      "in",
      db
        .selectFrom("acme_accounts as a")
        .select("a.id")
        .where("a.mount_id", "=", mountId)
        .where("a.status", "in", ["revoked", "deactivated"])
        .where("a.status_at", "<", before)
        .leftJoin("acme_orders as o", "o.account_id", "a.id")
        .where("o.id", "is", null)
        .limit(limit),
    ),
)

const changeAccountKey = statement((db, { id, jwk, thumbprint }: { id: string; jwk: string; thumbprint: string }) =>
  db.updateTable("acme_accounts").set({ jwk, thumbprint }).where("id", "=", id),
)

const bindingColumns = ["mount_id", "id", "directory", "created_at", "expires_at"] as const

const bindingById = statement((db, { mountId, id }: { mountId: string; id: string }) =>
  db
    .selectFrom("acme_bindings")
    .select([...bindingColumns, "key_sealed"])
    .where("mount_id", "=", mountId)
    .where("id", "=", id),
)

const bindingsOfMount = statement((db, { mountId, now }: { mountId: string; now: number }) =>
  db
    .selectFrom("acme_bindings")
    .select(bindingColumns)
    .where("mount_id", "=", mountId)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", now)]))
    .orderBy("id"),
)

const removeBinding = statement((db, { mountId, id }: { mountId: string; id: string }) =>
  db.deleteFrom("acme_bindings").where("mount_id", "=", mountId).where("id", "=", id),
)

const forgetBindings = statement((db, { now, limit }: { now: number; limit: number }) =>
  db
    .deleteFrom("acme_bindings")
    .where(
      (where) =>
        sql<boolean>`${where.refTuple("mount_id", "id")} in (${db
          .selectFrom("acme_bindings")
          .select(["mount_id", "id"])
          .where("expires_at", "<=", now)
          .orderBy("expires_at")
          .limit(limit)})`,
    ),
)
