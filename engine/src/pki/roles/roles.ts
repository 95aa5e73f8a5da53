import type { KeyPage } from "../key-page.ts"
import type { Role, RoleInput } from "./role.ts"

/** What came of writing a role, and what its writer should know. */
export interface SavedRole {
  readonly role: Role
  readonly warnings: readonly string[]
}

/** Roles: named policies of issuance. */
export interface Roles {
  /** Names, ordered. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<Role>
  /** Creates the role or replaces it whole: what is not given has its default. */
  save(name: string, input: RoleInput): Promise<SavedRole>
  /** Changes what is given of a role that is there. */
  update(name: string, patch: RoleInput): Promise<SavedRole>
  /** A role that is not there is deleted already. */
  delete(name: string): Promise<void>
}
