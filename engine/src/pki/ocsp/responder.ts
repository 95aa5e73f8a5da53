// Selects the key that signs responses for an issuer (RFC 6960, section 4.2.2.2).
import type { KeyUse } from "../../core/audit.ts"
import type { Instant } from "../../core/time.ts"
import { chooseSignatureAlgorithm, type SignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import type { SigningKey } from "../../x509/signing-key.ts"
import type { CrlSettings } from "../crl/crl-settings.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { revocationSignatureAlgorithm } from "../issuers/issuer-signer.ts"
import type { IssuerGroup } from "./certificate-status.ts"
import type { DelegatedResponder } from "./cached-responders.ts"

export interface Responder {
  readonly key: SigningKey
  /** Fields of the audit record for each use of the key. */
  readonly use: Pick<KeyUse, "keyId" | "issuerId" | "purpose">
  readonly algorithm: SignatureAlgorithm
  /** DER. Certificates that a client needs in addition to the issuer's. */
  readonly certificates: readonly Uint8Array[]
  /** End of validity of its responses. */
  readonly notAfter: Instant
}

export type Choice =
  | { readonly kind: "direct"; readonly issuer: ParsedIssuer }
  | { readonly kind: "delegated"; readonly issuer: ParsedIssuer }

/**
 * Returns the issuer to answer, or to delegate; undefined if none can. An issuer whose key usage only allows to sign certificates
 * and lists (RFC 5280, section 4.2.1.3) always delegates.
 */
export function chooseResponder(issuers: IssuerGroup, { ocspDelegatedResponder }: CrlSettings): Choice | undefined {
  const able = issuers.filter(({ keyId, settings }) => keyId !== null && settings.usage.includes("ocsp-signing"))
  const direct = able.find(({ values }) => values.keyUsage?.includes("digitalSignature") ?? true)
  // A responder certificate signed by one of them counts for all. The issuer with the latest expiry allows the longest validity.
  const [delegating] = able
    .filter(({ values }) => values.keyUsage?.includes("keyCertSign") ?? true)
    .toSorted((one, other) => other.parsed.notAfter - one.parsed.notAfter)
  if (delegating !== undefined && (ocspDelegatedResponder || direct === undefined))
    return { kind: "delegated", issuer: delegating }
  return direct && { kind: "direct", issuer: direct }
}

export function directResponder(issuer: ParsedIssuer, key: SigningKey): Responder {
  if (issuer.keyId === null) throw new TypeError("an issuer without a key was selected to answer")
  return {
    key,
    use: { keyId: issuer.keyId, issuerId: issuer.id, purpose: "ocsp-response" },
    algorithm: revocationSignatureAlgorithm(issuer),
    certificates: [],
    notAfter: Infinity,
  }
}

export const delegatedResponder = (
  issuer: ParsedIssuer,
  { keyId, key, certificate, notAfter }: DelegatedResponder,
): Responder => ({
  key,
  use: { keyId, issuerId: issuer.id, purpose: "ocsp-response" },
  algorithm: chooseSignatureAlgorithm(key.algorithm, {
    signatureBits: 0,
    usePss: revocationSignatureAlgorithm(issuer).endsWith("PSS"),
  }),
  certificates: [certificate],
  notAfter,
})
