import {
  leasePrefixRevocations,
  leaseRenewals,
  leaseRevocations,
  leases,
  prefixRevocationAddresses,
  renewalAddresses,
  revocationAddresses,
} from "../../contracts/vault/lease.ts"
import { unprocessable } from "../../core/errors.ts"
import type { RenewEndpoint } from "../../access/leases/lease.ts"
import { implement } from "./implement.ts"
import type { SystemRequest } from "./vault-route.ts"

export const leaseRoutes = [
  ...implement(leases, {
    lookup: ({ engine }: SystemRequest, id) => engine.leases.lookup(id),
    listAll: ({ engine }) => engine.leases.list(""),
    list: ({ engine }, prefix) => engine.leases.list(prefix),
  }),
  ...renewalAddresses.flatMap((endpoint) =>
    implement(leaseRenewals(endpoint), {
      renew: (request: SystemRequest, id) => rejectRenewal(request, id, { endpoint, inPath: false }),
      renewInPath: (request, id) => rejectRenewal(request, id, { endpoint, inPath: true }),
    }),
  ),
  ...revocationAddresses.flatMap((endpoint) =>
    implement(leaseRevocations(endpoint), {
      revoke: ({ engine }: SystemRequest, id) => engine.leases.revoke(id, { endpoint, inPath: false }),
      revokeInPath: ({ engine }, id) => engine.leases.revoke(id, { endpoint, inPath: true }),
    }),
  ),
  ...prefixRevocationAddresses.flatMap((endpoint) =>
    implement(leasePrefixRevocations(endpoint), {
      revokePrefix: ({ engine }: SystemRequest, prefix, { sync = false }) =>
        engine.leases.revokePrefix(prefix, { sync, endpoint }),
    }),
  ),
]

/** Rejects the renewal, because the validity of a certificate cannot be extended. Reports a missing lease first. */
async function rejectRenewal(
  { engine }: SystemRequest,
  id: string,
  address: { readonly endpoint: RenewEndpoint; readonly inPath: boolean },
): Promise<never> {
  await engine.leases.lookup(id, address)
  throw unprocessable("lease is not renewable")
}
