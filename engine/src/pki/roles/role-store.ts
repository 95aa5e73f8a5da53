import type { MountId } from "../mount.ts"
import type { Role } from "./role.ts"

export interface NamedRole {
  readonly name: string
  readonly role: Role
}

export interface RoleRepository {
  /** Ordered by name. */
  list(mountId: MountId): Promise<readonly NamedRole[]>
  /** Creates it or takes the place of the one of that name. */
  save(mountId: MountId, named: NamedRole): Promise<void>
  remove(mountId: MountId, name: string): Promise<void>
}
