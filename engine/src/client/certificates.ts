import { certificates } from "../contracts/vault/certificate.ts"
import { inventory, serialNumberIn, storedCertificates } from "../contracts/vault/stored-certificate.ts"
import type { Certificates } from "../pki/certificates/certificates.ts"
import { search } from "./certificate-inventory.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

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
