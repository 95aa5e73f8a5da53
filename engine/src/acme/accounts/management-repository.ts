// Repositories for administration across all accounts and directories of a mount.
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { AcmeAccount, AcmeAccountId } from "./account.ts"
import type { AcmeOrder, AcmeOrderId } from "../orders/order.ts"

/** Page in the order of ids, after an id; an empty `after` begins with the first. */
export interface IdPage {
  readonly after: string
  readonly limit: number
}

export interface AcmeInventoryRepository {
  accounts(mountId: MountId, page: IdPage): Promise<readonly AcmeAccount[]>
  /** Removes an account with its orders and authorizations. Returns false if it does not exist. */
  removeAccount(mountId: MountId, id: AcmeAccountId): Promise<boolean>
  /** Returns orders of one account, or of all if `accountId` is undefined. */
  orders(mountId: MountId, accountId: AcmeAccountId | undefined, page: IdPage): Promise<readonly AcmeOrder[]>
  newestOrders(accountId: AcmeAccountId, limit: number): Promise<readonly AcmeOrder[]>
  order(mountId: MountId, id: AcmeOrderId): Promise<AcmeOrder | undefined>
  removeOrder(mountId: MountId, id: AcmeOrderId): Promise<boolean>
}

/** Request to renew certificates early, in force until it is withdrawn. */
export interface RenewalSignal {
  readonly id: string
  readonly mountId: MountId
  /** Issuer whose certificates must be renewed; null if serial numbers name them. */
  readonly issuerId: IssuerId | null
  readonly explanationUrl: string | null
  /** Certificates that were ordered later are not affected. */
  readonly raisedAt: Instant
  readonly renewBy: Instant
}

export interface CountedRenewalSignal extends RenewalSignal {
  readonly serialNumberCount: number
}

export interface RenewalSignalRepository {
  insert(signal: RenewalSignal, serialNumbers: readonly SerialNumber[]): Promise<void>
  list(mountId: MountId): Promise<readonly CountedRenewalSignal[]>
  find(mountId: MountId, id: string): Promise<RenewalSignal | undefined>
  serialNumbers(id: string): Promise<readonly SerialNumber[]>
  remove(mountId: MountId, id: string): Promise<boolean>
  /** Returns the most urgent signal that affects a certificate. */
  concerning(
    mountId: MountId,
    certificate: {
      readonly serialNumber: SerialNumber
      readonly issuerId: IssuerId | null
      readonly orderedAt: Instant
    },
  ): Promise<RenewalSignal | undefined>
}
