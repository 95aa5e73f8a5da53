// Members of pods that the agent reads (core/v1). Pods are written from a template that can have all members.
import type { KubernetesObject, Resource } from "../kube/kubernetes-object.ts"

export const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod" }

export interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string }
  readonly status?: PodStatus
}

export interface PodStatus {
  readonly phase?: string
  readonly reason?: string
  readonly message?: string
  readonly conditions?: readonly PodCondition[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
}

export interface PodCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface ContainerStatus {
  readonly name: string
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: object
    readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string }
  }
}

/** Container of a pod in which the agent executes the run. Further containers of a template are sidecars. */
export const agentContainer = "agent"
