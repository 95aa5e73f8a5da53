import type { Page, PageRequest } from "../core/page.ts"
import type { TeamInput, TeamPatch, TeamView } from "./team.ts"
import type { UserView } from "./users.ts"

export interface TeamFilter {
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
}

/** Who is meant when members come or go. */
export type TeamMembers =
  | { readonly usernames: readonly string[] }
  | { readonly organizationMembershipIds: readonly string[] }

export interface TeamMember {
  readonly organizationMembershipId: string
  readonly user: UserView
}

/** The team family of the engine. */
export interface Teams {
  /** Nobody gives a team more than they hold themselves. */
  create(organization: string, input: TeamInput): Promise<TeamView>
  /** Those the caller may see. */
  list(organization: string, filter: TeamFilter, page: PageRequest): Promise<Page<TeamView>>
  get(id: string): Promise<TeamView>
  /** Who is in it, by username. */
  members(id: string): Promise<readonly TeamMember[]>
  /** Members left out keep their values; the team `owners` keeps its name and its rights. */
  update(id: string, patch: TeamPatch): Promise<TeamView>
  /** Refused with `unprocessable` for the team `owners`. */
  delete(id: string): Promise<void>
  /** Those already in it are passed over. */
  addMembers(id: string, members: TeamMembers): Promise<void>
  /** Those not in it are passed over. Refused with `unprocessable` when `owners` would lose its last member. */
  removeMembers(id: string, members: TeamMembers): Promise<void>
}
