import type { Page, PageRequest } from "../core/page.ts"
import type { TeamId, UserId } from "../core/ids.ts"
import type { OrganizationTokenKind, TeamTokenQuery, Token, TokenInput } from "./token.ts"

/** What a caller is shown of a token: never its secret. */
export interface TokenView extends Omit<Token, "owner"> {
  readonly owner:
    | { readonly kind: "user"; readonly userId: UserId }
    | { readonly kind: "team"; readonly teamId: TeamId }
    | { readonly kind: OrganizationTokenKind; readonly organizationName: string }
    | { readonly kind: "agent-pool"; readonly agentPoolId: string }
}

/** The one answer that carries the secret. */
export interface CreatedToken extends TokenView {
  readonly secret: string
}

/**
 * The API tokens of users, teams, organizations and agent pools. The secret is in the answer that makes a token and nowhere else; a token
 * that expires does so at the instant `expiresAt`.
 */
export interface Tokens {
  createForUser(userId: string, input: TokenInput): Promise<CreatedToken>
  listForUser(userId: string, page: PageRequest): Promise<Page<TokenView>>
  /** The one token of its kind that an organization has; making it anew revokes the one before. */
  createForOrganization(organization: string, input: TokenInput, kind?: OrganizationTokenKind): Promise<CreatedToken>
  /** Not found while there is none. */
  getForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<TokenView>
  deleteForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<void>
  /** The team's token without a description; making it anew revokes the one before. */
  createForTeam(teamId: string, input: TokenInput): Promise<CreatedToken>
  /** Not found while there is none. */
  getForTeam(teamId: string): Promise<TokenView>
  deleteForTeam(teamId: string): Promise<void>
  /** One more token of a team, told apart by its description. */
  addForTeam(teamId: string, input: TokenInput): Promise<CreatedToken>
  listForTeam(teamId: string, page: PageRequest): Promise<Page<TokenView>>
  /** The tokens of the organization's teams, for callers who manage teams; those of `owners` for owners alone. */
  listForTeams(organization: string, query: TeamTokenQuery, page: PageRequest): Promise<Page<TokenView>>
  /** For an agent of the pool, told apart by its description; good for claiming the pool's runs, and for nothing else. */
  createForAgentPool(agentPoolId: string, input: TokenInput): Promise<CreatedToken>
  listForAgentPool(agentPoolId: string, page: PageRequest): Promise<Page<TokenView>>
  get(id: string): Promise<TokenView>
  /** Revoked tokens are refused from the next request on, on every replica. */
  delete(id: string): Promise<void>
}
