// Heartbeats of a claim. They renew its lease, and show whether the run must stop.
import { setTimeout as sleep } from "node:timers/promises"
import type { RunClaims, RunClaimView } from "../../workspaces/runs/run-claim.ts"
import { isFinal } from "../../workspaces/runs/run-status.ts"
import { isLost } from "./claim-retries.ts"

/** `cancel`: stop gracefully. `ended`: other callers ended the run, or its lease ended. Nothing can be reported any more. */
export type StopReason = "cancel" | "ended"

export interface RunLease extends AsyncDisposable {
  /** Aborts when the run must stop. */
  readonly stopped: AbortSignal
  reason(): StopReason | undefined
  /** Aborts when the run was canceled by force: it must stop at once. */
  readonly killed: AbortSignal
}

export function openRunLease(
  claims: Pick<RunClaims, "heartbeat">,
  claim: Pick<RunClaimView, "id">,
  everyMs: number,
): RunLease {
  const stopped = new AbortController()
  const killed = new AbortController()
  const closed = new AbortController()
  let reason: StopReason | undefined
  function stop(because: StopReason): void {
    reason = because === "ended" ? because : (reason ?? because)
    stopped.abort()
  }

  async function beat(): Promise<void> {
    while (!closed.signal.aborted) {
      await sleep(everyMs, undefined, { signal: closed.signal }).catch(() => undefined)
      if (closed.signal.aborted) return
      try {
        const { run } = await claims.heartbeat(claim.id)
        if (closed.signal.aborted) return
        if (run.status === "force_canceled") killed.abort()
        if (isFinal(run.status)) stop("ended")
        else if (run.cancelRequestedAt !== null) stop("cancel")
      } catch (error) {
        // The server may be away. The lease decides how long.
        if (isLost(error)) stop("ended")
      }
    }
  }
  const beating = beat()
  return {
    stopped: stopped.signal,
    killed: killed.signal,
    reason: () => reason,
    async [Symbol.asyncDispose]() {
      closed.abort()
      await beating
    },
  }
}
