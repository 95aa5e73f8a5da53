import { type Membership, type OrganizationAccess, organizationPermissions, ownerMembership } from "../core/caller.ts"
import { type Fault, notFound, rejectFaults, unprocessable } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import { ownersTeamName } from "./authentication.ts"
import { foldName } from "./organization.ts"
import type { UserView } from "./user.ts"

export const teamVisibilities = ["secret", "organization"] as const
export type TeamVisibility = (typeof teamVisibilities)[number]

export interface Team {
  readonly id: TeamId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly visibility: TeamVisibility
  readonly access: OrganizationAccess
  /** Id of the team at an identity provider. This server does not use it. */
  readonly ssoTeamId: string | null
  /** True if members of the team can manage its token. */
  readonly allowMemberTokenManagement: boolean
  readonly createdAt: Instant
}

export interface TeamInput {
  readonly name: string
  readonly visibility?: TeamVisibility
  readonly access?: Partial<OrganizationAccess>
  readonly ssoTeamId?: string | null
  readonly allowMemberTokenManagement?: boolean
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

/** Team as callers get it. */
export interface TeamView extends Omit<Team, "organizationId" | "createdAt"> {
  readonly organizationName: string
  readonly permissions: TeamPermissions
  readonly userIds: readonly UserId[]
}

/** Returns whether the caller can see the team. Only members, owners and callers with access to secret teams can see a secret team. */
export function seesTeam(membership: Membership, team: Pick<Team, "id" | "visibility">): boolean {
  return team.visibility === "organization" || seesEveryTeam(membership) || membership.teams.includes(team.id)
}

export const seesEveryTeam = ({ owner, access }: Membership): boolean => owner || access.accessSecretTeams

/** Returns whether the caller manages teams or members, which needs their email addresses. */
export const managesPeople = ({ owner, access }: Membership): boolean =>
  owner || access.manageTeams || access.manageMembership || access.manageOrganizationAccess

/**
 * Returns the permissions on a team. Callers cannot grant more than they have: changing a team with organization rights needs those rights,
 * and changing `owners` needs an owner.
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
    canUpdateApiToken: (manages && covers) || managesOwnToken(membership, team),
    canUpdateVisibility: manages,
    canUpdateName: manages,
  }
}

/**
 * Returns whether the caller may manage the token as a member of the team, which already has all rights of the team. The team's token
 * itself cannot create a successor.
 */
const managesOwnToken = ({ teams, isTeamToken }: Membership, team: Team): boolean =>
  team.allowMemberTokenManagement && isTeamToken !== true && teams.includes(team.id)

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
  rejectFaults([...teamNameFaults(input.name), ...ssoTeamIdFaults(input.ssoTeamId ?? "")])
  const team: Team = {
    id: made.id,
    organizationId: made.organizationId,
    name: input.name,
    visibility: input.visibility ?? "secret",
    access: { ...made.access, ...input.access },
    ssoTeamId: input.ssoTeamId || null,
    allowMemberTokenManagement: input.allowMemberTokenManagement ?? true,
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
    rejectFaults(faults)
  }
  rejectFaults([...(renames ? teamNameFaults(patch.name) : []), ...ssoTeamIdFaults(patch.ssoTeamId ?? "")])
  const permissions = teamPermissions(membership, before)
  if (renames && !permissions.canUpdateName) throw notFound(before.id)
  if (patch.visibility !== undefined && patch.visibility !== before.visibility && !permissions.canUpdateVisibility)
    throw notFound(before.id)
  const ssoTeamId = patch.ssoTeamId === undefined ? before.ssoTeamId : patch.ssoTeamId || null
  const allowMemberTokenManagement = patch.allowMemberTokenManagement ?? before.allowMemberTokenManagement
  const changesToken = allowMemberTokenManagement !== before.allowMemberTokenManagement
  // Users that the identity provider adds to the team get its rights. So both members need the permission to manage the team.
  if ((ssoTeamId !== before.ssoTeamId || changesToken) && !permissions.canUpdateVisibility) throw notFound(before.id)
  const access = isOwners(before) ? before.access : { ...before.access, ...patch.access }
  requireGrantable(membership, before.access, access, before.id)
  return {
    ...before,
    name: patch.name ?? before.name,
    visibility: patch.visibility ?? before.visibility,
    access,
    ssoTeamId,
    allowMemberTokenManagement,
  }
}

/**
 * Throws `not-found` unless the caller may make the change: it needs the permission to manage organization access, and each right that it
 * grants.
 */
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

export function rejectDeletingOwners(team: Team): void {
  if (isOwners(team)) throw unprocessable("The owners team cannot be deleted")
}

/** Throws `unprocessable` if no owner would remain. `owners` are the present ones, `leaving` those to be removed. */
export function rejectLosingLastOwner(owners: readonly UserId[], leaving: readonly UserId[]): void {
  if (owners.length > 0 && owners.every((id) => leaving.includes(id)))
    throw unprocessable("The last member of the owners team cannot be removed")
}

export const maxTeamName = 90

export function teamNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > maxTeamName) return [{ field, detail: `Name is too long (maximum is ${maxTeamName} characters)` }]
  if (!/^[a-zA-Z0-9_/-]([a-zA-Z0-9 _/-]*[a-zA-Z0-9_/-])?$/.test(name))
    return [
      {
        field,
        detail:
          "Name can only include letters, numbers, spaces, -, _, and /, and can neither begin nor end with a space.",
      },
    ]
  return []
}

const maxSsoTeamId = 255

export const ssoTeamIdFaults = (id: string): Fault[] =>
  id.length > maxSsoTeamId
    ? [{ field: ["ssoTeamId"], detail: `SSO team ID is too long (maximum is ${maxSsoTeamId} characters)` }]
    : []

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
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  createdAt: made.now,
})

export interface TeamQuery {
  readonly organizationId: OrganizationId
  readonly names?: readonly string[]
  /** Substring of the name. */
  readonly search?: string
  /** Limits to teams that are visible to the organization, and these. Absent means all. */
  readonly visibleAnd?: readonly TeamId[]
}

export interface TeamRepository {
  find(id: string): Promise<Team | undefined>
  findMany(ids: readonly TeamId[]): Promise<readonly Team[]>
  /** Compares names case-insensitively. */
  findByName(organizationId: OrganizationId, name: string): Promise<Team | undefined>
  list(query: TeamQuery, page: PageRequest): Promise<Page<Team>>
  membersOf(ids: readonly TeamId[]): Promise<ReadonlyMap<TeamId, readonly UserId[]>>
  /** Returns the teams of one organization that each of these users belongs to. */
  teamsOf(organizationId: OrganizationId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly TeamId[]>>
  /** Returns organizations whose team `owners` has this user as its only member. */
  organizationsOwnedOnlyBy(userId: UserId): Promise<readonly string[]>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if the organization has a team of that name. */
  insert(team: Team): Promise<void>
  save(team: Team): Promise<void>
  remove(id: TeamId): Promise<void>
  /** Adds members. Ignores users who already are. */
  addMembers(id: TeamId, userIds: readonly UserId[]): Promise<void>
  removeMembers(id: TeamId, userIds: readonly UserId[]): Promise<void>
  leaveOrganization(organizationId: OrganizationId, userId: UserId): Promise<void>
}

export interface TeamFilter {
  readonly names?: readonly string[]
  /** Substring of the name. */
  readonly search?: string
}

/** Users to add or remove. */
export type TeamMembers =
  | { readonly usernames: readonly string[] }
  | { readonly organizationMembershipIds: readonly string[] }

export interface TeamMember {
  readonly organizationMembershipId: string
  readonly user: UserView
}

/** Operations on teams. */
export interface Teams {
  /** Creates a team. Callers cannot grant more than they have. */
  create(organization: string, input: TeamInput): Promise<TeamView>
  /** Lists the teams that the caller can see. */
  list(organization: string, filter: TeamFilter, page: PageRequest): Promise<Page<TeamView>>
  get(id: string): Promise<TeamView>
  /** Lists the members by username. */
  members(id: string): Promise<readonly TeamMember[]>
  /** Updates a team. Omitted members keep their values. Name and access of the team `owners` cannot change. */
  update(id: string, patch: TeamPatch): Promise<TeamView>
  /** Throws `unprocessable` for the team `owners`. */
  delete(id: string): Promise<void>
  /** Adds members. Ignores users who already are. */
  addMembers(id: string, members: TeamMembers): Promise<void>
  /** Removes members. Ignores users who are not. Throws `unprocessable` if `owners` would lose its last member. */
  removeMembers(id: string, members: TeamMembers): Promise<void>
}
