// From approved content to a signed certificate. Everything that a CA key puts its name to as a certificate passes here, and
// nothing does that no policy has passed.
import type { Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import {
  assembleCertificate,
  type Certificate,
  encodeReissuedTbsCertificate,
  encodeTbsCertificate,
} from "../../x509/certificate.ts"
import type { Extension } from "../../x509/extension.ts"
import { type SerialNumber, serialNumberOctets } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import type { IssuerSigner } from "../issuers/issuer-signer.ts"
import type { Approved } from "../policy/approved.ts"

/** What the subject brings; what follows from the issuer is added. */
export interface ApprovedContent extends Approved {
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
  { subject, publicKey, notBefore, notAfter, extensions }: ApprovedContent,
  serialNumber: SerialNumber,
  signer: Pick<IssuerSigner, "name" | "key" | "extensions"> & Partial<Pick<IssuerSigner, "extensionsFor">>,
  choice: SignatureChoice,
): Promise<Uint8Array> {
  const ofIssuer = signer.extensionsFor?.(serialNumber) ?? signer.extensions
  return signed(signer.key, choice, (signatureAlgorithm) =>
    encodeTbsCertificate({
      serialNumber: serialNumberOctets(serialNumber),
      signatureAlgorithm,
      issuer: signer.name,
      notBefore,
      notAfter,
      subject,
      subjectPublicKeyInfo: publicKey,
      extensions: [...extensions, ...ofIssuer],
    }),
  )
}

/** A certificate that an issuer signs again as it is. */
export interface ApprovedReissue extends Approved {
  readonly certificate: Certificate
  readonly serialNumber: SerialNumber
}

/** DER. */
export async function reissue(
  { certificate, serialNumber }: ApprovedReissue,
  signer: Pick<IssuerSigner, "name" | "key" | "extensionsFor">,
  choice: SignatureChoice,
): Promise<Uint8Array> {
  const extensions = signer.extensionsFor(serialNumber).filter(({ oid }) => changedByReissue.has(oid))
  return signed(signer.key, choice, (signatureAlgorithm) =>
    encodeReissuedTbsCertificate(certificate, { issuer: signer.name, signatureAlgorithm, extensions }),
  )
}

/** Extensions that the new issuer replaces when it signs a self-issued certificate again. All others stay. */
const changedByReissue: ReadonlySet<string> = new Set([oids.authorityKeyIdentifier, oids.crlDistributionPoints])

async function signed(
  key: SigningKey,
  choice: SignatureChoice,
  encodeTbs: (signatureAlgorithm: Uint8Array) => Uint8Array,
): Promise<Uint8Array> {
  const algorithm = chooseSignatureAlgorithm(key.algorithm, choice)
  const signatureAlgorithm = signatureAlgorithmIdentifier(algorithm)
  const tbs = encodeTbs(signatureAlgorithm)
  return assembleCertificate(tbs, signatureAlgorithm, await key.sign(tbs, algorithm))
}
