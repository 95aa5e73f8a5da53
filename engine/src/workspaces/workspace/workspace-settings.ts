// Settings of a workspace: defaults at create, changes at update, and the rules between settings. All faults of a request are reported at
// once, and a fault changes nothing.
import type { Edition } from "../../core/edition.ts"
import { type Fault, rejectFaults } from "../../core/errors.ts"
import type { OrganizationId, ProjectId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { type ExecutionMode, type Plan, topPlan } from "../../organizations/organization.ts"
import { changeAutoDestroy } from "./auto-destroy.ts"
import type { Checked } from "../access/workspace-authorization.ts"
import { isAtLeast, latestRelease, resolveEngineVersion } from "./terraform-version.ts"
import { changeExecution, type ExecutionDefaults } from "./execution-mode.ts"
import { changeVcsRepo, type VcsConnectionFacts } from "./vcs-repo.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { VcsRepo, Workspace, WorkspaceSettings } from "./workspace.ts"

/** Facts outside of workspace and input that the rules need. */
export interface Surroundings extends VcsConnectionFacts {
  readonly edition: Edition
  readonly plan: Plan
  readonly execution: ExecutionDefaults
  /** Value of `global-remote-state` for a new workspace whose input omits it. */
  readonly globalRemoteStateDefault: boolean
  /** Known Terraform releases, oldest first. */
  readonly releases: readonly string[]
  /** True if another workspace of the organization has the requested name. */
  readonly nameIsTaken: boolean
  readonly agentPoolExists: boolean
  /** True if the scope of the requested agent pool includes the workspace, or if no pool is requested. */
  readonly agentPoolAdmits: boolean
}

const maxWorkspaceName = 90
const maxDescription = 10_000
const maxSourceName = 255
const maxSourceUrl = 2_048
const maxDirectory = 1_024
const maxTriggers = 1_000
const assessmentsMinimumVersion = "0.15.4"

export function createWorkspace(
  input: WorkspaceInput,
  place: { readonly id: WorkspaceId; readonly organizationId: OrganizationId; readonly projectId: ProjectId },
  surroundings: Surroundings,
  now: Instant,
): Workspace {
  // A name of the wrong type is already a fault. Do not report it as missing too.
  const isNameRefused = (input.faults ?? []).some(({ field }) => field?.[0] === "name")
  const named = isNameRefused ? input : { name: "", ...input }
  const { value, faults } = changeSettings(newSettings(input, surroundings), named, surroundings)
  rejectFaults([...(input.faults ?? []), ...faults])
  return {
    ...place,
    ...value,
    createdAt: now,
    updatedAt: now,
    latestChangeAt: now,
    environment: "default",
    source: "tfe-api",
    autoDestroyStatus: null,
    autoDestroySettledAt: null,
    lock: { held: false },
    lockNumber: 0,
    sshKeyId: null,
    currentRunId: null,
    currentStateVersionId: null,
    currentConfigurationVersionId: null,
    currentAssessmentResultId: null,
    lastAssessmentResultAt: null,
    resourceCount: 0,
    metrics: {
      applyDurationAverageMs: null,
      planDurationAverageMs: null,
      policyCheckFailures: null,
      runFailures: null,
      runsCount: null,
    },
  }
}

/** Returns the faults of the settings of a new workspace. */
export const settingFaults = (input: WorkspaceInput, surroundings: Surroundings): readonly Fault[] =>
  changeSettings(newSettings(input, surroundings), { name: "", ...input }, surroundings).faults

/** Applies an update. `updatedAt` changes only if a setting changes. */
export function changeWorkspace<W extends Workspace>(
  workspace: W,
  projectId: ProjectId,
  input: WorkspaceInput,
  surroundings: Surroundings,
  now: Instant,
): W {
  const { value, faults } = changeSettings(workspace, input, surroundings)
  rejectFaults([...(input.faults ?? []), ...faults])
  const after = { ...workspace, ...value, projectId }
  return isSame(workspace, after) ? workspace : { ...after, updatedAt: now }
}

const isSame = (before: Workspace, after: Workspace): boolean =>
  Object.entries(after).every(
    ([name, value]) => JSON.stringify(before[name as keyof Workspace]) === JSON.stringify(value),
  )

type Settings = WorkspaceSettings & Pick<Workspace, "sourceName" | "sourceUrl">

const newSettings = (input: WorkspaceInput, surroundings: Surroundings): Settings => ({
  name: "",
  description: null,
  executionMode: "remote",
  agentPoolId: null,
  settingOverwrites: { executionMode: false, agentPool: false },
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  autoApply: false,
  autoApplyRunTrigger: false,
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
  fileTriggersEnabled: true,
  // A client that requests only project sharing does not get the administrator's default for global sharing.
  globalRemoteState: surroundings.globalRemoteStateDefault && input.projectRemoteState !== true,
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  engineVersion: latestRelease(surroundings.releases),
  triggerPatterns: [],
  triggerPrefixes: [],
  vcsRepo: null,
  workingDirectory: null,
  sourceName: null,
  sourceUrl: null,
})

function changeSettings(before: Settings, input: WorkspaceInput, surroundings: Surroundings): Checked<Settings> {
  const execution = changeExecution(before, input, surroundings.execution, surroundings)
  const vcsRepo = changeVcsRepo(before.vcsRepo, input.vcsRepo, surroundings)
  const triggers = changeTriggers(before, input, vcsRepo.value)
  const autoDestroy = changeAutoDestroy(before, input)
  const sharing = changeStateSharing(before, input)
  const engineVersion = input.engineVersion ?? before.engineVersion
  const { executionMode, settingOverwrites } = execution.value
  const assessments = changeAssessments(before, input, surroundings, {
    mode: settingOverwrites.executionMode ? executionMode : surroundings.execution.executionMode,
    version: resolveEngineVersion(engineVersion, surroundings.releases),
  })
  return {
    value: {
      name: input.name ?? before.name,
      description: given(input.description, before.description),
      ...execution.value,
      allowDestroyPlan: input.allowDestroyPlan ?? before.allowDestroyPlan,
      assessmentsEnabled: assessments.value,
      autoApply: input.autoApply ?? before.autoApply,
      autoApplyRunTrigger: input.autoApplyRunTrigger ?? before.autoApplyRunTrigger,
      ...autoDestroy.value,
      ...triggers.value,
      ...sharing.value,
      queueAllRuns: input.queueAllRuns ?? before.queueAllRuns,
      speculativeEnabled: input.speculativeEnabled ?? before.speculativeEnabled,
      structuredRunOutputEnabled: input.structuredRunOutputEnabled ?? before.structuredRunOutputEnabled,
      engineVersion,
      vcsRepo: vcsRepo.value,
      workingDirectory: given(input.workingDirectory, before.workingDirectory) || null,
      sourceName: given(input.sourceName, before.sourceName),
      sourceUrl: given(input.sourceUrl, before.sourceUrl) || null,
    },
    faults: [
      ...nameFaults(input.name, surroundings.nameIsTaken),
      ...lengthFaults("description", "Description", input.description, maxDescription),
      ...execution.faults,
      ...assessments.faults,
      ...autoDestroy.faults,
      ...sharing.faults,
      ...engineVersionFaults(input.engineVersion, surroundings.releases),
      ...triggers.faults,
      ...vcsRepo.faults,
      ...directoryFaults(input.workingDirectory),
      ...lengthFaults("sourceName", "source-name", input.sourceName, maxSourceName),
      ...sourceUrlFaults(input.sourceUrl),
    ],
  }
}

const given = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value)

const nameCharacters = /^[a-zA-Z0-9_-]+$/

/** Returns whether the name is valid. Does not check that it is free. */
export const isWorkspaceName = (name: string): boolean => name.length <= maxWorkspaceName && nameCharacters.test(name)

function nameFaults(name: string | undefined, isTaken: boolean): Fault[] {
  if (name === undefined) return []
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  const faults: Fault[] = []
  if (name.length > maxWorkspaceName)
    faults.push({ field, detail: `Name is too long (maximum is ${maxWorkspaceName} characters)` })
  if (!nameCharacters.test(name)) faults.push({ field, detail: "Name can only include letters, numbers, -, and _." })
  return faults.length === 0 && isTaken ? [{ field, detail: "Name has already been taken" }] : faults
}

function lengthFaults(field: string, noun: string, text: string | null | undefined, maximum: number): Fault[] {
  if ((text ?? "").length <= maximum) return []
  return [{ field: [field], detail: `${noun} is too long (maximum is ${maximum} characters)` }]
}

/** Returns the reasons why a workspace cannot be assessed. `version` is the release that its constraint resolves to. */
export function assessmentObstacles(workspace: {
  readonly plan: Plan
  readonly mode: ExecutionMode
  readonly version: string | undefined
}): string[] {
  const { plan, mode, version } = workspace
  return [
    ...(plan === topPlan ? [] : [`Assessments are only available on the ${topPlan} plan`]),
    ...(version === undefined || isAtLeast(version, assessmentsMinimumVersion)
      ? []
      : [`Assessments need engine version ${assessmentsMinimumVersion} or newer`]),
    ...(mode === "remote" ? [] : ["Assessments need 'remote' execution mode"]),
  ]
}

/** Accepts only false in the self-hosted edition, which has no assessments. */
function changeAssessments(
  before: Settings,
  input: WorkspaceInput,
  { edition, plan }: Surroundings,
  { mode, version }: { readonly mode: ExecutionMode; readonly version: string | undefined },
): Checked<boolean> {
  if (edition === "self-hosted") {
    const detail = "assessments-enabled must be false; the self-hosted edition has no assessments"
    const faults = input.assessmentsEnabled === true ? [{ field: ["assessmentsEnabled"], detail }] : []
    return { value: before.assessmentsEnabled, faults }
  }
  const obstacles = assessmentObstacles({ plan, mode, version }).map((detail) => ({
    field: ["assessmentsEnabled"],
    detail,
  }))
  // An obstacle is a fault if the client enables assessments. If a later change of mode or version causes it, assessments are disabled.
  if (input.assessmentsEnabled === true) return { value: true, faults: obstacles }
  return { value: (input.assessmentsEnabled ?? before.assessmentsEnabled) && obstacles.length === 0, faults: [] }
}

type StateSharing = Pick<WorkspaceSettings, "globalRemoteState" | "projectRemoteState">

/** Applies state sharing. Sharing with the organization excludes sharing with the project (docs/compatibility.md, "Workspace settings"). */
function changeStateSharing(before: StateSharing, input: Partial<StateSharing>): Checked<StateSharing> {
  const value = {
    globalRemoteState: input.globalRemoteState ?? before.globalRemoteState,
    projectRemoteState: input.projectRemoteState ?? before.projectRemoteState,
  }
  if (!value.globalRemoteState || !value.projectRemoteState) return { value, faults: [] }
  const field = [input.projectRemoteState === true ? "projectRemoteState" : "globalRemoteState"]
  return { value, faults: [{ field, detail: "global-remote-state and project-remote-state cannot both be true" }] }
}

function engineVersionFaults(version: string | undefined, releases: readonly string[]): Fault[] {
  if (version === undefined || resolveEngineVersion(version, releases) !== undefined) return []
  return [
    { field: ["engineVersion"], detail: "engine-version must be a version, or a constraint that matches a release" },
  ]
}

type Triggers = Pick<WorkspaceSettings, "fileTriggersEnabled" | "triggerPatterns" | "triggerPrefixes">

/**
 * Applies the triggers of a VCS connection. Patterns, prefixes and a tags regex exclude each other. Setting patterns or prefixes, also to
 * an empty list, clears the other. A tags regex clears both.
 */
function changeTriggers(before: Triggers, input: Partial<Triggers>, vcsRepo: VcsRepo | null): Checked<Triggers> {
  const patterns = (input.triggerPatterns?.length ?? 0) > 0
  const prefixes = (input.triggerPrefixes?.length ?? 0) > 0
  const faults = [
    ...listFaults("triggerPatterns", "trigger-patterns", input.triggerPatterns),
    ...listFaults("triggerPrefixes", "trigger-prefixes", input.triggerPrefixes),
  ]
  const exclusive = (field: string, detail: string) =>
    faults.push({ field: [field], detail: `${detail} cannot be populated at the same time` })
  if (patterns && prefixes) exclusive("triggerPatterns", "Trigger patterns and trigger prefixes")
  if ((vcsRepo?.tagsRegex ?? null) !== null) {
    if (patterns) exclusive("triggerPatterns", "Trigger patterns and tags regex")
    if (prefixes) exclusive("triggerPrefixes", "Trigger prefixes and tags regex")
    if (input.fileTriggersEnabled === true) exclusive("fileTriggersEnabled", "File triggers and tags regex")
    return { value: { fileTriggersEnabled: false, triggerPatterns: [], triggerPrefixes: [] }, faults }
  }
  return {
    value: {
      fileTriggersEnabled: input.fileTriggersEnabled ?? before.fileTriggersEnabled,
      triggerPatterns: input.triggerPatterns ?? (input.triggerPrefixes ? [] : before.triggerPatterns),
      triggerPrefixes: input.triggerPrefixes ?? (input.triggerPatterns ? [] : before.triggerPrefixes),
    },
    faults,
  }
}

function listFaults(field: string, noun: string, list: readonly string[] = []): Fault[] {
  if (list.length > maxTriggers)
    return [{ field: [field], detail: `${noun} has too many entries (maximum is ${maxTriggers})` }]
  return list.flatMap((item, index): Fault[] => {
    if (item.trim() === "") return [{ field: [field, index], detail: `${noun} can't contain a blank string` }]
    return item.length > maxDirectory
      ? [
          {
            field: [field, index],
            detail: `${noun} contains a string that is too long (maximum is ${maxDirectory} characters)`,
          },
        ]
      : []
  })
}

function directoryFaults(directory: string | null | undefined): Fault[] {
  if (!directory) return []
  const field = "workingDirectory"
  const faults = lengthFaults(field, "working-directory", directory, maxDirectory)
  // A leading slash is the root of the repository, as in HCP Terraform.
  if (directory.split("/").includes("..") || directory.includes("\0"))
    faults.push({ field: [field], detail: "working-directory must be a path inside the repository" })
  return faults
}

function sourceUrlFaults(url: string | null | undefined): Fault[] {
  if (!url) return []
  const faults = lengthFaults("sourceUrl", "source-url", url, maxSourceUrl)
  const parsed = URL.parse(url)
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol))
    faults.push({ field: ["sourceUrl"], detail: "source-url must be an http or https URL" })
  return faults
}
