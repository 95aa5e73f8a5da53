import type { TagId } from "../../core/ids.ts"
import type { Writer } from "../../core/owner.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { Binding, EffectiveTagBinding, ShownEntry } from "./tag-binding.ts"

export interface TagView {
  readonly id: TagId
  readonly name: string
  readonly createdAt: Instant
  readonly instanceCount: number
  readonly organizationName: string
}

export interface TagBindingView extends Binding, ShownEntry {
  readonly id: string
  readonly createdAt: Instant
  /** Present only if requested. */
  readonly owners?: readonly string[]
}

export interface Showing {
  /** True to return the owners of each binding. */
  readonly owners?: boolean
  /** True to return flat tags too, as entries without a value. Each entry then contains `isTag` and `isBinding`. */
  readonly tags?: boolean
}

/** Tag by id, which must exist, or by name. */
export type TagReference = { readonly id: string } | { readonly name: string }

export interface TagFilter {
  /** Substring of the name, case-insensitive. */
  readonly search?: string
  /** Workspaces whose tags are excluded. Workspaces that the caller cannot see are ignored. */
  readonly exceptOf?: readonly string[]
}

/**
 * Operations on tags: the pool of each organization, and the tags of workspaces and projects. `ofWorkspace` lists flat tags, `bindings`
 * lists tag bindings with and without a value. Names keep their case and are compared case-insensitively. A write by an owner never changes
 * tags of other owners (docs/tag-owners.md); it throws `conflict` if it would.
 */
export interface Tags {
  list(organizationName: string, filter: TagFilter, page: PageRequest): Promise<Page<TagView>>
  /** Adds tags to the pool. Returns tags that already exist unchanged. */
  create(organizationName: string, names: readonly string[]): Promise<readonly TagView[]>
  /**
   * Deletes all of the tags or none, also from every resource. Throws `conflict` if a writer with an owner deletes a tag that other owners
   * hold.
   */
  delete(organizationName: string, ids: readonly string[], writer?: Writer): Promise<void>
  /** Adds one tag to several workspaces, all or none. */
  apply(tagId: string, workspaceIds: readonly string[], writer?: Writer): Promise<void>

  /**
   * Lists the flat tags of a workspace. `add` also adds a new tag to the pool, and removing it from its last workspace removes it from the
   * pool.
   */
  ofWorkspace(workspaceId: string, page: PageRequest, filter?: Pick<TagFilter, "search">): Promise<Page<TagView>>
  add(workspaceId: string, tags: readonly TagReference[], writer?: Writer): Promise<void>
  remove(workspaceId: string, tags: readonly TagReference[], writer?: Writer): Promise<void>

  /** Returns the workspace's own bindings. */
  bindings(workspaceId: string, showing?: Showing): Promise<readonly TagBindingView[]>
  /** Returns the bindings of the workspace and of its project. The workspace's own take precedence. */
  effectiveBindings(workspaceId: string, showing?: Showing): Promise<readonly EffectiveTagBinding[]>
  /** Adds and changes bindings. Returns all bindings. Throws `invalid` if more than ten would have a value. */
  bind(workspaceId: string, bindings: readonly Binding[], writer?: Writer): Promise<readonly TagBindingView[]>

  projectBindings(projectId: string, showing?: Showing): Promise<readonly TagBindingView[]>
  bindProject(projectId: string, bindings: readonly Binding[], writer?: Writer): Promise<readonly TagBindingView[]>
}
