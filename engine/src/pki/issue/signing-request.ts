import { invalid } from "../../core/errors.ts"
import { type CertificationRequest, parseCertificationRequest } from "../../x509/certification-request.ts"
import { readPem } from "../../x509/pem.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { assertStrongKey } from "../../x509/weak-rsa.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"

/** Whoever sent it has the private key, and the key is strong enough to be certified. */
export interface SigningRequest {
  readonly request: CertificationRequest
  readonly key: PublicKey
}

/** Longer CSRs are not read. A CSR with an RSA key of 16,384 bits takes 6 KiB. */
const csrLengthMaximum = 64 * 1024
/** Of both, the first is what tools write. */
const labels: readonly string[] = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]

/** From PEM. Throws `invalid` with a fault on `csr`, in the words that existing clients know. */
export function readSigningRequest(csr: string): SigningRequest {
  if (csr.trim() === "") throw refused('"csr" is empty')
  const { request, key } = read(csr)
  if (!isProven(request, key)) throw refused("request signature invalid")
  return { request, key }
}

function read(csr: string): SigningRequest {
  try {
    const [block, ...others] = readPem(csr, csrLengthMaximum)
    if (block === undefined) throw refused("csr contains no data")
    if (!labels.includes(block.label) || others.length > 0)
      throw new UnacceptableInput("it must be one PEM block with the label CERTIFICATE REQUEST")
    const request = parseCertificationRequest(block.bytes)
    return { request, key: assertStrongKey(readPublicKey(request.subjectPublicKeyInfo)) }
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`certificate request could not be parsed: ${error.message}`)
  }
}

function isProven(
  { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature }: CertificationRequest,
  key: PublicKey,
): boolean {
  try {
    return isSignedBy(key, { data, algorithm, signature })
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused(`request signature invalid: ${error.message}`)
  }
}

const refused = (detail: string) => invalid([{ field: ["csr"], detail }])
