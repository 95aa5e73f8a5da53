// Validates due challenges.
import { type Instant, secondMs } from "../../core/time.ts"
import type { Timers } from "../../core/timers.ts"
import type { MountSnapshot } from "../../pki/mounts/mount-snapshot.ts"
import type { AcmeContext } from "../acme-context.ts"
import { recordValidation } from "../acme-metrics.ts"
import type { SettledChallenge, ValidationQueue } from "../work-queues.ts"
import type { ClaimedChallenge } from "../acme.ts"
import type { AcmeTools } from "../directory-service.ts"
import { DueQueue } from "../due-queue.ts"
import { validityMs } from "../orders/order.ts"
import { networkTermsOf, caaQueryFor } from "../orders/caa-check.ts"
import type { Problem } from "../problem.ts"
import { type AcmeNetwork, attemptInTime } from "./validation.ts"

export interface ValidationContext extends Pick<
  AcmeContext,
  "storage" | "runtime" | "cacheVersions" | "mountDirectory" | "mountSnapshots"
> {
  readonly acmeTools: Pick<AcmeTools, "metrics">
  readonly network: AcmeNetwork
  readonly timers: Timers
}

/** Longer than any attempt. */
export const validationLeaseMs = 60 * secondMs
/** Delays after the first and the second attempt. After the third, the challenge fails. */
const retryDelaysMs = [3 * secondMs, 10 * secondMs]

export function validationQueue(context: ValidationContext): ValidationQueue {
  const { storage } = context
  const queue: ValidationQueue = new DueQueue(
    {
      name: "acme-challenge",
      leaseMs: validationLeaseMs,
      nextAt: () => storage.read(({ acmeAuthorizations }) => acmeAuthorizations.nextAttemptAt()),
      claim: (now, leasedUntil, limit) =>
        storage.transact(({ acmeAuthorizations }) => acmeAuthorizations.claim(now, leasedUntil, limit)),
      async attempt(challenge) {
        const outcome = await look(context, challenge)
        if (typeof outcome !== "number") return outcome
        queue.expect(outcome)
        return undefined
      },
      describe: ({ authorizationId: authorization, type }) => ({ authorization, type }),
    },
    context,
  )
  return queue
}

/** Returns the result, or the time of the next attempt. Returns undefined if another server already handled the challenge. */
async function look(
  context: ValidationContext,
  challenge: ClaimedChallenge,
): Promise<SettledChallenge | Instant | undefined> {
  const { storage, runtime, network, timers } = context
  const snapshot = await snapshotOf(context, challenge)
  if (snapshot === undefined) return undefined
  const { identifier, type, token, thumbprint } = challenge
  const begunAt = runtime.clock.now()
  const problem = await attemptInTime(
    { identifier, type, token, thumbprint },
    caaQueryFor(snapshot, identifier, challenge),
    { network, terms: networkTermsOf(snapshot), timers },
  )
  const now = runtime.clock.now()
  const retryAt = problem && retryTime(challenge.attempts, problem, now)
  const result = problem === undefined ? "valid" : retryAt === undefined ? "invalid" : "retried"
  // A clock may step back.
  recordValidation(context.acmeTools.metrics, type, result, Math.max(0, now - begunAt))
  const { outcome, endedCount } = await storage.transact(
    async ({ acmeAuthorizations, acmeOrders }): Promise<Settling> => {
      if (problem === undefined) {
        // Counts from the start of the attempt, because settings that changed during it did not apply to it.
        const isSettled = await acmeAuthorizations.succeed(challenge, now, begunAt + validityMs)
        return { outcome: isSettled ? { status: "valid", validatedAt: now } : undefined, endedCount: 0 }
      }
      if (retryAt !== undefined) {
        await acmeAuthorizations.retry(challenge, problem, retryAt)
        return { outcome: retryAt, endedCount: 0 }
      }
      if (!(await acmeAuthorizations.failChallenge(challenge, problem))) return { outcome: undefined, endedCount: 0 }
      return {
        outcome: { status: "invalid", error: problem },
        endedCount: await acmeOrders.endedWith(challenge.authorizationId, now),
      }
    },
  )
  context.acmeTools.metrics.orders.add(endedCount, { status: "invalid" })
  return outcome
}

interface Settling {
  readonly outcome: SettledChallenge | Instant | undefined
  /** Number of orders that became invalid with the challenge. */
  readonly endedCount: number
}

async function snapshotOf(
  { cacheVersions, mountDirectory, mountSnapshots, storage }: ValidationContext,
  { mountId }: ClaimedChallenge,
): Promise<MountSnapshot | undefined> {
  const mount = (await mountDirectory.current()).mounts.find(({ id }) => id === mountId)
  return mount && ((await mountSnapshots.newest(cacheVersions, mount)) ?? mountSnapshots.read(storage, mount))
}

/**
 * Returns the time of the next attempt, or undefined to give up. CAA records rarely change within seconds, so these problems are not
 * retried.
 */
const retryTime = (attempts: number, { type }: Problem, now: Instant): Instant | undefined => {
  const delayMs = type === "caa" ? undefined : retryDelaysMs[attempts - 1]
  return delayMs === undefined ? undefined : now + delayMs
}
