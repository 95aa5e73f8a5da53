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
import type { MountInventoryEntry, MountInventoryPage } from "../../pki/certificates/inventory.ts"
import type {
  CertificateMetadata,
  CertificateView,
  ImportedCertificates,
  InventoryEntry,
  InventoryPage,
} from "../../pki/certificates/certificates.ts"
import type { CertificateDetails } from "../../pki/certificates/certificate-details.ts"
import { keyAlgorithm } from "../../x509/key-algorithm.ts"
import { inventoryStatuses } from "../../pki/certificates/certificate.ts"
import { readCertificatePem } from "../../x509/certificate-pem.ts"
import { writePem } from "../../x509/pem.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import {
  decodeAnswer,
  decodeSomeAnswer,
  type Document,
  encodeMembers,
  instant,
  integer,
  isDocument,
  type Kind,
  nullable,
  parameters,
  text,
  importMaximumBytes,
  texts,
  textsUpTo,
  textUpTo,
  unreadable,
  type ValuesOf,
  word,
  words,
} from "./parameters.ts"

/** To the millisecond; existing clients read it as text of RFC 3339. */
const moment: Kind<Instant> = {
  decode: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
  encode: (value) => formatInstant(value),
  expected: "a timestamp",
  type: "string",
}

/** Empty text is null. */
const instantOrOffset: Kind<InstantOrOffset | null> = {
  decode: (value) => (value === "" ? null : typeof value === "string" ? parseInstantOrOffset(value) : undefined),
  encode: (value) => (value === null ? "" : formatInstantOrOffset(value)),
  expected: 'a time, such as "2030-01-31T12:00:00Z", or a duration from now, such as "30d" or "-7d"',
  type: "string",
}

const inventoryKinds = {
  name: text,
  role: text,
  issuerRef: text,
  expiresAfter: instantOrOffset,
  expiresBefore: instantOrOffset,
  status: words(...inventoryStatuses),
  metadata: text,
  limit: integer,
  after: text,
}
export const inventoryParameters = parameters(inventoryKinds)
/** Parameters of a search across mounts. */
export const mountInventoryParameters = parameters({ ...inventoryKinds, mounts: texts })
/** Format of the answer. */
export const inventoryFormatParameters = parameters({ format: word("json", "csv") })

/** Separates the conditions of a search from its page. */
export function decodeInventoryQuery<Others extends object>({
  limit,
  after,
  expiresAfter,
  expiresBefore,
  ...query
}: Others & Partial<ValuesOf<typeof inventoryParameters>>) {
  return {
    query: {
      ...query,
      ...(expiresAfter === undefined || expiresAfter === null ? {} : { expiresAfter }),
      ...(expiresBefore === undefined || expiresBefore === null ? {} : { expiresBefore }),
    },
    page: { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) },
  }
}

const viewParameters = parameters(
  { certificate: text, issuerId: text, revokedAt: text },
  { revokedAt: "revocation_time_rfc3339" },
)

/** 0 and no text for one that is not revoked. */
export const encodeRevocationTime = (revokedAt: Instant | null): Document => ({
  revocation_time: revokedAt === null ? 0 : Math.floor(revokedAt / secondMs),
  revocation_time_rfc3339: revokedAt === null ? "" : formatInstant(revokedAt),
})

export const encodeCertificateView = ({ certificate, issuerId, revokedAt }: CertificateView): Document => ({
  certificate: writePem("CERTIFICATE", certificate),
  ...encodeRevocationTime(revokedAt),
  ...(issuerId === null ? {} : { issuer_id: issuerId }),
})

export function decodeCertificateView(serialNumber: SerialNumber, data: unknown): CertificateView {
  const { certificate, issuerId = null, revokedAt } = decodeSomeAnswer(viewParameters, data)
  if (certificate === undefined) throw unreadable("it holds no certificate")
  return {
    certificate: der(certificate),
    serialNumber,
    issuerId: issuerId as IssuerId | null,
    revokedAt: revokedAt === undefined || revokedAt === "" ? null : (parseInstant(revokedAt) ?? null),
  }
}

/** The issuer itself, and the whole chain as one text and as a list. */
export const encodeChain = (chain: readonly Uint8Array[]): Document => {
  const pems = chain.map((one) => writePem("CERTIFICATE", one))
  return { certificate: pems.join("\n"), ca_chain: pems }
}

export function decodeChain(data: unknown): readonly Uint8Array[] {
  const { caChain } = decodeAnswer(parameters({ caChain: texts }), data)
  return caChain.map(der)
}

function der(pem: string): Uint8Array {
  try {
    return readCertificatePem(pem)
  } catch (error) {
    throw error instanceof UnacceptableInput ? unreadable(error.message) : error
  }
}

const entryParameters = parameters({
  commonName: text,
  names: texts,
  issuerId: nullable(text),
  role: nullable(text),
  notBefore: moment,
  notAfter: moment,
  status: word(...inventoryStatuses),
  revokedAt: nullable(moment),
})

export const encodeInventoryEntry = (entry: InventoryEntry): Document =>
  Object.fromEntries(
    entryParameters.members.map(({ name, wireName, kind }) => [wireName, kind.encode(entry[name], "native")]),
  )

/** Names of the list, what is known of each, and where the next page begins. */
export const encodeInventory = ({ items, next }: InventoryPage): Document => ({
  keys: items.map(({ serialNumber }) => serialNumber),
  key_info: Object.fromEntries(items.map((entry) => [entry.serialNumber, encodeInventoryEntry(entry)])),
  ...(next === undefined ? {} : { next }),
})

export function decodeInventory(data: unknown): InventoryPage {
  if (!isDocument(data) || !Array.isArray(data["keys"]) || !isDocument(data["key_info"]))
    throw unreadable("it is no inventory")
  const { keys, key_info: info, next } = data
  const items = keys.map((key: unknown) => {
    const serialNumber = decodeSerialNumber(key)
    return { ...decodeAnswer(entryParameters, info[serialNumber]), serialNumber } as InventoryEntry
  })
  return { items, next: typeof next === "string" ? next : undefined }
}

const keyOf = ({ mount, serialNumber }: MountInventoryEntry): string => `${mount}/${serialNumber}`

/** Keys are `<mount>/<serial number>`: serial numbers are unique in their mount alone. */
export const encodeMountInventory = ({ items, next }: MountInventoryPage): Document => ({
  keys: items.map(keyOf),
  key_info: Object.fromEntries(
    items.map((entry) => [
      keyOf(entry),
      { mount: `${entry.mount}/`, serial_number: entry.serialNumber, ...encodeInventoryEntry(entry) },
    ]),
  ),
  ...(next === undefined ? {} : { next }),
})

const placeParameters = parameters({ mount: text, serialNumber: text })

export function decodeMountInventory(data: unknown): MountInventoryPage {
  if (!isDocument(data) || !Array.isArray(data["keys"]) || !isDocument(data["key_info"]))
    throw unreadable("it is no inventory")
  const { keys, key_info: info, next } = data
  const items = keys.map((key: unknown) => {
    const { mount, serialNumber } = decodeAnswer(placeParameters, info[String(key)])
    return {
      ...decodeAnswer(entryParameters, info[String(key)]),
      mount: mount.replace(/\/$/, ""),
      serialNumber: decodeSerialNumber(serialNumber),
    } as MountInventoryEntry
  })
  return { items, next: typeof next === "string" ? next : undefined }
}

export function decodeSerialNumber(given: unknown): SerialNumber {
  const serialNumber = typeof given === "string" ? parseSerialNumber(given) : undefined
  if (serialNumber === undefined) throw unreadable("it holds what is no serial number")
  return serialNumber
}

const keyTypes = ["rsa", "ec", "ed25519"] as const
const ed25519Bits = 256

const detailsParameters = parameters({
  commonName: text,
  issuer: text,
  keyType: word(...keyTypes),
  keyBits: integer,
  notBefore: instant,
  notAfter: instant,
  dnsNames: texts,
})

export const encodeDetails = ({ serialNumber: _, key, ...details }: CertificateDetails): Document =>
  encodeMembers(
    detailsParameters,
    { ...details, keyType: key.type, keyBits: key.type === "ed25519" ? ed25519Bits : key.bits },
    "native",
  )

export function decodeDetails(keys: readonly string[], info: Document): readonly CertificateDetails[] {
  return keys.map((key) => {
    const { keyType, keyBits, notBefore, notAfter, ...details } = decodeAnswer(detailsParameters, info[key])
    const algorithm = keyType === "rsa" ? { type: keyType, bits: keyBits } : keyAlgorithm(keyType, keyBits)
    if (algorithm === undefined || notBefore === null || notAfter === null)
      throw unreadable("a key or a time in it is none")
    return { ...details, serialNumber: decodeSerialNumber(key), key: algorithm, notBefore, notAfter }
  })
}

const metadataParameters = parameters(
  { serialNumber: text, issuerId: text, expiresAt: moment, metadata: text, role: text },
  { expiresAt: "expiration", metadata: "cert_metadata" },
)

export const encodeMetadata = (metadata: CertificateMetadata): Document =>
  Object.fromEntries(
    metadataParameters.members.map(({ name, wireName, kind }) => [wireName, kind.encode(metadata[name], "native")]),
  )

export function decodeMetadata(data: unknown): CertificateMetadata {
  const { serialNumber, ...rest } = decodeAnswer(metadataParameters, data)
  return { ...rest, serialNumber: decodeSerialNumber(serialNumber) } as CertificateMetadata
}

/** `pem_bundle` is the same as one text. */
export const importCertificatesParameters = parameters({
  certificates: textsUpTo(importMaximumBytes),
  pemBundle: textUpTo(importMaximumBytes),
})

export const decodeCertificateImport = ({
  certificates = [],
  pemBundle = "",
}: Partial<ValuesOf<typeof importCertificatesParameters>>): readonly string[] => [...certificates, pemBundle]

export const encodeImportedCertificates = ({ imported, existing }: ImportedCertificates): Document => ({
  imported_serial_numbers: imported,
  existing_serial_numbers: existing,
})

const importedAnswer = parameters({ importedSerialNumbers: texts, existingSerialNumbers: texts })

export function decodeImportedCertificates(data: unknown): ImportedCertificates {
  const { importedSerialNumbers, existingSerialNumbers } = decodeAnswer(importedAnswer, data)
  return {
    imported: importedSerialNumbers.map(decodeSerialNumber),
    existing: existingSerialNumbers.map(decodeSerialNumber),
  }
}
