import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Team } from "./team.ts"

export interface TeamQuery {
  readonly organizationId: OrganizationId
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
  /** Only teams that show themselves to the organization, and these; absent means all. */
  readonly visibleAnd?: readonly TeamId[]
}

export interface TeamRepository {
  find(id: string): Promise<Team | undefined>
  findMany(ids: readonly TeamId[]): Promise<readonly Team[]>
  /** Names compare case-insensitively. */
  findByName(organizationId: OrganizationId, name: string): Promise<Team | undefined>
  list(query: TeamQuery, page: PageRequest): Promise<Page<Team>>
  membersOf(ids: readonly TeamId[]): Promise<ReadonlyMap<TeamId, readonly UserId[]>>
  /** The teams of one organization that each of these users is in. */
  teamsOf(organizationId: OrganizationId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly TeamId[]>>
  /** Organizations whose team `owners` has this user and no other. */
  organizationsOwnedOnlyBy(userId: UserId): Promise<readonly string[]>
  /** Throws `EngineError("invalid")` on `name` when the organization has a team of that name. */
  insert(team: Team): Promise<void>
  save(team: Team): Promise<void>
  remove(id: TeamId): Promise<void>
  /** Those already in it are passed over. */
  addMembers(id: TeamId, userIds: readonly UserId[]): Promise<void>
  removeMembers(id: TeamId, userIds: readonly UserId[]): Promise<void>
  leaveOrganization(organizationId: OrganizationId, userId: UserId): Promise<void>
}
