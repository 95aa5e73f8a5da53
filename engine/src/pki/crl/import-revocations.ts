// Recording what a list says that another authority published.
import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import type { MountSnapshot } from "../authority.ts"
import type { PkiStores } from "../pki-context.ts"
import { type ParsedIssuer, issuerValues } from "../issuers/held-issuer.ts"
import { asRevoked } from "../issuers/known-revocation.ts"
import { keyDigestOf } from "../keys/blocked-key.ts"
import { crlListOf } from "./crl-list.ts"
import type { ImportedEntry } from "./imported-list.ts"

interface Counts {
  readonly imported: number
  readonly existing: number
  /** Serial numbers of certificates that another issuer of the mount issued. */
  readonly strangers: number
}

/** Within a transaction. Entries of certificates that are revoked already change nothing. */
export async function recordImported(
  { mount, issuers }: MountSnapshot,
  { revocations, certificates, blockedKeys }: PkiStores,
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
    // Without the certificate its entry stays until the issuer ends; registering the certificate later corrects it.
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

/** Within a transaction. Issuers of the mount whose certificates are on the list issue no more. */
export async function revokeHeld(
  { issuers: all }: MountSnapshot,
  { issuers }: PkiStores,
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
