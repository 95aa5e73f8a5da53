import type { Id, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"

/** One instance of something that the current state of a workspace manages. */
export interface WorkspaceResource {
  readonly id: string
  /** `network.null_resource.web["a"]`; in the store `module.network.null_resource.web["a"]` */
  readonly address: string
  readonly name: string
  /** `root` for the outermost; in the store `module.network` */
  readonly module: string
  /** `hashicorp/null` */
  readonly provider: string
  /** `null_resource` */
  readonly providerType: string
  /** Which one of those of this name, where there are several. */
  readonly nameIndex: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** With which it has become what it is. */
  readonly stateVersionId: StateVersionId
}

/** What a state says of it. */
export interface FoundResource extends Pick<
  WorkspaceResource,
  "address" | "name" | "module" | "provider" | "providerType" | "nameIndex"
> {
  /** Tells whether it has changed, and nothing else. */
  readonly digest: string
}

const moduleStep = /module\.([^.[]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?)(\.|$)/y

/** Returns module and address as HCP Terraform shows them: the names of modules, without the keyword. */
export function withModuleNames<R extends Pick<WorkspaceResource, "module" | "address">>(resource: R): R {
  const { module, address } = resource
  let at = 0
  const names: string[] = []
  while (at < module.length) {
    moduleStep.lastIndex = at
    const step = moduleStep.exec(module)
    // No path of modules: shown as it is.
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

/** By address, of what is managed; data sources are not. */
export type FoundResources = ReadonlyMap<string, FoundResource>

export type WorkspaceResourceId = Id<"wsr">

export interface KnownResource {
  readonly id: string
  readonly address: string
  readonly digest: string
}

/** Resources of workspaces as of the version that each was last listed from. */
export interface WorkspaceResourceRepository {
  /** Undefined while nobody has listed them. */
  listedFrom(workspaceId: WorkspaceId): Promise<StateVersionId | undefined>
  known(workspaceId: WorkspaceId): Promise<readonly KnownResource[]>
  /** In the order of their addresses. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<WorkspaceResource>>
  /** New, or another one now at the address where one was. */
  put(
    workspaceId: WorkspaceId,
    resource: FoundResource & { readonly id: WorkspaceResourceId },
    change: { readonly at: Instant; readonly stateVersionId: StateVersionId },
  ): Promise<void>
  remove(ids: readonly string[]): Promise<void>
  setListedFrom(workspaceId: WorkspaceId, stateVersionId: StateVersionId): Promise<void>
}
