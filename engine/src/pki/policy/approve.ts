// The one place that lets a certificate be issued under a role: what it hands out is the pass without which nothing is signed.
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

/** What a certificate is to say, by the policy of a role. Only `approve` makes one. */
export interface ApprovedRequest extends Approved {
  readonly subject: DistinguishedName
  /** Each once; critical where the subject is empty (RFC 5280, section 4.2.1.6). Empty: no such extension. */
  readonly subjectAltName: readonly GeneralName[]
  /** Of the CSR, or to be made. */
  readonly key: KeyAlgorithm
  /** Empty: no such extension. */
  readonly keyUsage: readonly KeyUsage[]
  /** Object identifiers; empty: no such extension. */
  readonly extendedKeyUsage: readonly string[]
  readonly policies: readonly CertificatePolicy[]
  /** Whether to say that this is no CA, which every certificate without the extension says as well. */
  readonly hasBasicConstraints: boolean
  readonly validity: Validity
  readonly warnings: readonly string[]
}

export interface IssuanceTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer"> {
  /** Undefined where no issuer is known yet. */
  readonly paths: CertificationPaths | undefined
  readonly role: Role
  /** In the place of what the role says about it. */
  readonly rules?: ValidityRules
  /** Of whoever asks, where anything is known of them. */
  readonly identity: Identity | undefined
}

/** To issue, or with the facts of a CSR to sign. Throws `EngineError("invalid")` with everything that the role does not allow. */
export function approve(
  input: IssueRequestInput,
  csr: CsrFacts | undefined,
  { role, rules = role, identity, paths, ...terms }: IssuanceTerms,
): ApprovedRequest {
  const asked = issueRequest(input)
  const request = { ...asked, commonName: withoutRootDot(asked.commonName, role) }
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
    // Encoded for constraints on directory names alone, which are rare.
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

/** Returns the member of the request that a name came in. */
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

/** To leave out what no certificate can hold would be to drop it in silence; the checks let nothing like it pass. */
function approvable<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("something was approved that no certificate can hold")
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

/** Returns the usages that a role puts into certificates for such a key: names, and object identifiers of extended ones. */
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
