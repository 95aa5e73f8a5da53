import type { Caller } from "../../core/caller.ts"
import type { TeamId } from "../../core/ids.ts"
import type { Storage } from "../../core/storage.ts"
import type { EntityNameRepository, NamedEntity } from "../../organizations/entity-name.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { Identity } from "../../pki/names/identity-template.ts"

export interface IdentityRepositories {
  readonly users: Pick<UserRepository, "find">
  readonly teams: Pick<TeamRepository, "findMany">
  readonly entityNames: EntityNameRepository
}

/**
 * Returns the user with its teams, or the team, that a caller acts as, under the names that were assigned at their creation. Returns
 * undefined for tokens of services, organizations and agents, and for callers without a token.
 */
export async function identityOf(
  caller: Caller,
  storage: Storage<IdentityRepositories>,
): Promise<Identity | undefined> {
  const found = await storage.read(async (repositories) => {
    const entities = await entitiesOf(caller, repositories)
    return entities && { ...entities, names: await repositories.entityNames.find(idsOf(entities)) }
  })
  if (found === undefined) return undefined
  const names = new Map(found.names)
  const unnamed = [found.entity, ...found.groups].filter(({ id }) => !names.has(id))
  // A server of an earlier release created these entities.
  if (unnamed.length > 0)
    await storage.transact(async ({ entityNames }) => {
      for (const entity of unnamed) names.set(entity.id, await entityNames.fix(entity))
    })
  const named = ({ id, name }: NamedEntity) => ({ id, name: names.get(id) ?? name })
  return { entity: { ...named(found.entity), metadata: {}, aliases: {} }, groups: found.groups.map(named) }
}

interface Entities {
  readonly entity: NamedEntity
  readonly groups: readonly NamedEntity[]
}

const idsOf = ({ entity, groups }: Entities) => [entity.id, ...groups.map(({ id }) => id)]

async function entitiesOf(caller: Caller, repositories: IdentityRepositories): Promise<Entities | undefined> {
  switch (caller.kind) {
    case "user": {
      const user = await repositories.users.find(caller.userId)
      if (user === undefined) return undefined
      const teamIds = [...caller.memberships.values()].flatMap(({ teams }) => teams)
      return { entity: { id: user.id, name: user.username }, groups: await groupsOf(teamIds, repositories) }
    }
    case "team": {
      const groups = await groupsOf([caller.teamId], repositories)
      const [team] = groups
      return team && { entity: team, groups }
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

async function groupsOf(ids: readonly TeamId[], { teams }: IdentityRepositories): Promise<readonly NamedEntity[]> {
  if (ids.length === 0) return []
  const found = await teams.findMany(ids)
  return found.map(({ id, name }) => ({ id, name }))
}
