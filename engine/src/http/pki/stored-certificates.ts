import { inventory, storedCertificates } from "../../contracts/vault/stored-certificate.ts"
import type { ServedIssuerCertificate } from "../../pki/issuers/issuers.ts"
import { writePem } from "../../x509/pem.ts"
import { implement } from "../implement-vault.ts"
import { answer, listed, type PkiRequest } from "../pki-route.ts"
import { csvAnswer } from "./inventory.ts"
import { defaultIssuer, versionOfIssuer } from "./issuer-version.ts"

const pem = (chain: readonly Uint8Array[]): string => chain.map((der) => writePem("CERTIFICATE", der)).join("\n")

/** Stored certificates, readable without a token. The inventory and the metadata need one. */
export const storedCertificateRoutes = implement(storedCertificates, {
  caDer: ofDefaultIssuer(({ certificate }) => certificate),
  caPem: ofDefaultIssuer(({ certificate }) => pem([certificate])),
  caChainPem: ofDefaultIssuer(({ caChain }) => pem(caChain)),
  ca: ofDefaultIssuer((issuer) => issuer),
  caChain: ofDefaultIssuer((issuer) => issuer),
  get: ({ pki }: PkiRequest, serial) => pki.certificates.get(serial),
  getDer: async ({ pki }, serial) => (await pki.certificates.get(serial)).certificate,
  getPem: async ({ pki }, serial) => pem([(await pki.certificates.get(serial)).certificate]),
  import: ({ pki }, texts) => pki.certificates.import(texts),
  list: ({ pki }, page) => pki.certificates.list(page),
  listDetails: ({ pki }, page) => pki.certificates.listDetails(page),
  async search({ pki, mount }, { query, page, format }) {
    if (format !== "csv") {
      const found = await pki.certificates.search(query, page)
      return found.items.length === 0 ? listed([]) : answer(inventory.encode(found))
    }
    return csvAnswer(async (one) => {
      const { items, next } = await pki.certificates.search(query, one)
      return { items: items.map((entry) => ({ ...entry, mount: mount.path })), next }
    }, page)
  },
  listMetadata: ({ pki }, page) => pki.certificates.listMetadata(page),
  metadata: ({ pki }, serial) => pki.certificates.metadata(serial),
})

/** Undefined if the mount has none. */
function ofDefaultIssuer<T>(of: (issuer: ServedIssuerCertificate) => T) {
  return async (request: PkiRequest) => {
    const issuer = await defaultIssuer(request)
    return issuer && { value: of(issuer), version: versionOfIssuer(issuer) }
  }
}
