import { crls } from "../contracts/vault/crl.ts"
import { revocations } from "../contracts/vault/revocation.ts"
import { formatShard } from "../pki/crl/shard.ts"
import type { CrlChoice, Crls } from "../pki/crl/crls.ts"
import { meantBy } from "../pki/revoke/revocable.ts"
import type { RevokedCertificate, RevokeInput, Revocations } from "../pki/revoke/revocations.ts"
import { unreadable } from "../wire/pki/parameters.ts"
import { parseCertificateList } from "../x509/certificate-list.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { type Remote, remote } from "./remote-vault-contract.ts"
import { path } from "./transport.ts"

export function remoteRevocations(calls: PkiCalls): Revocations {
  const { revoke, revokeWithKey, ...lists } = remote(revocations, calls)
  return {
    ...lists,
    revoke: async (input) => named(await revoke(input), input),
    revokeWithKey: async (input) => named(await revokeWithKey(input), input),
  }
}

/** The answer about a certificate that has expired does not name it. */
const named = (
  { serialNumber, ...revoked }: Awaited<ReturnType<Remote<typeof revocations>["revoke"]>>,
  input: RevokeInput,
): RevokedCertificate => ({ ...revoked, serialNumber: serialNumber ?? meantBy(input).serialNumber })

export const remoteCrls = (calls: PkiCalls): Crls => ({
  ...remote(crls, calls),
  async get(choice = {}) {
    const der = await calls.download(addressOf(choice))
    if (der.length === 0) return undefined
    const { number, thisUpdate, nextUpdate } = parseCertificateList(der)
    if (number === undefined || nextUpdate === undefined) throw unreadable("its revocation list has no number")
    return { der, number, thisUpdate, nextUpdate }
  },
})

function addressOf({ issuerRef, delta = false, shard }: CrlChoice): string {
  const base = issuerRef === undefined ? "/crl" : path`/issuer/${issuerRef}/crl`
  return `${base}${delta ? "/delta" : ""}${shard === undefined ? "" : `/shard/${formatShard(shard)}`}`
}
