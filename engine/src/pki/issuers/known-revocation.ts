import type { Instant } from "../../core/time.ts"
import { type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import type { CertificateRepository } from "../certificates/certificate.ts"
import type { RevocationRepository } from "../revoke/revocation.ts"
import type { ParsedIssuer } from "./held-issuer.ts"
import type { Issuer } from "./issuer.ts"

/** Returns the fields of a revoked issuer. The first revocation time stays; only the usage for issuing is removed. */
export const asRevoked = (issuer: Issuer, revokedAt: Instant): Pick<Issuer, "revokedAt" | "settings"> => ({
  revokedAt: issuer.revokedAt ?? revokedAt,
  settings: {
    ...issuer.settings,
    usage: issuer.settings.usage.filter((usage) => usage !== "issuing-certificates"),
  },
})

interface UsedStores {
  readonly revocations: RevocationRepository
  readonly certificates: CertificateRepository
}

/** Since when the certificate of an issuer that comes to a mount has been revoked there. */
export async function knownRevocation(
  { mountId, certificate, parsed }: ParsedIssuer,
  { revocations, certificates }: UsedStores,
): Promise<Instant | undefined> {
  const serialNumber: SerialNumber | undefined = serialNumberOf(parsed.serialNumber)
  const revocation = serialNumber && (await revocations.find(mountId, serialNumber))
  if (serialNumber === undefined || revocation === undefined) return undefined
  // Strangers may share a serial number.
  const recorded = await certificates.find(mountId, serialNumber)
  const isThatOne = recorded !== undefined && Buffer.compare(recorded.certificate, certificate) === 0
  return isThatOne ? revocation.revokedAt : undefined
}
