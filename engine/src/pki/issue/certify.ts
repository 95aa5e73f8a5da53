// From approved content to a signed certificate. Everything that a CA key puts its name to as a certificate passes here.
import type { Instant } from "../../core/time.ts"
import { assembleCertificate, encodeTbsCertificate } from "../../x509/certificate.ts"
import type { Extension } from "../../x509/extension.ts"
import { type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import type { IssuerSigner } from "../issuers/issuer-signer.ts"

/** What the subject brings; what follows from the issuer is added. */
export interface CertificateContent {
  readonly serialNumber: SerialNumber
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly extensions: readonly Extension[]
}

/** DER. */
export async function certify(
  content: CertificateContent,
  signer: Pick<IssuerSigner, "name" | "key" | "extensions"> & Partial<Pick<IssuerSigner, "extensionsFor">>,
  choice: SignatureChoice,
): Promise<Uint8Array> {
  const algorithm = chooseSignatureAlgorithm(signer.key.algorithm, choice)
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const tbs = encodeTbsCertificate({
    serialNumber: serialNumberOctets(content.serialNumber),
    signatureAlgorithm,
    issuer: signer.name,
    notBefore: content.notBefore,
    notAfter: content.notAfter,
    subject: content.subject,
    subjectPublicKeyInfo: content.publicKey,
    extensions: [...content.extensions, ...(signer.extensionsFor?.(content.serialNumber) ?? signer.extensions)],
  })
  const signature = await signer.key.sign(tbs, algorithm)
  return assembleCertificate(tbs, signatureAlgorithm, signature)
}
