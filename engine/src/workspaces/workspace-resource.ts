import type { Id, StateVersionId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"

/** One instance of something that the current state of a workspace manages. */
export interface WorkspaceResource {
  readonly id: string
  /** `module.network.null_resource.web["a"]` */
  readonly address: string
  readonly name: string
  /** `root` for the outermost. */
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

/** By address, of what is managed; data sources are not. */
export type FoundResources = ReadonlyMap<string, FoundResource>

export type WorkspaceResourceId = Id<"wsr">

export interface KnownResource {
  readonly id: string
  readonly address: string
  readonly digest: string
}

/** Resources of workspaces as of the version that each was last listed from. */
export interface WorkspaceResourceStore {
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
