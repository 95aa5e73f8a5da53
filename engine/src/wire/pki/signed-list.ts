// Revocation lists whose entries the caller provides.
import { type Fault, invalid } from "../../core/errors.ts"
import { hourMs, parseInstant } from "../../core/time.ts"
import type { ListNumbers, ResignInput, RevocationListInput, SignedList } from "../../pki/crl/crls.ts"
import type { Extension } from "../../x509/extension.ts"
import { readPem, writePem } from "../../x509/pem.ts"
import {
  anything,
  type Document,
  duration,
  importMaximumBytes,
  integer,
  isDocument,
  parameters,
  text,
  textsUpTo,
  unreadable,
  type ValuesOf,
  word,
} from "./parameters.ts"

const listFormat = word("pem", "der")

export const resignParameters = parameters({
  crls: textsUpTo(importMaximumBytes),
  crlNumber: integer,
  deltaCrlBaseNumber: integer,
  nextUpdateMs: duration,
  format: listFormat,
})

export const revocationListParameters = parameters({
  revokedCerts: anything,
  extensions: anything,
  crlNumber: integer,
  deltaCrlBaseNumber: integer,
  nextUpdateMs: duration,
  format: listFormat,
})

type GivenNumbers = Partial<ListNumbers>

const numbersOf = ({ crlNumber, deltaCrlBaseNumber = -1, nextUpdateMs = 72 * hourMs }: GivenNumbers): ListNumbers => {
  if (crlNumber === undefined) throw invalid([{ field: ["crlNumber"], detail: "must be given" }])
  return { crlNumber, deltaCrlBaseNumber, nextUpdateMs }
}

export const decodeResignInput = (given: Partial<ValuesOf<typeof resignParameters>>): ResignInput => ({
  ...numbersOf(given),
  crls: given.crls ?? [],
})

/** Throws `invalid` naming every entry that cannot be read. */
export function decodeRevocationListInput(
  given: Partial<ValuesOf<typeof revocationListParameters>>,
): RevocationListInput {
  const faults: Fault[] = []
  const entries = listIn(given.revokedCerts, "revokedCerts", faults)
  const revokedCertificates = entries.flatMap((entry, index) => {
    const field = ["revokedCerts", index]
    const { serial_number: serial, revocation_time: time, extensions = [] } = isDocument(entry) ? entry : {}
    const serialNumber = text.decode(serial)
    const revokedAt = typeof time === "string" ? parseInstant(time) : undefined
    if (typeof serialNumber !== "string") faults.push({ field, detail: "serial_number must be text" })
    if (revokedAt === undefined) faults.push({ field, detail: "revocation_time must be a time as RFC 3339 has it" })
    const read = extensionsIn(extensions, field, faults)
    return typeof serialNumber === "string" && revokedAt !== undefined
      ? [{ serialNumber, revokedAt, extensions: read }]
      : []
  })
  const extensions = extensionsIn(given.extensions ?? [], ["extensions"], faults)
  if (faults.length > 0) throw invalid(faults)
  return { ...numbersOf(given), revokedCertificates, extensions }
}

function listIn(value: unknown, name: string, faults: Fault[]): readonly unknown[] {
  const list: unknown = value ?? []
  if (Array.isArray(list)) return list
  faults.push({ field: [name], detail: "must be a list" })
  return []
}

function extensionsIn(value: unknown, field: readonly (string | number)[], faults: Fault[]): readonly Extension[] {
  if (!Array.isArray(value)) {
    faults.push({ field, detail: "extensions must be a list" })
    return []
  }
  return value.flatMap((item: unknown) => {
    const { id, critical = false, value: octets } = isDocument(item) ? item : {}
    if (typeof id === "string" && typeof critical === "boolean" && typeof octets === "string" && isBase64(octets))
      return [{ oid: id, critical, value: Buffer.from(octets, "base64") }]
    faults.push({ field, detail: 'an extension must have "id", "critical" and, in base64, "value"' })
    return []
  })
}

const isBase64 = (value: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(value)

/** Of requests. */
export const encodeRevocationListInput = ({
  revokedCertificates,
  extensions,
  ...numbers
}: RevocationListInput): Partial<ValuesOf<typeof revocationListParameters>> => ({
  ...numbers,
  revokedCerts: revokedCertificates.map(({ serialNumber, revokedAt, extensions: own }) => ({
    serial_number: serialNumber,
    revocation_time: new Date(revokedAt).toISOString(),
    extensions: own.map(encodeExtension),
  })),
  extensions: extensions.map(encodeExtension),
})

const encodeExtension = ({ oid, critical, value }: Extension): Document => ({
  id: oid,
  critical,
  value: Buffer.from(value).toString("base64"),
})

export const encodeSignedList = ({ der }: SignedList, format: "pem" | "der" = "pem"): Document => ({
  crl: format === "pem" ? writePem("X509 CRL", der) : Buffer.from(der).toString("base64"),
})

/** Of PEM. */
export function decodeSignedList(data: unknown): Uint8Array {
  const { crl } = isDocument(data) ? data : {}
  if (typeof crl !== "string") throw unreadable('"crl" must be text')
  const [block] = readPem(crl, Number.MAX_SAFE_INTEGER)
  if (block === undefined) throw unreadable('"crl" is no PEM')
  return block.bytes
}
