// Records the revocation of a certificate, or of an issuer.
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
import { issuerOfCertificate } from "./revocable-certificate.ts"
import type { RevocationRepository, RevokedCertificate } from "./revocation.ts"

export interface ToRevoke {
  readonly record: CertificateRecord
  readonly certificate: Certificate
  readonly reason: RevocationReason
  readonly now: Instant
  /** True if the mount has no record of the certificate yet. */
  readonly isNew: boolean
}

/** Revokes a certificate inside a transaction. If it is revoked already, nothing changes and the first time is returned. */
export async function recordRevocation(
  snapshot: MountSnapshot,
  { revocations, certificates, blockedKeys }: PkiRepositories,
  { record, certificate, reason, now, isNew }: ToRevoke,
): Promise<RevokedCertificate> {
  const { mountId, serialNumber, notAfter } = record
  const isOfIssuer = (issuer: ParsedIssuer) => Buffer.compare(issuer.certificate, record.certificate) === 0
  const own = snapshot.issuers.find(isOfIssuer)
  if (own !== undefined) throw unprocessable(`adding issuer (id: ${own.id}) to its own CRL is not allowed`)
  // Applies even if the certificate was revoked before for another reason: only now is its key known to be compromised.
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

/** Returns the recorded issuer, or one with the same name and key. The recorded one may have been deleted. */
function issuerIn(
  { issuers }: MountSnapshot,
  record: CertificateRecord,
  certificate: Certificate,
): ParsedIssuer | undefined {
  const recorded = issuers.find(({ id }) => id === record.issuerId)
  if (recorded !== undefined) return recorded
  try {
    return issuerOfCertificate(certificate, issuers)
  } catch {
    return undefined
  }
}

// Revocation of an issuer. Its certificate is also added to the list of the issuer that signed it, if that one is in the mount.

/**
 * Adds a revoked issuer to its parent's list, inside the transaction that revokes it. A root, or an issuer whose parent is not in
 * the mount, has no such list.
 */
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
