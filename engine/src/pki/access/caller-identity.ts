import type { Caller } from "../../core/caller.ts"
import type { TeamId } from "../../core/ids.ts"
import type { TeamStore } from "../../organizations/team-store.ts"
import type { UserStore } from "../../organizations/user-store.ts"
import type { Identity } from "../names/identity-template.ts"

export interface IdentityStores {
  readonly users: Pick<UserStore, "find">
  readonly teams: Pick<TeamStore, "findMany">
}

/**
 * Who asks, by name: a user with the teams they are in, or a team. Undefined for the rest, who are nobody in particular:
 * whoever holds a service token or an organization's, and whoever holds none.
 */
export async function identityOf(caller: Caller, stores: IdentityStores): Promise<Identity | undefined> {
  switch (caller.kind) {
    case "user": {
      const user = await stores.users.find(caller.userId)
      if (user === undefined) return undefined
      const teamIds = [...caller.memberships.values()].flatMap(({ teams }) => teams)
      return { entity: entity(user.id, user.username), groups: await groupsOf(teamIds, stores) }
    }
    case "team": {
      const groups = await groupsOf([caller.teamId], stores)
      const [team] = groups
      return team && { entity: entity(team.id, team.name), groups }
    }
    case "organization":
    case "agent":
    case "service":
    case "anonymous":
      return undefined
    default:
      return caller satisfies never
  }
}

const entity = (id: string, name: string): Identity["entity"] => ({ id, name, metadata: {}, aliases: {} })

async function groupsOf(ids: readonly TeamId[], { teams }: IdentityStores): Promise<Identity["groups"]> {
  if (ids.length === 0) return []
  const found = await teams.findMany(ids)
  return found.map(({ id, name }) => ({ id, name }))
}
