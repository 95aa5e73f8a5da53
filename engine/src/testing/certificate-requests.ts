import { encodeCertificationRequestInfo, assembleCertificationRequest } from "../x509/certification-request.ts"
import type { Extension } from "../x509/extension.ts"
import type { KeyAlgorithm } from "../x509/key-algorithm.ts"
import { type DistinguishedName, encodeName } from "../x509/name.ts"
import { writePem } from "../x509/pem.ts"
import type { PrivateKey } from "../x509/private-key.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "../x509/signature-algorithm.ts"
import { signingKey } from "../x509/signing-key.ts"
import { testKeyGenerator } from "./test-keys.ts"

export interface RequestToMake {
  readonly subject?: DistinguishedName
  readonly extensions?: readonly Extension[]
  readonly algorithm?: KeyAlgorithm
}

/** A CSR in PEM for a key of its own, P-256 unless another is asked for, and that key. */
export async function certificateRequest({
  subject = [],
  extensions = [],
  algorithm = { type: "ec", bits: 256 },
}: RequestToMake = {}): Promise<{ readonly csr: string; readonly privateKey: PrivateKey }> {
  const privateKey = await testKeyGenerator.generate(algorithm)
  const key = signingKey(privateKey)
  const info = encodeCertificationRequestInfo({
    subject: encodeName(subject),
    subjectPublicKeyInfo: key.spki,
    extensions,
  })
  const name = chooseSignatureAlgorithm(algorithm, { signatureBits: 0, usePss: false })
  const signature = await key.sign(info, name)
  const der = assembleCertificationRequest(info, signatureAlgorithmIdentifier(name), signature)
  return { csr: writePem("CERTIFICATE REQUEST", der), privateKey }
}
