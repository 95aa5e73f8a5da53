// From approved content to a signed certificate. Everything that a CA key puts its name to as a certificate passes here.
import type { Instant } from "../../core/time.ts"
import {
  assembleCertificate,
  encodeTbsCertificate,
} from "../../x509/certificate.ts"
import { authorityInfoAccess, crlDistributionPoints, freshestCrl } from "../../x509/distribution-points.ts"
import type { Extension } from "../../x509/extension.ts"
import { authorityKeyIdentifier } from "../../x509/extensions.ts"
import { newSerialNumber, type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import type { RandomSource } from "../../core/random.ts"
import type { FilledUrls } from "../issuers/authority-urls.ts"

/** What the subject brings; what follows from the issuer is added. */
export interface CertificateContent {
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly extensions: readonly Extension[]
}

/** Who signs. */
export interface CertificateSigner {
  /** Name, DER: the subject of the issuer's certificate. */
  readonly name: Uint8Array
  /** Undefined where the issuer's certificate has none. */
  readonly subjectKeyIdentifier: Uint8Array | undefined
  readonly urls: FilledUrls
  readonly key: SigningKey
}

export interface CertifiedKey {
  readonly serialNumber: SerialNumber
  /** DER. */
  readonly certificate: Uint8Array
}

export async function certify(
  content: CertificateContent,
  signer: CertificateSigner,
  { random, ...choice }: SignatureChoice & { readonly random: RandomSource },
): Promise<CertifiedKey> {
  const algorithm: SignatureAlgorithm = chooseSignatureAlgorithm(signer.key.algorithm, choice)
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const serialNumber = newSerialNumber(random)
  const tbs = encodeTbsCertificate({
    serialNumber: serialNumberOctets(serialNumber),
    signatureAlgorithm,
    issuer: signer.name,
    notBefore: content.notBefore,
    notAfter: content.notAfter,
    subject: content.subject,
    subjectPublicKeyInfo: content.publicKey,
    extensions: [...content.extensions, ...issuerExtensions(signer)],
  })
  const signature = await signer.key.sign(tbs, algorithm)
  return { serialNumber, certificate: assembleCertificate(tbs, signatureAlgorithm, signature) }
}

/** The same for every certificate of an issuer; empty lists say nothing and are left out. */
export function issuerExtensions({ subjectKeyIdentifier, urls }: Omit<CertificateSigner, "key" | "name">): Extension[] {
  const { issuingCertificates, ocspServers, crlDistributionPoints: crls, deltaCrlDistributionPoints: deltas } = urls
  const extensions: Extension[] = []
  if (subjectKeyIdentifier !== undefined) extensions.push(authorityKeyIdentifier(subjectKeyIdentifier))
  if (ocspServers.length + issuingCertificates.length > 0)
    extensions.push(authorityInfoAccess({ ocspServers, issuingCertificates }))
  // One point with several URLs: the same list in several places (RFC 5280, section 4.2.1.13).
  if (crls.length > 0) extensions.push(crlDistributionPoints([crls]))
  if (deltas.length > 0) extensions.push(freshestCrl([deltas]))
  return extensions
}
