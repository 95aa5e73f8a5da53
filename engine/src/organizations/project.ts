import { type Fault, rejectFaults, unprocessable } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import { defaultAgentPoolFaults, type ExecutionMode, type Organization } from "./organization.ts"
import type { ProjectBinding } from "./project-bindings.ts"

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
