import type { Id, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"

/** Resource instance that the current state of a workspace manages. */
export interface WorkspaceResource {
  readonly id: string
  /** `network.null_resource.web["a"]`; in the database `module.network.null_resource.web["a"]` */
  readonly address: string
  readonly name: string
  /** `root` for the root module; in the database `module.network` */
  readonly module: string
  /** `hashicorp/null` */
  readonly provider: string
  /** `null_resource` */
  readonly providerType: string
  /** Index of the instance if the resource has `count` or `for_each`. */
  readonly nameIndex: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** State version in which the instance last changed. */
  readonly stateVersionId: StateVersionId
}

/** Resource instance as read from a state. */
export interface FoundResource extends Pick<
  WorkspaceResource,
  "address" | "name" | "module" | "provider" | "providerType" | "nameIndex"
> {
  /** Digest of the instance, for comparison only. */
  readonly digest: string
}

const moduleStep = /module\.([^.[]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?)(\.|$)/y

/** Returns module and address as HCP Terraform shows them: the names of modules without the keyword `module`. */
export function withModuleNames<R extends Pick<WorkspaceResource, "module" | "address">>(resource: R): R {
  const { module, address } = resource
  let at = 0
  const names: string[] = []
  while (at < module.length) {
    moduleStep.lastIndex = at
    const step = moduleStep.exec(module)
    // Not a module path: shown unchanged.
    if (step === null) return resource
    names.push(step[1] ?? "")
    at = moduleStep.lastIndex
  }
  const shown = names.join(".")
  return {
    ...resource,
    module: shown,
    address: address.startsWith(`${module}.`) ? `${shown}${address.slice(module.length)}` : address,
  }
}

/** Managed resources by address, without data sources. */
export type FoundResources = ReadonlyMap<string, FoundResource>

export type WorkspaceResourceId = Id<"wsr">

export interface KnownResource {
  readonly id: string
  readonly address: string
  readonly digest: string
}

/** Resources of workspaces as of the state version that they were last listed from. */
export interface WorkspaceResourceRepository {
  /** Returns undefined if the resources were never listed. */
  listedFrom(workspaceId: WorkspaceId): Promise<StateVersionId | undefined>
  known(workspaceId: WorkspaceId): Promise<readonly KnownResource[]>
  /** Lists resources by address. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<WorkspaceResource>>
  /** Writes a new resource, or replaces the one at its address. */
  put(
    workspaceId: WorkspaceId,
    resource: FoundResource & { readonly id: WorkspaceResourceId },
    change: { readonly at: Instant; readonly stateVersionId: StateVersionId },
  ): Promise<void>
  remove(ids: readonly string[]): Promise<void>
  setListedFrom(workspaceId: WorkspaceId, stateVersionId: StateVersionId): Promise<void>
}
