import { unprocessable } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { PkiStores } from "../pki-context.ts"
import { keyDigestOf } from "../keys/blocked-key.ts"
import type { Mount } from "../mount.ts"
import type { CertificateRecord } from "./certificate.ts"
import type { ImportedCertificates } from "./certificates.ts"

/** Within a transaction. Throws `unprocessable` if another certificate has one of the serial numbers. */
export async function importCertificates(
  mount: Mount,
  { certificates, revocations, blockedKeys }: PkiStores,
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
