// Reasons to issue a certificate, and reasons why a certificate is not ready. Both are ordered lists of checks; the first failed check is
// the reason. A certificate stays ready after its renewal time and after a request to renew it.
import type { Instant } from "@chancery/engine"
import type { CertificateSpec } from "../../api/certificate.ts"
import { secondTime } from "../../kube/kubernetes-object.ts"
import type { Reason } from "../event-reasons.ts"
import type { StoredCertificateState } from "./stored-certificate.ts"
import { isKeyOf } from "./keys.ts"
import { differingFields } from "./names.ts"

/** Facts on which the checks decide. */
export interface CertificateFacts {
  readonly spec: CertificateSpec
  readonly stored: StoredCertificateState
  /** Annotations of the Secret; undefined unless the operator wrote it. */
  readonly written: WrittenFacts | undefined
  readonly certificateName: string
  /** Role for the next certificate. */
  readonly role: string
  /** Fingerprint of the issuer's current CA; undefined while it is unknown. */
  readonly authority: string | undefined
  /** True if the trust overlap has progressed far enough for the new CA to issue. */
  readonly isWholeDue: boolean
  readonly isRevoked: boolean
  /** Undefined if the certificate is not renewed. */
  readonly renewalAt: Instant | undefined
  readonly isRenewalRequested: boolean
  readonly now: Instant
}

export interface WrittenFacts {
  readonly certificateName: string
  readonly issuerGroup: string
  readonly issuerKind: string
  readonly issuerName: string
  readonly role: string
  readonly authority: string
}

export interface ReissueReason {
  readonly reason: Reason
  readonly message: string
}

type Check = (facts: CertificateFacts) => ReissueReason | undefined

const secretIsThere: Check = ({ stored, spec }) =>
  stored.is === "missing" ? { reason: "SecretMissing", message: `There is no Secret ${spec.secretName}.` } : undefined

const keysAreThere: Check = ({ stored, spec }) =>
  stored.is === "incomplete"
    ? { reason: "SecretKeysMissing", message: `The Secret ${spec.secretName} ${stored.problem}.` }
    : undefined

const keyPairMatches: Check = ({ stored, spec }) =>
  stored.is === "mismatched"
    ? {
        reason: "KeyPairMismatch",
        message: `The certificate in the Secret ${spec.secretName} does not match its private key.`,
      }
    : undefined

const issuerIsTheSame: Check = ({ written, spec: { issuerRef, secretName } }) => {
  if (written === undefined) {
    const message = `The Secret ${secretName} has no annotations with the issuer of the certificate.`
    return { reason: "IssuerChanged", message }
  }
  const { issuerGroup, issuerKind, issuerName } = written
  if (issuerGroup === issuerRef.group && issuerKind === issuerRef.kind && issuerName === issuerRef.name)
    return undefined
  return { reason: "IssuerChanged", message: `The certificate was issued by the ${issuerKind} ${issuerName}.` }
}

const ownerIsThis: Check = ({ written, certificateName, spec }) =>
  written === undefined || written.certificateName === certificateName
    ? undefined
    : {
        reason: "OwnerConflict",
        message: `The Secret ${spec.secretName} belonged to the Certificate ${written.certificateName}, which no longer exists.`,
      }

const keyIsAsSpecified: Check = ({ stored, spec }) => {
  if (stored.is !== "whole" || isKeyOf(spec, stored)) return undefined
  const message =
    spec.csr === undefined
      ? "The key does not have the algorithm and size of spec.privateKey."
      : "The certificate has another key than spec.csr."
  return { reason: "KeySpecChanged", message }
}

const namesAreAsSpecified: Check = ({ stored, spec, written, role }) => {
  if (stored.is !== "whole") return undefined
  const fields = differingFields(spec, stored.leaf, stored.values)
  if (fields.length > 0) return { reason: "SpecChanged", message: `The certificate does not match ${listed(fields)}.` }
  return written === undefined || written.role === role
    ? undefined
    : { reason: "SpecChanged", message: `The certificate was issued under the role ${written.role}.` }
}

const authorityIsCurrent: Check = ({ written, authority, isWholeDue }) =>
  written === undefined || authority === undefined || written.authority === authority || !isWholeDue
    ? undefined
    : { reason: "IssuerCAChanged", message: "The CA of the issuer is no longer the one that issued the certificate." }

const isNotRevoked: Check = ({ stored, isRevoked }) =>
  stored.is === "whole" && isRevoked
    ? { reason: "RevokedAtEngine", message: `The engine has revoked the certificate ${stored.serialNumber}.` }
    : undefined

const renewalIsNotDue: Check = ({ renewalAt, now }) =>
  renewalAt !== undefined && renewalAt <= now
    ? { reason: "RenewalDue", message: `The certificate has been due for renewal since ${secondTime(renewalAt)}.` }
    : undefined

const renewalIsNotRequested: Check = ({ isRenewalRequested }) =>
  isRenewalRequested
    ? {
        reason: "RenewRequested",
        message: "The annotation chancery.dev/renew-requested-at requests a new certificate.",
      }
    : undefined

const hasNotEnded: Check = ({ stored, now }) =>
  stored.is === "whole" && stored.leaf.notAfter < now
    ? { reason: "Expired", message: `The certificate expired at ${secondTime(stored.leaf.notAfter)}.` }
    : undefined

const commonChecks: readonly Check[] = [
  secretIsThere,
  keysAreThere,
  keyPairMatches,
  issuerIsTheSame,
  ownerIsThis,
  keyIsAsSpecified,
  namesAreAsSpecified,
]

/** Returns why another certificate is issued; undefined if none is needed. */
export const issuanceTrigger = (facts: CertificateFacts): ReissueReason | undefined =>
  firstOf([...commonChecks, authorityIsCurrent, isNotRevoked, renewalIsNotDue, renewalIsNotRequested], facts)

/**
 * Returns why the certificate is not ready; undefined if it is. A changed CA is no reason: the old CA stays published while certificates
 * use it. Neither is another default role of the issuer, which the spec does not name.
 */
export const unreadiness = (facts: CertificateFacts): ReissueReason | undefined =>
  firstOf([...commonChecks, isNotRevoked, hasNotEnded], withIssuersRole(facts))

/**
 * Returns whether the only reasons for another certificate are a request, or a change of the issuer's CA or default role. `dueAt` is the
 * renewal time regardless of `renewalPolicy` and `renewalWindows`.
 */
export function canWait(facts: CertificateFacts, dueAt: Instant | undefined): boolean {
  const authority = facts.written?.authority
  const otherwise = withIssuersRole({ ...facts, authority, isRenewalRequested: false, renewalAt: dueAt })
  return issuanceTrigger(otherwise) === undefined && unreadiness(otherwise) === undefined
}

/** Accepts the role of the present certificate if the spec leaves it to the issuer. */
const withIssuersRole = (facts: CertificateFacts): CertificateFacts =>
  facts.spec.role === undefined && facts.written !== undefined ? { ...facts, role: facts.written.role } : facts

function firstOf(checks: readonly Check[], facts: CertificateFacts): ReissueReason | undefined {
  for (const check of checks) {
    const finding = check(facts)
    if (finding !== undefined) return finding
  }
  return undefined
}

const listed = (fields: readonly string[]): string => fields.map((field) => `spec.${field}`).join(" and ")
