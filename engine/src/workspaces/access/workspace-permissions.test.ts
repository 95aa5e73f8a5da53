import { describe, expect, test } from "vitest"
import { noAccess } from "../../core/access.ts"
import { type Caller, type Membership, noOrganizationAccess, type OrganizationAccess } from "../../core/caller.ts"
import type { OrganizationId, TeamId, UserId, WorkspaceId } from "../../core/ids.ts"
import { isEngineError } from "../../core/errors.ts"
import {
  type CustomAccess,
  type Grant,
  isVisible,
  require,
  type WorkspacePermission,
  workspacePermissionNames,
  workspacePermissions,
} from "./workspace-permissions.ts"

const organizationId = "org-1" as OrganizationId
const teamId = "team-1" as TeamId
const organization = { id: organizationId, allowForceDeleteWorkspaces: false }

const member = (access: Partial<OrganizationAccess> = {}, owner = false): Caller => {
  const membership: Membership = { owner, teams: [teamId], access: { ...noOrganizationAccess, ...access } }
  return {
    kind: "user",
    tokenId: "at-1",
    userId: "user-1" as UserId,
    siteAdmin: false,
    memberships: new Map([[organizationId, membership]]),
    acl: noAccess,
  }
}
const stranger: Caller = {
  kind: "user",
  tokenId: "at-2",
  userId: "user-2" as UserId,
  siteAdmin: false,
  memberships: new Map(),
  acl: noAccess,
}
const siteAdmin: Caller = { ...stranger, siteAdmin: true }
const organizationToken: Caller = { kind: "organization", tokenId: "at-3", organizationId, acl: noAccess }
const custom = (parts: Partial<CustomAccess>): Grant => ({
  teamId,
  access: "custom",
  custom: {
    runs: "read",
    variables: "none",
    stateVersions: "none",
    sentinelMocks: "none",
    workspaceLocking: false,
    runTasks: false,
    ...parts,
  },
})

const held = (caller: Caller, grants: readonly Grant[] = [], allowForceDeleteWorkspaces = false) => {
  const permissions = workspacePermissions(caller, { ...organization, allowForceDeleteWorkspaces }, grants)
  return workspacePermissionNames.filter((name) => permissions[name])
}

const read: WorkspacePermission[] = [
  "canReadRun",
  "canReadVariable",
  "canReadStateVersions",
  "canReadStateOutputs",
  "canReadSettings",
  "canReadAssessmentResults",
]
const plan: WorkspacePermission[] = [...read, "canQueueRun"]
const write: WorkspacePermission[] = [
  ...plan,
  "canUpdateVariable",
  "canCreateStateVersions",
  "canQueueApply",
  "canLock",
  "canUnlock",
]
const all = [...workspacePermissionNames]
const admin = all.filter((name) => name !== "canForceDelete")
const impersonal = admin.filter(
  (name) =>
    !["canQueueRun", "canQueueApply", "canQueueDestroy", "canCreateStateVersions", "canLock", "canUnlock"].includes(
      name,
    ),
)
const sorted = (names: readonly WorkspacePermission[]) => [...names].toSorted()

describe("permissions on a workspace", () => {
  test.each<{ who: string; caller: Caller; grants?: Grant[]; force?: boolean; expected: WorkspacePermission[] }>([
    { who: "a stranger", caller: stranger, expected: [] },
    { who: "a stranger with a grant", caller: stranger, grants: [{ teamId, access: "admin" }], expected: [] },
    { who: "a member without a grant", caller: member(), expected: [] },
    { who: "a reader", caller: member(), grants: [{ teamId, access: "read" }], expected: read },
    { who: "a planner", caller: member(), grants: [{ teamId, access: "plan" }], expected: plan },
    { who: "a writer", caller: member(), grants: [{ teamId, access: "write" }], expected: write },
    { who: "a workspace admin", caller: member(), grants: [{ teamId, access: "admin" }], expected: admin },
    {
      who: "a workspace admin with the switch",
      caller: member(),
      grants: [{ teamId, access: "admin" }],
      force: true,
      expected: all,
    },
    {
      who: "a writer with the switch",
      caller: member(),
      grants: [{ teamId, access: "write" }],
      force: true,
      expected: write,
    },
    {
      who: "a caller who may only lock",
      caller: member(),
      grants: [custom({ workspaceLocking: true })],
      expected: ["canReadRun", "canReadSettings", "canReadAssessmentResults", "canLock", "canUnlock"],
    },
    {
      who: "a custom reader of outputs",
      caller: member(),
      grants: [custom({ stateVersions: "read-outputs" })],
      expected: ["canReadRun", "canReadSettings", "canReadAssessmentResults", "canReadStateOutputs"],
    },
    {
      who: "a member of two teams that read and plan",
      caller: member(),
      grants: [
        { teamId, access: "read" },
        { teamId: "team-2" as TeamId, access: "plan" },
      ],
      expected: plan,
    },
    { who: "a reader of all workspaces", caller: member({ readWorkspaces: true }), expected: read },
    {
      who: "a reader of all workspaces who writes to this one",
      caller: member({ readWorkspaces: true }),
      grants: [{ teamId, access: "write" }],
      expected: write,
    },
    { who: "a manager of all workspaces", caller: member({ manageWorkspaces: true }), expected: admin },
    { who: "a manager with the switch", caller: member({ manageWorkspaces: true }), force: true, expected: all },
    { who: "an owner", caller: member({}, true), expected: all },
    { who: "a site administrator", caller: siteAdmin, expected: all },
    { who: "an organization token", caller: organizationToken, expected: impersonal },
    {
      who: "an organization token with the switch",
      caller: organizationToken,
      force: true,
      expected: [...impersonal, "canForceDelete"],
    },
  ])("of $who", ({ caller, grants, force, expected }) => {
    expect(sorted(held(caller, grants, force))).toEqual(sorted(expected))
  })

  test("[W-2.4-p1] include the 21 booleans of a workspace document, each true or false", () => {
    const permissions = workspacePermissions(member(), organization, [{ teamId, access: "read" }])
    expect(Object.keys(permissions)).toHaveLength(21)
    expect(new Set(Object.values(permissions))).toEqual(new Set([true, false]))
  })
})

describe("a missing permission", () => {
  const workspaceId = "ws-1" as WorkspaceId
  const attempt = (caller: Caller, grants: Grant[], permission: WorkspacePermission) => {
    try {
      require(workspacePermissions(caller, organization, grants), permission, workspaceId)
      return "allowed"
    } catch (error) {
      return isEngineError(error) ? error.code : error
    }
  }
  test.each([
    { who: "stranger", caller: stranger, access: "read", permission: "canUpdate", expected: "not-found" },
    { who: "reader", caller: member(), access: "read", permission: "canUpdate", expected: "not-found" },
    { who: "reader", caller: member(), access: "read", permission: "canForceDelete", expected: "forbidden" },
    { who: "stranger", caller: stranger, access: "read", permission: "canForceDelete", expected: "not-found" },
    { who: "admin", caller: member(), access: "admin", permission: "canForceUnlock", expected: "allowed" },
  ] as const)("answers $expected to a $who who needs $permission", ({ caller, access, permission, expected }) => {
    expect(attempt(caller, [{ teamId, access }], permission)).toBe(expected)
  })

  test("hides the workspace from callers without read access to its runs", () => {
    expect(isVisible(workspacePermissions(member(), organization, []))).toBe(false)
    expect(isVisible(workspacePermissions(member(), organization, [{ teamId, access: "read" }]))).toBe(true)
  })
})
