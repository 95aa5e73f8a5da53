import { notFound, unprocessable } from "../../core/errors.ts"
import { authorizeOnMount, type MountAccess } from "../../pki/pki-context.ts"
import { readMount, readMountReplica, transactOnMount } from "../../pki/mounts/with-mount-snapshot.ts"
import type { AcmeRepositories } from "../acme-context.ts"
import { type KeyPage, limitOf } from "../../pki/mounts/key-page.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { AccountKeys, AcmeAccount, AcmeAccountId } from "./account.ts"
import {
  type ManagedAccounts,
  type ManagedAccountView,
  type ManagedAccountWithOrders,
  type ManagedOrders,
  type ManagedOrderView,
  type ManagedStatus,
  maxOrdersShown,
  maxRecords,
} from "./management.ts"
import type { AcmeOrder, AcmeOrderId } from "../orders/order.ts"
import { orderView } from "../acme.ts"

const accountsPath = "acme/mgmt/account/keyid"
const ordersPath = "acme/mgmt/order"

export class ManagedAccountService implements ManagedAccounts {
  readonly #access: MountAccess<AcmeRepositories>
  readonly #keys: AccountKeys

  constructor(access: MountAccess<AcmeRepositories>, keys: AccountKeys) {
    this.#access = access
    this.#keys = keys
  }

  async list(page: KeyPage = {}): Promise<readonly ManagedAccountView[]> {
    authorizeOnMount(this.#access, "list", accountsPath)
    const { after = "" } = page
    return readMountReplica(this.#access, async ({ mount }, { acmeInventory }) =>
      (await acmeInventory.accounts(mount.id, { after, limit: limitOf(page, maxRecords) })).map(viewOf),
    )
  }

  async get(id: string): Promise<ManagedAccountWithOrders> {
    authorizeOnMount(this.#access, "read", `${accountsPath}/${id}`)
    const now = this.#access.context.runtime.clock.now()
    return readMount(this.#access, async ({ mount }, repositories) => {
      const account = await accountOf(repositories, mount.id, id)
      const orders: ManagedOrderView[] = []
      for (const order of await repositories.acmeInventory.newestOrders(account.id, maxOrdersShown))
        orders.push(await managedOrder(repositories, order, now))
      return { ...viewOf(account), orders }
    })
  }

  async changeStatus(id: string, status: ManagedStatus): Promise<ManagedAccountView> {
    authorizeOnMount(this.#access, ["create", "update"], `${accountsPath}/${id}`)
    const now = this.#access.context.runtime.clock.now()
    return transactOnMount(this.#access, async ({ mount }, repositories) => {
      const account = await accountOf(repositories, mount.id, id)
      if (account.status === status) return viewOf(account)
      if (account.status === "deactivated")
        throw unprocessable("The account was deactivated by its holder; its status cannot change.")
      const changed = { ...account, status, statusAt: now }
      await repositories.acmeAccounts.change(account.id, changed)
      if (status === "revoked") {
        // Same effects as a deactivation by the holder (RFC 8555, section 7.3.6).
        await repositories.acmeAuthorizations.deactivateAll(account.id)
        await repositories.acmeOrders.failAll(account.id, {
          type: "unauthorized",
          detail: "The account has been disabled.",
        })
      }
      return viewOf(changed)
    })
  }

  async delete(id: string): Promise<void> {
    authorizeOnMount(this.#access, "delete", `${accountsPath}/${id}`)
    await transactOnMount(this.#access, async ({ mount }, { acmeInventory }) => {
      if (!(await acmeInventory.removeAccount(mount.id, id as AcmeAccountId))) throw notFound(id)
    })
    this.#keys.forget(id as AcmeAccountId)
  }
}

export class ManagedOrderService implements ManagedOrders {
  readonly #access: MountAccess<AcmeRepositories>

  constructor(access: MountAccess<AcmeRepositories>) {
    this.#access = access
  }

  async list(page: KeyPage & { readonly accountId?: string } = {}): Promise<readonly ManagedOrderView[]> {
    authorizeOnMount(this.#access, "list", ordersPath)
    const { after = "", accountId } = page
    const now = this.#access.context.runtime.clock.now()
    return readMountReplica(this.#access, async ({ mount }, repositories) => {
      const account = accountId as AcmeAccountId | undefined
      const found = await repositories.acmeInventory.orders(mount.id, account, {
        after,
        limit: limitOf(page, maxRecords),
      })
      const views: ManagedOrderView[] = []
      for (const order of found) views.push(await managedOrder(repositories, order, now))
      return views
    })
  }

  async get(id: string): Promise<ManagedOrderView> {
    authorizeOnMount(this.#access, "read", `${ordersPath}/${id}`)
    const now = this.#access.context.runtime.clock.now()
    return readMount(this.#access, async ({ mount }, repositories) => {
      const order = await repositories.acmeInventory.order(mount.id, id as AcmeOrderId)
      if (order === undefined) throw notFound(id)
      return managedOrder(repositories, order, now)
    })
  }

  async delete(id: string): Promise<void> {
    authorizeOnMount(this.#access, "delete", `${ordersPath}/${id}`)
    await transactOnMount(this.#access, async ({ mount }, { acmeInventory }) => {
      if (!(await acmeInventory.removeOrder(mount.id, id as AcmeOrderId))) throw notFound(id)
    })
  }
}

async function accountOf({ acmeAccounts }: AcmeRepositories, mountId: MountId, id: string): Promise<AcmeAccount> {
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
  { acmeAuthorizations }: AcmeRepositories,
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
