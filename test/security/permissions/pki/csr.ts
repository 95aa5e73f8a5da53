import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
} from "../../../../engine/src/x509/certification-request.ts"
import { oids } from "../../../../engine/src/x509/asn1/oids.ts"
import { encodeName } from "../../../../engine/src/x509/name.ts"
import { writePem } from "../../../../engine/src/x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../../../engine/src/x509/signature-algorithm.ts"
import { signingKey } from "../../../../engine/src/x509/signing-key.ts"
import { testKeyGenerator } from "../../../../engine/testing/test-keys.ts"

/** PEM of a CSR for a P-256 key, with an empty subject. */
export const csr = await newCsr()
/** PEM of a CSR for a P-256 key, with a common name. */
export const namedCsr = await newCsr("www.example.com")

async function newCsr(commonName?: string): Promise<string> {
  const key = await testKeyGenerator.generate({ type: "ec", bits: 256 })
  const subject = encodeName(commonName === undefined ? [] : [[{ type: oids.commonName, value: commonName }]])
  const subjectPublicKeyInfo = key.publicKey.spki
  const info = encodeCertificationRequestInfo({ subject, subjectPublicKeyInfo, extensions: [] })
  const signature = await signingKey(key).sign(info, "ECDSAWithSHA256")
  const algorithm = signatureAlgorithmIdentifier("ECDSAWithSHA256")
  return writePem("CERTIFICATE REQUEST", assembleCertificationRequest(info, algorithm, signature))
}
