// Command line of the agent in a pod. It executes one run with the options of the agent that creates the pod.
import { podDataFolder, podFilesFolder } from "../agent/pod-executor.ts"

/** Options as they were given, because they have been checked already. */
export interface PodAgentOptions {
  readonly tool: string
  readonly tools?: string
  readonly toolsMirror?: string
  readonly toolsKey?: string
  readonly toolsSignature: string
  readonly providerMirror?: string
  readonly lease: string
  readonly snapshotInterval: string
  readonly maxLog: string
  readonly timeLimit: string
  readonly memoryLimit: string
  readonly graceTime: string
}

export interface PodConnection {
  readonly engineUrl: string
  readonly hasCertificates: boolean
}

/** Files of a pod, by the names that its command line contains. */
export const podFiles = { certificates: "ca.crt", toolsKey: "tools-key" } as const

/** Returns the arguments of `chancery`, without the claim. Files are those of the pod. */
export function podArguments(
  options: PodAgentOptions,
  { engineUrl, hasCertificates }: PodConnection,
): readonly string[] {
  const { tool, tools, toolsMirror, toolsKey, toolsSignature, providerMirror } = options
  const { lease, snapshotInterval, maxLog, timeLimit, memoryLimit, graceTime } = options
  const fileOf = (name: string) => `${podFilesFolder}/${name}`
  const given: readonly (readonly [string, string | undefined])[] = [
    ["--engine-url", engineUrl],
    ["--ca-file", hasCertificates ? fileOf(podFiles.certificates) : undefined],
    // The pod is the isolation: it has no namespaces of its own for a sandbox.
    ["--isolation", "none"],
    ["--data", podDataFolder],
    ["--tool", tool],
    ["--tools", tools],
    ["--tools-mirror", toolsMirror],
    ["--tools-key", toolsKey === undefined ? undefined : fileOf(podFiles.toolsKey)],
    ["--tools-signature", toolsSignature],
    ["--provider-mirror", providerMirror],
    ["--lease", lease],
    ["--snapshot-interval", snapshotInterval],
    ["--max-log", maxLog],
    ["--time-limit", timeLimit],
    ["--memory-limit", memoryLimit],
    ["--grace-time", graceTime],
  ]
  return ["agent", ...given.flatMap(([option, value]) => (value === undefined ? [] : [option, value]))]
}
