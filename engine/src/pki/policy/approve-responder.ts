// The one place that lets the certificate of a delegated OCSP responder be signed (RFC 6960, section 4.2.2.2): nobody asks for
// it, it follows from the settings of the mount.
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
  /** The certificate of whom it answers for. */
  readonly issuer: Certificate
  readonly key: PublicKey
  readonly commonName: string
  readonly ttlMs: number
  readonly now: Instant
}

/** Clocks of those who ask may be slow. */
const backdatedMs = 5 * minuteMs

/** Named after its issuer, and never valid beyond it. */
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
