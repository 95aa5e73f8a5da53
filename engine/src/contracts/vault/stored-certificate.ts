// Stored certificates, their metadata and the inventory.
import type { IssuerId } from "../../core/ids.ts"
import {
  formatInstant,
  formatInstantOrOffset,
  type Instant,
  type InstantOrOffset,
  parseInstant,
  parseInstantOrOffset,
  secondMs,
} from "../../core/time.ts"
import { type CertificateDetails, maxDetails } from "../../pki/issuance/certificate-details.ts"
import { type CertificatePageRequest, inventoryStatuses } from "../../pki/issuance/certificate.ts"
import type {
  CertificateMetadata,
  CertificateView,
  ImportedCertificates,
  InventoryEntry,
  InventoryPage,
  InventoryQuery,
} from "../../pki/issuance/certificate-api.ts"
import type {
  MountInventoryEntry,
  MountInventoryPage,
  MountInventoryQuery,
} from "../../pki/issuance/certificate-inventory.ts"
import { maxListedKeys } from "../../pki/mounts/key-page.ts"
import {
  decodeAnswer,
  decodeSomeAnswer,
  type Document,
  encodeMembers,
  isDocument,
  unreadable,
  type ValuesOf,
} from "./format/parameters.ts"
import { readableCertificate } from "./format/readable.ts"
import { keyAlgorithm } from "../../x509/key-algorithm.ts"
import { writePem } from "../../x509/pem.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { certificateText, certificateTexts } from "./certificate-parameters.ts"
import { conditional, contract, dataOf, entries, file, keyPage, keysUpTo, response } from "./endpoint.ts"
import { type Body, fields, parameter } from "./record.ts"
import { z } from "zod"
import {
  enumOf,
  exactInstant,
  instant,
  integer,
  mistyped,
  nullable,
  type ParameterType,
  someOf,
  text,
  texts,
} from "./types.ts"

export const certificateType = "application/pkix-cert"
export const certificatePemType = "application/pem-certificate-chain"

export function serialNumberIn(given: unknown): SerialNumber {
  const serialNumber = typeof given === "string" ? parseSerialNumber(given) : undefined
  if (serialNumber === undefined) throw unreadable("it contains an invalid serial number")
  return serialNumber
}

/** Revocation members; 0 and an empty string if the certificate is not revoked. */
export const revocationTime = {
  revocationTime: parameter(integer, "Time of the revocation in seconds since 1970. 0: not revoked."),
  revocationTimeRfc3339: parameter(text, "The same as RFC 3339. Empty: not revoked.", {
    wireName: "revocation_time_rfc3339",
  }),
}
export const revocationTimeOf = (revokedAt: Instant | null) => ({
  revocationTime: revokedAt === null ? 0 : Math.floor(revokedAt / secondMs),
  revocationTimeRfc3339: revokedAt === null ? "" : formatInstant(revokedAt),
})

const certificate = parameter(certificateText, "Certificate in PEM.")
const viewTable = fields({ certificate, ...revocationTime, issuerId: parameter(text, "Id of the issuer, if known.") })
const view = dataOf(
  viewTable,
  ({ certificate: der, issuerId, revokedAt }: CertificateView) => {
    const members = {
      certificate: writePem("CERTIFICATE", der),
      ...revocationTimeOf(revokedAt),
      ...(issuerId !== null && { issuerId }),
    }
    return { data: encodeMembers(viewTable, members, "native") }
  },
  ({ data }): Omit<CertificateView, "serialNumber"> => {
    const { certificate: pem, issuerId = null, revocationTimeRfc3339 = "" } = decodeSomeAnswer(viewTable, data)
    if (pem === undefined) throw unreadable("it contains no certificate")
    return {
      certificate: readableCertificate(pem),
      issuerId: issuerId as IssuerId | null,
      revokedAt: parseInstant(revocationTimeRfc3339) ?? null,
    }
  },
)

interface Authority {
  readonly caChain: readonly Uint8Array[]
  readonly certificate: Uint8Array
  readonly revokedAt: Instant | null
}
const caTable = fields({ certificate, ...revocationTime })
const ca = dataOf(
  caTable,
  ({ certificate: der, revokedAt }: Authority) => ({
    data: encodeMembers(
      caTable,
      { certificate: writePem("CERTIFICATE", der), ...revocationTimeOf(revokedAt) },
      "native",
    ),
  }),
  ({ data }) => decodeSomeAnswer(caTable, data),
)
const caChain = parameter(certificateTexts, "The same as a list.")
const chainTable = fields({
  certificate: parameter(certificateText, "Chain in PEM, the issuer itself first."),
  caChain,
  ...revocationTime,
})
const chain = dataOf(
  chainTable,
  ({ caChain: ders, revokedAt }: Authority) => {
    const pems = ders.map((der) => writePem("CERTIFICATE", der))
    const members = { certificate: pems.join("\n"), caChain: pems, ...revocationTimeOf(revokedAt) }
    return { data: encodeMembers(chainTable, members, "native") }
  },
  ({ data }): readonly Uint8Array[] =>
    data === null ? [] : decodeAnswer(fields({ caChain }), data).caChain.map(readableCertificate),
)

const ed25519Bits = 256
const detailsTable = fields({
  commonName: parameter(text, "Common name."),
  issuer: parameter(text, "Name of the issuer."),
  keyType: parameter(enumOf("rsa", "ec", "ed25519"), "Type of the key."),
  keyBits: parameter(integer, "Size of the key."),
  notBefore: parameter(instant, "Beginning of the validity."),
  notAfter: parameter(instant, "End of the validity."),
  dnsNames: parameter(texts, "The first five host names."),
})
const details = entries<CertificateDetails>({
  key: ({ serialNumber }) => serialNumber,
  table: detailsTable,
  encode: ({ serialNumber: _, key, ...rest }) =>
    encodeMembers(
      detailsTable,
      { ...rest, keyType: key.type, keyBits: key.type === "ed25519" ? ed25519Bits : key.bits },
      "native",
    ),
  decode(serialNumber, info) {
    const { keyType, keyBits, notBefore, notAfter, ...rest } = decodeAnswer(detailsTable, info)
    const key = keyType === "rsa" ? { type: keyType, bits: keyBits } : keyAlgorithm(keyType, keyBits)
    if (key === undefined || notBefore === null || notAfter === null)
      throw unreadable("it contains an invalid key or timestamp")
    return { ...rest, serialNumber: serialNumberIn(serialNumber), key, notBefore, notAfter }
  },
  maximum: maxDetails,
})

const metadataTable = fields({
  serialNumber: parameter(text, "Serial number."),
  issuerId: parameter(text, "Id of the issuer."),
  expiresAt: parameter(exactInstant, "End of the validity.", { wireName: "expiration" }),
  metadata: parameter(text, "Base64, as it was given.", { wireName: "cert_metadata" }),
  role: parameter(text, "Role that issued the certificate. Empty: none."),
})
const metadata = dataOf(
  metadataTable,
  (metadata: CertificateMetadata) => ({ data: encodeMembers(metadataTable, metadata, "native") }),
  ({ data }): CertificateMetadata => {
    const { serialNumber, ...rest } = decodeAnswer(metadataTable, data)
    return { ...rest, serialNumber: serialNumberIn(serialNumber) } as CertificateMetadata
  },
)

const importTable = fields({
  certificates: parameter(certificateTexts, "Certificates: PEM of one block or more, or base64 of DER."),
  pemBundle: parameter(certificateText, "The same in one text."),
})
const importBody: Body<readonly string[]> = {
  table: importTable,
  decode(request) {
    const { certificates: given = [], pemBundle = "" } = request.decode(importTable)
    return [...given, pemBundle]
  },
  encode: (given) => encodeMembers(importTable, { certificates: given }, "native"),
}
const importedTable = fields({
  importedSerialNumbers: parameter(texts, "Serial numbers of new certificates."),
  existingSerialNumbers: parameter(texts, "Serial numbers of certificates that were on record already."),
})
const imported = dataOf(
  importedTable,
  (made: ImportedCertificates) => {
    const members = { importedSerialNumbers: made.imported, existingSerialNumbers: made.existing }
    return { data: encodeMembers(importedTable, members, "native") }
  },
  ({ data }): ImportedCertificates => {
    const { importedSerialNumbers, existingSerialNumbers } = decodeAnswer(importedTable, data)
    return {
      imported: importedSerialNumbers.map(serialNumberIn),
      existing: existingSerialNumbers.map(serialNumberIn),
    }
  },
)

/** Instant or offset from now; null if the string is empty. */
const instantOrOffset: ParameterType<InstantOrOffset | null> = {
  schema: z.codec(z.string(), z.custom<InstantOrOffset | null>(), {
    decode: (value, context) => (value === "" ? null : (parseInstantOrOffset(value) ?? mistyped(context, value))),
    encode: (value) => (value === null ? "" : formatInstantOrOffset(value)),
  }),
  expected: 'a timestamp, such as "2030-01-31T12:00:00Z", or a duration from now, such as "30d" or "-7d"',
  type: "string",
}
const searchMembers = {
  name: parameter(text, "Common name or alternative name. A * stands for any text.", { example: "*.example.com" }),
  role: parameter(text, "Role that issued the certificate.", { example: "web" }),
  issuerRef: parameter(text, "Issuer: id, name or default.", { example: "issuing-2030" }),
  expiresAfter: parameter(instantOrOffset, "Earliest end of the validity.", { example: "-7d" }),
  expiresBefore: parameter(instantOrOffset, "Latest end of the validity.", { example: "30d" }),
  status: parameter(someOf(...inventoryStatuses), "Any of these states.", { example: ["valid"] }),
  metadata: parameter(text, "Text in cert_metadata.", { example: "b3duZXI6YWRh" }),
  limit: parameter(integer, "Certificates in a page: 1 to 1000.", { default: 100, example: 1_000 }),
  after: parameter(text, "next of the page before."),
  format: parameter(enumOf("json", "csv"), "Form of the answer. csv: all pages, unless limit is given.", {
    default: "json",
    example: "csv",
  }),
}
const searchTable = fields(searchMembers)
const mountSearchTable = fields({
  ...searchMembers,
  mounts: parameter(texts, "Paths of mounts. Empty: every mount that the caller may search.", { example: ["pki/"] }),
})

interface Search<Query> {
  readonly query: Query
  readonly page: Partial<CertificatePageRequest>
  readonly format?: "json" | "csv"
}
/** Separates the conditions of a search from its page. */
function searchIn<Others extends object>(given: Others & Partial<ValuesOf<typeof searchTable>>) {
  const { limit, after, format, expiresAfter, expiresBefore, ...query } = given
  return {
    query: {
      ...query,
      ...(expiresAfter === undefined || expiresAfter === null ? {} : { expiresAfter }),
      ...(expiresBefore === undefined || expiresBefore === null ? {} : { expiresBefore }),
    },
    page: { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) },
    ...(format === undefined ? {} : { format }),
  }
}
const search: Body<Search<InventoryQuery>> = {
  table: searchTable,
  decode: (request) => searchIn(request.decode(searchTable)),
  encode: ({ query, page }) => encodeMembers(searchTable, { ...query, ...page }, "native"),
}
const mountSearch: Body<Search<MountInventoryQuery>> = {
  table: mountSearchTable,
  decode: (request) => searchIn(request.decode(mountSearchTable)),
  encode: ({ query, page }) => encodeMembers(mountSearchTable, { ...query, ...page }, "native"),
}

const entryMembers = {
  commonName: parameter(text, "Common name."),
  names: parameter(texts, "Common name and alternative names."),
  issuerId: parameter(nullable(text), "Id of the issuer."),
  role: parameter(nullable(text), "Role that issued the certificate."),
  notBefore: parameter(exactInstant, "Beginning of the validity."),
  notAfter: parameter(exactInstant, "End of the validity."),
  status: parameter(enumOf(...inventoryStatuses), "State."),
  revokedAt: parameter(nullable(exactInstant), "Time of the revocation."),
}
const entryTable = fields(entryMembers)
const placeMembers = {
  mount: parameter(text, "Path of the mount."),
  serialNumber: parameter(text, "Serial number."),
}
const placeTable = fields(placeMembers)
const mountEntryTable = fields({ ...placeMembers, ...entryMembers })

interface Inventory<Entry> {
  readonly items: readonly Entry[]
  readonly next: string | undefined
}
/** Encodes a page: names, details of each, and the start of the next page. */
const inventoryOf = <Entry>(
  { items, next }: Inventory<Entry>,
  keyOf: (entry: Entry) => string,
  encode: (entry: Entry) => Document,
): Document => ({
  keys: items.map(keyOf),
  key_info: Object.fromEntries(items.map((entry) => [keyOf(entry), encode(entry)])),
  ...(next === undefined ? {} : { next }),
})
function inventoryIn<Entry>(data: unknown, decode: (key: string, info: unknown) => Entry): Inventory<Entry> {
  if (!isDocument(data) || !Array.isArray(data["keys"]) || !isDocument(data["key_info"]))
    throw unreadable("it is not an inventory")
  const { keys, key_info: info, next } = data
  const items = keys.map((key: unknown) => decode(String(key), info[String(key)]))
  return { items, next: typeof next === "string" ? next : undefined }
}

export const inventory = {
  encode: (page: InventoryPage): Document =>
    inventoryOf(
      page,
      ({ serialNumber }) => serialNumber,
      (entry) => encodeMembers(entryTable, entry, "native"),
    ),
  decode: (data: unknown): InventoryPage =>
    inventoryIn(data, (key, info) => {
      const entry = { ...decodeAnswer(entryTable, info), serialNumber: serialNumberIn(key) }
      return entry as InventoryEntry
    }),
}
/** Codec of the search in all mounts. Keys are `<mount>/<serial number>`, because serial numbers are unique only within a mount. */
export const mountInventory = {
  encode: (page: MountInventoryPage): Document =>
    inventoryOf(
      page,
      ({ mount, serialNumber }) => `${mount}/${serialNumber}`,
      (entry) => encodeMembers(mountEntryTable, { ...entry, mount: `${entry.mount}/` }, "native"),
    ),
  decode: (data: unknown): MountInventoryPage =>
    inventoryIn(data, (_key, info) => {
      const { mount, serialNumber } = decodeAnswer(placeTable, info)
      return {
        ...decodeAnswer(entryTable, info),
        mount: mount.replace(/\/$/, ""),
        serialNumber: serialNumberIn(serialNumber),
      } as MountInventoryEntry
    }),
}

const publicly = { operation: "read", rights: "none", open: true } as const
const searching = { operation: "list", rights: "list" } as const
const csv = "text/csv"

export const storedCertificates = contract({
  caDer: {
    ...publicly,
    path: "/ca",
    summary: "Returns the certificate of the default issuer in DER.",
    answers: conditional(file(certificateType)),
  },
  caPem: {
    ...publicly,
    path: "/ca/pem",
    summary: "Returns the certificate of the default issuer in PEM.",
    answers: conditional(file(certificatePemType)),
  },
  caChainPem: {
    ...publicly,
    path: "/ca_chain",
    summary: "Returns the chain of the default issuer in PEM.",
    answers: conditional(file(certificateType)),
  },
  ca: {
    ...publicly,
    path: "/cert/ca",
    summary: "Returns the certificate of the default issuer.",
    answers: conditional(ca),
  },
  caChain: {
    ...publicly,
    path: "/cert/ca_chain",
    summary: "Returns the chain of the default issuer.",
    answers: conditional(chain),
  },
  get: { ...publicly, path: "/cert/:serial", summary: "Returns a certificate.", answers: view },
  getDer: {
    ...publicly,
    path: "/cert/:serial/raw",
    summary: "Returns a certificate in DER.",
    answers: file(certificateType),
  },
  getPem: {
    ...publicly,
    path: "/cert/:serial/raw/pem",
    summary: "Returns a certificate in PEM.",
    answers: file(certificatePemType),
  },
  import: {
    operation: "write",
    path: "/certs/import",
    summary: "Records certificates that issuers of the mount signed elsewhere.",
    rights: "create or update",
    body: importBody,
    answers: imported,
  },
  list: {
    ...searching,
    path: "/certs",
    summary: "Lists serial numbers of certificates, at most 100000 at once.",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, serialNumberIn),
  },
  listDetails: {
    ...searching,
    path: "/certs/detailed",
    summary: "Lists serial numbers with the contents of certificates, at most 10000 at once.",
    body: keyPage,
    answers: details,
  },
  search: {
    ...searching,
    path: "/certs/search",
    summary: "Searches the certificates of the mount.",
    body: search,
    answers: { ...response(csv), record: { table: entryTable } },
  },
  listMetadata: {
    ...searching,
    path: "/cert-metadata",
    summary: "Lists serial numbers of certificates with cert_metadata.",
    body: keyPage,
    answers: keysUpTo(maxListedKeys, serialNumberIn),
  },
  metadata: {
    operation: "read",
    path: "/cert-metadata/:serial",
    summary: "Returns the cert_metadata of a certificate.",
    rights: "read",
    answers: metadata,
  },
})

export const certificateInventory = contract({
  search: {
    ...searching,
    path: "/sys/certs/search",
    summary: "Searches the certificates of every mount that the caller may search.",
    body: mountSearch,
    answers: { ...response(csv), record: { table: mountEntryTable } },
  },
})
