// The context of ACME: that of the PKI, with the stores of accounts, orders and authorizations.
import type { PkiContext, PkiStores } from "../pki/pki-context.ts"
import type { AcmeAccountRepository, AcmeAuthorizationRepository, AcmeNonceRepository, AcmeOrderRepository } from "./acme-store.ts"
import type { AcmeInventoryRepository, RenewalSignalRepository } from "./management-store.ts"
import type { AcmeRateRepository } from "./rate-limits.ts"

export interface AcmeStores extends PkiStores {
  readonly acmeAccounts: AcmeAccountRepository
  readonly acmeOrders: AcmeOrderRepository
  readonly acmeAuthorizations: AcmeAuthorizationRepository
  readonly acmeNonces: AcmeNonceRepository
  readonly acmeInventory: AcmeInventoryRepository
  readonly acmeRates: AcmeRateRepository
  readonly renewalSignals: RenewalSignalRepository
}

export type AcmeContext = PkiContext<AcmeStores>
