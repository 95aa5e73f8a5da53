import { type Fault, rejectFaults } from "../core/errors.ts"
import type { OrganizationId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import { rootUsername } from "./bootstrap.ts"

const emailMaximum = 254

/** Only what no address lacks; whether it works, a letter would have to show. */
export function emailFaults(email: string): Fault[] {
  const field = ["email"]
  if (email === "") return [{ field, detail: "Email can't be blank" }]
  if (email.length > emailMaximum || !/^[^\s@]+@[^\s@]+$/.test(email)) return [{ field, detail: "Email is invalid" }]
  return []
}

export interface User {
  readonly id: UserId
  readonly username: string
  /** Empty for a user who was made by name alone. */
  readonly email: string
  readonly siteAdmin: boolean
  readonly serviceAccount: boolean
  /** Known by e-mail alone until the invitation is taken, with a token or a name: the username is not shown yet. */
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

export const usernameMaximum = 60

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

/** The name that others see. */
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
  if (username.length > usernameMaximum)
    return [{ field, detail: `Username is too long (maximum is ${usernameMaximum} characters)` }]
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(username))
    return [
      {
        field,
        detail: "Username can only include letters, numbers, ., -, and _, and must begin with a letter or number.",
      },
    ]
  return []
}

/** What stands before the @, without what a username cannot hold. */
export function usernameOf(email: string): string {
  const local = (email.split("@")[0] ?? "").replaceAll(/[^a-zA-Z0-9._-]/g, "-").replace(/^[._-]+/, "")
  return local.slice(0, usernameMaximum - 8) || "user"
}

export const isRoot = (user: Pick<User, "username">): boolean => user.username === rootUsername

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

/** What a caller is shown of a user. */
export interface UserView {
  readonly id: UserId
  readonly username: string
  readonly serviceAccount: boolean
  /** Null where it is not for the caller to see. */
  readonly email: string | null
  /** Null where it is not for the caller to see. */
  readonly siteAdmin: boolean | null
}

/** The user family of the engine. */
export interface Users {
  /** Anybody who shares an organization with the caller; email and administration only where they are the caller's to see. */
  get(id: string): Promise<UserView>
  /** Whoever the token belongs to; a service account stands for a team or an organization. */
  account(): Promise<UserView>
  /** Refuses with `invalid` a username or an email that is taken. */
  updateAccount(patch: AccountPatch): Promise<UserView>
  /** The rest is for site administrators. */
  create(input: UserInput): Promise<UserView>
  getAsAdministrator(id: string): Promise<UserView>
  /** `search` is part of the username or email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<UserView>>
  /** By the whole name, in any case of its letters; undefined when there is none. */
  findByUsername(username: string): Promise<UserView | undefined>
  /** Refused with `unprocessable` for taking it from `root`. */
  setSiteAdmin(id: string, siteAdmin: boolean): Promise<UserView>
  /** Refused with `unprocessable` for `root` and for the last owner of an organization. */
  delete(id: string): Promise<void>
}
