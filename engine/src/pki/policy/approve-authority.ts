// Approves CA certificates for signing, by their own key or by an issuer above. Nothing else approves them.
import { oids } from "../../x509/asn1/oids.ts"
import type { Extension } from "../../x509/extension.ts"
import {
  basicConstraints,
  keyUsage,
  keyUsages,
  type KeyUsage,
  parseExtensionValues,
  subjectAltName,
} from "../../x509/extensions.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import { type DistinguishedName, encodeName } from "../../x509/name.ts"
import { nameConstraints } from "../../x509/name-constraints.ts"
import { type AuthorityRequest, authorityRequestDefaults } from "../issuance/authority-request.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import { decideValidity, rolelessRules, type Validity, type ValidityTerms } from "../issuance/validity.ts"
import { valuesOf } from "../names/subject.ts"
import { type AuthorityNames, authorityNames, fieldOfName, nameConstraintsOf, namesOfCsr } from "./authority-names.ts"
import { copiedExtensions, type CsrContent } from "./csr-extensions.ts"
import { signatureBitsProblem } from "./key-strength.ts"
import { fittingKeyUsages, parseKeyUsages, unfittingWarnings } from "./key-usage.ts"
import { approved, type Approved } from "./approved.ts"
import { describeIssuer, longestRemainingPath, pathLengthMessage, pathViolations } from "./path-validation.ts"
import { rejectViolations, type Violation, violation } from "./violation.ts"

export interface ApprovedAuthority extends Approved {
  readonly subject: DistinguishedName
  /** Name, DER: the subject, encoded as in the CSR if it comes from one. */
  readonly subjectDer: Uint8Array
  readonly subjectAltName: readonly GeneralName[]
  /** All extensions except those about the key and the issuer. */
  readonly extensions: readonly Extension[]
  /** Undefined: computed from the key. */
  readonly subjectKeyIdentifier: Uint8Array | undefined
  readonly validity: Validity
  readonly warnings: readonly string[]
}

export interface AuthorityTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer"> {
  /** Undefined for a self-signed certificate, and if no issuer is known yet. */
  readonly paths: CertificationPaths | undefined
  /** Type of the certified key. Key usages that do not fit it are left out. */
  readonly keyType: KeyType
  /** Apply the issuer's `leaf_not_after_behavior` to a CA that would outlive it. False: cut it unless that is `always_enforce_err`. */
  readonly enforceLeafNotAfterBehavior: boolean
  /**
   * Use the common name of the CSR if the request has none. It may be absent altogether if other values make up the subject, as in
   * Vault.
   */
  readonly isCommonNameOptional?: boolean
  /** Allow an empty subject. For CSRs: the CA that signs them may set the subject. */
  readonly mayBeNameless?: boolean
  /** Violations found before, which are reported with the others. */
  readonly violations?: readonly Violation[]
}

/** Approves a CA certificate. Throws `EngineError("invalid")` with all violations. */
export function approveAuthority(
  input: Partial<AuthorityRequest>,
  csr: CsrContent | undefined,
  terms: AuthorityTerms,
): ApprovedAuthority {
  const request = withCsrCommonName({ ...authorityRequestDefaults, ...input }, csr, terms)
  const names = namesFor(request, csr, terms)
  const constraints = nameConstraintsOf(request)
  const pathLength = pathLengthFor(request, terms)
  const skid = keyIdentifierOf(request)
  const decided = decideValidity(request, {
    ...terms,
    rules: { ...rolelessRules, notBeforeDurationMs: request.notBeforeDurationMs },
    beyondIssuer: terms.enforceLeafNotAfterBehavior ? "as-issuer-says" : "truncate",
  })
  rejectViolations([
    ...(terms.violations ?? []),
    ...names.violations,
    ...constraints.violations,
    ...pathLength.violations,
    ...skid.violations,
    ...settingViolations(request),
    ...decided.violations,
  ])
  const usedCsr = request.useCsrValues ? csr : undefined
  const hasConstraints = constraints.permitted.length + constraints.excluded.length > 0
  const copied = copiedExtensions(
    usedCsr?.extensions ?? [],
    new Set([...decidedHere, ...(hasConstraints ? [oids.nameConstraints] : [])]),
  )
  const usages = usagesFor(request, usedCsr, terms)
  const subjectDer = usedCsr?.subject ?? encodeName(names.subject)
  const extensions = [
    basicConstraints({ isCa: true, ...(pathLength.value === undefined ? {} : { maxPathLength: pathLength.value }) }),
    keyUsage(usages),
    ...(names.subjectAltName.length === 0 ? [] : [subjectAltName(names.subjectAltName, { critical: false })]),
    ...(hasConstraints ? [nameConstraints(constraints)] : []),
    ...copied.extensions,
  ]
  const { extendedKeyUsage = [], ...values } = parseExtensionValues(extensions)
  const verified = { ...names, subjectDer, extendedKeyUsage, basicConstraints: values.basicConstraints, extensions }
  rejectViolations(
    pathViolations(verified, terms.paths, {
      now: terms.now,
      fieldOf: ({ name, source }) => (usedCsr === undefined ? fieldOfName(name, source) : "csr"),
    }),
  )
  return approved({
    subject: names.subject,
    subjectDer,
    subjectAltName: names.subjectAltName,
    extensions,
    subjectKeyIdentifier: skid.value,
    validity: decided.validity,
    warnings: [
      ...copied.warnings,
      ...decided.warnings,
      ...pathLength.warnings,
      ...usageWarnings(request, usages, terms),
    ],
  })
}

interface Read<T> {
  readonly value: T
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
}

const read = <T>(value: T, warnings: readonly string[] = []): Read<T> => ({ value, violations: [], warnings })

/** Uses the common name of the CSR if the request needs none. Throws if the CSR has two, as a role does when it signs. */
function withCsrCommonName(
  request: AuthorityRequest,
  csr: CsrContent | undefined,
  { isCommonNameOptional = false }: AuthorityTerms,
): AuthorityRequest {
  if (!isCommonNameOptional || request.commonName !== "" || request.useCsrValues) return request
  const [commonName = "", second] = valuesOf(csr?.subjectName ?? [], oids.commonName)
  if (second !== undefined)
    rejectViolations([violation("subjectIsUnambiguous", "csr", second, "the CSR contains more than one common name")])
  return { ...request, commonName }
}

function namesFor(
  request: AuthorityRequest,
  csr: CsrContent | undefined,
  { mayBeNameless = false, isCommonNameOptional = false }: AuthorityTerms,
): AuthorityNames {
  const names = csr !== undefined && request.useCsrValues ? namesOfCsr(csr) : authorityNames(request)
  const isUnnamed = csr !== undefined && !request.useCsrValues && request.commonName === "" && !isCommonNameOptional
  const problem = isUnnamed
    ? '"common_name" is required unless "use_csr_values" is true'
    : names.subject.length === 0 && names.violations.length === 0 && !mayBeNameless
      ? 'a CA certificate must have a subject; set "common_name"'
      : undefined
  if (problem === undefined) return names
  const field = request.useCsrValues ? "csr" : "commonName"
  return { ...names, violations: [violation("subjectIsGiven", field, "", problem), ...names.violations] }
}

const maxPathLengthLimit = 0x7fff_ffff

function pathLengthFor({ maxPathLength }: AuthorityRequest, { paths }: AuthorityTerms): Read<number | undefined> {
  const remaining = paths && longestRemainingPath(paths)
  const issuerMaxPathLength = remaining?.value
  const refuse = (message: string): Read<undefined> => ({
    value: undefined,
    violations: [violation("pathLengthIsAllowed", "maxPathLength", `${maxPathLength}`, message)],
    warnings: [],
  })
  if (remaining !== undefined && remaining.value <= 0) return refuse(pathLengthMessage(remaining))
  if (!Number.isInteger(maxPathLength) || maxPathLength < -1 || maxPathLength > maxPathLengthLimit)
    return refuse('"max_path_length" must be -1, 0 or a positive integer')
  if (maxPathLength === -1) return read(issuerMaxPathLength === undefined ? undefined : issuerMaxPathLength - 1)
  if (remaining !== undefined && maxPathLength >= remaining.value)
    return refuse(
      `"max_path_length" ${maxPathLength} must be less than ${issuerMaxPathLength}, the limit of ${describeIssuer(remaining.issuer)}`,
    )
  const warning = "Max path length of the generated certificate is zero, so it cannot be used to sign intermediate CAs."
  return read(maxPathLength, maxPathLength === 0 ? [warning] : [])
}

const maxKeyIdentifierOctets = 64

/** Parses the key identifier. Tools print it with colons, hyphens or spaces. */
function keyIdentifierOf({ skid }: AuthorityRequest): Read<Uint8Array | undefined> {
  if (skid === "") return read(undefined)
  const digits = skid.replaceAll(/[:\- ]/g, "")
  if (/^(?:[0-9a-f]{2})+$/i.test(digits) && digits.length <= 2 * maxKeyIdentifierOctets)
    return read(Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)))
  const message = `"skid" must be at most ${maxKeyIdentifierOctets} octets in hexadecimal`
  return {
    value: undefined,
    violations: [violation("keyIdentifierIsHexadecimal", "skid", skid, message)],
    warnings: [],
  }
}

function settingViolations({ signatureBits, notBeforeDurationMs }: AuthorityRequest): readonly Violation[] {
  const problem = signatureBitsProblem(signatureBits)
  const negative = '"not_before_duration" must not be negative'
  return [
    ...(problem === undefined
      ? []
      : [violation("signatureBitsAreKnown", "signatureBits", `${signatureBits}`, problem)]),
    ...(notBeforeDurationMs >= 0
      ? []
      : [violation("backdatingIsPositive", "notBeforeDurationMs", `${notBeforeDurationMs}`, negative)]),
  ]
}

/**
 * Usages of every CA certificate: it signs certificates, CRLs, and OCSP responses, which need digitalSignature (RFC 6960, section
 * 4.2.2.2).
 */
const authorityUsages: readonly KeyUsage[] = ["digitalSignature", "keyCertSign", "cRLSign"]

function usagesFor(
  request: AuthorityRequest,
  csr: CsrContent | undefined,
  { keyType }: AuthorityTerms,
): readonly KeyUsage[] {
  const named = parseKeyUsages(request.keyUsage).usages
  // Usages that the CSR requests stay (docs/decisions/default-key-usages.md).
  const requested = new Set([
    ...authorityUsages,
    ...fittingKeyUsages(named, keyType),
    ...(csr?.extensionValues.keyUsage ?? []),
  ])
  return keyUsages.filter((usage) => requested.has(usage))
}

const usageWarnings = (
  { keyUsage }: AuthorityRequest,
  granted: readonly KeyUsage[],
  { keyType }: AuthorityTerms,
): readonly string[] => [
  ...parseKeyUsages(keyUsage).unknown.map((name) => `"key_usage" ${name} is not known and is ignored`),
  ...unfittingWarnings(keyUsage, granted, keyType),
]

/** Extensions that the request or the key determines, not the CSR. */
const decidedHere: readonly string[] = [
  oids.basicConstraints,
  oids.keyUsage,
  oids.subjectAltName,
  oids.subjectKeyIdentifier,
]
