// Revocation lists with entries from the client, signed by an issuer
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#sign-revocation-list).
import { type Fault, invalid, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { rejectMalformed } from "../../x509/asn1/reader.ts"
import { encodeOidContent } from "../../x509/asn1/oid.ts"
import {
  type CertificateList,
  crlNumber,
  deltaCrlIndicator,
  encodeRevokedEntry,
  frameSigned,
  frameTbsCertificateList,
  parseCertificateList,
} from "../../x509/certificate-list.ts"
import type { Extension } from "../../x509/extension.ts"
import { authorityKeyIdentifier } from "../../x509/extensions.ts"
import { sameName } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { parseSerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { ListNumbers, ResignInput, RevocationListInput } from "./crl-api.ts"
import { magnitude } from "./crl-list.ts"

export interface UnsignedList {
  /** Elements of `revokedCertificates`, DER. */
  readonly entries: readonly Uint8Array[]
  readonly extensions: readonly Extension[]
  readonly warnings: readonly string[]
}

const maxLists = 100
const maxListLength = 1_024 * 1_024
const maxEntries = 100_000

/** Combines the entries of several lists. Throws `invalid` for a list that the issuer did not sign. */
export function combined({ crls }: ResignInput, issuer: ParsedIssuer): UnsignedList {
  if (crls.length === 0) throw invalid([{ field: ["crls"], detail: "must contain at least one list" }])
  if (crls.length > maxLists)
    throw invalid([{ field: ["crls"], detail: `must not contain more than ${maxLists} lists` }])
  const lists = crls.map((pem, index) => readList(pem, index, issuer))
  const earliest = new Map<string, CertificateList["entries"][number]>()
  for (const entry of lists.flatMap(({ entries }) => entries)) {
    const serialNumber = Buffer.from(entry.serialNumber).toString("hex")
    const known = earliest.get(serialNumber)
    if (known === undefined || entry.revokedAt < known.revokedAt) earliest.set(serialNumber, entry)
  }
  const dropped = new Set(lists.flatMap(({ extensions }) => extensions.map(({ oid }) => oid)).filter(isOthers))
  return {
    entries: [...earliest.values()].map((entry) => encodeRevokedEntry({ ...entry, reason: "unspecified" })),
    extensions: [],
    warnings: [...dropped].map((oid) => `the extension ${oid} of the lists is left out`),
  }
}

const isOthers = (oid: string): boolean => !ownExtensions.has(oid)

function readList(pem: string, index: number, issuer: ParsedIssuer): CertificateList {
  const refused = (detail: string) => invalid([{ field: ["crls", index], detail: `list ${index + 1} ${detail}` }])
  try {
    const [block, ...others] = readPem(pem, maxListLength)
    if (block?.label !== "X509 CRL" || others.length > 0)
      throw new UnacceptableInput("expected one PEM block with the label X509 CRL")
    const list = parseCertificateList(block.bytes)
    const { tbs: data, signatureAlgorithm: algorithm, signature } = list
    if (!sameName(list.issuer, issuer.parsed.subject) || !isSignedBy(issuer.publicKey, { data, algorithm, signature }))
      throw refused("was not signed by this issuer")
    if (list.entries.some(({ extensions }) => extensions.some(({ oid }) => oid === oids.certificateIssuer)))
      throw refused("contains certificates of other issuers")
    return list
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`could not be parsed: ${error.message}`)
  }
}

/** Builds a list from the input. Throws `invalid` with all faults. */
export function buildList({ revokedCertificates, extensions }: RevocationListInput): UnsignedList {
  if (revokedCertificates.length > maxEntries)
    throw unprocessable(`revoked_certs must not contain more than ${maxEntries} entries`)
  const faults: Fault[] = extensionFaults(extensions, ["extensions"])
  for (const { oid } of extensions.filter((one) => ownExtensions.has(one.oid)))
    faults.push({ field: ["extensions"], detail: `the extension ${oid} is set by the issuer; remove it` })
  const seen = new Set<string>()
  const entries = revokedCertificates.map(({ serialNumber: text, revokedAt, extensions: own }, index) => {
    const field = ["revokedCerts", index]
    const serialNumber = parseSerialNumber(text)
    if (serialNumber === undefined) faults.push({ field, detail: "serial_number is not a valid serial number" })
    else if (seen.has(serialNumber)) faults.push({ field, detail: `serial_number ${serialNumber} appears twice` })
    else seen.add(serialNumber)
    faults.push(...extensionFaults(own, field))
    return { serialNumber, revokedAt, extensions: own }
  })
  rejectFaults(faults)
  return {
    entries: entries.flatMap(({ serialNumber, revokedAt, extensions: own }) =>
      serialNumber === undefined
        ? []
        : [
            encodeRevokedEntry({
              serialNumber: serialNumberOctets(serialNumber),
              revokedAt,
              reason: "unspecified",
              extensions: own,
            }),
          ],
    ),
    extensions,
    warnings: [],
  }
}

const ownExtensions: ReadonlySet<string> = new Set([
  oids.authorityKeyIdentifier,
  oids.crlNumber,
  oids.deltaCrlIndicator,
])

function extensionFaults(extensions: readonly Extension[], field: readonly (string | number)[]): Fault[] {
  const faults: Fault[] = []
  const seen = new Set<string>()
  for (const { oid, value } of extensions) {
    if (encodeOidContent(oid) === undefined) faults.push({ field, detail: `"${oid}" is not a valid object identifier` })
    else if (seen.has(oid)) faults.push({ field, detail: `the extension ${oid} appears twice` })
    seen.add(oid)
    try {
      rejectMalformed(value, "extension")
    } catch (error) {
      if (!(error instanceof UnacceptableInput)) throw error
      faults.push({ field, detail: `the value of the extension ${oid} is not valid DER: ${error.message}` })
    }
  }
  return faults
}

/** Returns the faults of the numbers. Numbers on the wire are at most 2⁵³ − 1. */
export function numberFaults({ crlNumber: number, deltaCrlBaseNumber: base, nextUpdateMs }: ListNumbers): Fault[] {
  const faults: Fault[] = []
  if (number < 0) faults.push({ field: ["crlNumber"], detail: "must not be negative" })
  if (base < -1 || base >= number)
    faults.push({ field: ["deltaCrlBaseNumber"], detail: "must be -1 for a complete list, or less than crl_number" })
  if (nextUpdateMs < 1_000) faults.push({ field: ["nextUpdateMs"], detail: "must be at least a second" })
  return faults
}

export interface ToSign {
  readonly issuer: ParsedIssuer
  readonly key: SigningKey
  readonly algorithm: SignatureAlgorithm
  readonly numbers: ListNumbers
  readonly now: Instant
}

/** Returns the list in DER. */
export async function signList({ entries, extensions }: UnsignedList, to: ToSign): Promise<Uint8Array> {
  const { issuer, key, algorithm, numbers, now } = to
  const { crlNumber: number, deltaCrlBaseNumber: base } = numbers
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const joined = Buffer.concat(entries)
  const template = {
    signatureAlgorithm,
    issuer: issuer.parsed.subject,
    thisUpdate: now,
    nextUpdate: now + numbers.nextUpdateMs,
    extensions: [
      authorityKeyIdentifier(issuer.keyIdentifier),
      crlNumber(magnitude(number)),
      ...(base < 0 ? [] : [deltaCrlIndicator(magnitude(base))]),
      ...extensions,
    ],
  }
  const { before, after } = frameTbsCertificateList(template, joined.length)
  const tbs = Buffer.concat([before, joined, after])
  const outer = frameSigned(tbs.length, signatureAlgorithm, await key.sign(tbs, algorithm))
  return Buffer.concat([outer.before, tbs, outer.after])
}
