// Steps of protocols for a request that needs a decision. These are functions without a permission check, so that no method of a mount
// exposes them: the protocol has authorized the client already.
import { busy, conflict } from "../../core/errors.ts"
import { newOrderedId } from "../../core/ids.ts"
import { repeatableRead } from "../../core/storage.ts"
import type { Instant } from "../../core/time.ts"
import { sha256 } from "../../x509/digest.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import { formatName } from "../../x509/name.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { namesOf } from "../issuance/leaf.ts"
import type { MountId } from "../mounts/mount.ts"
import { readMount } from "../mounts/with-mount-snapshot.ts"
import type { MountAccess, PkiRepositories } from "../pki-context.ts"
import {
  assertQueueHasRoom,
  defaultEnrolmentTtlMs,
  defaultRetryAfterMs,
  type Enrolment,
  type EnrolmentDecider,
  type EnrolmentId,
  type EnrolmentKey,
  type EnrolmentOperation,
  type EnrolmentProtocol,
  type EnrolmentRequester,
  enrolmentStep,
  type EnrolmentStep,
  maxPendingPerMount,
  maxPendingPerRequester,
  retryAfterBounds,
} from "./enrolment.ts"

/** Request of a client whose login allows `path`, with a CSR whose signature is verified. */
export interface EnrolmentRequest {
  readonly protocol: EnrolmentProtocol
  readonly operation: EnrolmentOperation
  readonly path: string
  readonly policy: string
  readonly requester: EnrolmentRequester
  readonly csr: CertificationRequest
}

export interface AwaitOptions {
  /** Default: `manual`. */
  readonly decider?: EnrolmentDecider
  /** Pause that the client is told. Capped at the bounds of `retryAfterBounds`. Default: one minute. */
  readonly retryAfterMs?: number
  /** Time until a new enrolment expires. Default: 7 days. */
  readonly ttlMs?: number
}

/** Returns the step for a request, and stores nothing. */
export async function enrolmentStepOf<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  request: EnrolmentRequest,
): Promise<EnrolmentStep> {
  const now = access.context.runtime.clock.now()
  return readMount(access, async ({ mount }, { enrolments }) =>
    enrolmentStep(await enrolments.findByRequest(keyOf(mount.id, request)), request.policy, now),
  )
}

/**
 * Returns the step for a request. A request without a current enrolment is stored as a new one and waits. With
 * `decider: "external-policy"`, the service has just answered that it has not decided: the client waits `retryAfterMs` from now on. Throws
 * `rate-limited` if the queue is full.
 */
export async function awaitDecision<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  request: EnrolmentRequest,
  options: AwaitOptions = {},
): Promise<EnrolmentStep> {
  const { clock, random } = access.context.runtime
  const { id: mountId } = (await access.context.mountDirectory.current()).at(access.mountPath)
  const retryAfterMs = bounded(options.retryAfterMs ?? defaultRetryAfterMs)
  // Repeatable read: the unique index decides which of two concurrent requests is stored. The bounds of the queue may be exceeded by the
  // number of concurrent requests, which does no harm.
  return access.context.storage.transact(async ({ enrolments }) => {
    const now = clock.now()
    const key = keyOf(mountId, request)
    const current = await enrolments.findByRequest(key)
    const step = enrolmentStep(current, request.policy, now)
    if (step.kind === "ask" && options.decider === "external-policy") {
      await enrolments.postpone(step.id, { askedAt: now, retryAfterMs })
      return { kind: "wait", id: step.id, retryAfterMs }
    }
    if (step.kind !== "new") return step
    const requester = request.requester
    assertQueueHasRoom({
      ofRequester: await enrolments.countPending(mountId, { requester, now, limit: maxPendingPerRequester }),
      ofMount: await enrolments.countPending(mountId, { now, limit: maxPendingPerMount }),
    })
    if (current !== undefined) await enrolments.supersede(current, now)
    const id = newOrderedId("enrol", random, now)
    const isStored = await enrolments.insert(newEnrolment(key, request, { ...options, id, retryAfterMs, now }))
    // The next attempt of the client finds the enrolment that the concurrent request stored.
    if (!isStored) throw busy("The same request is being stored; try again.")
    return { kind: "wait", id, retryAfterMs }
  }, repeatableRead)
}

/** Records in the unit of work of a certificate that it is the one of an enrolment. Throws `conflict`, so that nothing is issued. */
export async function settleEnrolment(
  { enrolments }: Pick<PkiRepositories, "enrolments">,
  id: EnrolmentId,
  { serialNumber, now }: { readonly serialNumber: SerialNumber; readonly now: Instant },
): Promise<void> {
  if (!(await enrolments.markIssued(id, serialNumber, now)))
    throw conflict("The enrolment was issued at the same time, or has expired; repeat the request.")
}

/** Records that the external policy service rejected a request that waited for it. */
export async function recordPolicyRefusal<Repositories extends PkiRepositories>(
  access: MountAccess<Repositories>,
  id: EnrolmentId,
  reason: string,
): Promise<void> {
  const decidedAt = access.context.runtime.clock.now()
  // Repeatable read: the statement itself checks the state of its only row.
  await access.context.storage.transact(
    ({ enrolments }) =>
      enrolments.decide(id, {
        state: "denied",
        decidedAt,
        decidedBy: "external policy service",
        comment: reason.slice(0, maxReason).toWellFormed(),
      }),
    repeatableRead,
  )
}

const maxReason = 1_024

const bounded = (retryAfterMs: number): number =>
  Math.min(Math.max(retryAfterMs, retryAfterBounds.minMs), retryAfterBounds.maxMs)

const keyOf = (mountId: MountId, { path, requester, csr }: EnrolmentRequest): EnrolmentKey => ({
  mountId,
  path,
  accessor: requester.accessor,
  displayName: requester.displayName,
  csrSha256: sha256(csr.der),
})

function newEnrolment(
  key: EnrolmentKey,
  { protocol, operation, policy, csr }: EnrolmentRequest,
  {
    id,
    now,
    retryAfterMs,
    decider = "manual",
    ttlMs = defaultEnrolmentTtlMs,
  }: AwaitOptions & { readonly id: EnrolmentId; readonly now: Instant; readonly retryAfterMs: number },
): Enrolment {
  const { subjectName: subject, extensionValues } = csr
  return {
    ...key,
    id,
    protocol,
    operation,
    policy,
    decider,
    csr: csr.der,
    subject: formatName(subject),
    names: namesOf({ subject, subjectAltName: extensionValues.subjectAltName ?? [] }).names,
    state: "pending",
    createdAt: now,
    expiresAt: now + ttlMs,
    retryAfterMs,
    askedAt: now,
    decidedAt: null,
    decidedBy: "",
    comment: "",
    serialNumber: null,
  }
}
