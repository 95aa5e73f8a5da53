import type { OrganizationId, ProjectId, TagId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { CountedTag, Tag } from "./tag.ts"
import type { TagBinding } from "./tag-binding.ts"

export interface TagQuery {
  readonly organizationId: OrganizationId
  /** Substring of the name, case-insensitive. */
  readonly search?: string
  /** Workspaces whose tags are excluded. */
  readonly exceptOf?: readonly WorkspaceId[]
}

/** Resource that can have bindings. A project's bindings are never in the pool. */
export type Taggable =
  | { readonly kind: "workspace"; readonly id: WorkspaceId; readonly organizationId: OrganizationId }
  | { readonly kind: "project"; readonly id: ProjectId; readonly organizationId: OrganizationId }

/** Flat tag of a workspace with its owners. */
export interface OwnedTag {
  readonly tagId: TagId
  readonly workspaceId: WorkspaceId
  readonly owners: readonly string[]
}

export interface TagRepository {
  find(id: string): Promise<Tag | undefined>
  /** Returns the tags of the organization that have one of these ids. */
  findMany(organizationId: OrganizationId, ids: readonly string[]): Promise<readonly Tag[]>
  findNamed(organizationId: OrganizationId, names: readonly string[]): Promise<readonly Tag[]>
  list(query: TagQuery, page: PageRequest): Promise<Page<CountedTag>>
  counted(ids: readonly TagId[]): Promise<readonly CountedTag[]>
  /**
   * Returns the tags of these names in the order of the drafts: the existing tag, or the draft if the pool had none. Atomic: concurrent
   * callers create one tag (docs/compatibility.md, "Tags").
   */
  ensure(drafts: readonly Tag[]): Promise<readonly Tag[]>
  /** Returns the first few of the tags that owners other than this one hold. */
  heldByOthers(ids: readonly TagId[], owner: string): Promise<readonly OwnedTag[]>
  /** Deletes tags, also from every resource. */
  remove(ids: readonly TagId[]): Promise<void>
  /** Deletes those of the tags that no resource has. */
  removeUnused(ids: readonly TagId[]): Promise<void>

  bindingsOf(taggables: readonly Taggable[]): Promise<ReadonlyMap<string, readonly TagBinding[]>>
  /** Returns flat tags of one workspace. */
  tagsOf(workspaceId: WorkspaceId, page: PageRequest, search?: string): Promise<Page<CountedTag>>
  insertBindings(bindings: readonly (TagBinding & { readonly taggable: Taggable })[]): Promise<void>
  updateBinding(taggable: Taggable, binding: TagBinding): Promise<void>
  removeBindings(taggable: Taggable["kind"], ids: readonly string[]): Promise<void>
  /** Deletes the tags that only this workspace has from the pool. Call before the workspace is deleted. */
  releaseTagsOf(workspaceId: WorkspaceId): Promise<void>
}
