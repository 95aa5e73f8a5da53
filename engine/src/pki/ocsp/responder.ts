// Who signs the answers about the certificates of an issuer (RFC 6960, section 4.2.2.2).
import type { RecordKeyUse } from "../../core/audit.ts"
import type { Instant } from "../../core/time.ts"
import type { SignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import type { HeldIssuer } from "../issuers/held-issuer.ts"
import { revocationSignatureAlgorithm } from "../issuers/revocation-signature.ts"
import { auditedSigningKey } from "../keys/audited-signing-key.ts"
import type { SigningKeys } from "../keys/signing-keys.ts"
import type { IssuerGroup } from "./certificate-status.ts"

export interface Responder {
  readonly algorithm: SignatureAlgorithm
  /** DER; what a client needs beside the issuer's own certificate. */
  readonly certificates: readonly Uint8Array[]
  /** When its answers cease to count; undefined for the issuer itself, which they do not outlive in any case. */
  readonly notAfter: Instant | undefined
  /** Its key, every use of which is on record. */
  signing(mountPath: string, record: RecordKeyUse): SigningKey
}

/** Undefined where nobody may answer for these issuers. */
export async function responderOf(signingKeys: SigningKeys, issuers: IssuerGroup): Promise<Responder | undefined> {
  const issuer = issuers.find(mayAnswer)
  if (issuer === undefined || issuer.keyId === null) return undefined
  const { id: issuerId, keyId } = issuer
  const key = await signingKeys.open(keyId)
  return {
    algorithm: revocationSignatureAlgorithm(issuer),
    certificates: [],
    notAfter: undefined,
    signing: (mount, record) => auditedSigningKey(key, { mount, keyId, issuerId, purpose: "ocsp-response" }, record),
  }
}

/** A key usage without digitalSignature rules out signing anything but certificates and lists (RFC 5280, section 4.2.1.3). */
const mayAnswer = ({ keyId, settings, values }: HeldIssuer): boolean =>
  keyId !== null &&
  settings.usage.includes("ocsp-signing") &&
  (values.keyUsage === undefined || values.keyUsage.includes("digitalSignature"))
