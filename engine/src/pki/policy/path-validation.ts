// Rejects certificates that verifiers would reject because of the issuer or a certificate above it (RFC 5280, section 6.1). One path
// that verifies is enough. The expiry of the issuer is checked with the validity (`decideValidity`).
import { formatInstant, type Instant } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { Extension } from "../../x509/extension.ts"
import type { BasicConstraints } from "../../x509/extensions.ts"
import { formatName, sameName } from "../../x509/name.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import {
  type ConstrainedName,
  type ConstrainedNames,
  constrainedNames,
  constraintProblems,
  formatGeneralName,
} from "./name-constraints.ts"
import { shown, type Violation } from "./violation.ts"

/** Parts of the new certificate that verifiers check. */
export interface CertificateToVerify extends Omit<ConstrainedNames, "isCa"> {
  readonly basicConstraints: BasicConstraints | undefined
  /** Object identifiers. Empty: any purpose. */
  readonly extendedKeyUsage: readonly string[]
  readonly extensions: readonly Pick<Extension, "oid" | "critical">[]
}

export interface VerificationTerms {
  readonly now: Instant
  /** Returns the member of the request that contained a name. */
  readonly fieldOf: (name: ConstrainedName) => string
}

/** Member that faults of the issuer and its chain are reported for. */
export const issuerField = "issuerRef"

/**
 * Returns the violations of the certificate itself and, if no path verifies, of the preferred path. Undefined paths: the certificate
 * is self-signed.
 */
export function pathViolations(
  certificate: CertificateToVerify,
  paths: CertificationPaths | undefined,
  terms: VerificationTerms,
): readonly Violation[] {
  if (paths === undefined) return []
  const ownViolations = [...unnamedViolations(paths), ...criticalViolations(certificate, paths, terms)]
  const isConstrained = paths.paths.some((path) => path.some(({ values }) => values.nameConstraints !== undefined))
  const isCa = certificate.basicConstraints?.isCa === true
  const names = isConstrained ? constrainedNames({ ...certificate, isCa }) : []
  const found = paths.paths.map((path) => [
    ...pathLengthViolations(certificate, path, paths),
    ...pathViolationsOf(path, paths, terms),
    ...purposeViolations(certificate, path),
    ...nameViolations(names, path, paths, terms),
  ])
  const [preferred = []] = found
  const best = found.find((violations) => violations.length === 0) ?? preferred
  return [...ownViolations, ...best]
}

const ofIssuer = (rule: string, issuer: ParsedIssuer, message: string): Violation => ({
  rule,
  name: describeIssuer(issuer),
  field: [issuerField],
  message,
})

/** Describes a certificate by subject and serial number. */
export function describeIssuer({ parsed }: Pick<ParsedIssuer, "parsed">): string {
  const serial = Array.from(parsed.serialNumber, (octet) => octet.toString(16).padStart(2, "0")).join(":")
  return `the certificate of "${shown(formatName(parsed.subjectName))}" (serial number ${serial})`
}

function unnamedViolations({ unnamed, settings }: CertificationPaths): readonly Violation[] {
  if (settings.disableNameChecks) return []
  return unnamed.map((issuer) =>
    ofIssuer(
      "chainNamesMatch",
      issuer,
      `${describeIssuer(issuer)} in manual_chain has signed a certificate that names another issuer; leave it out, or set disable_name_checks`,
    ),
  )
}

/** Extensions that common verifiers process when they are critical (`X509_supported_extension` of OpenSSL). */
const processedExtensions: ReadonlySet<string> = new Set([
  oids.basicConstraints,
  oids.keyUsage,
  oids.extendedKeyUsage,
  oids.subjectAltName,
  oids.nameConstraints,
  oids.certificatePolicies,
  oids.policyMappings,
  oids.policyConstraints,
  oids.inhibitAnyPolicy,
  oids.crlDistributionPoints,
  oids.authorityKeyIdentifier,
  oids.subjectKeyIdentifier,
  oids.ocspNoCheck,
])

const unprocessed = (extensions: CertificateToVerify["extensions"]): readonly string[] =>
  extensions.filter(({ oid, critical }) => critical && !processedExtensions.has(oid)).map(({ oid }) => oid)

function criticalViolations(
  { extensions }: CertificateToVerify,
  { settings }: CertificationPaths,
  { fieldOf }: VerificationTerms,
): readonly Violation[] {
  if (settings.disableCriticalExtensionChecks) return []
  return unprocessed(extensions).map((oid) => ({
    rule: "criticalExtensionsAreProcessed",
    name: oid,
    field: [fieldOf({ name: { kind: "registered-id", oid }, source: "subject" })],
    message: `the critical extension ${oid} is not processed by verifiers; leave it out, or set disable_critical_extension_checks of the issuer`,
  }))
}

/** Returns violations of the certificates that the mount has already. */
function pathViolationsOf(
  path: readonly ParsedIssuer[],
  { settings }: CertificationPaths,
  { now }: VerificationTerms,
): readonly Violation[] {
  return path.flatMap((issuer, at) => {
    const { parsed, values } = issuer
    const violations: Violation[] = []
    if (parsed.notBefore > now)
      violations.push(
        ofIssuer(
          "issuerHasBegun",
          issuer,
          `${describeIssuer(issuer)} is not valid before ${formatInstant(parsed.notBefore).replace(".000Z", "Z")}`,
        ),
      )
    if (values.keyUsage !== undefined && !values.keyUsage.includes("keyCertSign"))
      violations.push(
        ofIssuer(
          "issuerMaySign",
          issuer,
          `${describeIssuer(issuer)} has a key usage without keyCertSign, so no certificate below it verifies`,
        ),
      )
    if (!settings.disableCriticalExtensionChecks)
      for (const oid of unprocessed(parsed.extensions))
        violations.push(
          ofIssuer(
            "criticalExtensionsAreProcessed",
            issuer,
            `${describeIssuer(issuer)} has the critical extension ${oid}, which verifiers do not process; set disable_critical_extension_checks of the issuer to allow it`,
          ),
        )
    if (!settings.disableNameConstraintChecks && !isSelfIssued(issuer))
      violations.push(...issuerNameViolations(issuer, path.slice(at + 1)))
    return violations
  })
}

/** Self-issued certificates are exempt from name constraints and path lengths (RFC 5280, sections 6.1.3 and 6.1.4). */
const isSelfIssued = ({ parsed }: ParsedIssuer): boolean => sameName(parsed.issuer, parsed.subject)

function issuerNameViolations(issuer: ParsedIssuer, above: readonly ParsedIssuer[]): readonly Violation[] {
  const { parsed, values } = issuer
  if (above.every((constraining) => constraining.values.nameConstraints === undefined)) return []
  const names = constrainedNames({
    subject: parsed.subjectName,
    subjectDer: parsed.subject,
    subjectAltName: values.subjectAltName ?? [],
    isCa: true,
  })
  return above.flatMap((constraining) =>
    problemsUnder(constraining, names).map(({ problem, name }) =>
      ofIssuer(
        "nameConstraintsHold",
        issuer,
        `name ${shown(formatGeneralName(name))} of ${describeIssuer(issuer)} ${problem} of ${describeIssuer(constraining)}`,
      ),
    ),
  )
}

function problemsUnder({ values }: ParsedIssuer, names: readonly ConstrainedName[]) {
  const { nameConstraints } = values
  return nameConstraints === undefined ? [] : constraintProblems(names, nameConstraints)
}

function nameViolations(
  names: readonly ConstrainedName[],
  path: readonly ParsedIssuer[],
  { settings }: CertificationPaths,
  { fieldOf }: VerificationTerms,
): readonly Violation[] {
  if (settings.disableNameConstraintChecks) return []
  return path.flatMap((constraining) =>
    problemsUnder(constraining, names).map(({ problem, ...name }) => {
      const text = shown(formatGeneralName(name.name))
      const label = name.source === "subject-alternative-name" ? "subject alternate name" : `name of the subject`
      return {
        rule: "nameConstraintsHold",
        name: text,
        field: [fieldOf(name)],
        message: `${label} ${text} ${problem} of ${describeIssuer(constraining)}`,
      }
    }),
  )
}

/** Verifiers do not require this purpose in the issuer of an OCSP responder (RFC 6960, section 4.2.2.2). */
const unchainedPurposes: ReadonlySet<string> = new Set([oids.ocspSigning, oids.anyExtendedKeyUsage])
const serverGated: readonly string[] = [oids.microsoftServerGatedCrypto, oids.netscapeServerGatedCrypto]

function purposeViolations(
  { extendedKeyUsage, basicConstraints }: CertificateToVerify,
  path: readonly ParsedIssuer[],
): readonly Violation[] {
  return path.flatMap((issuer) => {
    const { extendedKeyUsage: allowed } = issuer.values
    if (allowed === undefined || allowed.includes(oids.anyExtendedKeyUsage)) return []
    const isAllowed = (purpose: string) =>
      unchainedPurposes.has(purpose) ||
      allowed.includes(purpose) ||
      (purpose === oids.serverAuth && serverGated.some((oid) => allowed.includes(oid)))
    const refused = extendedKeyUsage.filter((purpose) => !isAllowed(purpose))
    // The purposes of a CA are an upper bound. One that its issuer allows makes the CA usable.
    const isUsable = basicConstraints?.isCa === true && refused.length < extendedKeyUsage.length
    if (refused.length === 0 || isUsable) return []
    const message = `the extended key usage of ${describeIssuer(issuer)} (${allowed.map(describePurpose).join(", ")}) does not allow ${refused.map(describePurpose).join(", ")}`
    return [ofIssuer("purposesAreAllowed", issuer, message)]
  })
}

const purposeNames: ReadonlyMap<string, string> = new Map([
  [oids.serverAuth, "serverAuth"],
  [oids.clientAuth, "clientAuth"],
  [oids.codeSigning, "codeSigning"],
  [oids.emailProtection, "emailProtection"],
  [oids.timeStamping, "timeStamping"],
  [oids.ocspSigning, "OCSPSigning"],
  [oids.ipsecEndSystem, "ipsecEndSystem"],
  [oids.ipsecTunnel, "ipsecTunnel"],
  [oids.ipsecUser, "ipsecUser"],
])
const describePurpose = (oid: string): string => purposeNames.get(oid) ?? oid

export interface RemainingPathLength {
  /** Maximum number of CAs below the issuer. Negative: the path is too long already for the issuer. */
  readonly value: number
  /** Certificate with this limit. */
  readonly issuer: ParsedIssuer
}

/** Returns the remaining path length; undefined if nothing limits it. */
export function remainingPathLength(path: readonly ParsedIssuer[]): RemainingPathLength | undefined {
  let least: RemainingPathLength | undefined
  let below = 0
  for (const issuer of path) {
    const { maxPathLength } = issuer.values.basicConstraints ?? {}
    if (maxPathLength !== undefined && (least === undefined || maxPathLength - below < least.value))
      least = { value: maxPathLength - below, issuer }
    if (!isSelfIssued(issuer)) below += 1
  }
  return least
}

/** Returns the remaining length of the path with the most room; undefined if nothing limits it. */
export function longestRemainingPath({ paths, settings }: CertificationPaths): RemainingPathLength | undefined {
  if (settings.disablePathLengthChecks) return undefined
  const lengths = paths.map(remainingPathLength)
  if (lengths.includes(undefined)) return undefined
  return lengths
    .filter((length) => length !== undefined)
    .reduce((one, other) => (other.value > one.value ? other : one))
}

function pathLengthViolations(
  { basicConstraints }: CertificateToVerify,
  path: readonly ParsedIssuer[],
  { settings }: CertificationPaths,
): readonly Violation[] {
  if (settings.disablePathLengthChecks) return []
  const remaining = remainingPathLength(path)
  const needed = basicConstraints?.isCa === true ? 1 : 0
  if (remaining === undefined || remaining.value >= needed) return []
  return [ofIssuer("pathLengthIsAllowed", remaining.issuer, pathLengthMessage(remaining))]
}

export const pathLengthMessage = ({ value, issuer }: RemainingPathLength): string =>
  value === 0
    ? `signing certificate has a max path length of zero, and cannot issue further CA certificates: ${describeIssuer(issuer)} limits the path length to ${issuer.values.basicConstraints?.maxPathLength}`
    : `${describeIssuer(issuer)} limits the path length to ${issuer.values.basicConstraints?.maxPathLength}, which its path exceeds`
