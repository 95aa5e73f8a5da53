import type { OrganizationId, ProjectId, TagId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { CountedTag, Tag } from "./tag.ts"
import type { TagBinding } from "./tag-binding.ts"

export interface TagQuery {
  readonly organizationId: OrganizationId
  /** Part of the name, any case. */
  readonly search?: string
  /** Leaves out what these workspaces carry. */
  readonly exceptOf?: readonly WorkspaceId[]
}

/** What carries bindings; a project's are never in the pool. */
export type Taggable =
  | { readonly kind: "workspace"; readonly id: WorkspaceId; readonly organizationId: OrganizationId }
  | { readonly kind: "project"; readonly id: ProjectId; readonly organizationId: OrganizationId }

/** A flat tag of a workspace that owners hold. */
export interface OwnedTag {
  readonly tagId: TagId
  readonly workspaceId: WorkspaceId
  readonly owners: readonly string[]
}

export interface TagRepository {
  find(id: string): Promise<Tag | undefined>
  /** Those of the organization among these ids. */
  findMany(organizationId: OrganizationId, ids: readonly string[]): Promise<readonly Tag[]>
  findNamed(organizationId: OrganizationId, names: readonly string[]): Promise<readonly Tag[]>
  list(query: TagQuery, page: PageRequest): Promise<Page<CountedTag>>
  counted(ids: readonly TagId[]): Promise<readonly CountedTag[]>
  /**
   * Returns the tags of these names in the order of the drafts: the pool's own, or the draft if it had none. Atomic: concurrent
   * callers create one tag (docs/compatibility.md, "Tags").
   */
  ensure(drafts: readonly Tag[]): Promise<readonly Tag[]>
  /** The first few that others than this owner hold. */
  heldByOthers(ids: readonly TagId[], owner: string): Promise<readonly OwnedTag[]>
  /** Takes them from every resource too. */
  remove(ids: readonly TagId[]): Promise<void>
  /** Those of these that no resource carries any more. */
  removeUnused(ids: readonly TagId[]): Promise<void>

  bindingsOf(bearers: readonly Taggable[]): Promise<ReadonlyMap<string, readonly TagBinding[]>>
  /** Flat tags of one workspace. */
  tagsOf(workspaceId: WorkspaceId, page: PageRequest, search?: string): Promise<Page<CountedTag>>
  insertBindings(bindings: readonly (TagBinding & { readonly bearer: Taggable })[]): Promise<void>
  updateBinding(bearer: Taggable, binding: TagBinding): Promise<void>
  removeBindings(bearer: Taggable["kind"], ids: readonly string[]): Promise<void>
  /** Before a workspace is deleted: what only it carried leaves the pool. */
  releaseTagsOf(workspaceId: WorkspaceId): Promise<void>
}
