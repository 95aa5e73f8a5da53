// Permissions on a workspace (docs/permissions.md). Only this file decides that a forbidden request answers 404 instead of 403. Force
// delete is the exception.
import { type Caller, membershipIn } from "../../core/caller.ts"
import { forbidden, notFound } from "../../core/errors.ts"
import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"

/** Sorted as in the workspace document. */
export const workspacePermissionNames = [
  "canUpdate",
  "canDestroy",
  "canQueueRun",
  "canReadRun",
  "canReadVariable",
  "canUpdateVariable",
  "canReadStateVersions",
  "canReadStateOutputs",
  "canCreateStateVersions",
  "canQueueApply",
  "canLock",
  "canUnlock",
  "canForceUnlock",
  "canReadSettings",
  "canManageTags",
  "canManageRunTasks",
  "canForceDelete",
  "canManageAssessments",
  "canManageEphemeralWorkspaces",
  "canReadAssessmentResults",
  "canQueueDestroy",
] as const
export type WorkspacePermission = (typeof workspacePermissionNames)[number]
export type WorkspacePermissions = { readonly [name in WorkspacePermission]: boolean }

export const workspaceAccessLevels = ["read", "plan", "write", "admin", "custom"] as const
export type WorkspaceAccessLevel = (typeof workspaceAccessLevels)[number]

/** Parts of `custom` access. */
export interface CustomAccess {
  readonly runs: "read" | "plan" | "apply"
  readonly variables: "none" | "read" | "write"
  readonly stateVersions: "none" | "read-outputs" | "read" | "write"
  readonly sentinelMocks: "none" | "read"
  readonly workspaceLocking: boolean
  readonly runTasks: boolean
}

/** Access of one team to one workspace, direct or through its project. */
export type Grant =
  | { readonly teamId: TeamId; readonly access: Exclude<WorkspaceAccessLevel, "custom"> }
  | {
      readonly teamId: TeamId
      readonly access: "custom"
      readonly custom: CustomAccess
      /** Only in access through a project. */
      readonly canDelete?: boolean
    }

const readNames: readonly WorkspacePermission[] = [
  "canReadRun",
  "canReadVariable",
  "canReadStateVersions",
  "canReadStateOutputs",
  "canReadSettings",
  "canReadAssessmentResults",
]
const planNames: readonly WorkspacePermission[] = [...readNames, "canQueueRun"]
const writeNames: readonly WorkspacePermission[] = [
  ...planNames,
  "canUpdateVariable",
  "canCreateStateVersions",
  "canQueueApply",
  "canLock",
  "canUnlock",
]
const adminNames: readonly WorkspacePermission[] = workspacePermissionNames.filter((name) => name !== "canForceDelete")

/**
 * Permissions of an organization token. It manages workspaces but runs nothing: a lock is held by a user, team or run, and only users
 * and teams create state versions (docs/compatibility.md, "State versions").
 */
const organizationTokenNames: readonly WorkspacePermission[] = adminNames.filter(
  (name) =>
    !["canQueueRun", "canQueueApply", "canQueueDestroy", "canCreateStateVersions", "canLock", "canUnlock"].includes(
      name,
    ),
)

function grantNames(grant: Grant): readonly WorkspacePermission[] {
  switch (grant.access) {
    case "read":
      return readNames
    case "plan":
      return planNames
    case "write":
      return writeNames
    case "admin":
      return adminNames
    case "custom":
      return grant.canDelete === true ? [...customNames(grant.custom), "canDestroy"] : customNames(grant.custom)
    default:
      return grant satisfies never
  }
}

function customNames(custom: CustomAccess): WorkspacePermission[] {
  const names: WorkspacePermission[] = ["canReadRun", "canReadSettings", "canReadAssessmentResults"]
  if (custom.runs !== "read") names.push("canQueueRun")
  if (custom.runs === "apply") names.push("canQueueApply")
  if (custom.variables !== "none") names.push("canReadVariable")
  if (custom.variables === "write") names.push("canUpdateVariable")
  if (custom.stateVersions !== "none") names.push("canReadStateOutputs")
  if (custom.stateVersions === "read" || custom.stateVersions === "write") names.push("canReadStateVersions")
  if (custom.stateVersions === "write") names.push("canCreateStateVersions")
  if (custom.workspaceLocking) names.push("canLock", "canUnlock")
  if (custom.runTasks) names.push("canManageRunTasks")
  return names
}

const booleans = (names: Iterable<WorkspacePermission>): WorkspacePermissions => {
  const granted = new Set(names)
  return Object.fromEntries(
    workspacePermissionNames.map((name) => [name, granted.has(name)]),
  ) as unknown as WorkspacePermissions
}

// Most callers have a whole level. Constant objects avoid allocation in that case.
export const noPermissions = booleans([])
const ownerPermissions = booleans(workspacePermissionNames)
const organizationTokenPermissions = booleans(organizationTokenNames)

/** Returns the caller's access to every workspace of the organization, without grants. */
export function organizationWideAccess(
  caller: Caller,
  organizationId: OrganizationId,
): "owner" | "organization-token" | "admin" | "read" | "by-grant" | "none" {
  const membership = membershipIn(caller, organizationId)
  if (membership === undefined) return "none"
  if (caller.kind === "organization") return "organization-token"
  if (membership.owner) return "owner"
  if (membership.access.manageWorkspaces || membership.access.manageProjects) return "admin"
  if (membership.access.readWorkspaces || membership.access.readProjects) return "read"
  return "by-grant"
}

/** Returns whether grants matter: they do if the organization-wide access is `read` or `by-grant`. */
export const needsGrants = (caller: Caller, organizationId: OrganizationId): boolean =>
  ["read", "by-grant"].includes(organizationWideAccess(caller, organizationId))

export function workspacePermissions(
  caller: Caller,
  organization: { readonly id: OrganizationId; readonly allowForceDeleteWorkspaces: boolean },
  grants: readonly Grant[],
): WorkspacePermissions {
  const wide = organizationWideAccess(caller, organization.id)
  switch (wide) {
    case "none":
      return noPermissions
    case "owner":
      return ownerPermissions
    case "organization-token":
      // The token administers every workspace, but is no owner.
      return organization.allowForceDeleteWorkspaces
        ? booleans([...organizationTokenNames, "canForceDelete"])
        : organizationTokenPermissions
    case "admin":
      return booleans(organization.allowForceDeleteWorkspaces ? workspacePermissionNames : adminNames)
    case "read":
    case "by-grant": {
      const names = new Set<WorkspacePermission>(wide === "read" ? readNames : [])
      for (const grant of grants) for (const name of grantNames(grant)) names.add(name)
      if (organization.allowForceDeleteWorkspaces && grants.some((grant) => grant.access === "admin"))
        names.add("canForceDelete")
      return booleans(names)
    }
    default:
      return wide satisfies never
  }
}

/** Returns whether the caller can see the workspace. That needs the permission to read runs. */
export const isVisible = (permissions: WorkspacePermissions): boolean => permissions.canReadRun

export function require(
  permissions: WorkspacePermissions,
  permission: WorkspacePermission,
  workspaceId: WorkspaceId,
): void {
  if (!isVisible(permissions)) throw notFound(workspaceId)
  if (permissions[permission]) return
  if (permission === "canForceDelete") throw forbidden("You are not authorized to force delete this workspace.")
  throw notFound(workspaceId)
}
