// API tokens. The secret has 256 random bits, so its SHA-256 needs no salt and can be looked up by equality. The secret is only in the
// response to its creation.
import { type Fault, rejectFaults } from "../core/errors.ts"
import { logFailure } from "../core/failure-log.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { RandomSource } from "../core/random.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { hourMs, type Instant } from "../core/time.ts"
import { untraced } from "../core/tracing.ts"

/**
 * Kinds of organization tokens. An audit trails token reads the audit trails of HCP Terraform. Here it can be created and revoked, and
 * grants no access.
 */
export const organizationTokenKinds = ["organization", "audit-trails"] as const
export type OrganizationTokenKind = (typeof organizationTokenKinds)[number]

export type TokenOwner =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "team"; readonly teamId: TeamId }
  | { readonly kind: OrganizationTokenKind; readonly organizationId: OrganizationId }
  | { readonly kind: "agent-pool"; readonly agentPoolId: string }

export interface Token {
  readonly id: string
  readonly owner: TokenOwner
  readonly description: string
  readonly createdBy: UserId | null
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
  readonly expiresAt: Instant | null
}

export interface TokenInput {
  readonly description?: string
  readonly expiresAt?: Instant | null
}

/** Prefix by which secret scanners and people recognize a token of this product. */
export const tokenPrefix = "chy_"
const secretBytes = 32
const maxDescription = 255

export const newSecret = (random: RandomSource): string =>
  tokenPrefix + Buffer.from(random.bytes(secretBytes)).toString("base64url")

export function createToken(
  input: TokenInput,
  made: {
    readonly id: string
    readonly owner: TokenOwner
    readonly createdBy: UserId | null
    readonly now: Instant
  },
): Token {
  const { description = "", expiresAt = null } = input
  const { id, owner, createdBy, now } = made
  const faults: Fault[] = []
  if (description.length > maxDescription)
    faults.push({
      field: ["description"],
      detail: `Description is too long (maximum is ${maxDescription} characters)`,
    })
  if (expiresAt !== null && expiresAt <= now)
    faults.push({ field: ["expiresAt"], detail: "Expired at must be in the future" })
  rejectFaults(faults)
  return { id, owner, description, createdBy, createdAt: now, lastUsedAt: null, expiresAt }
}

/** Returns whether the token has expired. It is expired at the instant `expiresAt` itself. */
export const isExpired = (token: { readonly expiresAt: Instant | null }, now: Instant): boolean =>
  token.expiresAt !== null && token.expiresAt <= now

/** Recording each use would turn every read into a write. One hour is exact enough to find unused tokens. */
export const lastUseGranularityMs = hourMs

export const isUseWorthRecording = (lastUsedAt: Instant | null, now: Instant): boolean =>
  lastUsedAt === null || now - lastUsedAt >= lastUseGranularityMs

export const teamTokenSortKeys = ["team-name", "created-by", "expired-at", "last-used-at"] as const
export type TeamTokenSortKey = (typeof teamTokenSortKeys)[number]

export interface TeamTokenQuery {
  /** Substring of the team's name. */
  readonly search?: string
  /** Default: by the team's name. Tokens without a value are last. */
  readonly sort?: { readonly key: TeamTokenSortKey; readonly descending: boolean }
}

export interface TokenRepository {
  find(id: string): Promise<Token | undefined>
  list(owner: TokenOwner, page: PageRequest): Promise<Page<Token>>
  /** Lists tokens of the organization's teams. Omits those of the owners team unless `withOwners`. */
  listOfTeams(
    query: TeamTokenQuery & { readonly organizationId: OrganizationId; readonly withOwners: boolean },
    page: PageRequest,
  ): Promise<Page<Token>>
  /** Returns the owner's tokens with exactly this description. */
  described(owner: TokenOwner, description: string): Promise<readonly Token[]>
  insert(token: Token, hash: string): Promise<void>
  remove(id: string): Promise<void>
  /**
   * Records a use. A condition in the statement keeps the newest one. The identity version stays the same, because callers do not depend on
   * it.
   */
  recordUse(id: string, at: Instant): Promise<void>
}

/** Token as callers get it, without its secret. */
export interface TokenView extends Omit<Token, "owner"> {
  readonly owner:
    | { readonly kind: "user"; readonly userId: UserId }
    | { readonly kind: "team"; readonly teamId: TeamId }
    | { readonly kind: OrganizationTokenKind; readonly organizationName: string }
    | { readonly kind: "agent-pool"; readonly agentPoolId: string }
}

/** Response to the creation, which is the only one with the secret. */
export interface CreatedToken extends TokenView {
  readonly secret: string
}

/**
 * Operations on API tokens of users, teams, organizations and agent pools. The secret is only in the response to the creation. A token
 * expires at the instant `expiresAt`.
 */
export interface Tokens {
  createForUser(userId: string, input: TokenInput): Promise<CreatedToken>
  listForUser(userId: string, page: PageRequest): Promise<Page<TokenView>>
  /** Creates the organization's only token of this kind, and revokes the previous one. */
  createForOrganization(organization: string, input: TokenInput, kind?: OrganizationTokenKind): Promise<CreatedToken>
  /** Throws `not-found` if there is none. */
  getForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<TokenView>
  deleteForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<void>
  /** Creates the team's token without a description, and revokes the previous one. */
  createForTeam(teamId: string, input: TokenInput): Promise<CreatedToken>
  /** Throws `not-found` if there is none. */
  getForTeam(teamId: string): Promise<TokenView>
  deleteForTeam(teamId: string): Promise<void>
  /** Creates an additional token of a team, which is identified by its description. */
  addForTeam(teamId: string, input: TokenInput): Promise<CreatedToken>
  listForTeam(teamId: string, page: PageRequest): Promise<Page<TokenView>>
  /** Lists tokens of the organization's teams, for callers that manage teams. Only owners get those of `owners`. */
  listForTeams(organization: string, query: TeamTokenQuery, page: PageRequest): Promise<Page<TokenView>>
  /** Creates a token for an agent of the pool, which is identified by its description. It can only claim and execute the pool's runs. */
  createForAgentPool(agentPoolId: string, input: TokenInput): Promise<CreatedToken>
  listForAgentPool(agentPoolId: string, page: PageRequest): Promise<Page<TokenView>>
  get(id: string): Promise<TokenView>
  /** Revokes a token. It is rejected from the next request on, on every replica. */
  delete(id: string): Promise<void>
}

// The last use of a token is recorded asynchronously, so that it does not delay the response.

/** Limit of pending writes. More mean that the database cannot keep up. Further uses are then not recorded, which is harmless. */
const maxPending = 1_000

export interface TokenUses {
  /** Records a use. Does not wait for the write. */
  record(tokenId: string, at: Instant): void
  /** Resolves when no writes are pending. */
  settled(): Promise<void>
}

export function tokenUses(
  storage: Storage<{ readonly tokens: Pick<TokenRepository, "recordUse"> }>,
  { log, tracer }: Pick<Runtime, "log" | "tracer">,
): TokenUses {
  const inFlight = new Set<Promise<void>>()
  return {
    record(tokenId, at) {
      if (inFlight.size >= maxPending) return
      const write: Promise<void> = untraced(tracer, () =>
        storage.transact(({ tokens }) => tokens.recordUse(tokenId, at)),
      )
        .catch((error: unknown) => logFailure(log, "warn", "token use not recorded", { tokenId, error }))
        .finally(() => inFlight.delete(write))
      inFlight.add(write)
    },
    settled: async () => void (await Promise.allSettled(inFlight)),
  }
}
