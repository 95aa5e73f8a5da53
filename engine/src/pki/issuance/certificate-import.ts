// Import of certificates that a CA issued before this mount had its key.
import { type Fault, invalid, isEngineError, unprocessable } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import { readPem } from "../../x509/pem.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { keyDigestOf } from "../keys/blocked-key.ts"
import type { Mount } from "../mounts/mount.ts"
import type { PkiRepositories } from "../pki-context.ts"
import { issuerOfCertificate } from "../revocation/revocable-certificate.ts"
import type { ImportedCertificates } from "./certificate-api.ts"
import type { CertificateRecord } from "./certificate.ts"
import { namesOf } from "./leaf.ts"

/** Returns the record of a certificate that the issuer signed and the mount has not stored. */
export function presentedRecord(
  issuer: ParsedIssuer,
  certificate: Certificate,
  serialNumber: SerialNumber,
): CertificateRecord {
  return {
    mountId: issuer.mountId,
    serialNumber,
    certificate: certificate.der,
    issuerId: issuer.id,
    role: null,
    ...namesOf({ subject: certificate.subjectName, subjectAltName: alternativeNames(certificate) }),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  }
}

function alternativeNames({ extensions }: Certificate) {
  try {
    return parseExtensionValues(extensions).subjectAltName ?? []
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw unprocessable(`the certificate could not be parsed: ${error.message}`)
  }
}

/** Maximum number of certificates in an import, which one transaction writes. */
export const maxImportedCertificates = 500
const maxLength = 1_024 * 1_024
/** Number of certificates parsed per turn of the event loop. Verifying a signature on P-521 takes 2 ms. */
const readPerTurn = 10
const labels: readonly string[] = ["CERTIFICATE", "X509 CERTIFICATE"]

/** Reads PEM texts, of one block or more, and base64 of DER. Throws `invalid` with one fault per certificate. */
export async function readCertificates(
  texts: readonly string[],
  issuers: readonly ParsedIssuer[],
): Promise<readonly CertificateRecord[]> {
  const encoded = texts.flatMap(dersIn)
  if (encoded.length === 0) throw invalid([{ field: ["certificates"], detail: "certificates is required" }])
  if (encoded.length > maxImportedCertificates)
    throw invalid([
      {
        field: ["certificates"],
        detail: `certificates must not have more than ${maxImportedCertificates} entries; got ${encoded.length}`,
      },
    ])
  const faults: Fault[] = []
  const records = new Map<string, CertificateRecord>()
  for (const [index, { der, problem }] of encoded.entries()) {
    if (index % readPerTurn === readPerTurn - 1) await nextTurn()
    const fault = (detail: string) =>
      faults.push({ field: ["certificates", index], detail: `certificate ${index + 1} ${detail}` })
    if (der === undefined) {
      fault(problem)
      continue
    }
    try {
      const record = recordOf(der, issuers)
      const known = records.get(record.serialNumber)
      if (known !== undefined && Buffer.compare(known.certificate, der) !== 0)
        fault(`has the same serial number ${record.serialNumber} as another entry`)
      else records.set(record.serialNumber, record)
    } catch (error) {
      if (error instanceof UnacceptableInput) fault(`cannot be read: ${error.message}`)
      else if (isEngineError(error, "unprocessable")) fault(`is refused: ${error.message}`)
      else throw error
    }
  }
  if (faults.length > 0) throw invalid(faults)
  return [...records.values()]
}

function recordOf(der: Uint8Array, issuers: readonly ParsedIssuer[]): CertificateRecord {
  const certificate = parseCertificate(der)
  const serialNumber = serialNumberOf(certificate.serialNumber)
  if (serialNumber === undefined) throw new UnacceptableInput("its serial number is zero or longer than 20 octets")
  return presentedRecord(issuerOfCertificate(certificate, issuers), certificate, serialNumber)
}

type Encoded =
  | { readonly der: Uint8Array; readonly problem?: undefined }
  | { readonly der: undefined; readonly problem: string }

function dersIn(text: string): readonly Encoded[] {
  if (text.trim() === "") return []
  if (!text.includes("-----BEGIN")) {
    const compact = text.replaceAll(/\s/g, "")
    return /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
      ? [{ der: Buffer.from(compact, "base64") }]
      : [{ der: undefined, problem: "must be PEM or base64 of DER" }]
  }
  try {
    return readPem(text, maxLength).map(({ label, bytes }) =>
      labels.includes(label)
        ? { der: bytes }
        : { der: undefined, problem: `must not be a PEM block with the label ${label}` },
    )
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return [{ der: undefined, problem: `cannot be read: ${error.message}` }]
  }
}

/** Records certificates within a transaction. Throws `unprocessable` if another certificate has one of the serial numbers. */
export async function importCertificates(
  mount: Mount,
  { certificates, revocations, blockedKeys }: PkiRepositories,
  records: readonly CertificateRecord[],
  now: Instant,
): Promise<ImportedCertificates> {
  const imported: SerialNumber[] = []
  const existing: SerialNumber[] = []
  for (const record of records) {
    const { serialNumber, notAfter } = record
    const known = await certificates.find(mount.id, serialNumber)
    if (known !== undefined && Buffer.compare(known.certificate, record.certificate) !== 0)
      throw unprocessable(`another certificate of this mount has the serial number ${serialNumber}`)
    if (known !== undefined) {
      existing.push(serialNumber)
      continue
    }
    await certificates.insert(record)
    imported.push(serialNumber)
    const revocation = await revocations.find(mount.id, serialNumber)
    if (revocation === undefined) continue
    await revocations.registered(mount.id, { serialNumber, revokedAt: revocation.revokedAt, notAfter })
    if (revocation.reason === "keyCompromise")
      await blockedKeys.add({
        spkiSha256: keyDigestOf(parseCertificate(record.certificate).subjectPublicKeyInfo),
        source: "revocation",
        mount: mount.path,
        serialNumber,
        comment: "",
        createdAt: now,
      })
  }
  if (imported.length > 0) await revocations.touch(mount.id)
  return { imported, existing }
}
