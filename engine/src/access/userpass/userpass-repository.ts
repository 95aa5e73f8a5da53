import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { AuthMethodId } from "../logins/auth-method.ts"
import type { FailedLogins } from "../logins/user-lockout.ts"
import type { UserpassUser } from "./userpass-user.ts"

export interface StoredUser {
  /** In lower case. */
  readonly name: string
  readonly user: UserpassUser
  readonly passwordHash: string
  readonly failedLogins: FailedLogins
}

export interface UserpassRepository {
  /** Returns the names in order. */
  names(methodId: AuthMethodId, page: KeyPage): Promise<readonly string[]>
  find(methodId: AuthMethodId, name: string): Promise<StoredUser | undefined>
  /** Returns the next user behind a name, or else the first one. Undefined if the method has no users. */
  findNext(methodId: AuthMethodId, name: string): Promise<StoredUser | undefined>
  /** Inserts the user or replaces the one with its name, whose failed logins stay. */
  save(methodId: AuthMethodId, user: Omit<StoredUser, "failedLogins">): Promise<void>
  remove(methodId: AuthMethodId, name: string): Promise<void>
  saveFailedLogins(methodId: AuthMethodId, name: string, failedLogins: FailedLogins): Promise<void>
  /** Returns at most `limit` users of a method with failed logins, by name. */
  withFailedLogins(methodId: AuthMethodId, limit: number): Promise<readonly Pick<StoredUser, "name" | "failedLogins">[]>
}
