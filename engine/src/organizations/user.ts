import { type Fault, rejectFaults } from "../core/errors.ts"
import type { UserId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import { rootUsername } from "./bootstrap.ts"
import { emailFaults } from "./email.ts"

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
