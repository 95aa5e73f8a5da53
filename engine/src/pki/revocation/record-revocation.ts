// Writing a revocation down, whatever is the cause of it.
import { unprocessable } from "../../core/errors.ts"
import { formatInstant, type Instant } from "../../core/time.ts"
import type { RevocationReason } from "../../x509/certificate-list.ts"
import type { Certificate } from "../../x509/certificate.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import { crlListOf, listOfUnknownIssuers } from "../crl/crl-list.ts"
import type { CertificateRecord } from "../issuance/certificate.ts"
import { parentsOf } from "../issuers/chain.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { keyDigestOf } from "../keys/blocked-key.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiRepositories } from "../pki-context.ts"
import { issuerOfGiven } from "./revocable-certificate.ts"
import type { RevocationRepository, RevokedCertificate } from "./revocation.ts"

export interface ToRevoke {
  readonly record: CertificateRecord
  readonly certificate: Certificate
  readonly reason: RevocationReason
  readonly now: Instant
  /** The mount has no record of it yet. */
  readonly isNew: boolean
}

/** Inside a transaction. Repeating it changes nothing, and tells the first time. */
export async function recordRevocation(
  snapshot: MountSnapshot,
  { revocations, certificates, blockedKeys }: PkiRepositories,
  { record, certificate, reason, now, isNew }: ToRevoke,
): Promise<RevokedCertificate> {
  const { mountId, serialNumber, notAfter } = record
  const isOfIssuer = (issuer: ParsedIssuer) => Buffer.compare(issuer.certificate, record.certificate) === 0
  const own = snapshot.issuers.find(isOfIssuer)
  if (own !== undefined) throw unprocessable(`adding issuer (id: ${own.id}) to its own CRL is not allowed`)
  // Also if the certificate was revoked before for another reason: its key is known to be compromised only now.
  if (reason === "keyCompromise")
    await blockedKeys.add({
      spkiSha256: keyDigestOf(certificate.subjectPublicKeyInfo),
      source: "revocation",
      mount: snapshot.mount.path,
      serialNumber,
      comment: "",
      createdAt: now,
    })
  const known = await revocations.find(mountId, serialNumber)
  if (known !== undefined) return { serialNumber, revokedAt: known.revokedAt, warnings: [] }
  if (notAfter <= now && !snapshot.settings.crl.allowExpiredCertRevocation)
    return {
      serialNumber,
      revokedAt: null,
      warnings: [
        `certificate with serial ${serialNumber} expired at ${formatInstant(notAfter)} and was not revoked; set allow_expired_cert_revocation in config/crl to revoke expired certificates`,
      ],
    }
  const issuer = issuerIn(snapshot, record, certificate)
  const list = issuer === undefined ? listOfUnknownIssuers : crlListOf(issuer)
  if (isNew) await certificates.insert(record)
  await revocations.insert({
    mountId,
    serialNumber,
    issuerId: record.issuerId,
    revokedAt: now,
    reason,
    notAfter,
    list,
  })
  return { serialNumber, revokedAt: now, warnings: [] }
}

/** The one on record, or whichever has its name and key: issuers come and go, and certificates stay. */
function issuerIn(
  { issuers }: MountSnapshot,
  record: CertificateRecord,
  certificate: Certificate,
): ParsedIssuer | undefined {
  const recorded = issuers.find(({ id }) => id === record.issuerId)
  if (recorded !== undefined) return recorded
  try {
    return issuerOfGiven(certificate, issuers)
  } catch {
    return undefined
  }
}

// Revocation of an issuer: its certificate also goes on the list of the issuer that signed it, if that one is in the mount.

/** Inside the transaction that revokes it. A list of another mount, or a root's own, cannot have it. */
export async function listRevokedIssuer(
  { mount, issuers }: Pick<MountSnapshot, "mount" | "issuers">,
  { revocations }: { readonly revocations: RevocationRepository },
  issuer: ParsedIssuer,
  revokedAt: Instant,
): Promise<void> {
  const [parent] = parentsOf(issuer, issuers)
  const serialNumber = serialNumberOf(issuer.parsed.serialNumber)
  if (parent === undefined || serialNumber === undefined || crlListOf(parent) === crlListOf(issuer)) return
  if ((await revocations.find(mount.id, serialNumber)) !== undefined) return
  await revocations.insert({
    mountId: mount.id,
    serialNumber,
    issuerId: parent.id,
    revokedAt,
    reason: "unspecified",
    notAfter: issuer.parsed.notAfter,
    list: crlListOf(parent),
  })
}
