import { certificates } from "../../contracts/vault/certificate.ts"
import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import { inventoryCsv } from "../../contracts/vault/format/inventory-csv.ts"
import { revocations } from "../../contracts/vault/revocation.ts"
import {
  certificateInventory,
  inventory,
  mountInventory,
  storedCertificates,
} from "../../contracts/vault/stored-certificate.ts"
import type { IssueOptions, IssuerChoice } from "../../pki/issuance/certificate-api.ts"
import { inventoryPages, type MountInventoryEntry, maxSearch } from "../../pki/issuance/certificate-inventory.ts"
import type { CertificatePageRequest } from "../../pki/issuance/certificate.ts"
import type { ServedIssuerCertificate } from "../../pki/issuers/issuer-api.ts"
import { writePem } from "../../x509/pem.ts"
import { implement } from "./implement.ts"
import { defaultIssuer, versionOfIssuer } from "./issuers.ts"
import { answer, listed, type PkiRequest, type PkiResponse, type SystemRequest } from "./vault-route.ts"

type Issue = ArgumentsOf<typeof certificates.issue>[1]
type Sign = ArgumentsOf<typeof certificates.sign>[1]
type SignVerbatim = ArgumentsOf<typeof certificates.signVerbatim>[0]
type SignIntermediate = ArgumentsOf<typeof certificates.signIntermediate>[0]
type SignSelfIssued = ArgumentsOf<typeof certificates.signSelfIssued>[0]

/** Returns the rules that the vault dialect lifts (docs/dialects.md). */
const issueOptions = ({ dialect }: PkiRequest): IssueOptions => ({ isCommonNameOptional: dialect === "vault" })

/** Issuing and signing, by the issuer of the role or mount, or by the issuer in the path. */
export const certificateRoutes = implement(certificates, {
  issue: (request: PkiRequest, name, input) => issue(request, name, input, {}),
  issueBy: (request, issuerRef, name, input) => issue(request, name, input, { issuerRef }),
  sign: (request, name, input) => sign(request, name, input, {}),
  signBy: (request, issuerRef, name, input) => sign(request, name, input, { issuerRef }),
  signVerbatim: (request, input) => signVerbatim(request, undefined, input, {}),
  signVerbatimBy: (request, issuerRef, input) => signVerbatim(request, undefined, input, { issuerRef }),
  signVerbatimAs: (request, name, input) => signVerbatim(request, name, input, {}),
  signVerbatimAsBy: (request, issuerRef, name, input) => signVerbatim(request, name, input, { issuerRef }),
  signIntermediate: (request, input) => signIntermediate(request, input, {}),
  signIntermediateBy: (request, issuerRef, input) => signIntermediate(request, input, { issuerRef }),
  signSelfIssued: (request, input) => signSelfIssued(request, input, {}),
  signSelfIssuedBy: (request, issuerRef, input) => signSelfIssued(request, input, { issuerRef }),
})

async function issue({ pki }: PkiRequest, name: string, given: Issue, choice: IssuerChoice) {
  const { format, privateKeyFormat, ...input } = given
  return { ...(await pki.certificates.issue(name, input, choice)), format, privateKeyFormat }
}

async function sign(request: PkiRequest, name: string, given: Sign, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  const signed = await request.pki.certificates.sign(name, { csr, ...input }, choice, issueOptions(request))
  return { ...signed, format, privateKeyFormat }
}

async function signVerbatim({ pki }: PkiRequest, name: string | undefined, given: SignVerbatim, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  return { ...(await pki.certificates.signVerbatim(name, { csr, ...input }, choice)), format, privateKeyFormat }
}

async function signIntermediate(request: PkiRequest, given: SignIntermediate, choice: IssuerChoice) {
  const { format, privateKeyFormat, csr = "", ...input } = given
  const signed = await request.pki.certificates.signIntermediate({ csr, ...input }, choice, issueOptions(request))
  return { ...signed, format, privateKeyFormat }
}

const signSelfIssued = ({ pki }: PkiRequest, { certificate = "", ...input }: SignSelfIssued, choice: IssuerChoice) =>
  pki.certificates.signSelfIssued({ certificate, ...input }, choice)

/** Search for certificates in all mounts that the caller may search. */
export const inventoryRoutes = implement(certificateInventory, {
  async search({ engine }: SystemRequest, { query, page, format }) {
    if (format === "csv") return csvAnswer((one) => engine.certificateInventory.search(query, one), page)
    const found = await engine.certificateInventory.search(query, page)
    return found.items.length === 0 && found.next === undefined ? listed([]) : answer(mountInventory.encode(found))
  },
})

type Search = (page: CertificatePageRequest) => Promise<{
  readonly items: readonly MountInventoryEntry[]
  readonly next: string | undefined
}>

/**
 * Streams all pages as CSV, or one page if there is a limit. Reads the first page before the response starts, so that errors have a status.
 */
export async function csvAnswer(search: Search, page: Partial<CertificatePageRequest>): Promise<PkiResponse> {
  const { limit = maxSearch } = page
  const pages = inventoryPages(
    page.limit === undefined ? search : async (one) => ({ ...(await search(one)), next: undefined }),
    { ...page, limit },
  )
  const first = await pages.next()
  async function* all() {
    if (first.done !== true) yield first.value
    yield* pages
  }
  return {
    kind: "stream",
    status: 200,
    body: inventoryCsv(all()),
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="certificates.csv"',
      "cache-control": "no-store",
    },
  }
}

const pem = (chain: readonly Uint8Array[]): string => chain.map((der) => writePem("CERTIFICATE", der)).join("\n")

/** Stored certificates. Reading them needs no token; the inventory and the metadata do. */
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

/** Returns a handler that reads from the default issuer. The handler returns undefined if the mount has none. */
function ofDefaultIssuer<T>(of: (issuer: ServedIssuerCertificate) => T) {
  return async (request: PkiRequest) => {
    const issuer = await defaultIssuer(request)
    return issuer && { value: of(issuer), version: versionOfIssuer(issuer) }
  }
}

export const revocationRoutes = implement(revocations, {
  revoke: ({ pki }: PkiRequest, input) => pki.revocations.revoke(input),
  revokeWithKey: ({ pki }, input) => pki.revocations.revokeWithKey(input),
  list: ({ pki }, page) => pki.revocations.list(page),
  requested: ({ pki }) => pki.revocations.requested(),
  elsewhere: ({ pki }) => pki.revocations.elsewhere(),
})
