import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import type { OrganizationId, RunId, WorkspaceId } from "../../core/ids.ts"
import type { Run } from "./run.ts"
import { advance, lockStep, replan } from "./run-rules.ts"
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
  eventIds: [],
  statusTimestamps: { pending: 0 },
  configurationVersionId: null,
  planId: "plan-1",
  applyId: "apply-1",
  planDurationMs: null,
  applyDurationMs: null,
  policyFailed: false,
  finishedAt: null,
  claim: null,
  waitingReason: null,
  waitRecordedAt: null,
  ...members,
})

const walk = (run: Run, ...steps: readonly (readonly [RunStatus, number])[]): Run =>
  steps.reduce((at, [status, now]) => advance(at, { status, hasChanges: null }, now), run)

test("replanning a run returns it to the queue without its plan and its claim", () => {
  const planning = walk(runWith(), ["plan_queued", 100], ["planning", 200])
  const claim = { id: "claim-1" } as Run["claim"]
  expect(replan({ ...planning, claim })).toEqual({
    ...planning,
    status: "plan_queued",
    statusTimestamps: { pending: 0, plan_queued: 100 },
    claim: null,
  })
})

describe("advancing a run", () => {
  test("records the time of each status and the durations of plan and apply", () => {
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
  ])(
    "sets hasChanges ($expected) when planning ends as $status and the plan reports $said",
    ({ status, said, expected }) => {
      const planning = walk(runWith(), ["planning", 1])
      expect(advance(planning, { status, hasChanges: said }, 2).hasChanges).toBe(expected)
    },
  )

  test.each<RunStatus>(["policy_override", "policy_soft_failed"])("sets policyFailed after the status %s", (status) => {
    const checking = walk(runWith(), ["planning", 1], ["planned", 2], ["policy_checking", 3])
    expect(advance(checking, { status, hasChanges: null }, 4).policyFailed).toBe(true)
  })

  test.each<{ why: string; run: Run; to: RunStatus; text: string }>([
    {
      why: "when statuses are skipped",
      run: runWith(),
      to: "applied",
      text: "The run is pending and cannot become applied.",
    },
    {
      why: "after the run is final",
      run: runWith({ status: "errored" }),
      to: "planning",
      text: "The run is errored and cannot become planning.",
    },
    {
      why: "to an apply status when the run is plan-only",
      run: runWith({ status: "planned", planOnly: true }),
      to: "confirmed",
      text: "The run is planned and cannot become confirmed.",
    },
  ])("is rejected $why", ({ run, to, text }) => {
    expect(() => advance(run, { status: to, hasChanges: null }, 1)).toThrow(
      expect.toSatisfy((error) => isEngineError(error, "conflict") && error.message === text),
    )
  })
})

describe("the workspace lock", () => {
  const free: Lock = { held: false }
  const own: Lock = { held: true, by: { kind: "runs", id: "run-1" }, reason: "", since: 0 }
  const others: Lock = { held: true, by: { kind: "users", id: "user-2" }, reason: "", since: 0 }

  test.each<{ from: RunStatus; to: RunStatus; lock: Lock; planOnly?: boolean; step: string; why: string }>([
    { from: "pending", to: "planning", lock: free, step: "take", why: "the run starts" },
    { from: "pending", to: "planning", lock: others, step: "conflict", why: "another caller holds the lock" },
    {
      from: "pending",
      to: "planning",
      lock: others,
      planOnly: true,
      step: "keep",
      why: "a plan-only run needs no lock",
    },
    { from: "pending", to: "discarded", lock: others, step: "keep", why: "the run never held the lock" },
    { from: "planning", to: "planned", lock: own, step: "keep", why: "the run continues" },
    { from: "planned", to: "discarded", lock: own, step: "release", why: "the run ends" },
    { from: "applying", to: "applied", lock: own, step: "release", why: "the run ends" },
    { from: "applying", to: "errored", lock: free, step: "keep", why: "the lock was released by force" },
    {
      from: "applying",
      to: "applied",
      lock: others,
      step: "keep",
      why: "the lock was released by force and taken by another caller",
    },
    {
      from: "planning",
      to: "planned_and_saved",
      lock: own,
      step: "release",
      why: "a saved plan waits without the lock",
    },
    { from: "planned_and_saved", to: "confirmed", lock: free, step: "take", why: "a saved plan is applied" },
    {
      from: "planned_and_saved",
      to: "confirmed",
      lock: others,
      step: "conflict",
      why: "another caller holds the lock",
    },
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
