// State that a Certificate's status keeps between reconciliations.
import type { CertificateSpec } from "../../api/certificate.ts"
import type { ConnectionRef } from "../../api/connection-spec.ts"
import { secondTime } from "../../kube/kubernetes-object.ts"
import type { StoredCertificate } from "./stored-certificate.ts"

export interface EarlierCertificate {
  readonly serialNumber: string
  readonly notAfter: string
  readonly revokedAt?: string
  /** The certificate was issued but never used. It is revoked whatever the revocation policy is. */
  readonly discarded?: boolean
}

/** Connection and mount for revocations after the issuer is gone. */
export interface IssuedBy {
  readonly connectionRef: ConnectionRef
  readonly mount: string
}

/** Secret of an earlier `secretName`. */
export interface FormerSecret {
  readonly name: string
  readonly serialNumber: string
  readonly notAfter: string
  /** Time at which the operator wrote the Secret that replaced it. */
  readonly since: string
}

export interface CertificateStatus {
  /** Name of the Secret that was whole last. */
  readonly secretName?: string
  readonly formerSecrets?: readonly FormerSecret[]
  readonly serialNumber?: string
  readonly notBefore?: string
  readonly notAfter?: string
  readonly renewalTime?: string
  readonly revision?: number
  readonly failedIssuanceAttempts?: number
  readonly lastFailureTime?: string
  readonly lastHandledRenewAt?: string
  readonly lastTriedRenewAt?: string
  readonly lastPacedRenewalTime?: string
  readonly history?: readonly EarlierCertificate[]
  readonly issuedBy?: IssuedBy
}

export interface CertificateStatusFacts {
  readonly before: CertificateStatus
  readonly spec: CertificateSpec
  /** Key and certificate in the Secret; undefined unless they are complete. */
  readonly stored: StoredCertificate | undefined
  readonly renewalAt: number | undefined
  readonly revision: number
  readonly renewRequest: string
  /** Certificates discarded since the last reconciliation. */
  readonly discarded: readonly EarlierCertificate[]
  readonly issuedBy: IssuedBy | undefined
  /** Undefined unless the Secret of the spec is whole. */
  readonly formerSecrets: readonly FormerSecret[] | undefined
}

/** Returns the status after a success, without earlier failures. */
export function statusOf(facts: CertificateStatusFacts): CertificateStatus {
  const { before, spec, stored, renewalAt, revision, renewRequest, discarded, issuedBy } = facts
  const secretName = facts.formerSecrets === undefined ? before.secretName : spec.secretName
  const formerSecrets = facts.formerSecrets ?? before.formerSecrets ?? []
  const { lastPacedRenewalTime } = before
  const history = historyOf(before, spec, stored?.serialNumber, discarded)
  return {
    ...(stored === undefined
      ? {}
      : {
          serialNumber: stored.serialNumber,
          notBefore: secondTime(stored.leaf.notBefore),
          notAfter: secondTime(stored.leaf.notAfter),
        }),
    ...(renewalAt === undefined ? {} : { renewalTime: secondTime(renewalAt) }),
    ...(revision === 0 ? {} : { revision }),
    ...(renewRequest === "" ? {} : { lastHandledRenewAt: renewRequest }),
    ...(lastPacedRenewalTime === undefined ? {} : { lastPacedRenewalTime }),
    ...(history.length === 0 ? {} : { history }),
    ...(issuedBy === undefined ? {} : { issuedBy }),
    ...(secretName === undefined ? {} : { secretName }),
    ...(formerSecrets.length === 0 ? {} : { formerSecrets }),
  }
}

/** Bound of the history, even if more certificates wait for revocation. */
const maxHistory = 200

/** Returns the history, newest first. Certificates that wait for revocation do not count toward `revisionHistoryLimit`. */
function historyOf(
  { history = [], serialNumber, notAfter }: CertificateStatus,
  { revisionHistoryLimit, revocationPolicy }: CertificateSpec,
  present: string | undefined,
  discarded: readonly EarlierCertificate[],
): readonly EarlierCertificate[] {
  const replaced: readonly EarlierCertificate[] =
    serialNumber !== undefined && notAfter !== undefined && present !== undefined && serialNumber !== present
      ? [{ serialNumber, notAfter }]
      : []
  const known = new Set([present, ...discarded.map((each) => each.serialNumber)])
  const all = [...replaced, ...discarded, ...history.filter((each) => !known.has(each.serialNumber))]
  const pending = new Set(
    all.filter((each) => each.revokedAt === undefined && (revocationPolicy.onRotation || each.discarded === true)),
  )
  let room = revisionHistoryLimit
  return all
    .filter((each) => {
      if (pending.has(each)) return true
      room -= 1
      return room >= 0
    })
    .slice(0, maxHistory)
}

/**
 * Returns the certificates to revoke: those that were never used, and by policy those that another one replaced, unless a former Secret
 * still contains them.
 */
export function toBeRevoked(
  { history = [], formerSecrets = [] }: CertificateStatus,
  spec: CertificateSpec,
  now: number,
): readonly EarlierCertificate[] {
  const used = new Set(formerSecrets.map(({ serialNumber }) => serialNumber))
  return history.filter(
    ({ serialNumber, revokedAt, notAfter, discarded = false }) =>
      revokedAt === undefined &&
      Date.parse(notAfter) > now &&
      (discarded || (spec.revocationPolicy.onRotation && !used.has(serialNumber))),
  )
}
