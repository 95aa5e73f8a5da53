import { type Fault, rejectFaults } from "../core/errors.ts"
import type { OrganizationId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import { rootUsername } from "./bootstrap.ts"

const maxEmail = 254

/** Checks only the form. Only a mail could show that the address works. */
export function emailFaults(email: string): Fault[] {
  const field = ["email"]
  if (email === "") return [{ field, detail: "Email can't be blank" }]
  if (email.length > maxEmail || !/^[^\s@]+@[^\s@]+$/.test(email)) return [{ field, detail: "Email is invalid" }]
  return []
}

export interface User {
  readonly id: UserId
  readonly username: string
  /** Empty for a user who was created by name only. */
  readonly email: string
  readonly siteAdmin: boolean
  readonly serviceAccount: boolean
  /** True for a user invited by email, until a token is created for it or it gets a name. The username is not visible until then. */
  readonly invited: boolean
  readonly createdAt: Instant
}

export interface UserInput {
  readonly username?: string
  readonly email?: string
  readonly siteAdmin?: boolean
  readonly serviceAccount?: boolean
}
export type AccountPatch = Pick<UserInput, "username" | "email">

export const maxUsername = 60

export function createUser(input: UserInput, made: { readonly id: UserId; readonly now: Instant }): User {
  const { email = "", siteAdmin = false, serviceAccount = false } = input
  const username = input.username ?? usernameOf(email)
  rejectFaults([
    ...(input.username === undefined && email === ""
      ? [{ field: ["username"], detail: "Username can't be blank" }]
      : []),
    ...(input.username === undefined ? [] : usernameFaults(input.username)),
    ...(input.email === undefined ? [] : emailFaults(input.email)),
  ])
  return { id: made.id, username, email, siteAdmin, serviceAccount, invited: false, createdAt: made.now }
}

/** Returns the username that other users see. */
export const shownUsername = ({ username, invited }: Pick<User, "username" | "invited">): string =>
  invited ? "" : username

export function changeAccount(before: User, patch: AccountPatch): User {
  // Bootstrap finds this user by name (docs/decisions/tokens-and-policies.md).
  const renamesRoot = isRoot(before) && patch.username !== undefined && patch.username !== rootUsername
  rejectFaults([
    ...(patch.username === undefined ? [] : usernameFaults(patch.username)),
    ...(patch.email === undefined ? [] : emailFaults(patch.email)),
    ...(renamesRoot ? [{ field: ["username"], detail: "The user root cannot be renamed" }] : []),
  ])
  return { ...before, ...patch, invited: before.invited && patch.username === undefined }
}

export function usernameFaults(username: string): Fault[] {
  const field = ["username"]
  if (username === "") return [{ field, detail: "Username can't be blank" }]
  if (username.length > maxUsername)
    return [{ field, detail: `Username is too long (maximum is ${maxUsername} characters)` }]
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(username))
    return [
      {
        field,
        detail: "Username can only include letters, numbers, ., -, and _, and must begin with a letter or number.",
      },
    ]
  return []
}

/** Returns the part of the email before the @, without characters that a username cannot contain. */
export function usernameOf(email: string): string {
  const local = (email.split("@")[0] ?? "").replaceAll(/[^a-zA-Z0-9._-]/g, "-").replace(/^[._-]+/, "")
  return local.slice(0, maxUsername - 8) || "user"
}

export const isRoot = (user: Pick<User, "username">): boolean => user.username === rootUsername

export interface UserRepository {
  find(id: UserId): Promise<User | undefined>
  /** Compares usernames case-insensitively. */
  findByUsername(username: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  findMany(ids: readonly UserId[]): Promise<readonly User[]>
  /** Lists users. `search` is a substring of the username or email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<User>>
  shareOrganization(id: UserId, organizationIds: readonly OrganizationId[]): Promise<boolean>
  /** `insert` and `save` throw `EngineError("invalid")` on `username` or `email` if it is taken. */
  insert(user: User): Promise<void>
  save(user: User): Promise<void>
  remove(id: UserId): Promise<void>
}

/** User as callers get it. */
export interface UserView {
  readonly id: UserId
  readonly username: string
  readonly serviceAccount: boolean
  /** Null if the caller may not read it. */
  readonly email: string | null
  /** Null if the caller may not read it. */
  readonly siteAdmin: boolean | null
}

/** Operations on users. */
export interface Users {
  /** Returns a user who shares an organization with the caller. `email` and `siteAdmin` are null unless the caller may read them. */
  get(id: string): Promise<UserView>
  /** Returns the user of the token, or a service account that represents a team or an organization. */
  account(): Promise<UserView>
  /** Throws `invalid` if the username or email is taken. */
  updateAccount(patch: AccountPatch): Promise<UserView>
  /** Creates a user. Only site administrators may call this and the following methods. */
  create(input: UserInput): Promise<UserView>
  getAsAdministrator(id: string): Promise<UserView>
  /** Lists users. `search` is a substring of the username or email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<UserView>>
  /** Finds a user by the whole name, case-insensitively. Returns undefined if there is none. */
  findByUsername(username: string): Promise<UserView | undefined>
  /** Throws `unprocessable` if the user is `root` and `siteAdmin` is false. */
  setSiteAdmin(id: string, siteAdmin: boolean): Promise<UserView>
  /** Throws `unprocessable` for `root`, and for the last owner of an organization. */
  delete(id: string): Promise<void>
}
