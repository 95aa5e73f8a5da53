// Finalizes `processing` orders, to a certificate or an error (RFC 8555, section 7.4).
import type { Audit } from "../../core/audit.ts"
import { type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import type { Timers } from "../../core/timers.ts"
import type { AcmeContext } from "../acme-context.ts"
import { recordOrder } from "../acme-metrics.ts"
import type { FinalizableOrder, FinalizationQueue, Finalized } from "../work-queues.ts"
import type { ClaimedOrder } from "../acme.ts"
import { directoryAt } from "../directory.ts"
import type { AcmeTools } from "../directory-service.ts"
import { DueQueue } from "../due-queue.ts"
import { OrderSigning, LeaseLostError } from "./order-signing.ts"
import { caaLeaseMs, assertCaaPermits } from "./caa-check.ts"
import { PolicyPending } from "../../pki/external-policy/external-policy.ts"
import { AcmeProblem, type Problem, type ProblemType } from "../problem.ts"
import type { AcmeNetwork } from "../validation/validation.ts"

export interface FinalizationContext extends AcmeContext {
  readonly acmeTools: AcmeTools
  readonly audit: Audit
  readonly network: AcmeNetwork
  readonly timers: Timers
}

/** Longer than a signature by a role, which needs no other service. */
export const roleLeaseMs = 15 * secondMs
/** Longer than the maximum timeout of an external policy service and a signature. */
export const policyLeaseMs = 150 * secondMs
/** Delays after attempts that failed through no fault of the order. Without a further delay, the order fails. */
const retryDelaysMs = [2 * secondMs, 10 * secondMs, 30 * secondMs]

export function finalizationQueue(context: FinalizationContext): FinalizationQueue {
  const { storage } = context
  const queue: FinalizationQueue = new DueQueue(
    {
      name: "acme-order",
      leaseMs: policyLeaseMs + caaLeaseMs,
      nextAt: () => storage.read(({ acmeOrders }) => acmeOrders.nextAttemptAt()),
      claim: (now, leasedUntil, limit) =>
        storage.transact(({ acmeOrders }) => acmeOrders.claim(now, leasedUntil, limit)),
      async attempt(order) {
        const outcome = await finalize(context, order)
        if (typeof outcome !== "number") {
          if (outcome !== undefined) recordOrder(context.acmeTools.metrics, outcome.status, lifeOf(context, order))
          return outcome
        }
        queue.expect(outcome)
        return undefined
      },
      describe: ({ id: order }) => ({ order }),
    },
    context,
  )
  return queue
}

const lifeOf = ({ runtime }: FinalizationContext, { createdAt }: ClaimedOrder): number =>
  // A clock may step back.
  Math.max(0, runtime.clock.now() - createdAt)

/** Returns the result, or the time of the next attempt. Returns undefined if another server already handled the order. */
async function finalize(
  context: FinalizationContext,
  { request, approval, ...order }: FinalizableOrder,
): Promise<Finalized | Instant | undefined> {
  const { audit, mountDirectory, acmeTools, network, timers } = context
  const mount = (await mountDirectory.current()).mounts.find(({ id }) => id === order.mountId)
  if (mount === undefined) return undefined
  const trail = audit.trail({ job: "acme-orders" })
  const acmeOrder = { id: order.id, accountId: order.accountId }
  const signing = new OrderSigning(context, acmeTools, mount.path, directoryAt(order.directory), (use) =>
    trail.keyUse({ ...use, acmeOrder }),
  )
  try {
    const { questions, terms } = await signing.owners(order)
    if (questions.length > 0) await assertCaaPermits(questions, { network, terms, timers })
    const expiresAt = await signing.sign(order, request, approval)
    await trail.durable()
    return { status: "valid", expiresAt }
  } catch (error) {
    return error instanceof LeaseLostError ? undefined : giveUp(context, order, error)
  }
}

async function giveUp(
  { storage, runtime }: FinalizationContext,
  order: ClaimedOrder,
  error: unknown,
): Promise<Finalized | Instant | undefined> {
  const problem = problemIn(error)
  const delayMs = retryDelayOf(order, error, runtime.clock.now())
  if (mayPass(error) && !(error instanceof PolicyPending))
    logFailure(runtime.log, "warn", "acme-order-not-finalized", { order: order.id, attempts: order.attempts, error })
  if (delayMs !== undefined) {
    const retryAt = runtime.clock.now() + delayMs
    return (await storage.transact(({ acmeOrders }) => acmeOrders.retry(order, retryAt))) ? retryAt : undefined
  }
  const isFailed = await storage.transact(({ acmeOrders }) => acmeOrders.fail(order, problem))
  return isFailed ? { status: "invalid", error: problem } : undefined
}

/** Returns the delay of the next attempt; undefined if there is none. */
function retryDelayOf({ attempts, expiresAt }: ClaimedOrder, error: unknown, now: Instant): number | undefined {
  // A policy service may decide until the order expires.
  if (error instanceof PolicyPending) return now + error.retryAfterMs < expiresAt ? error.retryAfterMs : undefined
  return mayPass(error) ? retryDelaysMs[attempts - 1] : undefined
}

/** Codes of errors that may be temporary. */
const passing: ReadonlySet<EngineErrorCode> = new Set([
  "busy",
  "internal",
  "out-of-service",
  "pending",
  "rate-limited",
  "unavailable",
])

const passingProblems: ReadonlySet<ProblemType> = new Set(["dns"])

/** Returns true for errors that a retry may resolve. */
function mayPass(error: unknown): boolean {
  if (error instanceof AcmeProblem) return passingProblems.has(error.problem.type)
  return !isEngineError(error) || passing.has(error.code)
}

const problemIn = (error: unknown): Problem =>
  error instanceof AcmeProblem
    ? error.problem
    : { type: "serverInternal", detail: isEngineError(error) ? error.message : "The certificate could not be issued." }
