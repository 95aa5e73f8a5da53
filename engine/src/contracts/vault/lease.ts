// Leases of certificates and tokens. They are never renewed.
import type { LeaseView } from "../../access/leases/lease.ts"
import { accepted, type Answer, type Contract, contract, data, keys, nothing } from "./endpoint.ts"
import { type Body, bodyOf, fields, parameter, record } from "./record.ts"
import { exactInstant, flag, seconds, text } from "./types.ts"

const leaseTable = fields({
  leaseId: parameter(text, "Id of the lease.", { example: "pki/issue/web/1a2b3c4d" }),
  sync: parameter(flag, "Answer when the leases have ended.", { default: false, example: true }),
  incrementMs: parameter(seconds, "Ignored: leases are not renewed.", { example: "1h" }),
  prefix: parameter(text, "Path of leases.", { example: "pki/issue/web" }),
})
const leaseId: Body<string> = {
  table: leaseTable,
  decode: (request) => request.decode(leaseTable).leaseId ?? "",
  encode: (id) => ({ lease_id: id }),
}

const lease = record<LeaseView>(
  {
    id: parameter(text, "Id of the lease.", { example: "pki/issue/web/1a2b3c4d" }),
    issuedAt: parameter(exactInstant, "Start of the lease.", {
      wireName: "issue_time",
      example: "2030-01-31T12:00:00.000Z",
    }),
    expiresAt: parameter(exactInstant, "End of the lease.", {
      wireName: "expire_time",
      example: "2030-01-31T13:00:00.000Z",
    }),
    remainingMs: parameter(seconds, "Seconds that are left.", { wireName: "ttl", example: 3_600 }),
  },
  { constants: { last_renewal: null, renewable: false } },
)

/** Answer with status 202, or 204 if no work is left. */
const acceptedOrNothing: Answer<readonly string[]> = {
  ...accepted,
  orNothing: true,
  encode: (warnings) => ({ data: warnings.length === 0 ? undefined : null, status: 202, warnings }),
}

export const leases = contract({
  lookup: {
    operation: "write",
    path: "/sys/leases/lookup",
    summary: "Returns a lease.",
    rights: "update",
    readOnly: true,
    body: leaseId,
    answers: data(lease),
  },
  listAll: {
    operation: "list",
    path: "/sys/leases/lookup",
    summary: "Lists the first segments of the ids of leases.",
    rights: "list and sudo",
    answers: keys,
  },
  list: {
    operation: "list",
    path: "/sys/leases/lookup/*prefix",
    summary: "Lists the next segments of the ids of leases below a path.",
    rights: "list and sudo",
    answers: keys,
  },
})

/** Current and older paths, each of which policies allow separately. */
export const renewalAddresses = ["sys/leases/renew", "sys/renew"] as const
export const revocationAddresses = ["sys/leases/revoke", "sys/revoke"] as const
export const prefixRevocationAddresses = [
  "sys/leases/revoke-prefix",
  "sys/revoke-prefix",
  "sys/leases/revoke-force",
  "sys/revoke-force",
] as const

export const leaseRenewals = <const Address extends string>(address: Address) => {
  const refused = { summary: "Refuses to renew a lease.", rights: "update", operation: "write" } as const
  return contract({
    renew: { ...refused, path: `/${address}` as const, body: leaseId, answers: nothing },
    renewInPath: { ...refused, path: `/${address}/*lease_id` as const, body: bodyOf(leaseTable), answers: nothing },
  })
}
export const leaseRevocations = <const Address extends string>(address: Address) => {
  const revoked = { summary: "Revokes a lease, and its certificate.", rights: "update", operation: "write" } as const
  return contract({
    revoke: { ...revoked, path: `/${address}` as const, body: leaseId, answers: nothing },
    revokeInPath: { ...revoked, path: `/${address}/*lease_id` as const, body: bodyOf(leaseTable), answers: nothing },
  })
}
export const leasePrefixRevocations = <const Address extends string>(address: Address) =>
  contract({
    revokePrefix: {
      operation: "write",
      path: `/${address}/*prefix` as const,
      summary: "Revokes all leases below a path; below auth/, the tokens that were created there.",
      rights: "update and sudo",
      body: bodyOf(leaseTable),
      answers: acceptedOrNothing,
    },
  })

/**
 * All contracts by path.
 * @public
 */
export const leaseContracts: Readonly<Record<string, Contract>> = {
  leases,
  ...Object.fromEntries(renewalAddresses.map((address) => [address, leaseRenewals(address)])),
  ...Object.fromEntries(revocationAddresses.map((address) => [address, leaseRevocations(address)])),
  ...Object.fromEntries(prefixRevocationAddresses.map((address) => [address, leasePrefixRevocations(address)])),
}
