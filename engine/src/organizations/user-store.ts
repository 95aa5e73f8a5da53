import type { OrganizationId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { User } from "./user.ts"

export interface UserRepository {
  find(id: UserId): Promise<User | undefined>
  /** Usernames compare case-insensitively. */
  findByUsername(username: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  findMany(ids: readonly UserId[]): Promise<readonly User[]>
  /** Part of the username or email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<User>>
  shareOrganization(id: UserId, organizationIds: readonly OrganizationId[]): Promise<boolean>
  /** Throws `EngineError("invalid")` on `username` or `email` when it is taken. */
  insert(user: User): Promise<void>
  save(user: User): Promise<void>
  remove(id: UserId): Promise<void>
}
