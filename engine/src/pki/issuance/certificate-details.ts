import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { findExtension } from "../../x509/extension.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { formatName } from "../../x509/name.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { valuesOf } from "../names/subject.ts"

/** Details of a certificate in `LIST certs/detailed` (https://openbao.org/docs/api/secret/pki). */
export interface CertificateDetails {
  readonly serialNumber: SerialNumber
  readonly commonName: string
  /** Name of the issuer, such as `CN=Example Root,O=Example`. */
  readonly issuer: string
  readonly key: KeyAlgorithm
  readonly notBefore: Instant
  readonly notAfter: Instant
  /** At most the first five. */
  readonly dnsNames: readonly string[]
}

const maxDnsNames = 5
/** Maximum number of certificates at once. Each must be parsed, and adds 300 octets to the response. */
export const maxDetails = 10_000

export function detailsOf(serialNumber: SerialNumber, der: Uint8Array): CertificateDetails {
  const { subjectName, issuerName, subjectPublicKeyInfo, notBefore, notAfter, extensions } = parseCertificate(der)
  const names = findExtension(extensions, oids.subjectAltName)
  const { subjectAltName = [] } = parseExtensionValues(names === undefined ? [] : [names])
  const [commonName = ""] = valuesOf(subjectName, oids.commonName)
  return {
    serialNumber,
    commonName,
    issuer: formatName(issuerName),
    key: readPublicKey(subjectPublicKeyInfo).algorithm,
    notBefore,
    notAfter,
    dnsNames: subjectAltName.flatMap((name) => (name.kind === "dns" ? [name.value] : [])).slice(0, maxDnsNames),
  }
}
