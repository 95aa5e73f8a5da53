import { describe, expect, test } from "vitest"
import {
  applyStatus,
  holdsLock,
  isAtWork,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isFinal,
  isForceCancelable,
  isMeasured,
  isRepeatable,
  isUntouched,
  mayBecome,
  planStatus,
  type RunStatus,
  runStatuses,
  type StageStatus,
} from "./run-status.ts"

const where = (holds: (status: RunStatus) => boolean) => runStatuses.filter((status) => holds(status))

describe("run statuses", () => {
  test("list these final statuses", () => {
    expect(where(isFinal)).toEqual([
      "applied",
      "planned_and_finished",
      "policy_soft_failed",
      "discarded",
      "errored",
      "canceled",
      "force_canceled",
    ])
  })

  test("count for metrics when the run errored or was applied", () => {
    expect(where(isMeasured)).toEqual(["applied", "errored"])
  })

  test("list these statuses that wait for confirmation", () => {
    expect(where(isConfirmable)).toEqual([
      "planned",
      "cost_estimated",
      "policy_checked",
      "post_plan_completed",
      "planned_and_saved",
    ])
    expect(where(isDiscardable)).toEqual([
      "pending",
      "planned",
      "cost_estimated",
      "policy_override",
      "policy_checked",
      "post_plan_completed",
      "planned_and_saved",
    ])
  })

  test("hold the workspace lock between the queue and the end", () => {
    expect(where((status) => !holdsLock(status))).toEqual(["pending", "planned_and_saved", ...where(isFinal)])
  })

  test("allow cancel while the run is neither final nor waiting for confirmation, and force-cancel once it has started", () => {
    const over = (status: RunStatus) => isFinal(status) || isConfirmable(status)
    expect(where((status) => !isCancelable(status))).toEqual(where(over))
    expect(where(isForceCancelable)).toEqual(where(isCancelable).filter((status) => status !== "pending"))
  })

  test("allow another executor to repeat only the plan", () => {
    expect(where(isRepeatable)).toEqual(["planning"])
  })

  test("allow an executing run to move only to the end of its stage or of the run", () => {
    const working = where(isAtWork)
    expect(working).toEqual([
      "fetching",
      "pre_plan_running",
      "planning",
      "cost_estimating",
      "policy_checking",
      "post_plan_running",
      "pre_apply_running",
      "applying",
    ])
    for (const status of working) {
      expect([status, isCancelable(status), isUntouched(status)]).toEqual([status, true, false])
      expect(working.filter((next) => mayBecome(status, next))).toEqual([])
    }
  })

  test("are all reachable except the first, and all can reach a final status", () => {
    const reached = new Set<RunStatus>(["pending"])
    for (const from of reached) for (const to of runStatuses) if (mayBecome(from, to)) reached.add(to)
    expect([...reached].toSorted()).toEqual([...runStatuses].toSorted())
    for (const from of runStatuses) expect(isFinal(from) || runStatuses.some((to) => mayBecome(from, to))).toBe(true)
  })

  test.each<[RunStatus, RunStatus]>([
    ["pending", "planning"],
    ["pending", "fetching"],
    ["pending", "discarded"],
    ["fetching", "fetching_completed"],
    ["pre_plan_running", "pre_plan_completed"],
    ["plan_queued", "planning"],
    ["planning", "planned"],
    ["planning", "planned_and_finished"],
    ["planning", "errored"],
    ["planned", "cost_estimating"],
    ["planned", "policy_checking"],
    ["planned", "confirmed"],
    ["policy_checking", "policy_override"],
    ["policy_override", "policy_checked"],
    ["planned_and_saved", "confirmed"],
    ["confirmed", "apply_queued"],
    ["applying", "applied"],
    ["applying", "force_canceled"],
  ])("%s may become %s", (from, to) => {
    expect(mayBecome(from, to)).toBe(true)
  })

  test.each<[RunStatus, RunStatus]>([
    ["pending", "applied"],
    ["pending", "confirmed"],
    ["planning", "applying"],
    ["planned", "planning"],
    ["planned", "applied"],
    ["confirmed", "discarded"],
    ["applying", "planned"],
    ["applied", "errored"],
    ["errored", "pending"],
    ["canceled", "force_canceled"],
    ["planned_and_finished", "confirmed"],
  ])("%s cannot become %s", (from, to) => {
    expect(mayBecome(from, to)).toBe(false)
  })
})

describe("run stages", () => {
  test.each<{ status: RunStatus; reached: readonly RunStatus[]; plan: StageStatus; apply: StageStatus }>([
    { status: "pending", reached: [], plan: "pending", apply: "pending" },
    { status: "plan_queued", reached: ["plan_queued"], plan: "queued", apply: "pending" },
    { status: "planning", reached: ["planning"], plan: "running", apply: "pending" },
    { status: "planned", reached: ["planning", "planned"], plan: "finished", apply: "pending" },
    { status: "errored", reached: ["planning"], plan: "errored", apply: "unreachable" },
    { status: "canceled", reached: ["planning"], plan: "canceled", apply: "unreachable" },
    { status: "canceled", reached: [], plan: "unreachable", apply: "unreachable" },
    {
      status: "planned_and_finished",
      reached: ["planning", "planned_and_finished"],
      plan: "finished",
      apply: "unreachable",
    },
    { status: "discarded", reached: ["planning", "planned"], plan: "finished", apply: "unreachable" },
    { status: "apply_queued", reached: ["planned", "apply_queued"], plan: "finished", apply: "queued" },
    { status: "applying", reached: ["planned", "applying"], plan: "finished", apply: "running" },
    { status: "errored", reached: ["planned", "applying"], plan: "finished", apply: "errored" },
    { status: "applied", reached: ["planned", "applying", "applied"], plan: "finished", apply: "finished" },
  ])("of a run in $status after $reached are $plan and $apply", ({ status, reached, plan, apply }) => {
    const timestamps = Object.fromEntries(reached.map((name, index) => [name, index + 1]))
    expect([planStatus(status, timestamps), applyStatus(status, timestamps)]).toEqual([plan, apply])
  })
})
