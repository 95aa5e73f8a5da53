// Contract between the agent and the executor that runs pods of a Kubernetes cluster. @chancery/operator implements it, because it has a
// Kubernetes client.
import type { RunClaims } from "../workspaces/runs/run-claim.ts"

/** Operations of claims that an agent needs while pods execute its runs. */
export type PodClaims = Pick<RunClaims, "heartbeat" | "get" | "report" | "appendLog" | "createToken">

export interface PodExecutorOptions {
  readonly claims: PodClaims
  /** Name of the agent. Pods are labelled with it, so it is unique among the agents of a namespace, and equal after a restart. */
  readonly agent: string
  /** Default: the image of the container `agent` in the template. */
  readonly image?: string
  /** Path of a PodTemplateSpec, as YAML or JSON. */
  readonly templateFile?: string
  /** Default: the namespace of the agent's service account, or of the context in the kubeconfig. */
  readonly namespace?: string
  /** Time for a pod to start its container. Then its run is errored. */
  readonly startTimeoutMs: number
  /** Arguments of `chancery` in a pod, without the claim. */
  readonly args: readonly string[]
  /** Environment variables of a pod. */
  readonly passed: Readonly<Record<string, string>>
  /** Files of a pod in `podFilesFolder`, by name. */
  readonly files: Readonly<Record<string, string>>
  readonly leaseMs: number
  /** Time between SIGINT and SIGKILL of a command. */
  readonly graceMs: number
  readonly maxLogBytes: number
  readonly print: (text: string) => void
}

/** Folder of a pod for tools, caches and the folder of the run. */
export const podDataFolder = "/data"

/** Folder of a pod with files of its run. */
export const podFilesFolder = "/etc/chancery/claim"

/** The options or the cluster do not allow pods for runs. The message contains no secret. */
export class PodError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "PodError"
  }
}
