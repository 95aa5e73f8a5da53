// Names of users and teams in templates of roles (`identity.entity.name`). Usernames and names of teams change, and another user can take a
// name that becomes free. A certificate for the name would then belong to another user.
import type { TeamId, UserId } from "../core/ids.ts"

export type EntityId = UserId | TeamId

export interface NamedEntity {
  readonly id: EntityId
  /** Current username, or current name of the team. */
  readonly name: string
}

export interface EntityNameRepository {
  /** Returns names by id. An entity that a server of an earlier release created may have none yet. */
  find(ids: readonly EntityId[]): Promise<ReadonlyMap<EntityId, string>>
  /**
   * Returns the name of the entity, which the first call fixes. Names compare case-insensitively, and each belongs to one entity: `alice`
   * is followed by `alice-2`.
   */
  fix(entity: NamedEntity): Promise<string>
}
