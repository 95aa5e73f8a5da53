// Approves a CSR for sign-verbatim. Names and extensions are the CSR's own; the policy checks that the CSR requests no CA certificate,
// and bounds the validity. Nothing else approves a CSR verbatim.
import { oids } from "../../x509/asn1/oids.ts"
import { encodeOidContent } from "../../x509/asn1/oid.ts"
import { type Extension, findExtension } from "../../x509/extension.ts"
import {
  basicConstraints as basicConstraintsExtension,
  extendedKeyUsage,
  keyUsage,
  parseExtensionValues,
} from "../../x509/extensions.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import { type DistinguishedName, encodeName } from "../../x509/name.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import {
  decideValidity,
  rolelessRules,
  type Validity,
  type ValidityRequest,
  type ValidityRules,
  type ValidityTerms,
} from "../issuance/validity.ts"
import { subjectMaxima, subjectTextProblem } from "../names/subject.ts"
import { type Role, roleDefaults } from "../roles/role.ts"
import { metadataProblem } from "./checks.ts"
import { copiedExtensions, type CsrContent } from "./csr-extensions.ts"
import { signatureBitsProblem } from "./key-strength.ts"
import { fittingKeyUsages, parseExtendedKeyUsages, parseKeyUsages, unfittingWarnings } from "./key-usage.ts"
import { approved, type Approved } from "./approved.ts"
import { pathViolations } from "./path-validation.ts"
import { rejectViolations, shown, type Violation, violation } from "./violation.ts"

export interface VerbatimRequest extends ValidityRequest {
  /** Names of key usages, used if the CSR requests none. Likewise for extended key usages. */
  readonly keyUsage: readonly string[]
  readonly extKeyUsage: readonly string[]
  readonly extKeyUsageOids: readonly string[]
  /** User ids to add to the subject. */
  readonly userIds: readonly string[]
  readonly certMetadata: string
  readonly signatureBits: number
  /** Add basicConstraints with CA:FALSE. A role may also require it. */
  readonly basicConstraintsValidForNonCa: boolean
}

const requestDefaults: VerbatimRequest = {
  ttlMs: 0,
  notBefore: null,
  notAfter: null,
  keyUsage: roleDefaults.keyUsage,
  extKeyUsage: [],
  extKeyUsageOids: [],
  userIds: [],
  certMetadata: "",
  signatureBits: 0,
  basicConstraintsValidForNonCa: false,
}

export interface ApprovedVerbatim extends Approved {
  readonly subject: DistinguishedName
  /** Name, DER. It is the CSR's own encoding if no user ids are added. */
  readonly subjectDer: Uint8Array
  readonly subjectAltName: readonly GeneralName[]
  /** All extensions except those about the issuer, and the subject key identifier if the CSR has none. */
  readonly extensions: readonly Extension[]
  readonly validity: Validity
  readonly warnings: readonly string[]
}

export interface VerbatimTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer"> {
  /** Undefined if no issuer is known yet. */
  readonly paths: CertificationPaths | undefined
  /** Role whose validity rules, basicConstraints and storage settings apply. Its rules for names and usages do not. */
  readonly role: Role | undefined
  readonly keyType: KeyType
  /**
   * Apply the issuer's `leaf_not_after_behavior` to a certificate that would outlive it. False: cut it unless that is
   * `always_enforce_err`.
   */
  readonly enforceLeafNotAfterBehavior: boolean
}

/** Approves a CSR. Throws `EngineError("invalid")` with all violations. */
export function approveVerbatim(
  input: Partial<VerbatimRequest>,
  csr: CsrContent,
  { role, keyType, enforceLeafNotAfterBehavior, paths, ...terms }: VerbatimTerms,
): ApprovedVerbatim {
  const request: VerbatimRequest = { ...requestDefaults, ...input }
  const decided = decideValidity(request, {
    ...terms,
    rules: rulesOf(role),
    beyondIssuer: enforceLeafNotAfterBehavior ? "as-issuer-says" : "truncate",
  })
  rejectViolations([...verbatimChecks.flatMap((check) => check({ request, csr, role })), ...decided.violations])
  const subject = [...csr.subjectName, ...request.userIds.map((value) => [{ type: oids.userId, value }])]
  const hasCaFalse = request.basicConstraintsValidForNonCa || role?.basicConstraintsValidForNonCa === true
  const copied = copiedExtensions(csr.extensions, hasCaFalse ? constrained : none)
  const usages = defaultUsages(request, csr, keyType, input.keyUsage ?? [])
  const subjectDer = request.userIds.length === 0 ? csr.subject : encodeName(subject)
  const subjectAltName = csr.extensionValues.subjectAltName ?? []
  const extensions = [
    ...(hasCaFalse ? [basicConstraintsExtension({ isCa: false })] : []),
    ...copied.extensions.map((extension) => criticalIfNeeded(extension, subject)),
    ...usages.extensions,
  ]
  const { extendedKeyUsage: purposes = [], basicConstraints } = parseExtensionValues(extensions)
  rejectViolations(
    pathViolations(
      { subject, subjectDer, subjectAltName, extendedKeyUsage: purposes, basicConstraints, extensions },
      paths,
      { now: terms.now, fieldOf: () => "csr" },
    ),
  )
  return approved({
    subject,
    subjectDer,
    subjectAltName,
    extensions,
    validity: decided.validity,
    warnings: [...copied.warnings, ...usages.warnings, ...decided.warnings],
  })
}

/**
 * Returns the validity rules of the role, without its fixed `not_before` and `not_after`: these are for certificates whose names it
 * checks.
 */
const rulesOf = (role: Role | undefined): ValidityRules =>
  role === undefined ? { ...rolelessRules, notBeforeBound: "duration" } : { ...role, notBefore: null, notAfter: null }

const none: ReadonlySet<string> = new Set()
const constrained: ReadonlySet<string> = new Set([oids.basicConstraints])

interface VerbatimApplication {
  readonly request: VerbatimRequest
  readonly csr: CsrContent
  readonly role: Role | undefined
}

const verbatimChecks: readonly ((application: VerbatimApplication) => readonly Violation[])[] = [
  noAuthorityIsAskedFor,
  subjectOrNameIsGiven,
  userIdsAreText,
  purposesAreObjectIdentifiers,
  metadataIsKept,
  signatureBitsAreKnown,
]

function noAuthorityIsAskedFor({ csr }: VerbatimApplication): readonly Violation[] {
  const { basicConstraints, keyUsage = [], nameConstraints } = csr.extensionValues
  const requested = basicConstraints?.isCa
    ? "Basic Constraints of a CA"
    : keyUsage.includes("keyCertSign")
      ? "the key usage CertSign"
      : nameConstraints === undefined
        ? undefined
        : "Name Constraints"
  if (requested === undefined) return []
  const message = `the CSR requests ${requested}, and sign-verbatim refuses to issue an intermediate CA certificate`
  return [violation("noAuthorityIsAskedFor", "csr", requested, message)]
}

/** A certificate with an empty subject needs an alternative name (RFC 5280, section 4.1.2.6). */
function subjectOrNameIsGiven({ request, csr }: VerbatimApplication): readonly Violation[] {
  const isGiven =
    csr.subjectName.length > 0 || request.userIds.length > 0 || csr.extensionValues.subjectAltName !== undefined
  const message = "the CSR has neither a subject nor a subject alternative name; a certificate requires one of them"
  return isGiven ? [] : [violation("subjectOrNameIsGiven", "csr", "", message)]
}

/** Checks only the text of user ids, not whether a role allows them. */
function userIdsAreText({ request }: VerbatimApplication): readonly Violation[] {
  return request.userIds.flatMap((userId) => {
    const problem = userId === "" ? "must not be empty" : subjectTextProblem(userId, subjectMaxima.userId)
    return problem === undefined
      ? []
      : [violation("userIdsAreText", "userIds", userId, `user_id ${shown(userId)} ${problem}`)]
  })
}

function purposesAreObjectIdentifiers({ request }: VerbatimApplication): readonly Violation[] {
  return request.extKeyUsageOids
    .filter((oid) => encodeOidContent(oid) === undefined)
    .map((oid) => {
      const message = `"${shown(oid)}" could not be parsed as a valid oid for an extended key usage`
      return violation("purposesAreObjectIdentifiers", "extKeyUsageOids", oid, message)
    })
}

function metadataIsKept({ request, role }: VerbatimApplication): readonly Violation[] {
  const { certMetadata } = request
  if (certMetadata === "") return []
  const problem = role === undefined ? "must not be given without a role" : metadataProblem(certMetadata, role)
  return problem === undefined
    ? []
    : [violation("metadataIsKept", "certMetadata", shown(certMetadata), `"cert_metadata" ${problem}`)]
}

function signatureBitsAreKnown({ request }: VerbatimApplication): readonly Violation[] {
  const problem = signatureBitsProblem(request.signatureBits)
  return problem === undefined
    ? []
    : [violation("signatureBitsAreKnown", "signatureBits", `${request.signatureBits}`, problem)]
}

/** Returns the default usages that fit the key. Usages of the CSR stay in any case (docs/decisions/default-key-usages.md). */
function defaultUsages(
  request: VerbatimRequest,
  { extensions }: CsrContent,
  keyType: KeyType,
  named: readonly string[],
) {
  const requestedUsages = parseKeyUsages(request.keyUsage)
  const purposes = parseExtendedKeyUsages(request.extKeyUsage)
  const isFree = (oid: string) => findExtension(extensions, oid) === undefined
  const usages = isFree(oids.keyUsage) ? fittingKeyUsages(requestedUsages.usages, keyType) : []
  const oidsOfPurposes = isFree(oids.extendedKeyUsage)
    ? [...new Set([...purposes.usages, ...request.extKeyUsageOids])]
    : []
  return {
    extensions: [
      ...(usages.length === 0 ? [] : [keyUsage(usages)]),
      ...(oidsOfPurposes.length === 0 ? [] : [extendedKeyUsage(oidsOfPurposes)]),
    ],
    warnings: [
      ...requestedUsages.unknown.map((name) => `"key_usage" ${shown(name)} is not known and is ignored`),
      ...(isFree(oids.keyUsage) ? unfittingWarnings(named, usages, keyType) : []),
      ...purposes.unknown.map((name) => `"ext_key_usage" ${shown(name)} is not known and is ignored`),
    ],
  }
}

/** Marks the alternative names as critical if the subject is empty (RFC 5280, section 4.2.1.6). */
const criticalIfNeeded = (extension: Extension, subject: DistinguishedName): Extension =>
  extension.oid === oids.subjectAltName && subject.length === 0 ? { ...extension, critical: true } : extension
