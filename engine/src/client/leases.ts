import type { Leases } from "../pki/leases/leases.ts"
import { decodeLease, leaseParameters } from "../wire/pki/lease.ts"
import { pathOfMount, type PkiCalls, saying } from "./pki-calls.ts"

export const remoteLeases = (calls: PkiCalls): Leases => ({
  lookup: async (leaseId) =>
    decodeLease((await calls.write("/sys/leases/lookup", saying(leaseParameters, { leaseId }))).data),
  list: async (prefix) => (await calls.list(`/sys/leases/lookup${prefix === "" ? "" : pathOfMount(prefix)}`)).keys,
  async revoke(leaseId) {
    await calls.write("/sys/leases/revoke", saying(leaseParameters, { leaseId }))
  },
  revokePrefix: async (prefix, { sync = false } = {}) =>
    (await calls.write(`/sys/leases/revoke-prefix${pathOfMount(prefix)}`, saying(leaseParameters, { sync }))).warnings,
})
