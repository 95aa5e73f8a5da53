import { conflict, type Fault } from "../core/errors.ts"
import type { OrganizationId, ProjectId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"

export interface AgentPool {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  /** Whether every workspace of the organization may use it, but for those that are excluded. */
  readonly organizationScoped: boolean
  readonly createdAt: Instant
}

/** Which workspaces may use a pool beside or instead of all, and which may not whatever else holds. */
export interface AgentPoolScope {
  readonly allowedWorkspaceIds: readonly WorkspaceId[]
  readonly allowedProjectIds: readonly ProjectId[]
  readonly excludedWorkspaceIds: readonly WorkspaceId[]
}

/** A pool as a caller sees it: its workspaces and projects are those that the caller sees. */
export interface AgentPoolView extends Omit<AgentPool, "organizationId">, AgentPoolScope {
  readonly organizationName: string
  readonly workspaceIds: readonly WorkspaceId[]
}

export interface AgentPoolInput {
  readonly name: string
  /** True by default; false where the document allows workspaces or projects and does not say. */
  readonly organizationScoped?: boolean
  /** Each list replaces the present one, as far as the caller sees it. */
  readonly allowedWorkspaceIds?: readonly string[]
  readonly allowedProjectIds?: readonly string[]
  readonly excludedWorkspaceIds?: readonly string[]
}

export interface AgentPoolFilter {
  /** Part of the name. */
  readonly search?: string
  /** Pools that the workspace of this name may use. */
  readonly allowedWorkspaceName?: string
  /** Pools that all workspaces of the project of this name may use. */
  readonly allowedProjectName?: string
}

/** The agent pools of an organization. */
export interface AgentPools {
  create(organization: string, input: AgentPoolInput): Promise<AgentPoolView>
  list(organization: string, filter: AgentPoolFilter, page: PageRequest): Promise<Page<AgentPoolView>>
  get(id: string): Promise<AgentPoolView>
  update(id: string, patch: Partial<AgentPoolInput>): Promise<AgentPoolView>
  /** Refused with `conflict` while something names it. */
  delete(id: string): Promise<void>
}

/** How many name it: own settings of workspaces, defaults above them, and VCS providers that only its agents reach. */
export interface AgentPoolUses {
  readonly workspaces: number
  readonly projects: number
  readonly organizations: number
  readonly oauthClients: number
}

const nameMaximum = 90

/** Of the members that are given. */
export const agentPoolFaults = ({ name }: Partial<AgentPoolInput>): Fault[] =>
  name === undefined ? [] : nameFaults(name)

/** terraform-provider-tfe narrows a pool by naming workspaces or projects, and says nothing else. */
export function scopeOf(before: boolean, input: Partial<AgentPoolInput>): boolean {
  const allows = [input.allowedWorkspaceIds, input.allowedProjectIds].some((ids) => (ids?.length ?? 0) > 0)
  return input.organizationScoped ?? (allows ? false : before)
}

/** Ids that are not among the known ones, each at its place in the document. */
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
  if (name.length > nameMaximum) return [{ field, detail: `Name is too long (maximum is ${nameMaximum} characters)` }]
  return /^[a-zA-Z0-9_-]+$/.test(name) ? [] : [{ field, detail: "Name can only include letters, numbers, -, and _." }]
}
