import { type Caller, membershipIn } from "../core/caller.ts"
import { type Fault, rejectFaults, unprocessable } from "../core/errors.ts"
import type { OrganizationId, ProjectId, TeamId } from "../core/ids.ts"
import type { Writer } from "../core/owner.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { RandomSource } from "../core/random.ts"
import type { Instant } from "../core/time.ts"
import { defaultAgentPoolFaults, type ExecutionMode, type Organization } from "./organization.ts"
import { type NamedAccessLevel, namedAccessLevels, partsOf, type ProjectAccess } from "./team-project-access.ts"

export interface ProjectSettings {
  readonly name: string
  readonly description: string
  readonly autoDestroyActivityDuration: string | null
  /** Null inherits the organization's default. */
  readonly defaultExecutionMode: ExecutionMode | null
  readonly defaultAgentPoolId: string | null
}

export interface Project extends ProjectSettings {
  readonly id: ProjectId
  readonly organizationId: OrganizationId
  readonly isDefault: boolean
  readonly createdAt: Instant
  /** Whether the project overwrites the organization's pool; with a mode of its own that uses no pool, without one. */
  readonly overwritesAgentPool: boolean
}

/** True is the project's own value, false inherits (docs/compatibility.md, "Inherited settings"). */
export interface ProjectSettingOverwrites {
  readonly defaultExecutionMode?: boolean
  readonly defaultAgentPool?: boolean
}

export type ProjectPatch = Partial<ProjectSettings> & {
  readonly settingOverwrites?: ProjectSettingOverwrites
  /** Exactly these from now on. */
  readonly tagBindings?: readonly ProjectBinding[]
}
export type ProjectInput = Pick<ProjectSettings, "name"> & ProjectPatch

export interface ProjectContext {
  readonly organization: Pick<Organization, "defaultExecutionMode" | "defaultAgentPoolId">
  /** Whether the pool the document names belongs to the organization. */
  readonly ownsAgentPool: boolean
  /** Whether all workspaces of the project may use the pool; true when left out. */
  readonly agentPoolAdmits?: boolean
  /** What is wrong with the bindings the document names. */
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
  // Leaving agent mode lets the old pool go; only a pool named in the same document is a contradiction.
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
  // HCP Terraform answers with another title where nothing else is wrong.
  if (faults.length > 0 && faults.every(({ detail }) => detail === poolWithoutAgents))
    throw unprocessable(poolWithoutAgents, faults)
  rejectFaults(faults)
  return after
}

/** Unlike an organization's, the pool of a project has no "Default" before it in this one text (go-tfe's own tests). */
const poolWithoutAgents = "Agent pool must not be specified unless using 'agent' execution mode"

/** What the workspaces inside inherit. */
export function projectDefaults(
  project: Pick<ProjectSettings, "defaultExecutionMode" | "defaultAgentPoolId">,
  organization: ProjectContext["organization"],
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
  // terraform-provider-tfe writes both overwrites with any mode: a mode of one's own that uses no pool needs none.
  if (overwrites?.defaultAgentPool === true && !after.overwritesAgentPool)
    faults.push({
      field: ["defaultAgentPoolId"],
      detail: "Default agent pool must be specified when its setting overwrite is true",
    })
  return faults
}

export const projectNameMaximum = 40
const descriptionMaximum = 256

export function projectNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > projectNameMaximum)
    return [{ field, detail: `Name is too long (maximum is ${projectNameMaximum} characters)` }]
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
  description.length > descriptionMaximum
    ? [{ field: ["description"], detail: `Description is too long (maximum is ${descriptionMaximum} characters)` }]
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
  /** Exactly one of these, case-insensitively. */
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
  /** Only those given to one of these teams; absent means all of the organization. */
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
  /** What these teams were given on these projects. */
  grantsOn(
    ids: readonly ProjectId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<ProjectId, readonly ProjectAccess[]>>
  countsOf(ids: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, ProjectCounts>>
  /** Throws `EngineError("invalid")` on `name` when the organization has a project of that name. */
  insert(project: Project): Promise<void>
  save(project: Project): Promise<void>
  remove(id: ProjectId): Promise<void>
}

/** What a caller is shown of a project. */
export interface ProjectView {
  readonly id: ProjectId
  readonly organizationName: string
  readonly name: string
  readonly description: string
  readonly createdAt: Instant
  readonly autoDestroyActivityDuration: string | null
  /** What the workspaces inside inherit: the project's own value where it overwrites, else the organization's. */
  readonly defaultExecutionMode: ExecutionMode
  readonly defaultAgentPoolId: string | null
  readonly settingOverwrites: Required<ProjectSettingOverwrites>
  readonly permissions: ProjectPermissions
  readonly counts: ProjectCounts
}

export interface ProjectFilter {
  /** Exactly one of these. */
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
}

/** The project family of the engine. */
export interface Projects {
  /** Refuses with `invalid` a name that the organization has already, in any case of its letters. */
  create(organization: string, input: ProjectInput, writer?: Writer): Promise<ProjectView>
  /** Those the caller may see. */
  list(organization: string, filter: ProjectFilter, page: PageRequest): Promise<Page<ProjectView>>
  get(id: string): Promise<ProjectView>
  /**
   * Members left out keep their values; null inherits the organization's default again. Bindings replace those there are, or of
   * a writer with an owner those that it holds.
   */
  update(id: string, patch: ProjectPatch, writer?: Writer): Promise<ProjectView>
  /** Refused with `conflict` for the default project and for one that holds workspaces. */
  delete(id: string): Promise<void>
}

export const projectAccessLevels = [...namedAccessLevels, "custom"] as const
export type ProjectAccessLevel = (typeof projectAccessLevels)[number]

/** Project access as it reaches the workspaces inside; a custom one says its own. */
export const workspaceAccessOfProject: Record<NamedAccessLevel, "read" | "write" | "admin"> = {
  read: "read",
  write: "write",
  maintain: "admin",
  admin: "admin",
}

/** Rights inside a project, beyond those on the workspaces it holds. */
export interface ProjectPermissions {
  readonly canRead: boolean
  readonly canUpdate: boolean
  readonly canDestroy: boolean
  readonly canCreateWorkspace: boolean
  /** A move needs this permission on both projects. */
  readonly canMoveWorkspaces: boolean
  /** See which teams have access, and change it. */
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

// Key-value tags are the business of `tags`, which knows organizations and not the other way round; a project that is made or
// changed together with its bindings needs no more of them than this.

export interface ProjectBinding {
  readonly key: string
  readonly value: string
}

export interface ProjectBindings<UsedRepositories> {
  /** Everything that is wrong with the list by itself. */
  faults(bindings: readonly ProjectBinding[]): readonly Fault[]
  /** Exactly these from now on, or of an owner those that it holds. */
  replace(
    stores: UsedRepositories,
    project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
    bindings: readonly ProjectBinding[],
    made: { readonly now: Instant; readonly random: RandomSource; readonly owner: string | undefined },
  ): Promise<void>
}
