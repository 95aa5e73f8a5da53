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
  get(id: string): Promise<UserView>
  /** Whoever the token belongs to; a service account stands for a team or an organization. */
  account(): Promise<UserView>
  updateAccount(patch: AccountPatch): Promise<UserView>
  /** The rest is for site administrators. */
  create(input: UserInput): Promise<UserView>
  getAsAdministrator(id: string): Promise<UserView>
  /** `search` is part of the username or email. */
  list(search: string | undefined, page: PageRequest): Promise<Page<UserView>>
  findByUsername(username: string): Promise<UserView | undefined>
  setSiteAdmin(id: string, siteAdmin: boolean): Promise<UserView>
  delete(id: string): Promise<void>
}
