// Response and records of one issuance.
import { type Instant, secondMs } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { Issuance } from "./certificate.ts"
import type { IssuanceOptions, ServedCertificate } from "./certificate-api.ts"
import type { IssuerSigner } from "../issuers/issuer-signer.ts"
import type { Mount } from "../mounts/mount.ts"
import type { Role } from "../roles/role.ts"
import type { Validity } from "./validity.ts"

/** Values that are known after signing. */
export interface IssuanceResult {
  readonly mount: Mount
  readonly signer: IssuerSigner
  readonly serialNumber: SerialNumber
  /** DER. */
  readonly certificate: Uint8Array
  readonly validity: Validity
  /** Names to search by. */
  readonly commonName: string
  readonly names: readonly string[]
  readonly role: NamedTerms | undefined
  /** Base64. Empty: no metadata. */
  readonly metadata: string
  readonly leaseId: string
  /** Token of the caller; null if the caller has none, as the engine itself. */
  readonly tokenId: string | null
  readonly now: Instant
  readonly warnings: readonly string[]
}

/** Settings of a role that matter after issuance. */
export interface NamedTerms extends Pick<Role, "generateLease" | "noStore"> {
  readonly name: string
}

export function issuedCertificate(
  outcome: IssuanceResult,
  { removeRootsFromChain = false }: IssuanceOptions,
): ServedCertificate {
  const { signer, serialNumber, certificate, validity } = outcome
  return {
    certificate,
    issuingCa: signer.issuer.certificate,
    caChain: removeRootsFromChain ? signer.chainWithoutRoots : signer.chain,
    serialNumber,
    ...validity,
    privateKey: undefined,
    lease: leaseOf(outcome),
    warnings: [...outcome.warnings, ...signer.warnings],
  }
}

/** Returns the lease. It ends one second after `notAfter`, because that second is still valid. */
const leaseOf = ({ leaseId, role, validity, now }: IssuanceResult) => ({
  id: leaseId,
  durationMs: Math.max(0, validity.notAfter + secondMs - (now - (now % secondMs))),
  isKept: role?.generateLease === true && !role.noStore,
})

export function issuanceOf(outcome: IssuanceResult): Issuance {
  const { mount, signer, serialNumber, certificate, validity, commonName, names, role, metadata, tokenId } = outcome
  const lease = leaseOf(outcome)
  const issuerId = signer.issuer.id
  return {
    certificate:
      role?.noStore === true
        ? undefined
        : {
            mountId: mount.id,
            serialNumber,
            certificate,
            issuerId,
            role: role?.name ?? null,
            commonName,
            names,
            ...validity,
          },
    metadata:
      metadata === "" || role === undefined
        ? undefined
        : { mountId: mount.id, serialNumber, issuerId, role: role.name, expiresAt: validity.notAfter, metadata },
    lease: lease.isKept
      ? {
          id: lease.id,
          mountId: mount.id,
          serialNumber,
          issuedAt: outcome.now,
          expiresAt: validity.notAfter + secondMs,
          tokenId,
        }
      : undefined,
  }
}
