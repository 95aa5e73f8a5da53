// Approves certificates of delegated OCSP responders for signing (RFC 6960, section 4.2.2.2). Clients do not request them; they follow
// from the settings of the mount. Nothing else approves them.
import { type Instant, minuteMs } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { Certificate } from "../../x509/certificate.ts"
import {
  extendedKeyUsage,
  keyUsage,
  ocspNoCheck,
  subjectKeyIdentifier as subjectKeyIdentifierExtension,
} from "../../x509/extensions.ts"
import { encodeName, parseName } from "../../x509/name.ts"
import { type PublicKey, subjectKeyIdentifier } from "../../x509/public-key.ts"
import type { ApprovedContent } from "../issuance/certify.ts"
import { approved } from "./approved.ts"

export interface ResponderTerms {
  /** Certificate of the issuer that the responder answers for. */
  readonly issuer: Certificate
  readonly key: PublicKey
  readonly commonName: string
  readonly ttlMs: number
  readonly now: Instant
}

/** Backdating of `notBefore`, because the clocks of OCSP clients may be slow. */
const backdatedMs = 5 * minuteMs

/** Approves a responder certificate. Its name derives from the issuer's, and its validity stays within the issuer's. */
export function approveResponder({ issuer, key, commonName, ttlMs, now }: ResponderTerms): ApprovedContent {
  const own = parseName(issuer.subject).filter((parts) => parts.every(({ type }) => type !== oids.commonName))
  return approved({
    subject: encodeName([...own, [{ type: oids.commonName, value: commonName }]]),
    publicKey: key.spki,
    notBefore: Math.max(now - backdatedMs, issuer.notBefore),
    notAfter: Math.min(now + ttlMs, issuer.notAfter),
    extensions: [
      keyUsage(["digitalSignature"]),
      extendedKeyUsage([oids.ocspSigning]),
      ocspNoCheck,
      subjectKeyIdentifierExtension(subjectKeyIdentifier(key)),
    ],
  })
}
