// Context of ACME services: the context of the PKI, with repositories of accounts, orders and authorizations.
import type { PkiContext, PkiRepositories } from "../pki/pki-context.ts"
import type {
  AcmeAccountRepository,
  AcmeAuthorizationRepository,
  AcmeNonceRepository,
  AcmeOrderRepository,
} from "./acme.ts"
import type { AcmeInventoryRepository, RenewalSignalRepository } from "./accounts/management-repository.ts"
import type { AcmeRateRepository } from "./orders/rate-limits.ts"

export interface AcmeRepositories extends PkiRepositories {
  readonly acmeAccounts: AcmeAccountRepository
  readonly acmeOrders: AcmeOrderRepository
  readonly acmeAuthorizations: AcmeAuthorizationRepository
  readonly acmeNonces: AcmeNonceRepository
  readonly acmeInventory: AcmeInventoryRepository
  readonly acmeRates: AcmeRateRepository
  readonly renewalSignals: RenewalSignalRepository
}

export type AcmeContext = PkiContext<AcmeRepositories>
