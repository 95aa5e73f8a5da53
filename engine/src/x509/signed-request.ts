import { assembleCertificationRequest, encodeCertificationRequestInfo } from "./certification-request.ts"
import type { Extension } from "./extension.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "./signature-algorithm.ts"
import { signingKey } from "./signing-key.ts"
import type { PrivateKey } from "./private-key.ts"
import { type DistinguishedName, encodeName } from "./name.ts"

export interface RequestContent {
  readonly subject: DistinguishedName
  readonly extensions: readonly Extension[]
}

/** Returns a certification request (PKCS #10, DER) for this key, signed with it. */
export async function signedRequest(
  privateKey: PrivateKey,
  { subject, extensions }: RequestContent,
): Promise<Uint8Array> {
  const key = signingKey(privateKey)
  const info = encodeCertificationRequestInfo({
    subject: encodeName(subject),
    subjectPublicKeyInfo: key.spki,
    extensions,
  })
  const algorithm = chooseSignatureAlgorithm(key.algorithm, { signatureBits: 0, usePss: false })
  return assembleCertificationRequest(info, signatureAlgorithmIdentifier(algorithm), await key.sign(info, algorithm))
}
