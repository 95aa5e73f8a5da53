import { type Membership, type OrganizationAccess, organizationPermissions, ownerMembership } from "../core/caller.ts"
import { type Fault, notFound, refuseFaults, unprocessable } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import { ownersTeamName } from "./identity-store.ts"
import { foldName } from "./organization.ts"

export const teamVisibilities = ["secret", "organization"] as const
export type TeamVisibility = (typeof teamVisibilities)[number]

export interface Team {
  readonly id: TeamId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly visibility: TeamVisibility
  readonly access: OrganizationAccess
  readonly createdAt: Instant
}

export interface TeamInput {
  readonly name: string
  readonly visibility?: TeamVisibility
  readonly access?: Partial<OrganizationAccess>
}
export type TeamPatch = Partial<TeamInput>

export const isOwners = (team: Pick<Team, "name">): boolean => foldName(team.name) === ownersTeamName

export interface TeamPermissions {
  readonly canUpdateMembership: boolean
  readonly canDestroy: boolean
  readonly canUpdateOrganizationAccess: boolean
  readonly canUpdateApiToken: boolean
  readonly canUpdateVisibility: boolean
  readonly canUpdateName: boolean
}

/** What a caller is shown of a team. */
export interface TeamView extends Omit<Team, "organizationId" | "createdAt"> {
  readonly organizationName: string
  readonly permissions: TeamPermissions
  readonly userIds: readonly UserId[]
}

/** A secret team exists only for its members and for those who manage teams or membership. */
export function seesTeam(membership: Membership, team: Pick<Team, "id" | "visibility">): boolean {
  return team.visibility === "organization" || seesEveryTeam(membership) || membership.teams.includes(team.id)
}

export const seesEveryTeam = ({ owner, access }: Membership): boolean =>
  owner || access.manageTeams || access.manageMembership || access.manageOrganizationAccess

/**
 * Nobody hands out more than they hold: what a caller does with a team that holds organization rights needs those rights
 * of the caller, and what is done with `owners` needs an owner.
 */
export function teamPermissions(membership: Membership, team: Team): TeamPermissions {
  const { owner, access } = membership
  if (isOwners(team))
    return {
      canUpdateMembership: owner,
      canDestroy: false,
      canUpdateOrganizationAccess: false,
      canUpdateApiToken: owner,
      canUpdateVisibility: owner,
      canUpdateName: false,
    }
  const covers = owner || organizationPermissions.every((name) => access[name] || !team.access[name])
  const manages = owner || access.manageTeams
  return {
    canUpdateMembership: (manages || access.manageMembership) && covers,
    canDestroy: manages,
    canUpdateOrganizationAccess: owner || access.manageOrganizationAccess,
    canUpdateApiToken: manages && covers,
    canUpdateVisibility: manages,
    canUpdateName: manages,
  }
}

export function createTeam(
  input: TeamInput,
  membership: Membership,
  made: {
    readonly id: TeamId
    readonly organizationId: OrganizationId
    readonly now: Instant
    readonly access: OrganizationAccess
  },
): Team {
  refuseFaults(teamNameFaults(input.name))
  const team: Team = {
    id: made.id,
    organizationId: made.organizationId,
    name: input.name,
    visibility: input.visibility ?? "secret",
    access: { ...made.access, ...input.access },
    createdAt: made.now,
  }
  requireGrantable(membership, made.access, team.access, team.id)
  return team
}

export function changeTeam(before: Team, patch: TeamPatch, membership: Membership): Team {
  const renames = patch.name !== undefined && patch.name !== before.name
  if (isOwners(before)) {
    const faults: Fault[] = []
    if (renames) faults.push({ field: ["name"], detail: "The owners team cannot be renamed" })
    if (patch.access !== undefined && organizationPermissions.some((name) => patch.access?.[name] === false))
      faults.push({ field: ["access"], detail: "The owners team always has full organization access" })
    refuseFaults(faults)
  }
  if (renames) refuseFaults(teamNameFaults(patch.name))
  const permissions = teamPermissions(membership, before)
  if (renames && !permissions.canUpdateName) throw notFound(before.id)
  if (patch.visibility !== undefined && patch.visibility !== before.visibility && !permissions.canUpdateVisibility)
    throw notFound(before.id)
  const access = isOwners(before) ? before.access : { ...before.access, ...patch.access }
  requireGrantable(membership, before.access, access, before.id)
  return { ...before, name: patch.name ?? before.name, visibility: patch.visibility ?? before.visibility, access }
}

/** Changing rights needs the right to manage them; giving one also needs the one given. */
function requireGrantable(
  { owner, access }: Membership,
  before: OrganizationAccess,
  after: OrganizationAccess,
  subject: string,
): void {
  if (owner) return
  const changed = organizationPermissions.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return
  if (!access.manageOrganizationAccess || changed.some((name) => after[name] && !access[name])) throw notFound(subject)
}

export function refuseDeletingOwners(team: Team): void {
  if (isOwners(team)) throw unprocessable("The owners team cannot be deleted")
}

/** `owners` as they are, `leaving` those about to go. */
export function refuseLosingLastOwner(owners: readonly UserId[], leaving: readonly UserId[]): void {
  if (owners.length > 0 && owners.every((id) => leaving.includes(id)))
    throw unprocessable("The last member of the owners team cannot be removed")
}

export const teamNameMaximum = 90

export function teamNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > teamNameMaximum)
    return [{ field, detail: `Name is too long (maximum is ${teamNameMaximum} characters)` }]
  if (!/^[a-zA-Z0-9_-]([a-zA-Z0-9 _-]*[a-zA-Z0-9_-])?$/.test(name))
    return [
      {
        field,
        detail: "Name can only include letters, numbers, spaces, -, and _, and can neither begin nor end with a space.",
      },
    ]
  return []
}

export const ownersTeam = (made: {
  readonly id: TeamId
  readonly organizationId: OrganizationId
  readonly now: Instant
}): Team => ({
  id: made.id,
  organizationId: made.organizationId,
  name: ownersTeamName,
  visibility: "organization",
  access: ownerMembership.access,
  createdAt: made.now,
})
