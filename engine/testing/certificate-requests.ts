import type { Extension } from "../src/x509/extension.ts"
import type { KeyAlgorithm } from "../src/x509/key-algorithm.ts"
import type { DistinguishedName } from "../src/x509/name.ts"
import { writePem } from "../src/x509/pem.ts"
import type { PrivateKey } from "../src/x509/private-key.ts"
import { signedRequest } from "../src/x509/signed-request.ts"
import { testKeyGenerator } from "./test-keys.ts"

export interface RequestToMake {
  readonly subject?: DistinguishedName
  readonly extensions?: readonly Extension[]
  readonly algorithm?: KeyAlgorithm
}

/** Creates a CSR in PEM with a new key, P-256 by default, and returns both. */
export async function certificateRequest({
  subject = [],
  extensions = [],
  algorithm = { type: "ec", bits: 256 },
}: RequestToMake = {}): Promise<{ readonly csr: string; readonly privateKey: PrivateKey }> {
  const privateKey = await testKeyGenerator.generate(algorithm)
  const der = await signedRequest(privateKey, { subject, extensions })
  return { csr: writePem("CERTIFICATE REQUEST", der), privateKey }
}
