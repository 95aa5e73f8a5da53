import { unprocessable } from "../../core/errors.ts"
import type { RenewEndpoint, RevokeEndpoint, RevokePrefixEndpoint } from "../../pki/leases/leases.ts"
import { encodeLease, leaseParameters } from "../../wire/pki/lease.ts"
import { accepted, answer, listed, nothing, param, type SystemRequest, type SystemRoute } from "../pki-route.ts"

/** Leases of certificates, at the paths of current and of older Vault clients. */
export const leaseRoutes: readonly SystemRoute[] = [
  {
    operation: "write",
    path: "/sys/leases/lookup",
    readOnly: true,
    parameters: [leaseParameters],
    handle: async (request) => answer(encodeLease(await request.engine.leases.lookup(leaseIdIn(request)))),
  },
  {
    operation: "list",
    path: "/sys/leases/lookup",
    handle: async ({ engine }) => listed(await engine.leases.list("")),
  },
  {
    operation: "list",
    path: "/sys/leases/lookup/*prefix",
    handle: async (request) => listed(await request.engine.leases.list(param(request, "prefix"))),
  },
  ...(["sys/leases/renew", "sys/renew"] as const).flatMap(renewal),
  ...(["sys/leases/revoke", "sys/revoke"] as const).flatMap(revocation),
  ...(["sys/leases/revoke-prefix", "sys/revoke-prefix"] as const).map(prefixRevocation),
  ...(["sys/leases/revoke-force", "sys/revoke-force"] as const).map(prefixRevocation),
]

function leaseIdIn(request: SystemRequest): string {
  const inPath = request.params["lease_id"]
  return inPath ?? request.decode(leaseParameters).leaseId ?? ""
}

/** With the id in the body, or in the address. */
function bothForms(
  endpoint: string,
  handle: (request: SystemRequest, inPath: boolean) => ReturnType<SystemRoute["handle"]>,
): readonly SystemRoute[] {
  return [
    {
      operation: "write",
      path: `/${endpoint}`,
      parameters: [leaseParameters],
      handle: (request) => handle(request, false),
    },
    {
      operation: "write",
      path: `/${endpoint}/*lease_id`,
      parameters: [leaseParameters],
      handle: (request) => handle(request, true),
    },
  ]
}

/** A certificate ends when it ends. */
function renewal(endpoint: RenewEndpoint): readonly SystemRoute[] {
  return bothForms(endpoint, async (request, inPath) => {
    request.decode(leaseParameters)
    await request.engine.leases.lookup(leaseIdIn(request), { endpoint, inPath })
    throw unprocessable("lease is not renewable")
  })
}

function revocation(endpoint: RevokeEndpoint): readonly SystemRoute[] {
  return bothForms(endpoint, async (request, inPath) => {
    request.decode(leaseParameters)
    await request.engine.leases.revoke(leaseIdIn(request), { endpoint, inPath })
    return nothing()
  })
}

function prefixRevocation(endpoint: RevokePrefixEndpoint): SystemRoute {
  return {
    operation: "write",
    path: `/${endpoint}/*prefix`,
    parameters: [leaseParameters],
    handle: async (request) => {
      const { sync = false } = request.decode(leaseParameters)
      const warnings = await request.engine.leases.revokePrefix(param(request, "prefix"), { sync, endpoint })
      return warnings.length === 0 ? nothing() : accepted(warnings)
    },
  }
}
