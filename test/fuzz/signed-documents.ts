// Signed output must be valid whatever the request: OpenSSL and our own strict parser accept it, and the returned issuer has signed it.
import { X509Certificate } from "node:crypto"
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { parseCertificateList } from "../../engine/src/x509/certificate-list.ts"
import { parseCertificationRequest } from "../../engine/src/x509/certification-request.ts"
import { parseExtensionValues } from "../../engine/src/x509/extensions.ts"
import { readPem } from "../../engine/src/x509/pem.ts"

/** Above the size of any signed object. */
const maxPem = 1 << 20

/** Returns a complaint about the body of a successful answer, whose certificates are PEM, bundles or base64. */
export function complaintAboutSigned(body: unknown): string | undefined {
  const data = (body as { readonly data?: unknown } | undefined)?.data
  if (typeof data !== "object" || data === null) return undefined
  const { certificate, issuing_ca: issuer, crl, csr } = data as Readonly<Record<string, unknown>>
  try {
    if (isText(certificate)) checkCertificate(derOf(certificate, "CERTIFICATE"), isText(issuer) ? issuer : undefined)
    if (isText(crl)) parseCertificateList(derOf(crl, "X509 CRL"))
    if (isText(csr)) parseCertificationRequest(derOf(csr, "CERTIFICATE REQUEST"))
    return undefined
  } catch (error) {
    return `answered with what is not in order: ${error instanceof Error ? error.message : String(error)} in ${JSON.stringify(data)}`
  }
}

function checkCertificate(der: Uint8Array, issuer: string | undefined): void {
  const parsed = parseCertificate(der)
  parseExtensionValues(parsed.extensions)
  if (parsed.notBefore > parsed.notAfter) throw new Error("the certificate ends before it begins")
  const certificate = new X509Certificate(der)
  if (certificate.raw.length !== der.length) throw new Error("the certificate is followed by something")
  if (issuer === undefined) return
  const authority = new X509Certificate(derOf(issuer, "CERTIFICATE"))
  if (!certificate.verify(authority.publicKey)) throw new Error("the certificate is not signed by its issuing_ca")
  if (!certificate.checkIssued(authority)) throw new Error("the certificate is not issued by its issuing_ca")
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** Returns the DER of a certificate. A bundle has a private key before it, and the chain after it. */
function derOf(text: string, label: string): Uint8Array {
  if (!text.includes("-----BEGIN")) return Buffer.from(text, "base64")
  const block = readPem(text, maxPem).find((each) => each.label === label)
  if (block === undefined) throw new Error(`there is no ${label} in the answer`)
  return block.bytes
}
