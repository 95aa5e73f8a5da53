// Encodes and signs approved content. Every certificate that a CA key signs is signed here, after a policy approved it.
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

/** Content for the subject. Extensions of the issuer are added when it is signed. */
export interface ApprovedContent extends Approved {
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly extensions: readonly Extension[]
}

/** Returns the signed certificate in DER. */
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

/** Existing certificate that an issuer signs again. */
export interface ApprovedReissue extends Approved {
  readonly certificate: Certificate
  readonly serialNumber: SerialNumber
}

/** Returns the newly signed certificate in DER. */
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
