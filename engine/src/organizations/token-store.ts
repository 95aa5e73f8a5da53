import type { OrganizationId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import type { TeamTokenQuery, Token, TokenOwner } from "./token.ts"

export interface TokenRepository {
  find(id: string): Promise<Token | undefined>
  list(owner: TokenOwner, page: PageRequest): Promise<Page<Token>>
  /** Of the organization's teams; without the one of owners unless `withOwners`. */
  listOfTeams(
    query: TeamTokenQuery & { readonly organizationId: OrganizationId; readonly withOwners: boolean },
    page: PageRequest,
  ): Promise<Page<Token>>
  /** The owner's tokens of exactly this description. */
  described(owner: TokenOwner, description: string): Promise<readonly Token[]>
  insert(token: Token, hash: string): Promise<void>
  remove(id: string): Promise<void>
  /** A condition in the statement keeps the newest use; the identity version stays, because no caller depends on it. */
  recordUse(id: string, at: Instant): Promise<void>
}
