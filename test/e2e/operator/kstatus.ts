// Status of an object by the rules of cli-utils (pkg/kstatus/status, generic.go), which Flux, kpt and others read conditions by.

export type KStatus = "Terminating" | "InProgress" | "Failed" | "Current"

export interface Sampled {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string }
  readonly status?: unknown
}

export function kstatus({ metadata, status }: Sampled): KStatus {
  const { observedGeneration, conditions = [] } = (status ?? {}) as {
    readonly observedGeneration?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  const is = (type: string) => conditions.find((one) => one.type === type)?.status
  if (metadata.deletionTimestamp !== undefined) return "Terminating"
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return "InProgress"
  if (is("Reconciling") === "True") return "InProgress"
  if (is("Stalled") === "True") return "Failed"
  if (is("Ready") === "False" || is("Ready") === "Unknown") return "InProgress"
  return "Current"
}
