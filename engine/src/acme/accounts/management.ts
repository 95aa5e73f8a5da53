// Administration of ACME on a mount, with a token. Paths of accounts are those of Vault.
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
  /** Time of the last change of `status`. */
  readonly statusAt: Instant
  readonly createdAt: Instant
  /** Path below the mount: `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  /** Thumbprint of the account key (RFC 7638). */
  readonly thumbprint: string
  readonly contact: readonly string[]
  readonly termsOfServiceAgreed: boolean
  /** Key identifier of the binding that the account was created with. */
  readonly bindingId: string | null
}

export interface ManagedAccountWithOrders extends ManagedAccountView {
  /** The newest first, at most `maxOrdersShown`. */
  readonly orders: readonly ManagedOrderView[]
}

export interface ManagedOrderView {
  readonly id: string
  readonly accountId: string
  readonly status: OrderStatus
  /** DNS names and IP addresses. */
  readonly identifiers: readonly string[]
  readonly createdAt: Instant
  /** Expiry of the order; of a valid order, that of its certificate. */
  readonly expiresAt: Instant
  readonly profile: string | null
  readonly replaces: string | null
  /** Serial number of its certificate, in hex with colons. */
  readonly serialNumber: string | null
  /** Reason of the failure. */
  readonly error: string | null
}

export const maxOrdersShown = 100

/** A disabled account is `revoked` in terms of the RFC. Accounts that their holder deactivated cannot be changed. */
export type ManagedStatus = "valid" | "revoked"

export interface ManagedAccounts {
  /** Lists accounts by id, at most `maxRecords` at once. */
  list(page?: KeyPage): Promise<readonly ManagedAccountView[]>
  get(id: string): Promise<ManagedAccountWithOrders>
  /**
   * Sets the status to `revoked`, which also ends its authorizations and unfinished orders, or back to `valid`. Throws `unprocessable` for
   * deactivated accounts.
   */
  changeStatus(id: string, status: ManagedStatus): Promise<ManagedAccountView>
  /**
   * Deletes an account with its orders. Its certificates stay. ACME clients can no longer fetch them, and can revoke them only with the
   * certificate's key.
   */
  delete(id: string): Promise<void>
}

export interface ManagedOrders {
  /** Lists orders by id, at most `maxRecords` at once. With `accountId`, only those of this account. */
  list(page?: KeyPage & { readonly accountId?: string }): Promise<readonly ManagedOrderView[]>
  get(id: string): Promise<ManagedOrderView>
  /** Deletes an order. Its certificate stays. */
  delete(id: string): Promise<void>
}

export const maxRecords = 1_000

export interface RenewalSignalInput {
  /** Issuer; affects all certificates that it has issued until now. Exactly one of this and `serialNumbers` is required. */
  readonly issuerRef?: string
  /** Serial numbers of certificates in the mount, at most `maxSignalled`. */
  readonly serialNumbers?: readonly string[]
  /** Period over which clients spread their renewals. Default: 0, at once. */
  readonly withinMs?: number
  /** URL that clients receive (RFC 9773, section 4.2). */
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
  /** Makes the renewal information of these certificates request their renewal, regardless of their age (RFC 9773). */
  raise(input: RenewalSignalInput): Promise<RenewalSignalView>
  /** Lists signals, the oldest first. */
  list(): Promise<readonly RenewalSignalView[]>
  get(id: string): Promise<RenewalSignalView & { readonly serialNumbers: readonly string[] }>
  withdraw(id: string): Promise<void>
}

export const maxSignalled = 10_000
/** Maximum number of signals of a mount. */
export const maxSignals = 1_000
