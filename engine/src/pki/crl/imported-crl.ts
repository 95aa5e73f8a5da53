// Parses a revocation list that a CA published before this mount had its key.
import { invalid } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { DerReader } from "../../x509/asn1/reader.ts"
import { tag } from "../../x509/asn1/tag.ts"
import {
  type CertificateList,
  type ListedEntry,
  parseCertificateList,
  type RevocationReason,
  revocationReasons,
} from "../../x509/certificate-list.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { findExtension } from "../../x509/extension.ts"
import { sameName } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { asRevoked } from "../issuers/issuer-settings.ts"
import { issuerValues, type ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { keyDigestOf } from "../keys/blocked-key.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiRepositories } from "../pki-context.ts"
import { crlListOf } from "./crl-list.ts"

/** Maximum length of the text: about 80,000 entries with a reason in PEM. */
export const maxImportedListBytes = 4 * 1_024 * 1_024

export interface ImportedEntry {
  readonly serialNumber: SerialNumber
  readonly revokedAt: Instant
  readonly reason: RevocationReason
  readonly invalidityDate: Instant | undefined
}

export interface ImportedList {
  readonly entries: readonly ImportedEntry[]
  /** CRLNumber. Undefined for a list without one, and for a number above 2^53 - 1. */
  readonly number: number | undefined
  readonly warnings: readonly string[]
}

/** Parses PEM or base64 of DER. Throws `invalid` unless it is a complete list that the issuer signed. */
export function readImportedList(text: string, issuer: ParsedIssuer, now: Instant): ImportedList {
  const refused = (detail: string) => invalid([{ field: ["crl"], detail: `crl ${detail}` }])
  if (text.trim() === "") throw refused("is required")
  try {
    const list = parseCertificateList(derIn(text))
    const { tbs: data, signatureAlgorithm: algorithm, signature } = list
    if (!sameName(list.issuer, issuer.parsed.subject) || !isSignedBy(issuer.publicKey, { data, algorithm, signature }))
      throw refused("must be signed by this issuer")
    if (findExtension(list.extensions, oids.deltaCrlIndicator) !== undefined)
      throw refused("must be a complete list; got a delta")
    if (list.entries.some(({ extensions }) => findExtension(extensions, oids.certificateIssuer) !== undefined))
      throw refused("must not contain entries of other issuers")
    return entriesOf(list, now)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`cannot be read: ${error.message}`)
  }
}

function derIn(text: string): Uint8Array {
  if (!text.includes("-----BEGIN")) return Buffer.from(text, "base64")
  const [block, ...others] = readPem(text, maxImportedListBytes)
  if (block?.label !== "X509 CRL" || others.length > 0)
    throw new UnacceptableInput("expected one PEM block with the label X509 CRL")
  return block.bytes
}

function entriesOf(list: CertificateList, now: Instant): ImportedList {
  const warnings: string[] = []
  const entries: ImportedEntry[] = []
  let [unusable, lifted, onHold] = [0, 0, 0]
  for (const entry of list.entries) {
    const serialNumber = serialNumberOf(entry.serialNumber)
    const reason = reasonOf(entry)
    if (serialNumber === undefined) unusable += 1
    else if (reason === "removeFromCrl") lifted += 1
    else {
      if (reason === "certificateHold") onHold += 1
      entries.push({ serialNumber, revokedAt: entry.revokedAt, reason, invalidityDate: invalidityDateOf(entry) })
    }
  }
  if (unusable > 0)
    warnings.push(`${unusable} entries were skipped: their serial number is zero or longer than 20 octets`)
  if (lifted > 0) warnings.push(`${lifted} entries were skipped: their reason is removeFromCRL`)
  if (onHold > 0) warnings.push(`${onHold} certificates on hold are revoked now: a hold cannot be lifted here`)
  if (list.nextUpdate !== undefined && list.nextUpdate < now)
    warnings.push("the next update of the list is in the past: later revocations are missing")
  if (findExtension(list.extensions, oids.crlNumber) !== undefined && list.number === undefined)
    warnings.push("the CRL number of the list is above 2^53 - 1: numbers of later lists are lower")
  return { entries, number: list.number, warnings }
}

const reasonsByNumber = new Map<number, RevocationReason>(
  (Object.keys(revocationReasons) as RevocationReason[]).map((name) => [revocationReasons[name], name]),
)

/** Returns `unspecified` for a reason that RFC 5280 does not define. */
function reasonOf({ extensions }: ListedEntry): RevocationReason {
  const value = findExtension(extensions, oids.crlReason)?.value
  if (value?.length !== 3 || value[0] !== tag.enumerated || value[1] !== 1) return "unspecified"
  return reasonsByNumber.get(value[2] ?? 0) ?? "unspecified"
}

/** Returns undefined for a malformed date; the revocation is still valid. */
function invalidityDateOf({ extensions }: ListedEntry): Instant | undefined {
  const value = findExtension(extensions, oids.invalidityDate)?.value
  try {
    return value === undefined ? undefined : new DerReader(value, "invalidityDate").generalizedTime("invalidityDate")
  } catch (error) {
    if (error instanceof UnacceptableInput) return undefined
    throw error
  }
}

// Records the revocations of a list that another CA published.

interface Counts {
  readonly imported: number
  readonly existing: number
  /** Serial numbers of certificates that another issuer of the mount issued. */
  readonly strangers: number
}

/** Records entries within a transaction. Entries of certificates that are revoked already change nothing. */
export async function recordImported(
  { mount, issuers }: MountSnapshot,
  { revocations, certificates, blockedKeys }: PkiRepositories,
  issuer: ParsedIssuer,
  entries: readonly ImportedEntry[],
  now: Instant,
): Promise<Counts> {
  const list = crlListOf(issuer)
  const isOfList = (id: string | null) => issuers.some((one) => one.id === id && crlListOf(one) === list)
  let [imported, existing, strangers] = [0, 0, 0]
  for (const { serialNumber, revokedAt, reason, invalidityDate } of entries) {
    if ((await revocations.find(mount.id, serialNumber)) !== undefined) {
      existing += 1
      continue
    }
    const record = await certificates.find(mount.id, serialNumber)
    if (record !== undefined && !isOfList(record.issuerId)) {
      strangers += 1
      continue
    }
    // If the certificate is unknown, the entry stays until the issuer expires. Registering the certificate later corrects this.
    const notAfter = record?.notAfter ?? issuer.parsed.notAfter
    await revocations.insert({
      mountId: mount.id,
      serialNumber,
      issuerId: record?.issuerId ?? issuer.id,
      revokedAt,
      reason,
      invalidityDate,
      notAfter,
      list,
    })
    imported += 1
    if (reason === "keyCompromise" && record !== undefined)
      await blockedKeys.add({
        spkiSha256: keyDigestOf(parseCertificate(record.certificate).subjectPublicKeyInfo),
        source: "revocation",
        mount: mount.path,
        serialNumber,
        comment: "",
        createdAt: now,
      })
  }
  return { imported, existing, strangers }
}

/** Revokes, within a transaction, issuers of the mount whose certificates are on the list. */
export async function revokeListedIssuers(
  { issuers: all }: MountSnapshot,
  { issuers }: PkiRepositories,
  issuer: ParsedIssuer,
  entries: readonly ImportedEntry[],
): Promise<void> {
  const revokedAt = new Map(entries.map((entry) => [entry.serialNumber, entry.revokedAt]))
  for (const one of all) {
    const serialNumber = serialNumberOf(one.parsed.serialNumber)
    const at = serialNumber === undefined ? undefined : revokedAt.get(serialNumber)
    if (at !== undefined && one.revokedAt === null && one.id !== issuer.id && one.isIssuedBy(issuer))
      await issuers.save({ ...issuerValues(one), ...asRevoked(one, at) })
  }
}
