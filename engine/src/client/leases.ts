import { leasePrefixRevocations, leaseRevocations, leases } from "../contracts/vault/lease.ts"
import { mountPathOf } from "../pki/mount.ts"
import type { Leases } from "../pki/leases/leases.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteLeases(calls: PkiCalls): Leases {
  const { lookup, listAll, list } = remote(leases, calls)
  const { revoke } = remote(leaseRevocations("sys/leases/revoke"), calls)
  const { revokePrefix } = remote(leasePrefixRevocations("sys/leases/revoke-prefix"), calls)
  return {
    lookup,
    list: (prefix) => (prefix === "" ? listAll() : list(mountPathOf(prefix))),
    revoke,
    revokePrefix: (prefix, { sync = false } = {}) => revokePrefix(mountPathOf(prefix), { sync }),
  }
}
