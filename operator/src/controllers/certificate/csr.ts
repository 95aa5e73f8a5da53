// CSRs whose key is elsewhere. The names of a CSR in a spec take the place of those of the spec.
import { formatIpAddress } from "@chancery/engine"
import {
  type CertificationRequest,
  type GeneralName,
  isSignedBy,
  oids,
  parseCertificationRequest,
  type PublicKey,
  readPem,
  readPublicKey,
  UnacceptableInput,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import { stalled } from "../reconcile-result.ts"

export interface SigningRequest {
  readonly request: CertificationRequest
  readonly publicKey: PublicKey
}

/** Same as in the schema. */
const maxPem = 65_536
const labels: readonly string[] = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]

/** Parses a text with one CSR (PEM). Does not verify the signature. Throws `UnacceptableInput`. */
export function readCsr(pem: string, maximumLength: number): CertificationRequest {
  const [block, ...others] = readPem(pem, maximumLength)
  if (block === undefined || !labels.includes(block.label) || others.length > 0)
    throw new UnacceptableInput("must be one PEM block with the label CERTIFICATE REQUEST")
  return parseCertificationRequest(block.bytes)
}

/** Throws `NotReadyError` unless the text is one CSR with a valid signature. */
export function readSigningRequest(pem: string): SigningRequest {
  const invalid = (problem: string) => stalled("InvalidSpec", `spec.csr: ${problem}`)
  try {
    const request = readCsr(pem, maxPem)
    const publicKey = readPublicKey(request.subjectPublicKeyInfo)
    const { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature } = request
    if (!isSignedBy(publicKey, { data, algorithm, signature })) throw invalid("the signature is wrong")
    return { request, publicKey }
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw invalid(error.message)
  }
}

/**
 * Returns the spec with the names of its CSR, or the spec itself if it has none. Attributes of the subject other than common name and user
 * ids are not required of the certificate, because the role sets them. Throws `NotReadyError` for an invalid CSR.
 */
export function withRequestedNames(spec: CertificateSpec): CertificateSpec {
  if (spec.csr === undefined) return spec
  const { subjectName, extensionValues } = readSigningRequest(spec.csr).request
  const attributes = (type: string) =>
    subjectName.flat().flatMap((attribute) => (attribute.type === type ? [attribute.value] : []))
  const names = extensionValues.subjectAltName ?? []
  const texts = (kind: "dns" | "email" | "uri") =>
    names.flatMap((name) => (name.kind === kind && "value" in name ? [name.value] : []))
  const [commonName] = attributes(oids.commonName)
  return {
    ...spec,
    ...(commonName === undefined ? {} : { commonName }),
    dnsNames: texts("dns"),
    ipAddresses: names.flatMap((name) => (name.kind === "ip" ? [formatIpAddress(name.octets)] : [])),
    uris: texts("uri"),
    emailAddresses: texts("email"),
    userIDs: attributes(oids.userId),
    otherNames: names.flatMap(otherName),
  }
}

const otherName = (name: GeneralName) => (name.kind === "other" ? [{ oid: name.oid, utf8Value: name.value }] : [])
