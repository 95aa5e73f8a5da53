import { certificates } from "../contracts/vault/certificate.ts"
import type { Body } from "../contracts/vault/record.ts"
import {
  certificateInventory,
  inventory,
  mountInventory,
  serialNumberIn,
  storedCertificates,
} from "../contracts/vault/stored-certificate.ts"
import { isEngineError, notFoundDetail } from "../core/errors.ts"
import type { Certificates } from "../pki/issuance/certificate-api.ts"
import type { CertificateInventory } from "../pki/issuance/certificate-inventory.ts"
import { namesOf, type PkiCalls, queryOf } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export const remoteCertificateInventory = (calls: PkiCalls): CertificateInventory => ({
  search: (query, page = {}) => search(calls, certificateInventory.search, { query, page }, mountInventory.decode),
})

interface Endpoint<T> {
  readonly path: string
  readonly body: Body<T>
}

/** Reads a list whose document has more members than `keys` and `key_info`. The server answers 404 for an empty list. */
export async function search<T, Page>(
  calls: PkiCalls,
  { path, body }: Endpoint<T>,
  filter: T,
  decode: (data: unknown) => Page,
): Promise<Page> {
  const sent = queryOf({ document: body.encode(filter), names: namesOf(body.table) })
  sent.set("list", "true")
  try {
    return decode((await calls.read(path, sent)).data)
  } catch (error) {
    if (isEngineError(error, "not-found") && error.message === notFoundDetail) return decode({ keys: [], key_info: {} })
    throw error
  }
}

export function remoteCertificates(calls: PkiCalls): Certificates {
  const signing = remote(certificates, calls)
  const stored = remote(storedCertificates, calls)
  const { caChain, list, listDetails, listMetadata, metadata, import: record } = stored
  return {
    caChain,
    list,
    listDetails,
    listMetadata,
    metadata,
    import: record,
    async get(serial) {
      const found = await stored.get(serial)
      return { ...found, serialNumber: serialNumberIn(serial) }
    },
    search: (query, page = {}) => search(calls, storedCertificates.search, { query, page }, inventory.decode),
    issue: (role, input, { issuerRef } = {}) =>
      issuerRef === undefined ? signing.issue(role, input) : signing.issueBy(issuerRef, role, input),
    sign: (role, input, { issuerRef } = {}) =>
      issuerRef === undefined ? signing.sign(role, input) : signing.signBy(issuerRef, role, input),
    signVerbatim(role, input, { issuerRef } = {}) {
      if (issuerRef === undefined)
        return role === undefined ? signing.signVerbatim(input) : signing.signVerbatimAs(role, input)
      return role === undefined
        ? signing.signVerbatimBy(issuerRef, input)
        : signing.signVerbatimAsBy(issuerRef, role, input)
    },
    signIntermediate: (input, { issuerRef } = {}) =>
      issuerRef === undefined ? signing.signIntermediate(input) : signing.signIntermediateBy(issuerRef, input),
    signSelfIssued: (input, { issuerRef } = {}) =>
      issuerRef === undefined ? signing.signSelfIssued(input) : signing.signSelfIssuedBy(issuerRef, input),
  }
}
