// ACME accounts, orders and renewal signals for administrators. The paths of accounts are Vault's (docs/acme.md).
import type { AcmeManagement } from "../../acme/management.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "../../contracts/vault/acme-management.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest, PkiRoute } from "../pki-route.ts"

export const acmeManagementRoutes: readonly PkiRoute[] = [
  ...implement(acmeAccounts, {
    list: (request: PkiRequest, page) => managed(request).accounts.list(page),
    get: (request, id) => managed(request).accounts.get(id),
    changeStatus: (request, id, status) => managed(request).accounts.changeStatus(id, status),
    delete: (request, id) => managed(request).accounts.delete(id),
  }),
  ...implement(acmeOrders, {
    list: (request: PkiRequest, page) => managed(request).orders.list(page),
    get: (request, id) => managed(request).orders.get(id),
    delete: (request, id) => managed(request).orders.delete(id),
  }),
  ...implement(renewalSignals, {
    raise: (request: PkiRequest, input) => managed(request).renewals.raise(input),
    list: (request) => managed(request).renewals.list(),
    get: (request, id) => managed(request).renewals.get(id),
    withdraw: (request, id) => managed(request).renewals.withdraw(id),
  }),
]

const managed = ({ engine, mount }: PkiRequest): AcmeManagement => engine.acme(mount.path)
