// What the status of a Certificate remembers between two looks.
import type { CertificateSpec } from "../kinds/certificate.ts"
import { secondTime } from "../kubernetes-object.ts"
import type { HeldCertificate } from "./held-certificate.ts"

export interface EarlierCertificate {
  readonly serialNumber: string
  readonly notAfter: string
  readonly revokedAt?: string
}

export interface CertificateStatus {
  readonly serialNumber?: string
  readonly notBefore?: string
  readonly notAfter?: string
  readonly renewalTime?: string
  readonly revision?: number
  readonly failedIssuanceAttempts?: number
  readonly lastFailureTime?: string
  readonly lastHandledRenewAt?: string
  readonly lastTriedRenewAt?: string
  readonly history?: readonly EarlierCertificate[]
}

export interface CertificateStatusFacts {
  readonly before: CertificateStatus
  readonly spec: CertificateSpec
  /** What is in the Secret; undefined where nothing whole is. */
  readonly held: HeldCertificate | undefined
  readonly renewalAt: number | undefined
  readonly revision: number
  readonly renewRequest: string
}

/** After all went well: failures are forgotten. */
export function statusOf(facts: CertificateStatusFacts): CertificateStatus {
  const { before, spec, held, renewalAt, revision, renewRequest } = facts
  const history = historyOf(before, spec, held?.serialNumber)
  return {
    ...(held === undefined
      ? {}
      : {
          serialNumber: held.serialNumber,
          notBefore: secondTime(held.leaf.notBefore),
          notAfter: secondTime(held.leaf.notAfter),
        }),
    ...(renewalAt === undefined ? {} : { renewalTime: secondTime(renewalAt) }),
    ...(revision === 0 ? {} : { revision }),
    ...(renewRequest === "" ? {} : { lastHandledRenewAt: renewRequest }),
    ...(history.length === 0 ? {} : { history }),
  }
}

/** However many wait to be revoked. */
const historyMaximum = 200

/** The latest first. Those that are yet to be revoked do not count against the limit. */
function historyOf(
  { history = [], serialNumber, notAfter }: CertificateStatus,
  { revisionHistoryLimit, revocationPolicy }: CertificateSpec,
  present: string | undefined,
): readonly EarlierCertificate[] {
  const replaced: readonly EarlierCertificate[] =
    serialNumber !== undefined && notAfter !== undefined && present !== undefined && serialNumber !== present
      ? [{ serialNumber, notAfter }]
      : []
  const all = [...replaced, ...history.filter((each) => each.serialNumber !== present)]
  const pending = new Set(revocationPolicy.onRotation ? all.filter(({ revokedAt }) => revokedAt === undefined) : [])
  let room = revisionHistoryLimit
  return all
    .filter((each) => {
      if (pending.has(each)) return true
      room -= 1
      return room >= 0
    })
    .slice(0, historyMaximum)
}

/** Those that another has taken the place of, and that are to be revoked for it. */
export const toBeRevoked = ({ history = [] }: CertificateStatus, spec: CertificateSpec, now: number) =>
  spec.revocationPolicy.onRotation
    ? history.filter(({ revokedAt, notAfter }) => revokedAt === undefined && Date.parse(notAfter) > now)
    : []
