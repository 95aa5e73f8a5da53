// Content and encoding of self-signed roots, and of CSRs that another CA signs.
import { oids } from "../../x509/asn1/oids.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import {
  chooseSignatureAlgorithm,
  signatureAlgorithmIdentifier,
  type SignatureChoice,
} from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import type { Instant } from "../../core/time.ts"
import { type MountSnapshot, keyOf } from "../mounts/mount-snapshot.ts"
import { certify } from "../issuance/certify.ts"
import { type KeyFields, type KeyRequest, readKeyRequest } from "../keys/key-request.ts"
import { leaseTtls } from "../mounts/mount.ts"
import { referenceNameProblem } from "../names/reference-name.ts"
import { type ApprovedAuthority, approveAuthority } from "../policy/approve-authority.ts"
import { keyIdentifierOf, wholeContent } from "../policy/content.ts"
import { shown, type Violation, violation } from "../policy/violation.ts"
import type { FilledUrls } from "./authority-urls.ts"
import { issuerExtensions } from "./issuer-signer.ts"
import type { IntermediateInput, RootEndpoint, RootInput } from "./issuer-api.ts"

export interface NewAuthority {
  /** Name of the issuer; null for a CSR. */
  readonly name: string | null
  readonly content: ApprovedAuthority
  readonly key: KeyRequest
  readonly signature: SignatureChoice
  readonly warnings: readonly string[]
}

export interface NewAuthorityTerms {
  readonly now: Instant
}

/** Returns the content of a new root. Throws `EngineError("invalid")` with all faults before a key is generated. */
export function newRoot(
  snapshot: MountSnapshot,
  input: RootInput,
  { endpoint, ...terms }: NewAuthorityTerms & { readonly endpoint: RootEndpoint },
): NewAuthority {
  const name = input.issuerName || (endpoint === "root/rotate" ? "next" : null)
  return newAuthority(snapshot, input, { ...terms, name, mayBeNameless: false })
}

/** Returns the content of a CSR, with errors as `newRoot`. `key` overrides the key fields of the input. */
export function newIntermediate(
  snapshot: MountSnapshot,
  input: IntermediateInput,
  { key, ...terms }: NewAuthorityTerms & { readonly key: KeyFields },
): NewAuthority {
  const authority = newAuthority(snapshot, { ...input, ...key }, { ...terms, name: null, mayBeNameless: true })
  const isNameless = authority.content.subject.length === 0
  const warning = "the subject is empty; the signing CA must set one"
  return { ...authority, warnings: [...authority.warnings, ...(isNameless ? [warning] : [])] }
}

function newAuthority(
  snapshot: MountSnapshot,
  input: RootInput | IntermediateInput,
  more: NewAuthorityTerms & { readonly name: string | null; readonly mayBeNameless: boolean },
): NewAuthority {
  const { name, mayBeNameless, now } = more
  const { request, violations, warnings } = readKeyRequest(input)
  const content = approveAuthority(input, undefined, {
    mountTtls: leaseTtls(snapshot.mount.config),
    issuer: undefined,
    paths: undefined,
    enforceLeafNotAfterBehavior: false,
    // The key type is irrelevant if the key request is invalid, because the call then throws.
    keyType: request === undefined ? "rsa" : algorithmOf(snapshot, request).type,
    mayBeNameless,
    violations: [...violations, ...nameViolations(name)],
    now,
  })
  if (request === undefined) throw new TypeError("a key request with violations was accepted")
  const { signatureBits = 0, usePss = false } = input
  return {
    name,
    content,
    key: request,
    signature: { signatureBits, usePss },
    warnings: [...warnings, ...content.warnings],
  }
}

/** Returns the algorithm of the existing key, or of the key to generate. */
const algorithmOf = (snapshot: MountSnapshot, request: KeyRequest): KeyAlgorithm =>
  request.kind === "new" ? request.algorithm : readPublicKey(keyOf(snapshot, request.reference).publicKey).algorithm

function nameViolations(name: string | null): readonly Violation[] {
  const problem = name === null ? undefined : referenceNameProblem(name)
  return problem === undefined
    ? []
    : [violation("nameIsAReference", "issuerName", shown(name ?? ""), `"issuer_name" ${problem}`)]
}

/** Returns the certificate in DER. */
export function selfSignedCertificate(
  { content, signature }: NewAuthority,
  key: SigningKey,
  { serialNumber, urls }: { readonly serialNumber: SerialNumber; readonly urls: FilledUrls },
): Promise<Uint8Array> {
  const extensions = issuerExtensions(keyIdentifierOf(content, key), urls)
  return certify(wholeContent(content, key), serialNumber, { name: content.subjectDer, key, extensions }, signature)
}

/** Returns the CSR (PKCS #10) in DER. */
export async function authorityCsr(
  { content, signature }: NewAuthority,
  key: SigningKey,
  input: IntermediateInput,
): Promise<Uint8Array> {
  const algorithm = chooseSignatureAlgorithm(key.algorithm, signature)
  const info = encodeCertificationRequestInfo({
    subject: content.subjectDer,
    subjectPublicKeyInfo: key.spki,
    extensions: content.extensions.filter(({ oid }) => isRequested(oid, input)),
  })
  return assembleCertificationRequest(info, signatureAlgorithmIdentifier(algorithm), await key.sign(info, algorithm))
}

/**
 * Returns false for basicConstraints and keyUsage that the client did not request. The CA that signs the CSR decides most of the
 * certificate.
 */
function isRequested(oid: string, { addBasicConstraints = false, keyUsage }: IntermediateInput): boolean {
  switch (oid) {
    case oids.basicConstraints:
      return addBasicConstraints
    case oids.keyUsage:
      return keyUsage !== undefined
    default:
      return true
  }
}
