import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import type { OrganizationId, RunId, WorkspaceId } from "../../core/ids.ts"
import type { Run } from "./run.ts"
import { advance, lockStep } from "./run-rules.ts"
import type { RunStatus } from "./run-status.ts"
import type { Lock, Workspace } from "../workspace/workspace.ts"

const runWith = (members: Partial<Run> = {}): Run => ({
  id: "run-1" as RunId,
  workspaceId: "ws-1" as WorkspaceId,
  organizationId: "org-1" as OrganizationId,
  status: "pending",
  message: "",
  source: "tfe-api",
  isDestroy: false,
  autoApply: false,
  planOnly: false,
  refreshOnly: false,
  refresh: true,
  savePlan: false,
  allowEmptyApply: false,
  allowConfigGeneration: false,
  engineVersion: null,
  targetAddrs: [],
  replaceAddrs: [],
  variables: [],
  hasChanges: false,
  planCounts: null,
  applyCounts: null,
  createdAt: 0,
  createdBy: null,
  confirmedBy: null,
  cancelRequestedAt: null,
  inputStateVersionId: null,
  commentIds: [],
  statusTimestamps: { pending: 0 },
  configurationVersionId: null,
  planId: "plan-1",
  applyId: "apply-1",
  planDurationMs: null,
  applyDurationMs: null,
  policyFailed: false,
  finishedAt: null,
  claim: null,
  ...members,
})

const walk = (run: Run, ...steps: readonly (readonly [RunStatus, number])[]): Run =>
  steps.reduce((at, [status, now]) => advance(at, { status, hasChanges: null }, now), run)

describe("a run that is moved along", () => {
  test("remembers when it reached each status and how long it planned and applied", () => {
    const run = walk(
      runWith(),
      ["planning", 100],
      ["planned", 350],
      ["confirmed", 400],
      ["applying", 500],
      ["applied", 1_500],
    )
    expect(run).toMatchObject({
      status: "applied",
      statusTimestamps: { pending: 0, planning: 100, planned: 350, confirmed: 400, applying: 500, applied: 1_500 },
      planDurationMs: 250,
      applyDurationMs: 1_000,
      hasChanges: true,
      finishedAt: 1_500,
    })
  })

  test.each<{ status: RunStatus; said: boolean | null; expected: boolean }>([
    { status: "planned", said: null, expected: true },
    { status: "planned", said: false, expected: false },
    { status: "planned_and_saved", said: null, expected: true },
    { status: "planned_and_finished", said: null, expected: false },
    { status: "planned_and_finished", said: true, expected: true },
    { status: "errored", said: null, expected: false },
  ])("has changes ($expected) when planning ends as $status and the plan says $said", ({ status, said, expected }) => {
    const planning = walk(runWith(), ["planning", 1])
    expect(advance(planning, { status, hasChanges: said }, 2).hasChanges).toBe(expected)
  })

  test.each<RunStatus>(["policy_override", "policy_soft_failed"])("has failed a policy once it was %s", (status) => {
    const checking = walk(runWith(), ["planning", 1], ["planned", 2], ["policy_checking", 3])
    expect(advance(checking, { status, hasChanges: null }, 4).policyFailed).toBe(true)
  })

  test.each<{ why: string; run: Run; to: RunStatus; text: string }>([
    { why: "out of order", run: runWith(), to: "applied", text: "The run is pending and cannot become applied." },
    {
      why: "after its end",
      run: runWith({ status: "errored" }),
      to: "planning",
      text: "The run is errored and cannot become planning.",
    },
    {
      why: "towards an apply when it only plans",
      run: runWith({ status: "planned", planOnly: true }),
      to: "confirmed",
      text: "The run is planned and cannot become confirmed.",
    },
  ])("is not moved $why", ({ run, to, text }) => {
    expect(() => advance(run, { status: to, hasChanges: null }, 1)).toThrow(
      expect.toSatisfy((error) => isEngineError(error, "conflict") && error.message === text),
    )
  })
})

describe("the workspace's lock", () => {
  const free: Lock = { held: false }
  const own: Lock = { held: true, by: { kind: "runs", id: "run-1" }, reason: "", since: 0 }
  const others: Lock = { held: true, by: { kind: "users", id: "user-2" }, reason: "", since: 0 }

  test.each<{ from: RunStatus; to: RunStatus; lock: Lock; planOnly?: boolean; step: string; why: string }>([
    { from: "pending", to: "planning", lock: free, step: "take", why: "it begins" },
    { from: "pending", to: "planning", lock: others, step: "conflict", why: "somebody else holds it" },
    { from: "pending", to: "planning", lock: others, planOnly: true, step: "keep", why: "a plan alone needs no lock" },
    { from: "pending", to: "discarded", lock: others, step: "keep", why: "it never held one" },
    { from: "planning", to: "planned", lock: own, step: "keep", why: "it goes on" },
    { from: "planned", to: "discarded", lock: own, step: "release", why: "it ends" },
    { from: "applying", to: "applied", lock: own, step: "release", why: "it ends" },
    { from: "applying", to: "errored", lock: free, step: "keep", why: "its lock was taken away" },
    { from: "applying", to: "applied", lock: others, step: "keep", why: "its lock was taken away and given on" },
    { from: "planning", to: "planned_and_saved", lock: own, step: "release", why: "a saved plan waits without one" },
    { from: "planned_and_saved", to: "confirmed", lock: free, step: "take", why: "a saved plan is applied" },
    { from: "planned_and_saved", to: "confirmed", lock: others, step: "conflict", why: "somebody else holds it" },
  ])("$step from $from to $to: $why", ({ from, to, lock, planOnly = false, step }) => {
    const [before, after] = [runWith({ status: from, planOnly }), runWith({ status: to, planOnly })]
    const decide = () => lockStep(before, after, { id: "ws-1" as WorkspaceId, lock } as Workspace)
    expect(outcomeOf(decide)).toBe(step)
  })
})

function outcomeOf(decide: () => string): string {
  try {
    return decide()
  } catch (error) {
    return isEngineError(error) &&
      /^The run has to wait in \w+\. The workspace is locked by User user-2\.$/.test(error.message)
      ? error.code
      : String(error)
  }
}
