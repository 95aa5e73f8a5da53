import { conflict, type Fault } from "../core/errors.ts"
import type { OrganizationId, ProjectId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"

export interface AgentPool {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  /** True if every workspace of the organization may use the pool, except the excluded ones. */
  readonly organizationScoped: boolean
  readonly createdAt: Instant
}

/** Workspaces that may use a pool, in addition to or instead of all. Exclusion takes precedence. */
export interface AgentPoolScope {
  readonly allowedWorkspaceIds: readonly WorkspaceId[]
  readonly allowedProjectIds: readonly ProjectId[]
  readonly excludedWorkspaceIds: readonly WorkspaceId[]
}

/** Pool as callers get it. Its workspaces and projects are those that the caller can see. */
export interface AgentPoolView extends Omit<AgentPool, "organizationId">, AgentPoolScope {
  readonly organizationName: string
  readonly workspaceIds: readonly WorkspaceId[]
}

export interface AgentPoolInput {
  readonly name: string
  /** Default: true, or false if workspaces or projects are allowed. */
  readonly organizationScoped?: boolean
  /** Each list replaces the present one. Ids that the caller cannot see stay. */
  readonly allowedWorkspaceIds?: readonly string[]
  readonly allowedProjectIds?: readonly string[]
  readonly excludedWorkspaceIds?: readonly string[]
}

export interface AgentPoolFilter {
  /** Substring of the name. */
  readonly search?: string
  /** Name of a workspace. Limits the list to pools that it may use. */
  readonly allowedWorkspaceName?: string
  /** Name of a project. Limits the list to pools that all of its workspaces may use. */
  readonly allowedProjectName?: string
}

/** Operations on agent pools of an organization. */
export interface AgentPools {
  create(organization: string, input: AgentPoolInput): Promise<AgentPoolView>
  list(organization: string, filter: AgentPoolFilter, page: PageRequest): Promise<Page<AgentPoolView>>
  get(id: string): Promise<AgentPoolView>
  update(id: string, patch: Partial<AgentPoolInput>): Promise<AgentPoolView>
  /** Throws `conflict` while the pool is in use. */
  delete(id: string): Promise<void>
}

/**
 * Number of uses of a pool: own settings of workspaces, defaults of projects and organizations, and OAuth clients that only its agents can
 * connect to.
 */
export interface AgentPoolUses {
  readonly workspaces: number
  readonly projects: number
  readonly organizations: number
  readonly oauthClients: number
}

const maxName = 90

/** Returns faults of the given members. */
export const agentPoolFaults = ({ name }: Partial<AgentPoolInput>): Fault[] =>
  name === undefined ? [] : nameFaults(name)

/** Returns `organizationScoped` after a change. terraform-provider-tfe only sends workspaces or projects to narrow the scope of a pool. */
export function scopeOf(before: boolean, input: Partial<AgentPoolInput>): boolean {
  const allows = [input.allowedWorkspaceIds, input.allowedProjectIds].some((ids) => (ids?.length ?? 0) > 0)
  return input.organizationScoped ?? (allows ? false : before)
}

/** Returns faults for unknown ids, with their index in the document. */
export const unknownIdFaults = (
  field: keyof AgentPoolScope,
  noun: string,
  ids: readonly string[] = [],
  known: ReadonlySet<string>,
): Fault[] =>
  ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ field: [field, index, "id"], detail: `${noun} ${id} does not exist in this organization` }],
  )

export function rejectUsedPool(id: string, uses: AgentPoolUses): void {
  const users = [
    [uses.workspaces, "workspace"],
    [uses.projects, "project default"],
    [uses.organizations, "organization default"],
    [uses.oauthClients, "OAuth client"],
  ] as const
  const named = users.flatMap(([count, noun]) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`]))
  if (named.length > 0)
    throw conflict(`Agent pool cannot be deleted while it is in use by ${named.join(", ")}`, { subject: id })
}

function nameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > maxName) return [{ field, detail: `Name is too long (maximum is ${maxName} characters)` }]
  return /^[a-zA-Z0-9_-]+$/.test(name) ? [] : [{ field, detail: "Name can only include letters, numbers, -, and _." }]
}
