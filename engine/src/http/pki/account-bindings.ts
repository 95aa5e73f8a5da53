import type { Directory } from "../../acme/directory.ts"
import { accountBindings, newAccountBindings } from "../../contracts/vault/account-binding.ts"
import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest, PkiRoute } from "../pki-route.ts"

/** External account bindings (RFC 8555, section 7.3.4), one address for each kind of directory. */
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
