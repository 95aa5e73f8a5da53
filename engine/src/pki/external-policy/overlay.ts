// What becomes of the certificate that an external policy service answers with. Its signature never counts. What follows from
// who really signs is replaced: serial number, issuer, key identifier of the issuer, and where revocation lists and
// responders are found. Everything else stays as it is, or is refused: what is signed follows RFC 5280 whoever wrote it.
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

/** A template that could be read. */
export interface PolicyTemplate {
  readonly certificate: Certificate
  readonly values: ExtensionValues
}

/** As long as any certificate that is read. */
const templateLengthMaximum = 64 * 1024

/** One PEM certificate; throws `unprocessable` naming what is wrong with it. */
export function readPolicyTemplate(text: string): PolicyTemplate {
  try {
    const blocks = readPem(text, templateLengthMaximum)
    const [block] = blocks
    if (block?.label !== "CERTIFICATE" || blocks.length !== 1)
      throw new UnacceptableInput(`there is not one PEM certificate but ${blocks.length} PEM blocks`)
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
  /** Of the request. */
  readonly publicKey: PublicKey
  readonly paths: CertificationPaths
  readonly validity: Omit<ValidityTerms, "rules" | "beyondIssuer">
}

/** What may be signed of a template. */
export interface ApprovedTemplate {
  readonly content: ApprovedContent
  readonly validity: Validity
  readonly warnings: readonly string[]
}

/** Throws `unprocessable` with a sentence for each rule that the template breaks, and `invalid` for a validity that none can have. */
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
  const kept = certificate.extensions.filter(({ oid }) => !replacedExtensions.has(oid))
  const content = approved({
    ...validity,
    subject: certificate.subject,
    publicKey: terms.publicKey.spki,
    extensions: withKeyIdentifier(
      kept.map((extension) => limited(extension, template, terms)),
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

/** Certificates are found by it (RFC 5280, section 4.2.1.2). */
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

/** Each answers what it finds wrong. */
type Rule = (template: PolicyTemplate, terms: OverlayTerms) => readonly string[]

const keyIsTheRequests: Rule = ({ certificate }, { publicKey }) =>
  Buffer.compare(certificate.subjectPublicKeyInfo, publicKey.spki) === 0
    ? []
    : ["it is for another key than the request's"]

const subjectCanBeWritten: Rule = ({ certificate }) => nameViolations(certificate.subjectName)

/** RFC 5280, sections 4.1.2.6 and 4.2.1.6. */
const subjectIsSomewhere: Rule = ({ certificate }, { mode }) => {
  if (certificate.subjectName.length > 0) return []
  if (mode === "ica") return ["a certificate authority needs a subject"]
  const names = findExtension(certificate.extensions, oids.subjectAltName)
  return names?.critical === true ? [] : ["without a subject it needs subject alternative names that are critical"]
}

/** RFC 5280, sections 4.2.1.9, 4.2.1.3 and 4.2.1.10. */
const leafIsNoAuthority: Rule = ({ values }, { mode }) => {
  if (mode === "ica") return []
  const problems: string[] = []
  if (values.basicConstraints?.isCa === true)
    problems.push("it is of a certificate authority; ask for one at sign-intermediate")
  else if (values.keyUsage?.includes("keyCertSign") === true)
    problems.push("only a certificate authority may have the key usage keyCertSign")
  if (values.nameConstraints !== undefined) problems.push("only a certificate authority may have name constraints")
  return problems
}

const intermediateIsAuthority: Rule = ({ certificate, values }, { mode, paths }) => {
  if (mode !== "ica") return []
  if (values.basicConstraints?.isCa !== true) return ["it is not of a certificate authority"]
  const problems: string[] = []
  if (findExtension(certificate.extensions, oids.basicConstraints)?.critical !== true)
    problems.push("its basic constraints must be critical")
  if (values.keyUsage?.includes("keyCertSign") !== true)
    problems.push("a certificate authority needs the key usage keyCertSign")
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

/** The template's own algorithm where the issuer's key can sign with it; else, and where it is broken, the key's default. */
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
