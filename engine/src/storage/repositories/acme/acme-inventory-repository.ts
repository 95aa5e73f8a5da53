import type { AcmeAccount, AcmeAccountId } from "../../../acme/accounts/account.ts"
import type { AcmeInventoryRepository, IdPage } from "../../../acme/accounts/management-repository.ts"
import type { AcmeOrder, AcmeOrderId } from "../../../acme/orders/order.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { accountColumns, accountOf } from "./acme-account-repository.ts"
import { orderColumns, orderOf } from "./acme-order-repository.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlAcmeInventoryRepository implements AcmeInventoryRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async accounts(mountId: MountId, page: IdPage): Promise<readonly AcmeAccount[]> {
    return (await this.#session.queryMany(accountsAfter, { mountId, ...page })).map(accountOf)
  }

  async removeAccount(mountId: MountId, id: AcmeAccountId): Promise<boolean> {
    return (await this.#session.execute(removeAccount, { mountId, id })) > 0
  }

  async orders(mountId: MountId, accountId: AcmeAccountId | undefined, page: IdPage): Promise<readonly AcmeOrder[]> {
    const rows =
      accountId === undefined
        ? await this.#session.queryMany(ordersAfter, { mountId, ...page })
        : await this.#session.queryMany(ordersOfAccountAfter, { mountId, accountId, ...page })
    return rows.map(orderOf)
  }

  async newestOrders(accountId: AcmeAccountId, limit: number): Promise<readonly AcmeOrder[]> {
    return (await this.#session.queryMany(newestOrders, { accountId, limit })).map(orderOf)
  }

  async order(mountId: MountId, id: AcmeOrderId): Promise<AcmeOrder | undefined> {
    const row = await this.#session.queryOne(orderById, { mountId, id })
    return row && orderOf(row)
  }

  async removeOrder(mountId: MountId, id: AcmeOrderId): Promise<boolean> {
    await this.#session.execute(keepAccountOfCertificate, { mountId, id })
    return (await this.#session.execute(removeOrder, { mountId, id })) > 0
  }
}

interface OfMount {
  readonly mountId: string
}

interface OfAccount extends OfMount {
  readonly accountId: string
}

const accountsAfter = statement((db, { mountId, after, limit }: OfMount & IdPage) =>
  db
    .selectFrom("acme_accounts")
    .select(accountColumns)
    .where("mount_id", "=", mountId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit),
)

const removeAccount = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.deleteFrom("acme_accounts").where("id", "=", id).where("mount_id", "=", mountId),
)

const ordersAfter = statement((db, { mountId, after, limit }: OfMount & IdPage) =>
  db
    .selectFrom("acme_orders")
    .select(orderColumns)
    .where("mount_id", "=", mountId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit),
)

const ordersOfAccountAfter = statement((db, { mountId, accountId, after, limit }: OfAccount & IdPage) =>
  db
    .selectFrom("acme_orders")
    .select(orderColumns)
    .where("mount_id", "=", mountId)
    .where("account_id", "=", accountId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit),
)

const newestOrders = statement((db, { accountId, limit }: { readonly accountId: string; readonly limit: number }) =>
  db
    .selectFrom("acme_orders")
    .select(orderColumns)
    .where("account_id", "=", accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit),
)

const orderById = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.selectFrom("acme_orders").select(orderColumns).where("id", "=", id).where("mount_id", "=", mountId),
)

const removeOrder = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db.deleteFrom("acme_orders").where("id", "=", id).where("mount_id", "=", mountId),
)

/** Copies the account of an order's certificate, before the order is deleted. */
const keepAccountOfCertificate = statement((db, { mountId, id }: OfMount & { readonly id: string }) =>
  db
    .insertInto("acme_certificates")
    .columns(["mount_id", "serial_number", "account_id", "expires_at"])
    .expression(
      db
        .selectFrom("acme_orders")
        .select([
          "mount_id",
          (select) => select.ref("serial_number").$notNull().as("serial_number"),
          "account_id",
          "expires_at",
        ])
        .where("id", "=", id)
        .where("mount_id", "=", mountId)
        .where("serial_number", "is not", null),
    ),
)
