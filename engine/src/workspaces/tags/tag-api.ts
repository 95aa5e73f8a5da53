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
  /** Where they were asked for. */
  readonly owners?: readonly string[]
}

export interface Showing {
  /** Who holds each binding. */
  readonly owners?: boolean
  /** Flat tags as well, as entries without a value; each entry then says which it is. */
  readonly tags?: boolean
}

/** An existing tag by id, or one by name. */
export type TagReference = { readonly id: string } | { readonly name: string }

export interface TagFilter {
  /** Part of the name, any case. */
  readonly search?: string
  /** Leaves out what these workspaces carry, as far as the caller sees them. */
  readonly exceptOf?: readonly string[]
}

/**
 * Tags of the engine: the pool of each organization, and the tags of workspaces and projects. `ofWorkspace` lists flat tags,
 * `bindings` lists tag bindings with and without a value. Names keep their case and are compared without it. A write by an
 * owner never changes tags of other owners (docs/tag-owners.md); it throws `conflict` if it would.
 */
export interface Tags {
  list(organizationName: string, filter: TagFilter, page: PageRequest): Promise<Page<TagView>>
  /** Puts tags into the pool; those that are there already are answered as they are. */
  create(organizationName: string, names: readonly string[]): Promise<readonly TagView[]>
  /** All or none; from every resource too. By an owner, refused with `conflict` where others hold one. */
  delete(organizationName: string, ids: readonly string[], writer?: Writer): Promise<void>
  /** Gives one tag to many workspaces, all or none. */
  apply(tagId: string, workspaceIds: readonly string[], writer?: Writer): Promise<void>

  /** Flat tags of a workspace; a tag that is new enters the pool, and leaves it with its last workspace. */
  ofWorkspace(workspaceId: string, page: PageRequest, filter?: Pick<TagFilter, "search">): Promise<Page<TagView>>
  add(workspaceId: string, tags: readonly TagReference[], writer?: Writer): Promise<void>
  remove(workspaceId: string, tags: readonly TagReference[], writer?: Writer): Promise<void>

  /** The workspace's own. */
  bindings(workspaceId: string, showing?: Showing): Promise<readonly TagBindingView[]>
  /** With those of its project, of which the workspace's own win. */
  effectiveBindings(workspaceId: string, showing?: Showing): Promise<readonly EffectiveTagBinding[]>
  /** Adds and changes; answers all there are. Refused with `invalid` beyond ten bindings with a value. */
  bind(workspaceId: string, bindings: readonly Binding[], writer?: Writer): Promise<readonly TagBindingView[]>

  projectBindings(projectId: string, showing?: Showing): Promise<readonly TagBindingView[]>
  bindProject(projectId: string, bindings: readonly Binding[], writer?: Writer): Promise<readonly TagBindingView[]>
}
