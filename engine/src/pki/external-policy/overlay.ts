// Applies the certificate template of an external policy service. Its signature is ignored. Fields that depend on the actual issuer
// are replaced: serial number, issuer, authority key identifier, and the URLs of revocation lists and responders. The rest is copied
// or rejected: what is signed must conform to RFC 5280, even if the service wrote it.
import { EngineError, type Fault } from "../../core/errors.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { rejectMalformed } from "../../x509/asn1/reader.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { type Extension, findExtension } from "../../x509/extension.ts"
import {
  basicConstraints,
  type ExtensionValues,
  parseExtensionValues,
  subjectKeyIdentifier,
} from "../../x509/extensions.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { nameViolations } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { type PublicKey, subjectKeyIdentifier as keyIdentifierOf } from "../../x509/public-key.ts"
import { readSignatureAlgorithm, type SignatureChoice } from "../../x509/signature-algorithm.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { ApprovedContent } from "../issuance/certify.ts"
import { decideValidity, rolelessRules, type Validity, type ValidityTerms } from "../issuance/validity.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import { approved } from "../policy/approved.ts"
import { longestRemainingPath, pathViolations } from "../policy/path-validation.ts"
import { rejectViolations } from "../policy/violation.ts"
import type { IssuanceMode } from "./external-policy.ts"

/** Parsed template. */
export interface PolicyTemplate {
  readonly certificate: Certificate
  readonly values: ExtensionValues
}

/** Maximum length of the PEM text in characters, as for other certificates. */
const maxTemplateLength = 64 * 1024

/** Parses one PEM certificate. Throws `unprocessable` with the reason if that fails. */
export function readPolicyTemplate(text: string): PolicyTemplate {
  try {
    const blocks = readPem(text, maxTemplateLength)
    const [block] = blocks
    if (block?.label !== "CERTIFICATE" || blocks.length !== 1)
      throw new UnacceptableInput(`expected one PEM certificate; got ${blocks.length} PEM blocks`)
    const certificate = parseCertificate(block.bytes)
    for (const { oid, value } of certificate.extensions) rejectMalformed(value, `extension ${oid}`)
    return { certificate, values: parseExtensionValues(certificate.extensions) }
  } catch (error) {
    if (error instanceof UnacceptableInput) throw refused([error.message])
    throw error
  }
}

export interface OverlayTerms {
  readonly mode: IssuanceMode
  /** Key of the request. */
  readonly publicKey: PublicKey
  readonly paths: CertificationPaths
  readonly validity: Omit<ValidityTerms, "rules" | "beyondIssuer">
}

/** Approved content of a template, ready for signing. */
export interface ApprovedTemplate {
  readonly content: ApprovedContent
  readonly validity: Validity
  readonly warnings: readonly string[]
}

/**
 * Approves a template. Throws `unprocessable` with a sentence for each rule that it breaks, and `invalid` if its validity is
 * impossible.
 */
export function overlay(template: PolicyTemplate, terms: OverlayTerms): ApprovedTemplate {
  const problems = rules.flatMap((rule) => rule(template, terms))
  if (problems.length > 0) throw refused(problems)
  const { certificate } = template
  const { notBefore, notAfter } = certificate
  const { validity, violations, warnings } = decideValidity(
    { ttlMs: 0, notBefore, notAfter },
    { ...terms.validity, rules: rolelessRules, beyondIssuer: "as-issuer-says" },
  )
  rejectViolations(violations)
  const copied = certificate.extensions.filter(({ oid }) => !replacedExtensions.has(oid))
  const content = approved({
    ...validity,
    subject: certificate.subject,
    publicKey: terms.publicKey.spki,
    extensions: withKeyIdentifier(
      copied.map((extension) => limited(extension, template, terms)),
      terms.publicKey,
    ),
  })
  return { content, validity, warnings }
}

const replacedExtensions: ReadonlySet<string> = new Set([
  oids.authorityKeyIdentifier,
  oids.authorityInfoAccess,
  oids.crlDistributionPoints,
  oids.freshestCrl,
])

/** Adds the subject key identifier if it is missing, because certification paths are built with it (RFC 5280, section 4.2.1.2). */
const withKeyIdentifier = (extensions: readonly Extension[], key: PublicKey): readonly Extension[] =>
  findExtension(extensions, oids.subjectKeyIdentifier) === undefined
    ? [...extensions, subjectKeyIdentifier(keyIdentifierOf(key))]
    : extensions

/** Adds the path length that the issuer allows to an intermediate without one (RFC 5280, section 4.2.1.9). */
function limited(extension: Extension, { values }: PolicyTemplate, { mode, paths }: OverlayTerms): Extension {
  const longest = longestRemainingPath(paths)?.value
  if (mode !== "ica" || extension.oid !== oids.basicConstraints || longest === undefined) return extension
  return values.basicConstraints?.maxPathLength === undefined
    ? basicConstraints({ isCa: true, maxPathLength: longest - 1 })
    : extension
}

/** Returns the problems of a template. */
type Rule = (template: PolicyTemplate, terms: OverlayTerms) => readonly string[]

const keyIsTheRequests: Rule = ({ certificate }, { publicKey }) =>
  Buffer.compare(certificate.subjectPublicKeyInfo, publicKey.spki) === 0
    ? []
    : ["its public key differs from that of the request"]

const subjectCanBeWritten: Rule = ({ certificate }) => nameViolations(certificate.subjectName)

/** Requires a subject, or critical alternative names (RFC 5280, sections 4.1.2.6 and 4.2.1.6). */
const subjectIsSomewhere: Rule = ({ certificate }, { mode }) => {
  if (certificate.subjectName.length > 0) return []
  if (mode === "ica") return ["a CA certificate must have a subject"]
  const names = findExtension(certificate.extensions, oids.subjectAltName)
  return names?.critical === true ? [] : ["without a subject, it must have critical subject alternative names"]
}

/** Rejects CA extensions in a leaf certificate (RFC 5280, sections 4.2.1.9, 4.2.1.3 and 4.2.1.10). */
const leafIsNoAuthority: Rule = ({ values }, { mode }) => {
  if (mode === "ica") return []
  const problems: string[] = []
  if (values.basicConstraints?.isCa === true) problems.push("it must not be a CA certificate; use sign-intermediate")
  else if (values.keyUsage?.includes("keyCertSign") === true)
    problems.push("only a CA certificate may have the key usage keyCertSign")
  if (values.nameConstraints !== undefined) problems.push("only a CA certificate may have name constraints")
  return problems
}

const intermediateIsAuthority: Rule = ({ certificate, values }, { mode, paths }) => {
  if (mode !== "ica") return []
  if (values.basicConstraints?.isCa !== true) return ["it must be a CA certificate"]
  const problems: string[] = []
  if (findExtension(certificate.extensions, oids.basicConstraints)?.critical !== true)
    problems.push("its basic constraints must be critical")
  if (values.keyUsage?.includes("keyCertSign") !== true)
    problems.push("a CA certificate must have the key usage keyCertSign")
  const longest = longestRemainingPath(paths)?.value
  const { maxPathLength } = values.basicConstraints
  if (longest !== undefined && longest > 0 && maxPathLength !== undefined && maxPathLength >= longest)
    problems.push(`its path length of ${maxPathLength} must be less than the ${longest} of its issuer`)
  return problems
}

const pathHolds: Rule = ({ certificate, values }, { paths, validity }) =>
  pathViolations(
    {
      subject: certificate.subjectName,
      subjectDer: certificate.subject,
      subjectAltName: values.subjectAltName ?? [],
      basicConstraints: values.basicConstraints,
      extendedKeyUsage: values.extendedKeyUsage ?? [],
      extensions: certificate.extensions.filter(({ oid }) => !replacedExtensions.has(oid)),
    },
    paths,
    { now: validity.now, fieldOf: () => "certificate" },
  ).map(({ message }) => message)

const rules: readonly Rule[] = [
  keyIsTheRequests,
  subjectCanBeWritten,
  subjectIsSomewhere,
  leafIsNoAuthority,
  intermediateIsAuthority,
  pathHolds,
]

/**
 * Returns the template's own algorithm if the issuer's key can sign with it. Otherwise, and if the algorithm is broken, returns the
 * default of the key.
 */
export function signatureChoiceOf({ certificate }: PolicyTemplate, issuerKey: KeyAlgorithm): SignatureChoice {
  if (issuerKey.type !== "rsa") return keysOwn
  try {
    const { scheme } = readSignatureAlgorithm(certificate.signatureAlgorithm)
    return scheme.keyType === "rsa"
      ? { signatureBits: Number(scheme.hash.slice("sha".length)), usePss: scheme.padding === "PSS" }
      : keysOwn
  } catch (error) {
    if (error instanceof UnacceptableInput) return keysOwn
    throw error
  }
}

const keysOwn: SignatureChoice = { signatureBits: 0, usePss: false }

function refused(problems: readonly string[]): EngineError {
  const faults = problems.map((problem): Fault => ({
    detail: `The certificate from the external policy service is refused: ${problem}`,
  }))
  return new EngineError("unprocessable", faults.map(({ detail }) => detail).join("; "), { faults })
}
