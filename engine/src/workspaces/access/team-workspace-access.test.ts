import { describe, expect, test } from "vitest"
import { noAccess } from "../../core/access.ts"
import { workspacePermissions } from "./workspace-permissions.ts"
import { changeAccess, customOf } from "./team-workspace-access.ts"
import { type Caller, noOrganizationAccess } from "../../core/caller.ts"
import type { OrganizationId, TeamId, UserId } from "../../core/ids.ts"

const least = {
  runs: "read",
  variables: "none",
  stateVersions: "none",
  sentinelMocks: "none",
  workspaceLocking: false,
  runTasks: false,
} as const

describe("changing a team's access", () => {
  test.each([
    { why: "keeps the level that is set", before: undefined, patch: { access: "plan" }, after: { access: "plan" } },
    {
      why: "ignores parts that accompany a level",
      before: undefined,
      patch: { access: "read", custom: { runs: "apply" } },
      after: { access: "read" },
    },
    {
      why: "starts custom access with the lowest parts",
      before: { access: "admin" },
      patch: { access: "custom", custom: { variables: "write" } },
      after: { access: "custom", custom: { ...least, variables: "write" } },
    },
    {
      why: "keeps the parts that a custom change omits",
      before: { access: "custom", custom: { ...least, variables: "write" } },
      patch: { custom: { workspaceLocking: true } },
      after: { access: "custom", custom: { ...least, variables: "write", workspaceLocking: true } },
    },
    {
      why: "drops custom parts when the level is no longer custom",
      before: { access: "custom", custom: { ...least, variables: "write" } },
      patch: { access: "write" },
      after: { access: "write" },
    },
  ] as const)("$why", ({ before, patch, after }) => {
    expect(changeAccess(before, patch)).toEqual(after)
  })
})

test.each(["read", "plan", "write"] as const)(
  "the parts shown for the level %s match the permissions of that level",
  (access) => {
    const teamId = "team-1" as TeamId
    const organizationId = "org-1" as OrganizationId
    const membership = { owner: false, teams: [teamId], access: noOrganizationAccess }
    const memberships = new Map([[organizationId, membership]])
    const caller: Caller = {
      kind: "user",
      tokenId: undefined,
      userId: "user-1" as UserId,
      siteAdmin: false,
      memberships,
      acl: noAccess,
    }
    const organization = { id: organizationId, allowForceDeleteWorkspaces: false }
    const custom = customOf({ access })
    expect(workspacePermissions(caller, organization, [{ teamId, access: "custom", custom }])).toEqual(
      workspacePermissions(caller, organization, [{ teamId, access }]),
    )
  },
)
