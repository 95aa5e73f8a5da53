import { describe, expect, test } from "vitest"
import type { ContainerStatus, Pod, PodStatus } from "./pod.ts"
import { faultToleranceMs, podProgress, type WaitTimes } from "./pod-progress.ts"

const start: WaitTimes = { waitedMs: 1_000, faultyMs: 0, startTimeoutMs: 300_000 }
const pod = (status: PodStatus, metadata: object = {}): Pod => ({ metadata: { name: "run", ...metadata }, status })
const own = (state: ContainerStatus["state"] = {}): readonly ContainerStatus[] => [{ name: "agent", state }]
const waits = (reason: string, message?: string) =>
  pod({
    phase: "Pending",
    containerStatuses: own({ waiting: { reason, ...(message === undefined ? {} : { message }) } }),
  })
const ended = (exitCode: number, reason: string, status: PodStatus = {}, metadata: object = {}) =>
  pod({ phase: "Failed", ...status, containerStatuses: own({ terminated: { exitCode, reason } }) }, metadata)
const unscheduled = pod({
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes are available" }],
})
const running = own({ running: {} })
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" }
const disrupted = (reason: string): PodStatus => ({
  conditions: [{ type: "DisruptionTarget", status: "True", reason }],
})

describe("podProgress waits", () => {
  test.each([
    { why: "the pod has no status", of: pod({}), reason: "Pending", isFault: false },
    { why: "no node has room yet", of: unscheduled, reason: "Unschedulable: 0/3 nodes are available", isFault: false },
    { why: "the container is created", of: waits("ContainerCreating"), reason: "ContainerCreating", isFault: false },
    {
      why: "an image is pulled again",
      of: waits("ErrImagePull", "timeout"),
      reason: "ErrImagePull: timeout",
      isFault: true,
    },
    {
      why: "a Secret does not exist yet",
      of: waits("CreateContainerConfigError", 'secret "run" not found'),
      reason: 'CreateContainerConfigError: secret "run" not found',
      isFault: true,
    },
    {
      why: "the image of an init container is pulled again",
      of: pod({
        phase: "Pending",
        initContainerStatuses: [{ name: "init", state: { waiting: { reason: "ImagePullBackOff" } } }],
        containerStatuses: own({ waiting: { reason: "PodInitializing" } }),
      }),
      reason: "ImagePullBackOff",
      isFault: true,
    },
  ])("when $why", ({ of, reason, isFault }) => {
    expect(podProgress(of, start)).toEqual({ kind: "waiting", reason, isFault })
  })
})

describe("podProgress goes on", () => {
  test.each([
    { why: "the container runs", of: pod({ phase: "Running", containerStatuses: running }) },
    { why: "the container runs until its grace period ends", of: pod({ containerStatuses: running }, deleted) },
    {
      why: "a sidecar has ended",
      of: pod({ containerStatuses: [...running, { name: "proxy", state: { terminated: { exitCode: 1 } } }] }),
    },
    {
      why: "the container runs after the start timeout",
      of: pod({ containerStatuses: running }),
      times: { ...start, waitedMs: 3_600_000 },
    },
  ])("when $why", ({ of, times = start }) => {
    expect(podProgress(of, times)).toEqual({ kind: "running" })
  })
})

describe("podProgress ends", () => {
  test.each([
    { why: "the agent succeeded", of: ended(0, "Completed"), isLost: false },
    { why: "the agent succeeded and a sidecar runs", of: ended(0, "Completed", { phase: "Running" }), isLost: false },
    { why: "the agent succeeded in a deleted pod", of: ended(0, "Completed", {}, deleted), isLost: false },
    { why: "the run belongs to another executor", of: ended(75, "Error"), isLost: true },
  ])("when $why", ({ of, isLost }) => {
    expect(podProgress(of, start)).toEqual({ kind: "ended", isLost })
  })
})

describe("podProgress fails for good", () => {
  const late = { ...start, waitedMs: 300_000 }
  const faulty = { ...start, faultyMs: 60_000 }
  const long = "x".repeat(600)
  test.each([
    { of: waits("InvalidImageName", "bad"), reason: "cannot start (InvalidImageName: bad)" },
    { of: waits("ErrImageNeverPull"), reason: "cannot start (ErrImageNeverPull)" },
    { of: waits("ErrImagePull", "no host"), times: faulty, reason: "cannot start (ErrImagePull: no host)" },
    { of: waits("ImagePullBackOff"), times: faulty, reason: "cannot start (ImagePullBackOff)" },
    { of: waits("CreateContainerConfigError"), times: faulty, reason: "cannot start (CreateContainerConfigError)" },
    { of: waits("CreateContainerError"), times: faulty, reason: "cannot start (CreateContainerError)" },
    {
      of: waits("RunContainerError", long),
      times: faulty,
      reason: `cannot start (RunContainerError: ${"x".repeat(500)})`,
    },
    { of: unscheduled, times: late, reason: "did not start within 300s (Unschedulable: 0/3 nodes are available)" },
    { of: waits("ContainerCreating"), times: late, reason: "did not start within 300s (ContainerCreating)" },
    { of: ended(137, "OOMKilled"), reason: "was stopped at its memory limit (OOMKilled)" },
    { of: ended(137, "OOMKilled", {}, deleted), reason: "was stopped at its memory limit (OOMKilled)" },
    { of: ended(128, "StartError"), reason: "cannot start its program (StartError)" },
    { of: ended(1, "Error"), reason: "ended with the exit code 1" },
    {
      of: ended(143, "Error", { reason: "DeadlineExceeded" }),
      reason: "ran longer than activeDeadlineSeconds of its template (DeadlineExceeded)",
    },
    {
      of: pod({ phase: "Failed", reason: "DeadlineExceeded" }),
      reason: "ran longer than activeDeadlineSeconds of its template (DeadlineExceeded)",
    },
    {
      of: pod({ phase: "Failed", initContainerStatuses: [{ name: "init", state: { terminated: { exitCode: 2 } } }] }),
      reason: "has the init container init, which ended with the exit code 2",
    },
    { of: pod({ phase: "Failed", reason: "Other" }), reason: "ended before its container started (Other)" },
  ])("when the pod $reason", ({ of, times = start, reason }) => {
    expect(podProgress(of, times)).toEqual({ kind: "failed", reason, isRepeatable: false })
  })
})

describe("podProgress leaves the run to another pod", () => {
  test.each([
    { of: undefined, reason: "was deleted" },
    { of: pod({ phase: "Pending" }, deleted), reason: "was deleted" },
    { of: ended(143, "Error", {}, deleted), reason: "was deleted" },
    {
      of: ended(137, "Error", { reason: "Evicted", message: "low on memory" }),
      reason: "was ended by its node (Evicted: low on memory)",
    },
    { of: pod({ phase: "Failed", reason: "Evicted" }), reason: "was ended by its node (Evicted)" },
    { of: pod({ phase: "Failed", reason: "OutOfcpu" }), reason: "was ended by its node (OutOfcpu)" },
    { of: ended(137, "Error", disrupted("PreemptionByScheduler")), reason: "was disrupted (PreemptionByScheduler)" },
    { of: ended(137, "Error", disrupted("EvictionByEvictionAPI")), reason: "was disrupted (EvictionByEvictionAPI)" },
    { of: ended(137, "ContainerStatusUnknown"), reason: "was lost with its node (ContainerStatusUnknown)" },
    { of: pod({ phase: "Unknown", containerStatuses: running }), reason: "was lost with its node (NodeLost)" },
    { of: pod({ reason: "NodeLost", containerStatuses: running }), reason: "was lost with its node (NodeLost)" },
  ])("when the pod $reason", ({ of, reason }) => {
    expect(podProgress(of, start)).toEqual({ kind: "failed", reason, isRepeatable: true })
  })
})

test.each([
  { startTimeoutMs: 10_000, tolerance: 2_000 },
  { startTimeoutMs: 300_000, tolerance: 60_000 },
  { startTimeoutMs: 3_600_000, tolerance: 60_000 },
])("faultToleranceMs is $tolerance when a pod has $startTimeoutMs to start", ({ startTimeoutMs, tolerance }) => {
  expect(faultToleranceMs(startTimeoutMs)).toBe(tolerance)
})
