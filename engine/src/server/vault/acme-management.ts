// ACME accounts, orders and renewal signals for administrators. The paths of accounts are Vault's (docs/acme.md).
import type { AcmeManagement } from "../../acme/accounts/management.ts"
import type { Directory } from "../../acme/directory.ts"
import { accountBindings, newAccountBindings } from "../../contracts/vault/account-binding.ts"
import { acmeAccounts, acmeOrders, renewalSignals } from "../../contracts/vault/acme-management.ts"
import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import { implement } from "./implement.ts"
import type { PkiRequest, PkiRoute } from "./vault-route.ts"

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

/** External account bindings (RFC 8555, section 7.3.4), with one endpoint for each kind of directory. */
export const accountBindingRoutes: readonly PkiRoute[] = [
  ...implement(accountBindings, {
    list: ({ engine, mount }: PkiRequest) => engine.acme(mount.path).eab.list(),
    delete: ({ engine, mount }, id) => engine.acme(mount.path).eab.delete(id),
  }),
  ...implement(newAccountBindings, {
    byMount: (request: PkiRequest, options) => create(request, {}, options),
    byRole: (request, role, options) => create(request, { role }, options),
    byPolicyService: (request, options) => create(request, { externalPolicy: "" }, options),
    byPolicy: (request, externalPolicy, options) => create(request, { externalPolicy }, options),
    byIssuer: (request, issuerRef, options) => create(request, { issuerRef }, options),
    byIssuerAndRole: (request, issuerRef, role, options) => create(request, { issuerRef, role }, options),
    byIssuerAndPolicyService: (request, issuerRef, options) =>
      create(request, { issuerRef, externalPolicy: "" }, options),
    byIssuerAndPolicy: (request, issuerRef, externalPolicy, options) =>
      create(request, { issuerRef, externalPolicy }, options),
  }),
]

type Options = ArgumentsOf<typeof newAccountBindings.byMount>[0]

function create({ engine, mount }: PkiRequest, directory: Directory, options: Options) {
  return engine.acme(mount.path).eab.create(directory, options)
}
