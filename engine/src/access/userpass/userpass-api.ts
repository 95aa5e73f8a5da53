import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { CreatedServiceToken } from "../service-tokens/service-token-service.ts"
import type { UserpassPassword, UserpassUser, UserpassUserInput } from "./userpass-user.ts"

/**
 * Auth method `userpass`: people and devices log in with a name and a password (`auth/<path>/…`). Names are case-insensitive.
 *
 * All methods throw `not-found` if there is no such auth method, or if it has another type.
 */
export interface UserpassMethod {
  readonly users: UserpassUsers
  readonly logins: UserpassLogins
}

/** Methods of an existing user throw `not-found` if the user does not exist. */
export interface UserpassUsers {
  /** Returns the names in order, in lower case. */
  list(page?: KeyPage): Promise<readonly string[]>
  /** Returns the terms of tokens. Passwords and hashes are never returned. */
  get(name: string): Promise<UserpassUser>
  /** Creates the user or changes the given members. A new user needs a password or a hash. */
  save(name: string, input: UserpassUserInput): Promise<void>
  /** Deletes the user. Does nothing if the user does not exist. Tokens live until they expire, and cannot be renewed. */
  delete(name: string): Promise<void>
  changePassword(name: string, password: UserpassPassword): Promise<void>
  /** Replaces the policies of later tokens. */
  changePolicies(name: string, policies: readonly string[]): Promise<void>
}

export interface UserpassCredentials {
  readonly name: string
  readonly password: string
}

export interface UserpassLogins {
  /**
   * Returns a token. `from` is the address of the client; a remote engine ignores it, because its server sees the address itself.
   *
   * Throws `unprocessable`, with the same text, for an unknown name and for a wrong password. Throws `forbidden` if the user is locked, or
   * may not log in from this address. Throws `rate-limited` after too many failures from one address, and `busy` if too many logins run.
   */
  logIn(credentials: UserpassCredentials, from?: string): Promise<CreatedServiceToken>
}

/** Locked users of one auth method. */
export interface LockedUsersOfMethod {
  readonly mountAccessor: string
  /** Names in order. */
  readonly names: readonly string[]
}

export interface LockedUserQuery {
  /** Accessor of an auth method. Absent: all methods. */
  readonly mountAccessor?: string
}

/** Users whom failed logins have locked (`sys/locked-users`). */
export interface LockedUsers {
  /** Returns methods with locked users, those with most of them first. Throws `not-found` if no method has the accessor. */
  list(query?: LockedUserQuery): Promise<readonly LockedUsersOfMethod[]>
  /** Unlocks a user and resets the count of failures. Does nothing if the user is not locked or does not exist. */
  unlock(mountAccessor: string, name: string): Promise<void>
}
