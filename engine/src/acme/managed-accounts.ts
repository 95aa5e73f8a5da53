import { notFound, unprocessable } from "../core/errors.ts"
import { AuthorityService } from "../pki/authority-service.ts"
import type { PkiStores } from "../pki/authority-service.ts"
import { type KeyPage, limitOf } from "../pki/key-page.ts"
import type { MountId } from "../pki/mount.ts"
import type { AcmeAccount, AcmeAccountId } from "./account.ts"
import type { AccountKeys } from "./account-keys.ts"
import {
  type ManagedAccounts,
  type ManagedAccountView,
  type ManagedAccountWithOrders,
  type ManagedOrders,
  type ManagedOrderView,
  type ManagedStatus,
  ordersShownMaximum,
  recordsMaximum,
} from "./management.ts"
import type { AcmeOrder, AcmeOrderId } from "./order.ts"
import { orderView } from "./views.ts"

const accountsPath = "acme/mgmt/account/keyid"
const ordersPath = "acme/mgmt/order"

export class ManagedAccountService extends AuthorityService implements ManagedAccounts {
  readonly #keys: AccountKeys

  constructor(keys: AccountKeys, ...about: ConstructorParameters<typeof AuthorityService>) {
    super(...about)
    this.#keys = keys
  }

  async list(page: KeyPage = {}): Promise<readonly ManagedAccountView[]> {
    this.authorize("list", accountsPath)
    const { after = "" } = page
    return this.readElsewhere(async ({ mount }, { acmeInventory }) =>
      (await acmeInventory.accounts(mount.id, { after, limit: limitOf(page, recordsMaximum) })).map(viewOf),
    )
  }

  async get(id: string): Promise<ManagedAccountWithOrders> {
    this.authorize("read", `${accountsPath}/${id}`)
    const now = this.context.runtime.clock.now()
    return this.read(async ({ mount }, stores) => {
      const account = await accountOf(stores, mount.id, id)
      const orders: ManagedOrderView[] = []
      for (const order of await stores.acmeInventory.newestOrders(account.id, ordersShownMaximum))
        orders.push(await managedOrder(stores, order, now))
      return { ...viewOf(account), orders }
    })
  }

  async changeStatus(id: string, status: ManagedStatus): Promise<ManagedAccountView> {
    this.authorize(["create", "update"], `${accountsPath}/${id}`)
    const now = this.context.runtime.clock.now()
    return this.transact(async ({ mount }, stores) => {
      const account = await accountOf(stores, mount.id, id)
      if (account.status === status) return viewOf(account)
      if (account.status === "deactivated")
        throw unprocessable("The account has been deactivated by its holder, and stays that.")
      const changed = { ...account, status, statusAt: now }
      await stores.acmeAccounts.change(account.id, changed)
      if (status === "revoked") {
        // As where its holder deactivates it (RFC 8555, section 7.3.6).
        await stores.acmeAuthorizations.deactivateAll(account.id)
        await stores.acmeOrders.failAll(account.id, { type: "unauthorized", detail: "The account has been disabled." })
      }
      return viewOf(changed)
    })
  }

  async delete(id: string): Promise<void> {
    this.authorize("delete", `${accountsPath}/${id}`)
    await this.transact(async ({ mount }, { acmeInventory }) => {
      if (!(await acmeInventory.removeAccount(mount.id, id as AcmeAccountId))) throw notFound(id)
    })
    this.#keys.forget(id as AcmeAccountId)
  }
}

export class ManagedOrderService extends AuthorityService implements ManagedOrders {
  async list(page: KeyPage & { readonly accountId?: string } = {}): Promise<readonly ManagedOrderView[]> {
    this.authorize("list", ordersPath)
    const { after = "", accountId } = page
    const now = this.context.runtime.clock.now()
    return this.readElsewhere(async ({ mount }, stores) => {
      const account = accountId as AcmeAccountId | undefined
      const found = await stores.acmeInventory.orders(mount.id, account, {
        after,
        limit: limitOf(page, recordsMaximum),
      })
      const views: ManagedOrderView[] = []
      for (const order of found) views.push(await managedOrder(stores, order, now))
      return views
    })
  }

  async get(id: string): Promise<ManagedOrderView> {
    this.authorize("read", `${ordersPath}/${id}`)
    const now = this.context.runtime.clock.now()
    return this.read(async ({ mount }, stores) => {
      const order = await stores.acmeInventory.order(mount.id, id as AcmeOrderId)
      if (order === undefined) throw notFound(id)
      return managedOrder(stores, order, now)
    })
  }

  async delete(id: string): Promise<void> {
    this.authorize("delete", `${ordersPath}/${id}`)
    await this.transact(async ({ mount }, { acmeInventory }) => {
      if (!(await acmeInventory.removeOrder(mount.id, id as AcmeOrderId))) throw notFound(id)
    })
  }
}

async function accountOf({ acmeAccounts }: PkiStores, mountId: MountId, id: string): Promise<AcmeAccount> {
  const account = await acmeAccounts.find(mountId, id as AcmeAccountId)
  if (account === undefined) throw notFound(id)
  return account
}

const viewOf = (account: AcmeAccount): ManagedAccountView => {
  const { id, status, statusAt, createdAt, directory, thumbprint, contact, termsOfServiceAgreed, bindingId } = account
  const acmeDirectory = `${directory}/directory`
  return { id, status, statusAt, createdAt, acmeDirectory, thumbprint, contact, termsOfServiceAgreed, bindingId }
}

async function managedOrder(
  { acmeAuthorizations }: PkiStores,
  order: AcmeOrder,
  now: number,
): Promise<ManagedOrderView> {
  const { status, error } = orderView(order, await acmeAuthorizations.ofOrder(order.id), now)
  const { id, accountId, identifiers, createdAt, expiresAt, profile, replaces, serialNumber } = order
  return {
    id,
    accountId,
    status,
    identifiers: identifiers.map(({ value }) => value),
    createdAt,
    expiresAt,
    profile,
    replaces,
    serialNumber,
    error: error?.detail ?? null,
  }
}
