// The context of ACME: that of the PKI, with the stores of accounts, orders and authorizations.
import type { PkiContext, PkiStores } from "../pki/pki-context.ts"
import type { AcmeAccountStore, AcmeAuthorizationStore, AcmeNonceStore, AcmeOrderStore } from "./acme-store.ts"
import type { AcmeInventoryStore, RenewalSignalStore } from "./management-store.ts"
import type { AcmeRateStore } from "./rate-limits.ts"

export interface AcmeStores extends PkiStores {
  readonly acmeAccounts: AcmeAccountStore
  readonly acmeOrders: AcmeOrderStore
  readonly acmeAuthorizations: AcmeAuthorizationStore
  readonly acmeNonces: AcmeNonceStore
  readonly acmeInventory: AcmeInventoryStore
  readonly acmeRates: AcmeRateStore
  readonly renewalSignals: RenewalSignalStore
}

export type AcmeContext = PkiContext<AcmeStores>
