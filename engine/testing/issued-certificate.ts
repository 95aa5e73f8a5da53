import { parseCertificate } from "../src/x509/certificate.ts"
import { readCertificatePem } from "../src/x509/certificate-pem.ts"
import { type ExtensionValues, parseExtensionValues } from "../src/x509/extensions.ts"
import { formatName } from "../src/x509/name.ts"
import { readSignatureAlgorithm, type SignatureAlgorithm } from "../src/x509/signature-algorithm.ts"

/** Content of a certificate in the form in which tests request it. */
export interface ReadCertificate {
  /** In the format of RFC 4514. */
  readonly subject: string
  readonly issuer: string
  readonly notBefore: number
  readonly notAfter: number
  /** For example `dns:www.example.com`, `ip:c0000201`, `other:1.2.3;text`. */
  readonly names: readonly string[]
  readonly values: ExtensionValues
  readonly signatureAlgorithm: SignatureAlgorithm
  readonly publicKey: Uint8Array
}

/** Reads a certificate in PEM or base64 DER. */
export function readIssued(text: string): ReadCertificate {
  const der = text.startsWith("-----") ? readCertificatePem(text) : Buffer.from(text, "base64")
  const certificate = parseCertificate(der)
  const values = parseExtensionValues(certificate.extensions)
  return {
    subject: formatName(certificate.subjectName),
    issuer: formatName(certificate.issuerName),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    names: (values.subjectAltName ?? []).map((name) => {
      if (name.kind === "ip") return `ip:${Buffer.from(name.octets).toString("hex")}`
      if (name.kind === "other") return `other:${name.oid};${name.value}`
      return "value" in name ? `${name.kind}:${name.value}` : name.kind
    }),
    values,
    signatureAlgorithm: readSignatureAlgorithm(certificate.signatureAlgorithm).algorithm,
    publicKey: certificate.subjectPublicKeyInfo,
  }
}
