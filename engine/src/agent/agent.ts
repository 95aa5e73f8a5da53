// Loop of `chancery agent`: claims runs of its pool and has them executed, in as many slots as it has.
import { setTimeout as sleep } from "node:timers/promises"
import { secondMs } from "../core/time.ts"
import type { ClaimTarget, RunClaims, RunClaimView } from "../workspaces/runs/run-claim.ts"
import type { Execution, RunExecutor } from "./run-executor.ts"
import { isTemporary } from "./runs/claim-retries.ts"

export interface AgentOptions {
  readonly claims: RunClaims
  readonly executor: RunExecutor
  readonly target: ClaimTarget
  /** Name that runs and their logs show. */
  readonly name: string
  /** Number of runs that are executed at the same time. */
  readonly slots: number
  /** Time in milliseconds after which the server gives a run of a silent agent to another. */
  readonly leaseMs: number
  /** Ends when no run waits. */
  readonly once: boolean
  readonly print: (text: string) => void
}

/** Idle slots end within this time when the agent stops. */
const waitMs = 3 * secondMs
const pauseAfterErrorMs = 5 * secondMs

/**
 * Executes runs until `draining` aborts: runs at hand are finished first. Throws if the server rejects the token, and with `once` also if the
 * server is away.
 */
export async function runAgent(options: AgentOptions, draining: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const ending = AbortSignal.any([draining, stop.signal])
  const results = await Promise.allSettled(
    Array.from({ length: options.slots }, (_, index) =>
      runSlot(options, index + 1, ending).catch((error: unknown) => {
        // Without a valid token, no slot can go on.
        stop.abort()
        throw error
      }),
    ),
  )
  const failed = results.find((result) => result.status === "rejected")
  if (failed !== undefined) throw failed.reason
}

/** Executes the run of one claim that another agent made. Throws `not-found` if the claim has ended. */
export async function runClaim(
  options: Pick<AgentOptions, "claims" | "executor" | "print">,
  claimId: string,
): Promise<Execution> {
  return await execute(await options.claims.get(claimId), options, 1)
}

async function runSlot(options: AgentOptions, slot: number, ending: AbortSignal): Promise<void> {
  const { claims, target, name, leaseMs, once, print } = options
  while (!ending.aborted) {
    let claim: RunClaimView | undefined
    try {
      claim = await claims.claim(target, { name, leaseMs, waitMs: once ? 0 : waitMs })
    } catch (error) {
      if (once || !isTemporary(error)) throw error
      print(`The server did not answer: ${(error as Error).message}`)
      await sleep(pauseAfterErrorMs, undefined, { signal: ending }).catch(() => undefined)
      continue
    }
    if (claim === undefined) {
      if (once) return
      continue
    }
    await execute(claim, options, slot)
  }
}

async function execute(
  claim: RunClaimView,
  { executor, print }: Pick<AgentOptions, "executor" | "print">,
  slot: number,
): Promise<Execution> {
  const label = `${claim.run.id} of ${claim.workspace.organizationName}/${claim.workspace.name}`
  print(`${label}: ${claim.run.status}`)
  try {
    const ended = await executor.execute(claim, slot)
    print(`${label}: ${ended}`)
    return ended
  } catch (error) {
    // The lease ends without this agent, and the server decides about the run.
    print(`${label}: ${(error as Error).message}`)
    return "lost"
  }
}
