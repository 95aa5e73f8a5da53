import { describe, expect, test } from "vitest"
import { fullAccess, noAccess } from "../core/access.ts"
import { anonymous, type Caller, type Membership, noOrganizationAccess, ownerMembership } from "../core/caller.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import { organizationPermissionNames, type OrganizationPermissionName, permissionsIn } from "./organization.ts"

const organizationId = "org-1" as OrganizationId
const elsewhere = "org-2" as OrganizationId

const user = (membership: Membership | undefined, siteAdmin = false): Caller => ({
  kind: "user",
  tokenId: undefined,
  userId: "user-1" as UserId,
  siteAdmin,
  memberships: new Map(membership ? [[organizationId, membership]] : []),
  acl: noAccess,
})
const member = (access: Partial<typeof noOrganizationAccess> = {}): Membership => ({
  owner: false,
  teams: ["team-1" as TeamId],
  access: { ...noOrganizationAccess, ...access },
})

const always: OrganizationPermissionName[] = ["canTraverse", "canAccessViaTeams"]

describe("organization permissions", () => {
  test.each<{ who: string; caller: Caller; held: readonly OrganizationPermissionName[] }>([
    { who: "an owner", caller: user(ownerMembership), held: organizationPermissionNames },
    { who: "a site administrator", caller: user(undefined, true), held: organizationPermissionNames },
    { who: "a plain member", caller: user(member()), held: always },
    { who: "a manager of teams", caller: user(member({ manageTeams: true })), held: [...always, "canCreateTeam"] },
    {
      who: "a manager of membership",
      caller: user(member({ manageMembership: true })),
      held: [...always, "canManageUsers"],
    },
    {
      who: "a manager of workspaces",
      caller: user(member({ manageWorkspaces: true })),
      held: [...always, "canCreateWorkspace", "canManageTags", "canDeployNoCodeModules"],
    },
    {
      who: "a manager of projects",
      caller: user(member({ manageProjects: true })),
      held: [...always, "canCreateWorkspace", "canManageTags", "canCreateProject", "canDeployNoCodeModules"],
    },
    {
      who: "[F-W15] a manager of modules",
      caller: user(member({ manageModules: true })),
      held: [...always, "canCreateModule", "canManageNoCodeModules"],
    },
    {
      who: "[F-W8] a manager of policies, run tasks and providers",
      caller: user(member({ managePolicies: true, manageRunTasks: true, manageProviders: true })),
      held: [...always, "canManageRunTasks", "canUpdateSentinel", "canCreateProvider"],
    },
    {
      who: "a manager of VCS settings",
      caller: user(member({ manageVcsSettings: true })),
      held: [...always, "canUpdateOauth", "canUpdateSshKeys"],
    },
    {
      who: "a manager of agent pools",
      caller: user(member({ manageAgentPools: true })),
      held: [...always, "canUpdateAgentPools"],
    },
    {
      who: "an organization token",
      caller: { kind: "organization", tokenId: "at-1", organizationId, acl: noAccess },
      held: organizationPermissionNames.filter((name) => name !== "canDestroy" && name !== "canUpdateApiToken"),
    },
  ])("of $who are those of its access", ({ caller, held }) => {
    const permissions = permissionsIn(caller, organizationId)
    expect(organizationPermissionNames.filter((name) => permissions?.[name]).toSorted()).toEqual([...held].toSorted())
  })

  test.each<[string, Caller]>([
    ["a user without membership", user(undefined)],
    [
      "a team token of another organization",
      {
        kind: "team",
        tokenId: "at-1",
        teamId: "team-9" as TeamId,
        organizationId: elsewhere,
        membership: member(),
        acl: noAccess,
      },
    ],
    [
      "an organization token of another organization",
      { kind: "organization", tokenId: "at-1", organizationId: elsewhere, acl: noAccess },
    ],
    ["a service token, whatever its policies", { kind: "service", tokenId: "at-1", acl: fullAccess }],
    ["whoever sends no token", anonymous],
  ])("for %s the organization does not exist", (_who, caller) => {
    expect(permissionsIn(caller, organizationId)).toBeUndefined()
  })
})
