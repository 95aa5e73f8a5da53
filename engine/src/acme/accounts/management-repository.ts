// What administrators look at and put an end to, across accounts and directories of a mount.
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { AcmeAccount, AcmeAccountId } from "./account.ts"
import type { AcmeOrder, AcmeOrderId } from "../orders/order.ts"

/** In the order of ids, from behind one; empty: from the first. */
export interface IdPage {
  readonly after: string
  readonly limit: number
}

export interface AcmeInventoryRepository {
  accounts(mountId: MountId, page: IdPage): Promise<readonly AcmeAccount[]>
  /** With its orders and authorizations; false where there is none. */
  removeAccount(mountId: MountId, id: AcmeAccountId): Promise<boolean>
  /** Of all accounts, or of one. */
  orders(mountId: MountId, accountId: AcmeAccountId | undefined, page: IdPage): Promise<readonly AcmeOrder[]>
  newestOrders(accountId: AcmeAccountId, limit: number): Promise<readonly AcmeOrder[]>
  order(mountId: MountId, id: AcmeOrderId): Promise<AcmeOrder | undefined>
  removeOrder(mountId: MountId, id: AcmeOrderId): Promise<boolean>
}

/** That certificates are to be renewed before their time, until somebody withdraws it. */
export interface RenewalSignal {
  readonly id: string
  readonly mountId: MountId
  /** Of all that it has issued; null where serial numbers name them. */
  readonly issuerId: IssuerId | null
  readonly explanationUrl: string | null
  /** Certificates that are ordered later are none of those meant. */
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
  /** The most urgent of those that mean a certificate of which that much is known. */
  concerning(
    mountId: MountId,
    certificate: {
      readonly serialNumber: SerialNumber
      readonly issuerId: IssuerId | null
      readonly orderedAt: Instant
    },
  ): Promise<RenewalSignal | undefined>
}
