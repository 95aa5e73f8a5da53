import type { UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { AccountPatch, UserInput } from "./user.ts"

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
