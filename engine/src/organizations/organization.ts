import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { type Fault, notFound, rejectFaults } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import { emailFaults } from "./user.ts"

export const executionModes = ["remote", "local", "agent"] as const
export type ExecutionMode = (typeof executionModes)[number]

/** Setting of an organization: runs execute on agents, or on the machines of the clients. */
export const remoteOperationModes = ["on", "off"] as const
export type RemoteOperations = (typeof remoteOperationModes)[number]

export const plans = ["free", "standard", "plus"] as const
export type Plan = (typeof plans)[number]
/** Plan that health assessments need (https://developer.hashicorp.com/terraform/cloud-docs/api-docs/workspaces). */
export const topPlan: Plan = "plus"

export const collaboratorAuthPolicies = ["password", "two_factor_mandatory"] as const
export type CollaboratorAuthPolicy = (typeof collaboratorAuthPolicies)[number]

/**
 * Settings of HCP Terraform that are stored without effect: no session ends, no commit status is sent, no stack is created, no identity
 * provider is used. Clients write them and expect to read them back.
 */
export interface RecordedOrganizationSettings {
  /** Minutes without activity. Null means the default of the service. */
  readonly sessionTimeout: number | null
  /** Lifetime of a session in minutes. Null means the default of the service. */
  readonly sessionRemember: number | null
  readonly ownersTeamSamlRoleId: string | null
  readonly aggregatedCommitStatusEnabled: boolean
  readonly sendPassingStatusesForUntriggeredSpeculativePlans: boolean
  readonly speculativePlanManagementEnabled: boolean
  readonly stacksEnabled: boolean
}

/** Settings that clients can write. */
export interface OrganizationSettings extends RecordedOrganizationSettings {
  /** Also the id on the wire. */
  readonly name: string
  readonly email: string
  readonly defaultExecutionMode: ExecutionMode
  readonly defaultAgentPoolId: string | null
  /** `off`: every workspace executes locally, whatever its own execution mode. Null means off, in an organization older than the setting. */
  readonly remoteOperations: RemoteOperations | null
  readonly allowForceDeleteWorkspaces: boolean
  readonly assessmentsEnforced: boolean
  readonly plan: Plan
  readonly costEstimationEnabled: boolean
  readonly collaboratorAuthPolicy: CollaboratorAuthPolicy
}

export interface Organization extends OrganizationSettings {
  readonly id: OrganizationId
  readonly createdAt: Instant
  readonly defaultProjectId: ProjectId
}

export type OrganizationInput = Pick<OrganizationSettings, "name" | "email"> & Partial<OrganizationSettings>
export type OrganizationPatch = Partial<OrganizationSettings>

/** Facts outside of the document that its rules need. */
export interface OrganizationContext {
  readonly siteAdmin: boolean
  /** True if the pool in the document belongs to the organization. */
  readonly ownsAgentPool: boolean
  /** True if the pool serves the whole organization. Default: true. */
  readonly agentPoolAdmits?: boolean
}

/** Defaults of HCP Terraform (its API documentation, "Create an Organization"), except for sessions, which do not end here. */
export const recordedDefaults: RecordedOrganizationSettings = {
  sessionTimeout: null,
  sessionRemember: null,
  ownersTeamSamlRoleId: null,
  aggregatedCommitStatusEnabled: true,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  speculativePlanManagementEnabled: true,
  stacksEnabled: false,
}

const defaults: Omit<OrganizationSettings, "name" | "email"> = {
  defaultExecutionMode: "remote",
  defaultAgentPoolId: null,
  remoteOperations: "on",
  allowForceDeleteWorkspaces: false,
  assessmentsEnforced: false,
  plan: topPlan,
  costEstimationEnabled: false,
  collaboratorAuthPolicy: "password",
  ...recordedDefaults,
}

export function createOrganization(
  input: OrganizationInput,
  context: { readonly siteAdmin: boolean },
  made: { readonly id: OrganizationId; readonly defaultProjectId: ProjectId; readonly now: Instant },
): Organization {
  const { id, defaultProjectId, now } = made
  const blank: Organization = { ...defaults, name: "", email: "", id, defaultProjectId, createdAt: now }
  // A pool belongs to an organization, so a new one has none.
  return changeOrganization(blank, input, { ...context, ownsAgentPool: false })
}

export function changeOrganization(
  before: Organization,
  patch: OrganizationPatch,
  context: OrganizationContext,
): Organization {
  const mode = patch.defaultExecutionMode ?? before.defaultExecutionMode
  const pool = patch.defaultAgentPoolId === undefined ? before.defaultAgentPoolId : patch.defaultAgentPoolId
  // Leaving agent mode removes the previous pool. Only a pool in the same document is a contradiction.
  const poolId = mode !== "agent" && patch.defaultAgentPoolId === undefined ? null : pool
  const after: Organization = {
    ...before,
    ...patch,
    ...changeCommitStatuses(before, patch),
    defaultExecutionMode: mode,
    defaultAgentPoolId: poolId,
  }
  rejectFaults([
    ...organizationNameFaults(after.name),
    ...emailFaults(after.email),
    ...defaultAgentPoolFaults(after, patch, context),
    ...remoteModeFaults("defaultExecutionMode", patch.defaultExecutionMode, after.remoteOperations),
    ...recordedSettingFaults(patch),
    ...(after.plan === before.plan || context.siteAdmin ? [] : [planFault]),
  ])
  return after
}

type CommitStatuses = Pick<
  OrganizationSettings,
  "aggregatedCommitStatusEnabled" | "sendPassingStatusesForUntriggeredSpeculativePlans"
>

/**
 * Applies the commit status settings, which exclude each other. Setting one to true sets the other to false, unless the document contains
 * both.
 */
function changeCommitStatuses(before: CommitStatuses, patch: Partial<CommitStatuses>): CommitStatuses {
  const aggregated = patch.aggregatedCommitStatusEnabled
  const untriggered = patch.sendPassingStatusesForUntriggeredSpeculativePlans
  return {
    aggregatedCommitStatusEnabled: aggregated ?? (untriggered === true ? false : before.aggregatedCommitStatusEnabled),
    sendPassingStatusesForUntriggeredSpeculativePlans:
      untriggered ?? (aggregated === true ? false : before.sendPassingStatusesForUntriggeredSpeculativePlans),
  }
}

export const recordedSettingFaults = (patch: Partial<RecordedOrganizationSettings>): Fault[] => [
  ...minutesFaults("sessionTimeout", "session-timeout", patch.sessionTimeout),
  ...minutesFaults("sessionRemember", "session-remember", patch.sessionRemember),
  ...samlRoleFaults(patch.ownersTeamSamlRoleId),
  ...commitStatusFaults(patch),
]

const commitStatusFaults = (patch: Partial<CommitStatuses>): Fault[] =>
  patch.aggregatedCommitStatusEnabled === true && patch.sendPassingStatusesForUntriggeredSpeculativePlans === true
    ? [
        {
          field: ["aggregatedCommitStatusEnabled"],
          detail:
            "aggregated-commit-status-enabled must be false if send-passing-statuses-for-untriggered-speculative-plans is true",
        },
      ]
    : []

/** Limit of the session settings: about a hundred years. */
const maxMinutes = 52_560_000

function minutesFaults(field: string, noun: string, minutes: number | null | undefined): Fault[] {
  if (minutes === undefined || minutes === null) return []
  return Number.isInteger(minutes) && minutes >= 1 && minutes <= maxMinutes
    ? []
    : [{ field: [field], detail: `${noun} must be an integer from 1 to ${maxMinutes}` }]
}

const maxSamlRole = 255

const samlRoleFaults = (role: string | null | undefined): Fault[] =>
  (role ?? "").length > maxSamlRole
    ? [
        {
          field: ["ownersTeamSamlRoleId"],
          detail: `Owners team SAML role ID is too long (maximum is ${maxSamlRole} characters)`,
        },
      ]
    : []

const planFault: Fault = { field: ["plan"], detail: "Plan identifier can only be set by a site administrator" }

/** Returns faults of a default agent pool. The texts are those of HCP Terraform (docs/compatibility.md, "Matched texts"). */
export function defaultAgentPoolFaults(
  after: { readonly defaultExecutionMode: ExecutionMode | null; readonly defaultAgentPoolId: string | null },
  patch: { readonly defaultAgentPoolId?: string | null; readonly defaultExecutionMode?: ExecutionMode | null },
  {
    ownsAgentPool,
    agentPoolAdmits = true,
    poolWithoutAgents = "Default agent pool must not be specified unless using 'agent' execution mode",
  }: { readonly ownsAgentPool: boolean; readonly agentPoolAdmits?: boolean; readonly poolWithoutAgents?: string },
): Fault[] {
  const field = ["defaultAgentPoolId", "id"]
  if (after.defaultAgentPoolId === null) {
    const changesPool = patch.defaultExecutionMode === "agent" || patch.defaultAgentPoolId === null
    if (after.defaultExecutionMode !== "agent" || !changesPool) return []
    return [
      {
        field: ["defaultAgentPoolId"],
        detail: "Default agent pool must be specified when using 'agent' execution mode",
      },
    ]
  }
  if (after.defaultExecutionMode !== "agent") return [{ field, detail: poolWithoutAgents }]
  if (typeof patch.defaultAgentPoolId === "string" && !ownsAgentPool)
    return [{ field, detail: "Default agent pool does not exist in this organization" }]
  if (typeof patch.defaultAgentPoolId === "string" && !agentPoolAdmits)
    return [{ field, detail: "Default agent pool is not available to all workspaces that would use it" }]
  return []
}

/** Returns a fault if a document sets a mode that needs remote operations while they are off. */
export function remoteModeFaults(
  field: "executionMode" | "defaultExecutionMode" | "operations",
  mode: ExecutionMode | null | undefined,
  remoteOperations: RemoteOperations | null,
): Fault[] {
  if (remoteOperations === "on" || mode === undefined || mode === null || mode === "local") return []
  const [name, value] =
    field === "operations"
      ? ["operations", "true"]
      : [field === "executionMode" ? "execution-mode" : "default-execution-mode", mode]
  const detail = `${name} cannot be ${value} while the organization's setting remote-operations is off`
  return [{ field: [field], detail }]
}

/** Folds case for comparison: `Acme` and `acme` are one organization. */
export const foldName = (name: string): string => name.toLowerCase()

export const maxOrganizationName = 40

export function organizationNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > maxOrganizationName)
    return [{ field, detail: `Name is too long (maximum is ${maxOrganizationName} characters)` }]
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) return [{ field, detail: "Name can only include letters, numbers, -, and _." }]
  return []
}

export interface OrganizationRepository {
  /** Compares names case-insensitively. */
  findByName(name: string): Promise<Organization | undefined>
  find(id: OrganizationId): Promise<Organization | undefined>
  /** Lists all organizations, or those with these ids. */
  list(
    ids: readonly OrganizationId[] | "all",
    search: string | undefined,
    page: PageRequest,
  ): Promise<Page<Organization>>
  ownsAgentPool(id: OrganizationId, agentPoolId: string): Promise<boolean>
  /** Returns whether every workspace of the organization, or of the project, may use the pool. */
  admittedByAgentPool(agentPoolId: string, projectId?: ProjectId): Promise<boolean>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if it is taken. */
  insert(organization: Organization): Promise<void>
  save(organization: Organization): Promise<void>
  /** Deletes the organization with everything in it. */
  remove(id: OrganizationId): Promise<void>
}

/** Organization as callers get it. */
export interface OrganizationView extends Omit<Organization, "remoteOperations"> {
  readonly remoteOperations: RemoteOperations
  readonly permissions: OrganizationPermissions
}

export const viewOrganization = (
  organization: Organization,
  permissions: OrganizationPermissions,
): OrganizationView => ({ ...organization, remoteOperations: organization.remoteOperations ?? "off", permissions })

/** Operations on organizations, which are identified by name, as in every path. */
export interface Organizations {
  /** Creates an organization. The caller becomes its first owner. Throws `invalid` if the name is taken, compared without case. */
  create(input: OrganizationInput): Promise<OrganizationView>
  /** Lists the organizations that the caller belongs to. `search` is a substring of the name or of the email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<OrganizationView>>
  get(name: string): Promise<OrganizationView>
  /** Updates an organization; for owners. Omitted members keep their values. Only site administrators can change the plan. */
  update(name: string, patch: OrganizationPatch): Promise<OrganizationView>
  /** Deletes the organization with everything in it; for owners. */
  delete(name: string): Promise<void>
}

// Permissions of a caller on an organization. Without the permission, the response is "not found", for members and others alike
// (docs/permissions.md).

export const organizationPermissionNames = [
  "canUpdate",
  "canDestroy",
  "canTraverse",
  "canAccessViaTeams",
  "canCreateTeam",
  "canCreateWorkspace",
  "canCreateProject",
  "canManageUsers",
  "canManageTags",
  "canUpdateOauth",
  "canUpdateSshKeys",
  "canUpdateAgentPools",
  "canUpdateApiToken",
  // There are no registries, policies and run tasks here. Only the permissions can be read.
  "canManageRunTasks",
  "canUpdateSentinel",
  "canCreateModule",
  "canCreateProvider",
  "canManageNoCodeModules",
  "canDeployNoCodeModules",
] as const
export type OrganizationPermissionName = (typeof organizationPermissionNames)[number]
export type OrganizationPermissions = { readonly [name in OrganizationPermissionName]: boolean }

/** Returns undefined if the caller does not belong to the organization, which then answers "not found". */
export function permissionsIn(caller: Caller, organizationId: OrganizationId): OrganizationPermissions | undefined {
  const membership = membershipIn(caller, organizationId)
  return membership && permissionsOf(membership, caller.kind === "organization")
}

/**
 * Returns the permissions of a member. An organization token administers the organization, but can neither delete it nor create its own
 * successor.
 */
export function permissionsOf({ owner, access }: Membership, organizationToken = false): OrganizationPermissions {
  return {
    canUpdate: owner || organizationToken,
    canDestroy: owner,
    canTraverse: true,
    canAccessViaTeams: true,
    canCreateTeam: owner || access.manageTeams,
    canCreateWorkspace: owner || access.manageWorkspaces || access.manageProjects,
    canCreateProject: owner || access.manageProjects,
    canManageUsers: owner || access.manageMembership,
    canManageTags: owner || access.manageWorkspaces || access.manageProjects,
    canUpdateOauth: owner || access.manageVcsSettings,
    canUpdateSshKeys: owner || access.manageVcsSettings,
    canUpdateAgentPools: owner || access.manageAgentPools,
    canUpdateApiToken: owner,
    canManageRunTasks: owner || access.manageRunTasks,
    canUpdateSentinel: owner || access.managePolicies,
    canCreateModule: owner || access.manageModules,
    canCreateProvider: owner || access.manageProviders,
    canManageNoCodeModules: owner || access.manageModules,
    canDeployNoCodeModules: owner || access.manageWorkspaces || access.manageProjects,
  }
}

export function requireOrganization(
  permissions: OrganizationPermissions,
  permission: OrganizationPermissionName,
  subject: string,
): void {
  if (!permissions[permission]) throw notFound(subject)
}
