// What the status of a pod means for its run.
import { agentContainer, type ContainerStatus, type Pod, type PodStatus } from "./pod.ts"

/** Progress of a pod. Reasons continue the sentence "The pod <name> …". */
export type PodProgress =
  /** The container has not started. `isFault`: it can only start if an object or a registry changes. */
  | { readonly kind: "waiting"; readonly reason: string; readonly isFault: boolean }
  | { readonly kind: "running" }
  /** The agent in the pod ended as intended. `isLost`: its run belongs to another executor. */
  | { readonly kind: "ended"; readonly isLost: boolean }
  /** `isRepeatable`: the cluster took the pod away, and the same run can succeed in another pod. */
  | { readonly kind: "failed"; readonly reason: string; readonly isRepeatable: boolean }

export interface WaitTimes {
  /** Time since the pod was created, in milliseconds. */
  readonly waitedMs: number
  /** Time since the pod first had a fault that keeps it from starting. */
  readonly faultyMs: number
  readonly startTimeoutMs: number
}

/** Exit code of `chancery agent --claim` if its run belongs to another executor now. */
const lostExitCode = 75

/** Faults that remain until the pod changes. */
const lastingFaults: ReadonlySet<string> = new Set(["InvalidImageName", "ErrImageNeverPull"])
/** Faults that the kubelet retries, because a registry may answer again or an object may be created. */
const retriedFaults: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
  "CreateContainerConfigError",
  "CreateContainerError",
  "PreCreateHookError",
  "PreStartHookError",
  "PostStartHookError",
  "RunContainerError",
  "CrashLoopBackOff",
])
/** The template or the image is wrong: the runtime could not start the program. */
const startErrors: ReadonlySet<string> = new Set(["StartError", "ContainerCannotRun"])

/** Part of the start timeout after which a retried fault counts as lasting. */
const faultShare = 1 / 5
const maxFaultMs = 60_000

/** Returns the time for the kubelet to retry. */
export const faultToleranceMs = (startTimeoutMs: number): number => Math.min(maxFaultMs, startTimeoutMs * faultShare)

/** Returns the progress of a pod, which is undefined if the cluster has none of its name any more. */
export function podProgress(pod: Pod | undefined, times: WaitTimes): PodProgress {
  if (pod === undefined) return repeatableFailure("was deleted")
  const { status = {} } = pod
  const own = ofContainer(status.containerStatuses)
  const terminated = own?.state?.terminated
  const disruption = disruptionOf(pod)
  if (terminated !== undefined) {
    const { exitCode, reason, message } = terminated
    if (exitCode === 0) return { kind: "ended", isLost: false }
    if (reason === "OOMKilled") return permanentFailure("was stopped at its memory limit (OOMKilled)")
    if (disruption !== undefined) return repeatableFailure(disruption)
    if (status.reason === "DeadlineExceeded") return permanentFailure(deadline)
    if (exitCode === lostExitCode) return { kind: "ended", isLost: true }
    if (reason === "ContainerStatusUnknown") return repeatableFailure("was lost with its node (ContainerStatusUnknown)")
    if (startErrors.has(reason ?? ""))
      return permanentFailure(`cannot start its program (${withMessage(reason ?? "", message)})`)
    return permanentFailure(`ended with the exit code ${exitCode}`)
  }
  if (own?.state?.running !== undefined)
    return status.reason === "NodeLost" || status.phase === "Unknown"
      ? repeatableFailure(lostNode)
      : { kind: "running" }
  if (disruption !== undefined) return repeatableFailure(disruption)
  if (pod.metadata.deletionTimestamp !== undefined) return repeatableFailure("was deleted")
  if (status.phase === "Failed" || status.phase === "Succeeded") return endedEarly(status)
  return waiting(status, own, times)
}

const permanentFailure = (reason: string): PodProgress => ({ kind: "failed", reason, isRepeatable: false })
const repeatableFailure = (reason: string): PodProgress => ({ kind: "failed", reason, isRepeatable: true })

const deadline = "ran longer than activeDeadlineSeconds of its template (DeadlineExceeded)"
const lostNode = "was lost with its node (NodeLost)"

const ofContainer = (statuses: readonly ContainerStatus[] = []): ContainerStatus | undefined =>
  statuses.find(({ name }) => name === agentContainer)

const withMessage = (reason: string, message = ""): string =>
  message === "" ? reason : `${reason}: ${message.slice(0, maxMessage)}`
/** Messages of a runtime can contain whole command lines. */
const maxMessage = 500

/** Reasons of a pod that a node ended although its run did nothing wrong. */
const nodeReasons: ReadonlySet<string> = new Set([
  "Evicted",
  "NodeAffinity",
  "NodeLost",
  "NodeShutdown",
  "OutOfcpu",
  "OutOfmemory",
  "OutOfpods",
  "Preempting",
  "Shutdown",
  "Terminated",
  "UnexpectedAdmissionError",
])

/** Returns why the cluster ends a pod before its time. Returns undefined for others. */
function disruptionOf({ status = {}, metadata }: Pod): string | undefined {
  const { reason = "", message, phase, conditions = [] } = status
  if (nodeReasons.has(reason)) return `was ended by its node (${withMessage(reason, message)})`
  if (phase === "Unknown") return lostNode
  const target = conditions.find(({ type, status: is }) => type === "DisruptionTarget" && is === "True")
  if (target !== undefined) return `was disrupted (${withMessage(target.reason ?? target.type, target.message)})`
  return metadata.deletionTimestamp === undefined ? undefined : "was deleted"
}

/** A pod ends before its container has a status if a node rejects it, or if an init container fails. */
function endedEarly({ reason, message, initContainerStatuses = [] }: PodStatus): PodProgress {
  if (reason === "DeadlineExceeded") return permanentFailure(deadline)
  const init = initContainerStatuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  if (init !== undefined)
    return permanentFailure(
      `has the init container ${init.name}, which ended with the exit code ${init.state?.terminated?.exitCode}`,
    )
  return permanentFailure(
    `ended before its container started${reason === undefined ? "" : ` (${withMessage(reason, message)})`}`,
  )
}

function waiting(status: PodStatus, own: ContainerStatus | undefined, times: WaitTimes): PodProgress {
  const { waitedMs, faultyMs, startTimeoutMs } = times
  const states = [...(status.initContainerStatuses ?? []), ...(own === undefined ? [] : [own])]
  const reasons = states.flatMap(({ state }) => (state?.waiting?.reason === undefined ? [] : [state.waiting]))
  const lasting = reasons.find(({ reason = "" }) => lastingFaults.has(reason))
  if (lasting !== undefined)
    return permanentFailure(`cannot start (${withMessage(lasting.reason ?? "", lasting.message)})`)
  const retried = reasons.find(({ reason = "" }) => retriedFaults.has(reason))
  const unscheduled = status.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "False")
  const shown = retried ?? unscheduled ?? reasons.at(-1) ?? { reason: "Pending" }
  const reason = withMessage(shown.reason ?? "Pending", shown.message)
  if (retried !== undefined && faultyMs >= faultToleranceMs(startTimeoutMs))
    return permanentFailure(`cannot start (${reason})`)
  if (waitedMs >= startTimeoutMs)
    return permanentFailure(`did not start within ${Math.round(startTimeoutMs / 1_000)}s (${reason})`)
  return { kind: "waiting", reason, isFault: retried !== undefined }
}
