import { type Caller, membershipIn } from "../core/caller.ts"
import { type Fault, rejectFaults, unprocessable } from "../core/errors.ts"
import type { OrganizationId, ProjectId, TeamId } from "../core/ids.ts"
import type { Writer } from "../core/owner.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { RandomSource } from "../core/random.ts"
import type { Instant } from "../core/time.ts"
import { defaultAgentPoolFaults, type ExecutionMode, type Organization, remoteModeFaults } from "./organization.ts"
import { type NamedAccessLevel, namedAccessLevels, partsOf, type ProjectAccess } from "./team-project-access.ts"

export interface ProjectSettings {
  readonly name: string
  readonly description: string
  readonly autoDestroyActivityDuration: string | null
  /** Null means the organization's default. */
  readonly defaultExecutionMode: ExecutionMode | null
  readonly defaultAgentPoolId: string | null
}

export interface Project extends ProjectSettings {
  readonly id: ProjectId
  readonly organizationId: OrganizationId
  readonly isDefault: boolean
  readonly createdAt: Instant
  /** True if the project overwrites the organization's pool. A project with its own mode that uses no pool overwrites it without a pool. */
  readonly overwritesAgentPool: boolean
}

/** True means the project's own value, false the inherited one (docs/compatibility.md, "Inherited settings"). */
export interface ProjectSettingOverwrites {
  readonly defaultExecutionMode?: boolean
  readonly defaultAgentPool?: boolean
}

export type ProjectPatch = Partial<ProjectSettings> & {
  readonly settingOverwrites?: ProjectSettingOverwrites
  /** New list of bindings, which replaces all present ones. */
  readonly tagBindings?: readonly ProjectBinding[]
}
export type ProjectInput = Pick<ProjectSettings, "name"> & ProjectPatch

export interface ProjectContext {
  readonly organization: Pick<Organization, "defaultExecutionMode" | "defaultAgentPoolId" | "remoteOperations">
  /** True if the pool in the document belongs to the organization. */
  readonly ownsAgentPool: boolean
  /** True if all workspaces of the project may use the pool. Default: true. */
  readonly agentPoolAdmits?: boolean
  /** Faults of the bindings in the document. */
  readonly bindingFaults: readonly Fault[]
}

export const defaultProjectName = "Default Project"

export const defaultProject = (organization: Organization): Project => ({
  ...blank,
  id: organization.defaultProjectId,
  organizationId: organization.id,
  name: defaultProjectName,
  isDefault: true,
  createdAt: organization.createdAt,
  overwritesAgentPool: false,
})

const blank: ProjectSettings = {
  name: "",
  description: "",
  autoDestroyActivityDuration: null,
  defaultExecutionMode: null,
  defaultAgentPoolId: null,
}

export function createProject(
  input: ProjectInput,
  context: ProjectContext,
  made: { readonly id: ProjectId; readonly organizationId: OrganizationId; readonly now: Instant },
): Project {
  const { id, organizationId, now } = made
  const fresh = { ...blank, id, organizationId, isDefault: false, createdAt: now, overwritesAgentPool: false }
  return changeProject(fresh, input, context)
}

export function changeProject(before: Project, patch: ProjectPatch, context: ProjectContext): Project {
  const { settingOverwrites: overwrites, tagBindings: _, ...settings } = patch
  const wanted: Project = { ...before, ...settings }
  const ownMode = overwrites?.defaultExecutionMode === false ? null : wanted.defaultExecutionMode
  const mode = ownMode ?? context.organization.defaultExecutionMode
  const namesPool = typeof patch.defaultAgentPoolId === "string"
  // Leaving agent mode removes the previous pool. Only a pool in the same document is a contradiction.
  const dropsPool = overwrites?.defaultAgentPool === false || (mode !== "agent" && !namesPool)
  const ownPool = dropsPool ? null : wanted.defaultAgentPoolId
  const usesNoPool = ownMode !== null && ownMode !== "agent"
  const after: Project = {
    ...wanted,
    defaultExecutionMode: ownMode,
    defaultAgentPoolId: ownPool,
    overwritesAgentPool:
      ownPool !== null || (usesNoPool && (overwrites?.defaultAgentPool ?? before.overwritesAgentPool)),
  }
  const faults = [
    ...(patch.name === undefined ? [] : projectNameFaults(after.name)),
    ...projectDescriptionFaults(after.description),
    ...(after.autoDestroyActivityDuration === null ? [] : activityDurationFaults(after.autoDestroyActivityDuration)),
    ...overwriteFaults(after, overwrites),
    ...remoteModeFaults("defaultExecutionMode", patch.defaultExecutionMode, context.organization.remoteOperations),
    ...context.bindingFaults,
    ...defaultAgentPoolFaults(
      {
        defaultExecutionMode: mode,
        defaultAgentPoolId: ownPool ?? (mode === "agent" ? context.organization.defaultAgentPoolId : null),
      },
      patch,
      { ...context, poolWithoutAgents },
    ),
  ]
  // HCP Terraform uses another title if this is the only fault.
  if (faults.length > 0 && faults.every(({ detail }) => detail === poolWithoutAgents))
    throw unprocessable(poolWithoutAgents, faults)
  rejectFaults(faults)
  return after
}

/** Unlike an organization's text, this one does not begin with "Default" (go-tfe's own tests). */
const poolWithoutAgents = "Agent pool must not be specified unless using 'agent' execution mode"

/** Returns the defaults that workspaces of the project inherit. */
export function projectDefaults(
  project: Pick<ProjectSettings, "defaultExecutionMode" | "defaultAgentPoolId">,
  organization: Pick<Organization, "defaultExecutionMode" | "defaultAgentPoolId">,
): { readonly executionMode: ExecutionMode; readonly agentPoolId: string | null } {
  const executionMode = project.defaultExecutionMode ?? organization.defaultExecutionMode
  if (executionMode !== "agent") return { executionMode, agentPoolId: null }
  return { executionMode, agentPoolId: project.defaultAgentPoolId ?? organization.defaultAgentPoolId }
}

function overwriteFaults(after: Project, overwrites: ProjectSettingOverwrites | undefined): Fault[] {
  const { defaultExecutionMode: mode, defaultAgentPool: pool } = overwrites ?? {}
  if (mode !== undefined && pool !== undefined && mode !== pool)
    return [
      {
        field: ["settingOverwrites"],
        detail:
          "If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.",
      },
    ]
  const faults: Fault[] = []
  if (overwrites?.defaultExecutionMode === true && after.defaultExecutionMode === null)
    faults.push({
      field: ["defaultExecutionMode"],
      detail: "Default execution mode must be specified when its setting overwrite is true",
    })
  // terraform-provider-tfe sends both overwrites with any mode. A mode of the project that uses no pool needs none.
  if (overwrites?.defaultAgentPool === true && !after.overwritesAgentPool)
    faults.push({
      field: ["defaultAgentPoolId"],
      detail: "Default agent pool must be specified when its setting overwrite is true",
    })
  return faults
}

export const maxProjectName = 40
const maxDescription = 256

export function projectNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > maxProjectName)
    return [{ field, detail: `Name is too long (maximum is ${maxProjectName} characters)` }]
  if (!/^[a-zA-Z0-9_-]([a-zA-Z0-9 _-]*[a-zA-Z0-9_-])?$/.test(name))
    return [
      {
        field,
        detail: "Name may only contain letters, numbers, spaces, -, and _, and can neither begin nor end with a space.",
      },
    ]
  return []
}

export const projectDescriptionFaults = (description: string): Fault[] =>
  description.length > maxDescription
    ? [{ field: ["description"], detail: `Description is too long (maximum is ${maxDescription} characters)` }]
    : []

export const activityDurationFaults = (duration: string): Fault[] =>
  /^(?!0+[dh])\d{1,4}[dh]$/.test(duration)
    ? []
    : [
        {
          field: ["autoDestroyActivityDuration"],
          detail: "Auto destroy activity duration must be a number from 1 to 9999 followed by d or h",
        },
      ]

export interface ProjectQuery {
  readonly organizationId: OrganizationId
  /** Exact names, case-insensitive. A project must have one of them. */
  readonly names?: readonly string[]
  /** Substring of the name. */
  readonly search?: string
  /** Limits to projects with a grant to one of these teams. Absent means all of the organization. */
  readonly grantedTo?: readonly TeamId[]
}

export interface ProjectCounts {
  readonly workspaces: number
  readonly teams: number
}

export interface ProjectRepository {
  find(id: string): Promise<Project | undefined>
  findMany(ids: readonly ProjectId[]): Promise<readonly Project[]>
  defaultOf(organizationId: OrganizationId): Promise<Project>
  list(query: ProjectQuery, page: PageRequest): Promise<Page<Project>>
  /** Returns the grants of these teams on these projects. */
  grantsOn(
    ids: readonly ProjectId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<ProjectId, readonly ProjectAccess[]>>
  countsOf(ids: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, ProjectCounts>>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if the organization has a project of that name. */
  insert(project: Project): Promise<void>
  save(project: Project): Promise<void>
  remove(id: ProjectId): Promise<void>
}

/** Project as callers get it. */
export interface ProjectView {
  readonly id: ProjectId
  readonly organizationName: string
  readonly name: string
  readonly description: string
  readonly createdAt: Instant
  readonly autoDestroyActivityDuration: string | null
  /** Defaults that workspaces inherit: the project's own if it overwrites them, else the organization's. */
  readonly defaultExecutionMode: ExecutionMode
  readonly defaultAgentPoolId: string | null
  readonly settingOverwrites: Required<ProjectSettingOverwrites>
  readonly permissions: ProjectPermissions
  readonly counts: ProjectCounts
}

export interface ProjectFilter {
  /** Exact names. A project must have one of them. */
  readonly names?: readonly string[]
  /** Substring of the name. */
  readonly search?: string
}

/** Operations on projects. */
export interface Projects {
  /** Throws `invalid` if the organization has a project of this name, compared without case. */
  create(organization: string, input: ProjectInput, writer?: Writer): Promise<ProjectView>
  /** Lists the projects that the caller can see. */
  list(organization: string, filter: ProjectFilter, page: PageRequest): Promise<Page<ProjectView>>
  get(id: string): Promise<ProjectView>
  /**
   * Updates a project. Omitted members keep their values; null inherits the organization's default again. Bindings replace the existing
   * ones; with an owner, only that owner's.
   */
  update(id: string, patch: ProjectPatch, writer?: Writer): Promise<ProjectView>
  /** Throws `conflict` for the default project, and for a project that contains workspaces. */
  delete(id: string): Promise<void>
}

export const projectAccessLevels = [...namedAccessLevels, "custom"] as const
export type ProjectAccessLevel = (typeof projectAccessLevels)[number]

/** Workspace access that a project access grants. A custom one defines its own. */
export const workspaceAccessOfProject: Record<NamedAccessLevel, "read" | "write" | "admin"> = {
  read: "read",
  write: "write",
  maintain: "admin",
  admin: "admin",
}

/** Rights on a project, in addition to those on its workspaces. */
export interface ProjectPermissions {
  readonly canRead: boolean
  readonly canUpdate: boolean
  readonly canDestroy: boolean
  readonly canCreateWorkspace: boolean
  /** A move needs this permission on both projects. */
  readonly canMoveWorkspaces: boolean
  /** Right to list team access. `canManageTeams` is the right to change it. */
  readonly canReadTeams: boolean
  readonly canManageTeams: boolean
}

export function projectPermissions(
  caller: Caller,
  project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
  grants: readonly ProjectAccess[],
): ProjectPermissions {
  const membership = membershipIn(caller, project.organizationId)
  const isWideAdmin = membership !== undefined && (membership.owner || membership.access.manageProjects)
  const isAdmin = isWideAdmin || grants.some(({ access }) => access === "admin")
  const readsAll = membership?.access.readProjects === true || membership?.access.readWorkspaces === true
  const parts = grants.map(partsOf)
  const settings = parts.map(({ projectAccess }) => projectAccess.settings)
  const teams = parts.map(({ projectAccess }) => projectAccess.teams)
  const manages = membership?.access.manageWorkspaces === true
  const canCreateWorkspace = isAdmin || manages || parts.some(({ workspaceAccess }) => workspaceAccess.create)
  return {
    canRead: membership !== undefined && (canCreateWorkspace || grants.length > 0 || readsAll),
    canUpdate: isAdmin || settings.some((one) => one !== "read"),
    canDestroy: isAdmin || settings.includes("delete"),
    canCreateWorkspace: membership !== undefined && canCreateWorkspace,
    canMoveWorkspaces: isAdmin || parts.some(({ workspaceAccess }) => workspaceAccess.move),
    canReadTeams: isAdmin || manages || readsAll || teams.some((one) => one !== "none"),
    canManageTeams: isAdmin || teams.includes("manage"),
  }
}

// Port to tag bindings. `tags` depends on organizations, not the other way round. A project that is created or changed together with its
// bindings needs only these operations.

export interface ProjectBinding {
  readonly key: string
  readonly value: string
}

export interface ProjectBindings<UsedRepositories> {
  /** Returns the faults that can be found in the list alone. */
  faults(bindings: readonly ProjectBinding[]): readonly Fault[]
  /** Replaces all bindings, or with an owner only those of this owner. */
  replace(
    repositories: UsedRepositories,
    project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
    bindings: readonly ProjectBinding[],
    made: { readonly now: Instant; readonly random: RandomSource; readonly owner: string | undefined },
  ): Promise<void>
}
