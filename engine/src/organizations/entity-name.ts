// The name under which templates of roles know a user or a team (`identity.entity.name`). Usernames and the names of teams change,
// and another user may take one that is free again: a certificate for the name would then belong to another user.
import type { TeamId, UserId } from "../core/ids.ts"

export type EntityId = UserId | TeamId

export interface NamedEntity {
  readonly id: EntityId
  /** The username, or the name of the team, at this moment. */
  readonly name: string
}

export interface EntityNameRepository {
  /** By id; an entity that was made by a server of an earlier release may have none yet. */
  find(ids: readonly EntityId[]): Promise<ReadonlyMap<EntityId, string>>
  /**
   * Returns the name of the entity, which is fixed by the first call. Names compare case-insensitively, and none is ever another
   * entity's: `alice` is followed by `alice-2`.
   */
  fix(entity: NamedEntity): Promise<string>
}
