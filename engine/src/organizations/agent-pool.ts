import { conflict, type Fault } from "../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"

export interface AgentPool {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  readonly createdAt: Instant
}

/** What a caller is shown of a pool: of the workspaces that name it, those they see. */
export interface AgentPoolView extends Omit<AgentPool, "organizationId"> {
  readonly organizationName: string
  readonly workspaceIds: readonly WorkspaceId[]
}

export interface AgentPoolInput {
  readonly name: string
  /** Every pool serves its whole organization. */
  readonly organizationScoped?: boolean
}

/** The agent pools of an organization. */
export interface AgentPools {
  create(organization: string, input: AgentPoolInput): Promise<AgentPoolView>
  /** `search` is part of the name. */
  list(organization: string, search: string | undefined, page: PageRequest): Promise<Page<AgentPoolView>>
  get(id: string): Promise<AgentPoolView>
  update(id: string, patch: Partial<AgentPoolInput>): Promise<AgentPoolView>
  /** Refused with `conflict` while something names it. */
  delete(id: string): Promise<void>
}

/** How many name it: own settings of workspaces, and defaults above them. */
export interface AgentPoolUses {
  readonly workspaces: number
  readonly projects: number
  readonly organizations: number
}

const nameMaximum = 90

/** Of the members that are given. */
export function agentPoolFaults({ name, organizationScoped }: Partial<AgentPoolInput>): Fault[] {
  return [
    ...(name === undefined ? [] : nameFaults(name)),
    ...(organizationScoped === false
      ? [
          {
            field: ["organizationScoped"],
            detail: "Organization scoped must be true: pools for chosen workspaces only are not offered",
          },
        ]
      : []),
  ]
}

export function refuseUsedPool(id: string, uses: AgentPoolUses): void {
  const users = [
    [uses.workspaces, "workspace"],
    [uses.projects, "project default"],
    [uses.organizations, "organization default"],
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
