// Approves requests and CSRs under a role. Only what this module approves is signed under a role.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import type { CertificatePolicy } from "../../x509/certificate-policies.ts"
import type { KeyUsage } from "../../x509/extensions.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { KeyAlgorithm, KeyType } from "../../x509/key-algorithm.ts"
import { type DistinguishedName, encodeName } from "../../x509/name.ts"
import {
  type CsrFacts,
  issueRequest,
  type IssueRequestInput,
  mergeRequest,
  type Requested,
} from "../issuance/issue-request.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import { decideValidity, type Validity, type ValidityRules, type ValidityTerms } from "../issuance/validity.ts"
import { toDnsName } from "../names/host-names.ts"
import { toMailbox } from "../names/email.ts"
import type { Identity } from "../names/identity-template.ts"
import { parseIpAddress } from "../names/ip-address.ts"
import { subjectOf } from "../names/subject.ts"
import type { PolicyIdentifier, Role } from "../roles/role.ts"
import { distinctNames, withoutRootDot } from "./alternative-names.ts"
import { type Application, commonNameAsName, keyToMake, violationsOf } from "./checks.ts"
import { fittingKeyUsages, parseExtendedKeyUsages, parseKeyUsages } from "./key-usage.ts"
import type { ConstrainedName } from "./name-constraints.ts"
import { namePolicy } from "./name-policy.ts"
import { approved, type Approved } from "./approved.ts"
import { pathViolations } from "./path-validation.ts"
import { rejectViolations } from "./violation.ts"

/** Content of a certificate that the policy of a role approved. Only `approve` creates it. */
export interface ApprovedRequest extends Approved {
  readonly subject: DistinguishedName
  /** Names without duplicates; critical if the subject is empty (RFC 5280, section 4.2.1.6). Empty: no such extension. */
  readonly subjectAltName: readonly GeneralName[]
  /** Algorithm of the key of the CSR, or of the key to generate. */
  readonly key: KeyAlgorithm
  /** Empty: no such extension. */
  readonly keyUsage: readonly KeyUsage[]
  /** Object identifiers; empty: no such extension. */
  readonly extendedKeyUsage: readonly string[]
  readonly policies: readonly CertificatePolicy[]
  /** Add basicConstraints with CA:FALSE. A certificate without the extension is no CA either. */
  readonly hasBasicConstraints: boolean
  readonly validity: Validity
  readonly warnings: readonly string[]
}

export interface IssuanceTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer"> {
  /** Undefined if no issuer is known yet. */
  readonly paths: CertificationPaths | undefined
  readonly role: Role
  /** Validity rules to use instead of the role's. */
  readonly rules?: ValidityRules
  /** Identity of the caller, if known. */
  readonly identity: Identity | undefined
}

/** Approves a request to issue, or a request to sign a CSR if `csr` is present. Throws `EngineError("invalid")` with all violations. */
export function approve(
  input: IssueRequestInput,
  csr: CsrFacts | undefined,
  { role, rules = role, identity, paths, ...terms }: IssuanceTerms,
): ApprovedRequest {
  const issue = issueRequest(input)
  const request = { ...issue, commonName: withoutRootDot(issue.commonName, role) }
  const merged = mergeRequest(request, csr, role)
  const { requested } = merged
  const application = { role, identity, namePolicy: namePolicy(role, identity), request, requested, csr }
  const decided = decideValidity(request, { ...terms, rules, beyondIssuer: "as-issuer-says" })
  rejectViolations([...merged.violations, ...violationsOf(application), ...decided.violations])
  const key = csr === undefined ? approvable(keyToMake(role, request)) : csr.key
  const subject = subjectOf({ ...role, ...requested })
  const subjectAltName = alternativeNames(application)
  const extendedKeyUsage = extendedKeyUsageOf(role)
  const verified = {
    subject,
    subjectAltName,
    extendedKeyUsage,
    basicConstraints: undefined,
    extensions: [],
    // Encoded on demand, because only constraints on directory names need it, which are rare.
    get subjectDer() {
      return encodeName(subject)
    },
  }
  rejectViolations(pathViolations(verified, paths, { now: terms.now, fieldOf: fieldOfName(application) }))
  return approved({
    subject,
    subjectAltName,
    key,
    keyUsage: fittingKeyUsages(keyUsageOf(role), key.type),
    extendedKeyUsage,
    policies: policiesOf(role),
    hasBasicConstraints: role.basicConstraintsValidForNonCa,
    validity: decided.validity,
    warnings: [...merged.warnings, ...decided.warnings, ...namelessWarning(requested, subjectAltName)],
  })
}

function alternativeNames(application: Application): readonly GeneralName[] {
  const { requested, role } = application
  const { dnsNames, emails, ips, uris, otherNames } = requested
  const ofCommonName = commonNameAsName(application)
  return distinctNames([
    ...(ofCommonName === undefined ? [] : [ofCommonName]),
    ...dnsNames.map((name) => ({ kind: "dns", value: approvable(toDnsName(name, role)) }) as const),
    ...emails.map((name) => ({ kind: "email", value: approvable(toMailbox(name)) }) as const),
    ...ips.map((ip) => ({ kind: "ip", octets: approvable(parseIpAddress(ip)) }) as const),
    ...uris.map((uri) => ({ kind: "uri", value: uri }) as const),
    ...otherNames.map(({ oid, value }) => ({ kind: "other", oid, value }) as const),
  ])
}

/** Returns the member of the request that contained a name. */
const fieldOfName =
  ({ request, requested }: Application) =>
  ({ name, source }: ConstrainedName): string => {
    const isCommonName =
      source !== "subject-alternative-name" || ("value" in name && name.value === requested.commonName)
    if (isCommonName) return requested.commonName === request.commonName ? "commonName" : "csr"
    return requested.source === "CSR" ? "csr" : fieldsOfKinds[name.kind]
  }

const fieldsOfKinds: Readonly<Record<GeneralName["kind"], keyof IssueRequestInput>> = {
  dns: "altNames",
  email: "altNames",
  ip: "ipSans",
  uri: "uriSans",
  other: "otherSans",
  directory: "commonName",
  "registered-id": "otherSans",
  unsupported: "otherSans",
}

/** Throws instead of leaving a value out silently. The checks rejected everything that no certificate can hold. */
function approvable<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("an approved value cannot be encoded in a certificate")
  return value
}

const policyOf = ({ oid, notice, cps }: PolicyIdentifier): CertificatePolicy => ({
  oid,
  cps: cps === undefined ? [] : [cps],
  notices: notice === undefined ? [] : [notice],
})

const keyUsageOf = memoizeByIdentity((role: Role) => parseKeyUsages(role.keyUsage).usages)

const policiesOf = memoizeByIdentity((role: Role) => role.policyIdentifiers.map(policyOf))

const extendedKeyUsageOf = memoizeByIdentity((role: Role): readonly string[] => {
  const flags: readonly (readonly [boolean, string])[] = [
    [role.serverFlag, "ServerAuth"],
    [role.clientFlag, "ClientAuth"],
    [role.codeSigningFlag, "CodeSigning"],
    [role.emailProtectionFlag, "EmailProtection"],
  ]
  const names = [...flags.filter(([isSet]) => isSet).map(([, name]) => name), ...role.extKeyUsage]
  return [...new Set([...parseExtendedKeyUsages(names).usages, ...role.extKeyUsageOids])]
})

/** Returns the usages that a role puts into certificates for such a key. Key usages are names, extended ones are object identifiers. */
export const usagesOfRole = (
  role: Role,
  keyType: KeyType,
): { readonly keyUsages: readonly KeyUsage[]; readonly extendedKeyUsages: readonly string[] } => ({
  keyUsages: fittingKeyUsages(keyUsageOf(role), keyType),
  extendedKeyUsages: extendedKeyUsageOf(role),
})

function namelessWarning({ commonName }: Requested, subjectAltName: readonly GeneralName[]): readonly string[] {
  const isNameless = commonName === "" && subjectAltName.length === 0
  return isNameless ? ["the certificate has neither a common name nor a subject alternative name"] : []
}
