// Paths from a client's certificate to the CAs that a role trusts (RFC 5280, section 6.1). Strict: an extension that is critical and not
// processed here ends the path.
import { type Instant, formatInstant, secondMs } from "../../core/time.ts"
import { constrainedNames, constraintProblems } from "../../pki/policy/name-constraints.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { type ExtensionValues, parseExtensionValues } from "../../x509/extensions.ts"
import { formatName, sameName } from "../../x509/name.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"

/** Parsed certificate of a path. */
export interface PathCertificate {
  readonly certificate: Certificate
  readonly values: ExtensionValues
  readonly publicKey: PublicKey
}

/** Throws `UnacceptableInput` for a malformed certificate, and for one whose key is weak or of an unsupported type. */
export function readPathCertificate(der: Uint8Array): PathCertificate {
  const certificate = parseCertificate(der)
  return {
    certificate,
    values: parseExtensionValues(certificate.extensions),
    publicKey: readPublicKey(certificate.subjectPublicKeyInfo),
  }
}

/** The leaf is first, the trusted CA last. */
export type CertificationPath = readonly PathCertificate[]

export interface FoundPaths {
  readonly paths: readonly CertificationPath[]
  /** Reason why there is none, for the server's log. */
  readonly problem: string
}

export interface PathTerms {
  /** Trusted CAs. They need not be self-signed. */
  readonly anchors: readonly PathCertificate[]
  /** Certificates that the client presented besides its own. */
  readonly intermediates: readonly PathCertificate[]
  readonly now: Instant
}

const maxLength = 10
const maxPaths = 8
/** A client chooses the certificates that are tried, so their number times the cost of a signature is bounded. */
const maxVerifications = 64

/** Returns the valid paths of a client's certificate. */
export function clientPaths(leaf: PathCertificate, { anchors, intermediates, now }: PathTerms): FoundPaths {
  const paths: CertificationPath[] = []
  let problem = "no trusted CA issued the certificate"
  let verifications = 0
  const hasSigned = (issuer: PathCertificate, subject: PathCertificate): boolean => {
    if (!mayHaveIssued(issuer, subject) || verifications >= maxVerifications) return false
    verifications += 1
    return isIssuedBy(subject, issuer)
  }
  const extend = (path: readonly PathCertificate[]): void => {
    const last = path.at(-1)
    if (last === undefined || path.length >= maxLength) return
    for (const anchor of anchors) {
      if (paths.length >= maxPaths || path.some((one) => isSame(one, anchor)) || !hasSigned(anchor, last)) continue
      const whole = [...path, anchor]
      const found = pathProblem(whole, now)
      if (found === undefined) paths.push(whole)
      else problem = found
    }
    for (const issuer of intermediates)
      if (paths.length < maxPaths && !path.some((one) => isSame(one, issuer)) && hasSigned(issuer, last))
        extend([...path, issuer])
  }
  extend([leaf])
  return { paths, problem }
}

export const isSame = (one: PathCertificate, other: PathCertificate): boolean =>
  Buffer.compare(one.certificate.der, other.certificate.der) === 0

/** Compares names and key identifiers, which is cheaper than a signature. */
function mayHaveIssued(issuer: PathCertificate, subject: PathCertificate): boolean {
  if (!sameName(issuer.certificate.subject, subject.certificate.issuer)) return false
  const { keyIdentifier } = subject.values.authorityKeyIdentifier ?? {}
  const { subjectKeyIdentifier } = issuer.values
  return (
    keyIdentifier === undefined ||
    subjectKeyIdentifier === undefined ||
    Buffer.compare(keyIdentifier, subjectKeyIdentifier) === 0
  )
}

/** Returns true if the issuer's key signed the certificate. Unsupported and broken algorithms count as not signed. */
export function isIssuedBy(subject: PathCertificate, issuer: PathCertificate): boolean {
  const { tbsCertificate: data, signatureAlgorithm: algorithm, signature } = subject.certificate
  try {
    return isSignedBy(issuer.publicKey, { data, algorithm, signature })
  } catch (error) {
    if (error instanceof UnacceptableInput) return false
    throw error
  }
}

/** Returns why a path whose signatures are valid does not verify. A path of one certificate is a leaf that is trusted itself. */
export function pathProblem(path: CertificationPath, now: Instant): string | undefined {
  for (const [at, one] of path.entries()) {
    const problem =
      ownProblem(one, now) ?? (at === 0 ? leafProblem(one) : (authorityProblem(one) ?? issuerProblem(path, at)))
    if (problem !== undefined) return `${describe(one)} ${problem}`
  }
  return undefined
}

const describe = ({ certificate }: PathCertificate): string =>
  `the certificate of "${formatName(certificate.subjectName)}"`

/** Extensions whose rules are applied here or do not restrict a path without policies. */
const processedExtensions: ReadonlySet<string> = new Set([
  oids.basicConstraints,
  oids.keyUsage,
  oids.extendedKeyUsage,
  oids.subjectAltName,
  oids.nameConstraints,
  oids.certificatePolicies,
  oids.crlDistributionPoints,
  oids.authorityKeyIdentifier,
  oids.subjectKeyIdentifier,
])

function ownProblem({ certificate, values }: PathCertificate, now: Instant): string | undefined {
  if (now < certificate.notBefore) return `is not valid before ${formatInstant(certificate.notBefore)}`
  // The validity includes its last second.
  if (now >= certificate.notAfter + secondMs) return `expired at ${formatInstant(certificate.notAfter)}`
  const unknown = certificate.extensions.find(({ oid, critical }) => critical && !processedExtensions.has(oid))
  if (unknown !== undefined) return `has the critical extension ${unknown.oid}, which is not supported`
  const { extendedKeyUsage: purposes } = values
  if (purposes !== undefined && !purposes.includes(oids.clientAuth) && !purposes.includes(oids.anyExtendedKeyUsage))
    return "has an extended key usage without clientAuth"
  return undefined
}

function leafProblem({ values: { keyUsage } }: PathCertificate): string | undefined {
  const canAuthenticate = keyUsage?.some((usage) => usage === "digitalSignature" || usage === "keyAgreement") ?? true
  return canAuthenticate ? undefined : "has a key usage with which no client authenticates"
}

function authorityProblem({ certificate, values }: PathCertificate): string | undefined {
  if (certificate.version !== 3 || values.basicConstraints?.isCa !== true) return "is not a CA certificate"
  if (values.keyUsage !== undefined && !values.keyUsage.includes("keyCertSign"))
    return "has a key usage without keyCertSign"
  return undefined
}

/** Returns the problem of a CA with the certificates below it. Self-issued ones are exempt (sections 6.1.3 and 6.1.4). */
function issuerProblem(path: CertificationPath, at: number): string | undefined {
  const { values } = path[at] as PathCertificate
  const below = path.slice(0, at)
  const counted = below.slice(1).filter((one) => !isSelfIssued(one))
  const { maxPathLength } = values.basicConstraints ?? {}
  if (maxPathLength !== undefined && counted.length > maxPathLength)
    return `allows ${maxPathLength} CAs below it, and the path has ${counted.length}`
  const { nameConstraints } = values
  if (nameConstraints === undefined) return undefined
  for (const [index, { certificate, values: subject }] of below.entries()) {
    if (index > 0 && isSelfIssued(below[index] as PathCertificate)) continue
    const names = constrainedNames({
      subject: certificate.subjectName,
      subjectDer: certificate.subject,
      subjectAltName: subject.subjectAltName ?? [],
      isCa: index > 0,
    })
    const [found] = constraintProblems(names, nameConstraints)
    if (found !== undefined) return `has name constraints that the path breaks: a name ${found.problem}`
  }
  return undefined
}

const isSelfIssued = ({ certificate }: PathCertificate): boolean => sameName(certificate.issuer, certificate.subject)
