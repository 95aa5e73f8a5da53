// One claimed run: its plan, its apply, or both.
import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { type Claim, type Counts, Refused, type Run } from "./claim.ts"
import { openLog } from "./log.ts"
import { openWorkbench, type Workbench } from "./workbench.ts"

/** A third of the lease, so that two may be lost on their way. */
const heartbeatMs = 20_000
export const leaseSeconds = 60

export interface Execution {
  readonly program: string
  /** Reports progress of the executor. The output of the run goes to the run's log. */
  readonly print: (text: string) => void
  readonly heartbeatMs?: number
}

/** Ends with the status that the run has then. */
export async function execute(
  claim: Claim,
  { program, print, heartbeatMs: every = heartbeatMs }: Execution,
): Promise<string> {
  const stopped = new AbortController()
  const finished = new AbortController()
  const heartbeats = sendHeartbeats(claim, every, stopped, finished.signal)
  try {
    await using bench = await openWorkbench(program, claim, stopped.signal)
    const planned = claim.run.status === "plan_queued" ? await plan(claim, bench, stopped.signal) : claim.run.status
    if (planned === "confirmed" || planned === "apply_queued") return await apply(claim, bench, stopped.signal, print)
    // The run waits for a confirmation, which can take longer than this executor runs.
    if (!isOver(planned)) await claim.release()
    return planned
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 409))
      return stopped.signal.aborted ? String(stopped.signal.reason) : "lost"
    if (!stopped.signal.aborted) print(`${claim.run.id}: ${String(error)}`)
    return await claim.report(failure(stopped.signal))
  } finally {
    finished.abort()
    await heartbeats
  }
}

const isOver = (status: string): boolean =>
  [
    "planned_and_finished",
    "planned_and_saved",
    "applied",
    "discarded",
    "errored",
    "canceled",
    "force_canceled",
  ].includes(status)

/** Returns the status of a run that did not succeed. */
const failure = (stopped: AbortSignal): string => (stopped.aborted ? "canceled" : "errored")

/**
 * Says that the executor is there, and stops its work when it is asked to, or when the run was ended by others or is theirs now.
 * Until the work has stopped the run is kept.
 */
async function sendHeartbeats(
  claim: Claim,
  every: number,
  stopped: AbortController,
  finished: AbortSignal,
): Promise<void> {
  while (!finished.aborted) {
    await sleep(every, undefined, { signal: finished }).catch(() => undefined)
    if (finished.aborted) return
    try {
      const { status, beingCanceled } = await claim.heartbeat()
      const ended = ["canceled", "force_canceled", "errored"].includes(status)
      if (ended || beingCanceled) stopped.abort(ended ? status : "canceled")
      if (ended) return
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 404 && error.status !== 409)) continue
      stopped.abort("lost")
      return
    }
  }
}

async function plan(claim: Claim, bench: Workbench, stopped: AbortSignal): Promise<string> {
  await claim.report("planning")
  using log = openLog(claim, "plan")
  const initialized = await bench.run(["init", "-no-color"], log)
  // 0 for nothing to do, 2 for something.
  const words = ["plan", "-no-color", "-detailed-exitcode", `-out=${bench.planPath}`, ...optionsOf(claim.run)]
  const code = initialized === 0 ? await bench.run(words, log) : 1
  await log.end()
  if (code !== 0 && code !== 2) return await claim.report(failure(stopped))
  const json = await bench.output(["show", "-json", bench.planPath])
  await claim.savePlan("json-output", json)
  await claim.savePlan("plan-file", await readFile(bench.planPath))
  return await claim.report("planned", { hasChanges: code === 2, counts: plannedCounts(json) })
}

const optionsOf = ({ isDestroy, refreshOnly, refresh, targetAddrs, replaceAddrs }: Run): string[] => [
  ...(isDestroy ? ["-destroy"] : []),
  ...(refreshOnly ? ["-refresh-only"] : []),
  ...(refresh ? [] : ["-refresh=false"]),
  ...targetAddrs.map((address) => `-target=${address}`),
  ...replaceAddrs.map((address) => `-replace=${address}`),
]

function plannedCounts(json: Buffer): Counts {
  const { resource_changes: changes = [] } = JSON.parse(json.toString()) as {
    readonly resource_changes?: readonly {
      readonly change: { readonly actions: readonly string[]; readonly importing?: unknown }
    }[]
  }
  const count = (action: string) => changes.filter(({ change }) => change.actions.includes(action)).length
  return {
    additions: count("create"),
    changes: count("update"),
    destructions: count("delete"),
    imports: changes.filter(({ change }) => change.importing !== undefined).length,
  }
}

async function apply(
  claim: Claim,
  bench: Workbench,
  stopped: AbortSignal,
  print: (text: string) => void,
): Promise<string> {
  await claim.report("applying")
  using log = openLog(claim, "apply")
  let output = ""
  const recordingLog = {
    ...log,
    write(text: string | Uint8Array): void {
      output = (output + Buffer.from(text).toString()).slice(-4_096)
      log.write(text)
    },
  }
  // Another executor may have made the plan.
  const initialized = claim.run.status === "apply_queued" ? await bench.run(["init", "-no-color"], log) : 0
  const code = initialized === 0 ? await bench.run(["apply", "-no-color", bench.planPath], recordingLog) : 1
  // A failed apply may have changed resources, so its state is saved for the next run.
  await save(claim, bench, print)
  await log.end()
  if (code !== 0) return await claim.report(failure(stopped))
  return await claim.report("applied", { counts: appliedCounts(output) })
}

async function save(claim: Claim, bench: Workbench, print: (text: string) => void): Promise<void> {
  const state = await bench.newState()
  if (state === undefined) return
  try {
    await claim.saveState(state.announced, state.bytes)
  } catch (error) {
    print(
      `${claim.run.id}: the state of ${claim.workspaceName} could not be saved and is in ${bench.keep()}: ${String(error)}`,
    )
    throw error
  }
}

const summary = /Resources: (?:(\d+) imported, )?(\d+) added, (\d+) changed, (\d+) destroyed/
function appliedCounts(output: string): Counts {
  const [, imports = 0, additions = 0, changes = 0, destructions = 0] = (summary.exec(output) ?? []).map(Number)
  return { imports: imports || 0, additions, changes, destructions }
}
