// The certificate in the Secret of a Certificate, and how it differs from the spec. The private key is only compared, never returned.
import {
  describeKeyAlgorithm,
  formatName,
  MalformedDer,
  parseCertificate,
  parseExtensionValues,
  readPublicKey,
  serialNumberOf,
  sha256,
  UnacceptableInput,
} from "@chancery/engine/x509"
import { certificate } from "../api/certificate.ts"
import { describeDifferences } from "../controllers/certificate/difference.ts"
import { isWantedKey, wantedKey } from "../controllers/certificate/keys.ts"
import { alternativeTexts, differences, withCanonicalNames } from "../controllers/certificate/names.ts"
import { writtenIn } from "../controllers/certificate/secret-layout.ts"
import { certificatesIn, storedIn, textOf } from "../controllers/certificate/stored-certificate.ts"
import { type KubernetesObject, secondTime } from "../kube/kubernetes-object.ts"

export interface InspectedCertificate {
  readonly subject: string
  readonly names: readonly string[]
  readonly issuer: string
  readonly serialNumber: string
  readonly notBefore: string
  readonly notAfter: string
  readonly key: string
  /** SHA-256 of the DER, in hexadecimal. */
  readonly fingerprint: string
}

export interface Inspection {
  readonly secretName: string
  /** Undefined if the Secret has no readable certificate. */
  readonly certificate?: InspectedCertificate
  /** The certificate of the issuer first. */
  readonly chain: readonly InspectedCertificate[]
  /** Certificates in `ca.crt`. */
  readonly authorities: readonly InspectedCertificate[]
  /** Sentences or parts of them; empty if the Secret is as the spec declares. */
  readonly differences: readonly string[]
}

export function inspectCertificate(
  object: KubernetesObject,
  secret: KubernetesObject | undefined,
  now: number,
): Inspection {
  const parsed = certificate.spec.safeParse(object["spec"])
  const { secretName = "" } = (object["spec"] ?? {}) as { readonly secretName?: string }
  if (secret === undefined)
    return { secretName, chain: [], authorities: [], differences: [`There is no Secret ${secretName}.`] }
  const [leaf, ...chain] = readAll(textOf(secret, "tls.crt"))
  const found: string[] = []
  const stored = storedIn(secret)
  if (stored.is === "incomplete") found.push(`The Secret ${secretName} ${stored.problem}.`)
  if (stored.is === "mismatched") found.push("The certificate does not match tls.key.")
  if (!parsed.success) found.push("The spec is invalid; see the status of the object.")
  else {
    const spec = withCanonicalNames(parsed.data)
    const written = writtenIn(secret)
    const { kind, name } = spec.issuerRef
    if (written === undefined) found.push(`The Secret ${secretName} does not belong to the operator.`)
    else if (written.certificateName !== object.metadata.name)
      found.push(`The Secret ${secretName} belongs to the Certificate ${written.certificateName}.`)
    if (written !== undefined && (written.issuerKind !== kind || written.issuerName !== name))
      found.push(`spec.issuerRef: expected ${kind} ${name}, got ${written.issuerKind} ${written.issuerName}`)
    const key = stored.is === "whole" && spec.keySource === "Operator" ? stored.privateKey?.algorithm : undefined
    if (key !== undefined && !isWantedKey(wantedKey(spec.privateKey), key))
      found.push(`spec.privateKey: got ${describeKeyAlgorithm(key)}`)
    if (leaf !== undefined)
      found.push(...differences(spec, leaf.parsed, leaf.values).map((difference) => describeDifferences([difference])))
  }
  if (leaf !== undefined && leaf.parsed.notAfter < now) found.push(`The certificate expired at ${leaf.shown.notAfter}.`)
  return {
    secretName,
    ...(leaf === undefined ? {} : { certificate: leaf.shown }),
    chain: chain.map(({ shown }) => shown),
    authorities: readAll(textOf(secret, "ca.crt")).map(({ shown }) => shown),
    differences: found,
  }
}

/** Returns the certificates of a PEM text; none if it cannot be read. */
function readAll(pem: string) {
  try {
    return certificatesIn(pem).map((der) => {
      const parsed = parseCertificate(der)
      const values = parseExtensionValues(parsed.extensions)
      return { parsed, values, shown: shownOf(der, parsed, values) }
    })
  } catch (error) {
    if (error instanceof UnacceptableInput || error instanceof MalformedDer) return []
    throw error
  }
}

const shownOf = (
  der: Uint8Array,
  parsed: ReturnType<typeof parseCertificate>,
  values: ReturnType<typeof parseExtensionValues>,
): InspectedCertificate => ({
  subject: formatName(parsed.subjectName),
  names: alternativeTexts(values),
  issuer: formatName(parsed.issuerName),
  serialNumber: serialNumberOf(parsed.serialNumber) ?? "",
  notBefore: secondTime(parsed.notBefore),
  notAfter: secondTime(parsed.notAfter),
  key: describeKeyAlgorithm(readPublicKey(parsed.subjectPublicKeyInfo).algorithm),
  fingerprint: sha256(der),
})
