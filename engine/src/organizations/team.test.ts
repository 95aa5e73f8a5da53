import { describe, expect, test } from "vitest"
import { type Membership, noOrganizationAccess, type OrganizationPermission, ownerMembership } from "../core/caller.ts"
import { isEngineError } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import {
  changeTeam,
  createTeam,
  ownersTeam,
  rejectLosingLastOwner,
  seesTeam,
  type Team,
  teamPermissions,
} from "./team.ts"

const made = { id: "team-1" as TeamId, organizationId: "org-1" as OrganizationId, now: 1 }
const access = (...held: OrganizationPermission[]) => ({
  ...noOrganizationAccess,
  ...Object.fromEntries(held.map((name) => [name, true])),
})
const member = (...held: OrganizationPermission[]): Membership => ({ owner: false, teams: [], access: access(...held) })
const owners = ownersTeam(made)
const team = (...held: OrganizationPermission[]): Team =>
  createTeam({ name: "devs", access: access(...held) }, ownerMembership, { ...made, access: noOrganizationAccess })

const codeOf = (work: () => unknown) => {
  try {
    work()
    return "done"
  } catch (error) {
    return isEngineError(error) ? error.code : error
  }
}

describe("permissions on a team", () => {
  const nothing = {
    canUpdateMembership: false,
    canDestroy: false,
    canUpdateOrganizationAccess: false,
    canUpdateApiToken: false,
    canUpdateVisibility: false,
    canUpdateName: false,
  }
  const managing = { canDestroy: true, canUpdateVisibility: true, canUpdateName: true }
  const handling = { canUpdateMembership: true, canUpdateApiToken: true }
  test.each([
    {
      who: "an owner",
      membership: ownerMembership,
      of: team("manageProjects"),
      may: { ...managing, ...handling, canUpdateOrganizationAccess: true },
    },
    {
      who: "an owner, of the owners",
      membership: ownerMembership,
      of: owners,
      may: { ...handling, canUpdateVisibility: true },
    },
    {
      who: "a manager of everything, of the owners",
      membership: { ...ownerMembership, owner: false },
      of: owners,
      may: {},
    },
    {
      who: "a manager of teams, of one without rights",
      membership: member("manageTeams"),
      of: team(),
      may: { ...managing, ...handling },
    },
    {
      who: "a manager of teams, of one with more rights",
      membership: member("manageTeams"),
      of: team("manageProjects"),
      may: managing,
    },
    {
      who: "a manager of teams, of one with the same rights",
      membership: member("manageTeams"),
      of: team("manageTeams"),
      may: { ...managing, ...handling },
    },
    {
      who: "a manager of membership",
      membership: member("manageMembership"),
      of: team(),
      may: { canUpdateMembership: true },
    },
    {
      who: "a manager of membership, of a team with more rights",
      membership: member("manageMembership"),
      of: team("manageTeams"),
      may: {},
    },
    {
      who: "a manager of access",
      membership: member("manageOrganizationAccess"),
      of: team("manageTeams"),
      may: { canUpdateOrganizationAccess: true },
    },
    { who: "a member", membership: member(), of: team(), may: {} },
    {
      who: "[F-W6] a member of the team itself",
      membership: { ...member(), teams: [made.id] },
      of: team(),
      may: { canUpdateApiToken: true },
    },
    {
      who: "[F-W6] a member of a team whose members do not manage its token",
      membership: { ...member(), teams: [made.id] },
      of: { ...team(), allowMemberTokenManagement: false },
      may: {},
    },
    {
      who: "[F-W6] the team's own token",
      membership: { ...member(), teams: [made.id], isTeamToken: true as const },
      of: team(),
      may: {},
    },
  ])("are those of $who", ({ membership, of, may }) => {
    expect(teamPermissions(membership, of)).toEqual({ ...nothing, ...may })
  })
})

test.each([
  { visibility: "organization", membership: member(), seen: true },
  { visibility: "secret", membership: member(), seen: false },
  { visibility: "secret", membership: { ...member(), teams: [made.id] }, seen: true },
  { visibility: "secret", membership: member("manageTeams"), seen: false },
  { visibility: "secret", membership: member("manageMembership"), seen: false },
  { visibility: "secret", membership: member("accessSecretTeams"), seen: true },
  { visibility: "secret", membership: member("manageWorkspaces"), seen: false },
  { visibility: "secret", membership: ownerMembership, seen: true },
] as const)("a team of visibility $visibility is visible: $seen", ({ visibility, membership, seen }) => {
  expect(seesTeam(membership, { id: made.id, visibility })).toBe(seen)
})

describe("a change of a team", () => {
  test.each([
    {
      why: "an owner may grant any right",
      membership: ownerMembership,
      of: team(),
      patch: { access: { manageTeams: true } },
      code: "done",
    },
    {
      why: "a member may not grant a right it lacks",
      membership: member("manageOrganizationAccess"),
      of: team(),
      patch: { access: { manageTeams: true } },
      code: "not-found",
    },
    {
      why: "the right to manage access is required",
      membership: member("manageTeams"),
      of: team(),
      patch: { access: { manageTeams: true } },
      code: "not-found",
    },
    {
      why: "a held right may be granted",
      membership: member("manageTeams", "manageOrganizationAccess"),
      of: team(),
      patch: { access: { manageTeams: true } },
      code: "done",
    },
    {
      why: "a right that the caller lacks may be removed",
      membership: member("manageOrganizationAccess"),
      of: team("manageTeams"),
      patch: { access: { manageTeams: false } },
      code: "done",
    },
    {
      why: "an unchanged right requires no right",
      membership: member("manageTeams"),
      of: team("manageProjects"),
      patch: { name: "ops", access: { manageProjects: true } },
      code: "done",
    },
    {
      why: "a manager of access may not rename the team",
      membership: member("manageOrganizationAccess"),
      of: team(),
      patch: { name: "ops" },
      code: "not-found",
    },
    {
      why: "a manager of access may not hide the team",
      membership: member("manageOrganizationAccess"),
      of: team(),
      patch: { visibility: "organization" as const },
      code: "not-found",
    },
    {
      why: "the owners team keeps its name",
      membership: ownerMembership,
      of: owners,
      patch: { name: "bosses" },
      code: "invalid",
    },
    {
      why: "the owners team keeps all rights",
      membership: ownerMembership,
      of: owners,
      patch: { access: { manageTeams: false } },
      code: "invalid",
    },
    {
      why: "the owners team may be hidden",
      membership: ownerMembership,
      of: owners,
      patch: { name: "owners", visibility: "secret" as const },
      code: "done",
    },
    {
      why: "an invalid name is rejected",
      membership: ownerMembership,
      of: team(),
      patch: { name: " a b" },
      code: "invalid",
    },
    {
      why: "a name may contain spaces",
      membership: ownerMembership,
      of: team(),
      patch: { name: "a b" },
      code: "done",
    },
  ])("$why: $code", ({ membership, of, patch, code }) => {
    expect(codeOf(() => changeTeam(of, patch, membership))).toBe(code)
  })
})

test.each([
  { owners: ["a"], leaving: ["a"], code: "unprocessable" },
  { owners: ["a", "b"], leaving: ["b", "a"], code: "unprocessable" },
  { owners: ["a", "b"], leaving: ["a"], code: "done" },
  { owners: ["a"], leaving: ["b"], code: "done" },
])("of the owners $owners, $leaving may leave: $code", ({ owners: present, leaving, code }) => {
  expect(codeOf(() => rejectLosingLastOwner(present as UserId[], leaving as UserId[]))).toBe(code)
})
