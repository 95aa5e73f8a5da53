// What there is to manage of ACME on a mount, by who has a token. Accounts lie where clients of the public service look for them.
import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AccountBindings } from "./account-bindings.ts"
import type { AccountStatus } from "./account.ts"
import type { OrderStatus } from "../orders/order.ts"

export interface AcmeManagement {
  readonly eab: AccountBindings
  readonly accounts: ManagedAccounts
  readonly orders: ManagedOrders
  readonly renewals: RenewalSignals
}

export interface ManagedAccountView {
  readonly id: string
  readonly status: AccountStatus
  /** Since when its status is what it is. */
  readonly statusAt: Instant
  readonly createdAt: Instant
  /** Below the mount: `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  /** Of its key (RFC 7638). */
  readonly thumbprint: string
  readonly contact: readonly string[]
  readonly termsOfServiceAgreed: boolean
  /** The key identifier of the binding it was made with. */
  readonly bindingId: string | null
}

export interface ManagedAccountWithOrders extends ManagedAccountView {
  /** The newest first, at most `ordersShownMaximum`. */
  readonly orders: readonly ManagedOrderView[]
}

export interface ManagedOrderView {
  readonly id: string
  readonly accountId: string
  readonly status: OrderStatus
  /** Names and addresses. */
  readonly identifiers: readonly string[]
  readonly createdAt: Instant
  /** Of one that is valid, when its certificate does. */
  readonly expiresAt: Instant
  readonly profile: string | null
  readonly replaces: string | null
  /** Of its certificate, in hex with colons. */
  readonly serialNumber: string | null
  /** Why it came to nothing. */
  readonly error: string | null
}

export const ordersShownMaximum = 100

/** Disabled is `revoked` in the words of the RFC; what its holder has deactivated stays that. */
export type ManagedStatus = "valid" | "revoked"

export interface ManagedAccounts {
  /** By id, at most `recordsMaximum` at once. */
  list(page?: KeyPage): Promise<readonly ManagedAccountView[]>
  get(id: string): Promise<ManagedAccountWithOrders>
  /** To `revoked`, which ends all that it has proved, or back. Throws `unprocessable` for one that is deactivated. */
  changeStatus(id: string, status: ManagedStatus): Promise<ManagedAccountView>
  /** With its orders. Certificates stay, and are no longer anybody's to fetch or to revoke by ACME without their key. */
  delete(id: string): Promise<void>
}

export interface ManagedOrders {
  /** By id, at most `recordsMaximum` at once; of one account where it is named, and none where there is no such. */
  list(page?: KeyPage & { readonly accountId?: string }): Promise<readonly ManagedOrderView[]>
  get(id: string): Promise<ManagedOrderView>
  /** The certificate stays. */
  delete(id: string): Promise<void>
}

export const recordsMaximum = 1_000

export interface RenewalSignalInput {
  /** All certificates that it has issued until now. One of this and `serialNumbers` is given. */
  readonly issuerRef?: string
  /** At most `signalledMaximum`, each that of a certificate in the mount. */
  readonly serialNumbers?: readonly string[]
  /** Over which clients spread their renewals; 0, or none: at once. */
  readonly withinMs?: number
  /** Told to clients (RFC 9773, section 4.2). */
  readonly explanationUrl?: string
}

export interface RenewalSignalView {
  readonly id: string
  readonly issuerId: string | null
  readonly serialNumberCount: number
  readonly explanationUrl: string | null
  readonly raisedAt: Instant
  readonly renewBy: Instant
}

export interface RenewalSignals {
  /** Renewal information of these certificates says from now on that they are to be renewed, whatever their age (RFC 9773). */
  raise(input: RenewalSignalInput): Promise<RenewalSignalView>
  /** The oldest first. */
  list(): Promise<readonly RenewalSignalView[]>
  get(id: string): Promise<RenewalSignalView & { readonly serialNumbers: readonly string[] }>
  withdraw(id: string): Promise<void>
}

export const signalledMaximum = 10_000
/** On one mount at a time. */
export const signalsMaximum = 1_000
