// Reports in any order: a run takes only allowed transitions between public statuses, and leaves no lock when it ends.
import { array, assert, boolean, constantFrom, property, record } from "fast-check"
import { expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import type { Run, RunStep } from "./run.ts"
import { advance, decision, lockStep, runActor } from "./run-rules.ts"
import { holdsLock, isApplyStatus, isFinal, mayBecome, runStatuses } from "./run-status.ts"
import type { Lock, Workspace } from "../workspace/workspace.ts"

const kind = record({
  planOnly: boolean(),
  savePlan: boolean(),
  autoApply: boolean(),
  allowEmptyApply: boolean(),
}).filter(({ planOnly, savePlan, autoApply }) => !(savePlan && (planOnly || autoApply)))
const steps = array(
  record({
    status: constantFrom(...runStatuses),
    hasChanges: constantFrom(true, false, null),
    checksFollow: boolean(),
  }),
  { maxLength: 200 },
)

/** Returns undefined if the step is refused. */
function moved(run: Run, step: RunStep, now: number): Run | undefined {
  try {
    return advance(run, step, now)
  } catch (error) {
    if (isEngineError(error, "conflict")) return undefined
    throw error
  }
}

test("a run follows only allowed transitions, and holds the lock exactly while it executes", () => {
  assert(
    property(kind, steps, (asked, reported) => {
      let run = { id: "run-1", status: "pending", statusTimestamps: { pending: 0 }, ...asked } as unknown as Run
      let lock: Lock = { held: false }
      for (const [at, step] of reported.entries()) {
        const before = run
        const next = moved(before, step, at)
        const allowed = mayBecome(before.status, step.status) && !(run.planOnly && isApplyStatus(step.status))
        expect([before.status, step.status, next !== undefined]).toEqual([before.status, step.status, allowed])
        if (next === undefined) continue
        run = next
        const decided = step.checksFollow ? undefined : decision(run)
        if (decided !== undefined) run = advance(run, { status: decided, hasChanges: null }, at)
        const taken = lockStep(before, run, { id: "ws-1", lock } as Workspace)
        if (taken === "take") lock = { held: true, by: runActor(run), reason: "", since: at }
        if (taken === "release") lock = { held: false }
        const needsLock = !run.planOnly && holdsLock(run.status) && (!run.savePlan || isApplyStatus(run.status))
        expect([run.status, lock.held]).toEqual([run.status, needsLock])
        expect(run.finishedAt === null).toBe(!isFinal(run.status))
        expect(Object.keys(run.statusTimestamps)).toContain(run.status)
        expect(run.planOnly && isApplyStatus(run.status)).toBe(false)
      }
    }),
    { numRuns: 500 },
  )
})
