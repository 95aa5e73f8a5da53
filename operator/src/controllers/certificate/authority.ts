// Certificates of certificate authorities: from the spec to a request, compared with an issued certificate, and checked along their chain.
import {
  formatIpAddress,
  type NameConstraintLists,
  nameConstraintsOf,
  type SignIntermediateInput,
} from "@chancery/engine"
import {
  type Certificate,
  type ExtensionValues,
  isSignedBy,
  type NameConstraints,
  nameConstraints,
  parseCertificate,
  parseExtensionValues,
  parseNameConstraints,
  readPublicKey,
  type Subtree,
  UnacceptableInput,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { Difference } from "./difference.ts"

type AuthoritySpec = Pick<CertificateSpec, "isCA" | "maxPathLength" | "nameConstraints">

const listsOf = ({ permitted = {}, excluded = {} }: NonNullable<AuthoritySpec["nameConstraints"]> = {}) =>
  ({
    permittedDnsDomains: permitted.dnsDomains ?? [],
    excludedDnsDomains: excluded.dnsDomains ?? [],
    permittedEmailAddresses: permitted.emailAddresses ?? [],
    excludedEmailAddresses: excluded.emailAddresses ?? [],
    permittedIpRanges: permitted.ipRanges ?? [],
    excludedIpRanges: excluded.ipRanges ?? [],
    permittedUriDomains: permitted.uriDomains ?? [],
    excludedUriDomains: excluded.uriDomains ?? [],
  }) satisfies NameConstraintLists

/** Returns the subject and the constraints as parameters of the API. */
export const authorityInput = (
  spec: AuthoritySpec & Pick<CertificateSpec, "subject">,
): Partial<Omit<SignIntermediateInput, "csr">> => ({
  country: spec.subject?.countries ?? [],
  organization: spec.subject?.organizations ?? [],
  ou: spec.subject?.organizationalUnits ?? [],
  locality: spec.subject?.localities ?? [],
  province: spec.subject?.provinces ?? [],
  streetAddress: spec.subject?.streetAddresses ?? [],
  postalCode: spec.subject?.postalCodes ?? [],
  ...listsOf(spec.nameConstraints),
  ...(spec.maxPathLength === undefined ? {} : { maxPathLength: spec.maxPathLength }),
})

/** Returns the differences of an issued certificate. Without `maxPathLength` in the spec, any path length counts as correct. */
export function authorityDifferences(
  { isCA, maxPathLength, nameConstraints: constraints }: AuthoritySpec,
  values: ExtensionValues,
): readonly Difference[] {
  const found = values.basicConstraints
  const isWhole = found?.isCa === true
  if (isWhole !== isCA) return [{ field: "isCA", wanted: [String(isCA)], found: [String(isWhole)] }]
  if (!isCA) return []
  const pathLength = found?.maxPathLength === undefined ? [] : [String(found.maxPathLength)]
  const [wanted, present] = [textsOf(wantedConstraints(constraints)), textsOf(values.nameConstraints)]
  return [
    ...(maxPathLength === undefined || found?.maxPathLength === maxPathLength
      ? []
      : [{ field: "maxPathLength", wanted: [String(maxPathLength)], found: pathLength }]),
    ...(wanted.every((text) => present.includes(text)) && present.every((text) => wanted.includes(text))
      ? []
      : [{ field: "nameConstraints", wanted, found: present }]),
  ]
}

/** Returns the constraints as a certificate has them: host names as A-labels, IP ranges without host bits. */
function wantedConstraints(spec: AuthoritySpec["nameConstraints"]): NameConstraints | undefined {
  const { permitted, excluded } = nameConstraintsOf(listsOf(spec))
  return permitted.length + excluded.length === 0
    ? undefined
    : parseNameConstraints(nameConstraints({ permitted, excluded }).value)
}

const textsOf = ({ permitted, excluded }: NameConstraints = { permitted: [], excluded: [] }): readonly string[] => [
  ...permitted.map((subtree) => `permitted ${textOf(subtree)}`),
  ...excluded.map((subtree) => `excluded ${textOf(subtree)}`),
]

function textOf(subtree: Subtree): string {
  if (subtree.kind === "ip") return `IP ${formatIpAddress(subtree.octets)}/${subtree.prefixBits}`
  return `${subtree.kind} ${"value" in subtree ? subtree.value : ""}`
}

/**
 * Returns the problem of the path from a new authority upward, as the end of a sentence; undefined if there is none. The engine checks the
 * path before it signs, but other servers of this API may not.
 */
export function pathProblem(chain: readonly Uint8Array[], authorities: readonly Uint8Array[]): string | undefined {
  try {
    const [first, ...others] = [...chain, ...authorities].map((der) => parseCertificate(der))
    const unused = new Set(others)
    let current = first
    for (let below = 0; current !== undefined && !isSelfIssued(current); below += 1) {
      const above: Certificate | undefined = [...unused].find(
        (each) => current !== undefined && hasSigned(each, current),
      )
      if (above === undefined) return below === 0 ? "its chain does not contain its issuer" : undefined
      const problem = issuerProblem(above, below)
      if (problem !== undefined) return problem
      unused.delete(above)
      current = above
    }
    return undefined
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return "its chain is malformed"
  }
}

const isSelfIssued = ({ issuer, subject }: Certificate): boolean => Buffer.compare(issuer, subject) === 0

function hasSigned(issuer: Certificate, certificate: Certificate): boolean {
  if (Buffer.compare(certificate.issuer, issuer.subject) !== 0) return false
  const { tbsCertificate: data, signatureAlgorithm: algorithm, signature } = certificate
  return isSignedBy(readPublicKey(issuer.subjectPublicKeyInfo), { data, algorithm, signature })
}

/** `below` is the number of authorities between the issuer and the new one, which itself counts toward the path length too. */
function issuerProblem({ extensions }: Certificate, below: number): string | undefined {
  const { basicConstraints } = parseExtensionValues(extensions)
  if (basicConstraints?.isCa !== true) return "its issuer is no certificate authority"
  return basicConstraints.maxPathLength !== undefined && basicConstraints.maxPathLength < below + 1
    ? "the path length of its issuer does not allow it"
    : undefined
}
