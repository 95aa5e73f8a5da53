// Outcome of a failed attempt to issue a certificate, and the time of the next one.
import type { Health } from "../conditions.ts"
import type { CertificateSpec } from "../../api/certificate.ts"
import { secondTime } from "../../kube/kubernetes-object.ts"
import type { ReconcileResult } from "../reconcile-result.ts"
import { type CertificateContext, framed } from "./certificate-context.ts"
import type { CertificateStatus } from "./certificate-status.ts"
import type { KnownIssuer } from "./known-issuer.ts"
import type { ReissueReason } from "./policies.ts"
import { nextAttempt } from "./renewal.ts"

export interface Failure {
  readonly health: Health
  /** Undefined if nothing was attempted, because a precondition was not met. */
  readonly attempt?: {
    readonly status: Pick<CertificateStatus, "failedIssuanceAttempts" | "lastFailureTime" | "lastTriedRenewAt">
    readonly nextAt: number
  }
  readonly againAfterMs?: number
  /** Time at which something other than an issuance is retried. */
  readonly nextAt?: number
  /** Nothing failed: the certificate is usable, and is renewed at `nextAt`. */
  readonly waitsForTurn?: true
}

export const renewAnnotation = "chancery.dev/renew-requested-at"
/** Annotations of `controller.ts` that request a reconciliation. */
const requestAnnotations = ["chancery.dev/reconcile-requested-at", "reconcile.fluxcd.io/requestedAt"]

/**
 * Returns the time until which no attempt is made. Returns undefined if there is no backoff, or if something changed that may have removed
 * the cause of the failure.
 */
export function backoffOf(
  { object, before, request, memory, secret }: CertificateContext,
  known: KnownIssuer | undefined,
): number | undefined {
  const { observedGeneration, lastHandledReconcileAt, nextAttemptTime } = framed(object)
  const { generation, annotations } = object.metadata
  const until = Date.parse(nextAttemptTime ?? "")
  const failedAt = Date.parse(before.lastFailureTime ?? "")
  if (Number.isNaN(failedAt) || Number.isNaN(until) || until <= request.now || observedGeneration !== generation)
    return undefined
  const requestToken = requestAnnotations.map((name) => annotations?.[name]).find((token) => token !== undefined)
  const renewal = annotations?.[renewAnnotation]
  const isRequested =
    (requestToken !== undefined && requestToken !== lastHandledReconcileAt) ||
    (renewal !== undefined && renewal !== before.lastTriedRenewAt)
  const isMended = known?.readySince !== undefined && known.readySince >= failedAt
  const isSecretChanged =
    memory.rejectedVersion !== undefined && memory.rejectedVersion !== (secret?.metadata.resourceVersion ?? null)
  return isRequested || isMended || isSecretChanged ? undefined : until
}

/** Returns the outcome during a backoff. It repeats the earlier condition, because the certificate may have expired since then. */
export function waitingOn(
  { object, spec }: CertificateContext,
  unready: ReissueReason | undefined,
  nextAttemptAt: number,
): ReconcileResult {
  if (unready === undefined) return { health: usable(spec), nextAttemptAt }
  const current = framed(object).conditions?.find(({ type }) => type === "Stalled" || type === "Reconciling")
  const is = current?.type === "Stalled" ? "stalled" : "reconciling"
  const { reason, message } = current ?? unready
  return { health: { is, reason, message }, nextAttemptAt }
}

export const usable = ({ secretName }: CertificateSpec): Health => ({
  is: "ready",
  reason: "Issued",
  message: `The Secret ${secretName} contains the certificate.`,
})

/** Returns the failure of an attempt and schedules the next one. `chance` is random in [0, 1); no attempt is made before `earliest`. */
export function failed(
  { object, before, stored, request }: CertificateContext,
  health: Health,
  chance: number,
  earliest: number = 0,
): Failure {
  const requestToken = object.metadata.annotations?.[renewAnnotation]
  const failures = (before.failedIssuanceAttempts ?? 0) + 1
  const notAfter = stored.is === "whole" ? stored.leaf.notAfter : undefined
  return {
    health,
    attempt: {
      status: {
        failedIssuanceAttempts: failures,
        lastFailureTime: secondTime(request.now),
        ...(requestToken === undefined ? {} : { lastTriedRenewAt: requestToken }),
      },
      nextAt: Math.max(nextAttempt({ failures, notAfter, now: request.now, chance }), earliest),
    },
  }
}
