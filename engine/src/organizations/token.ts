// API tokens. The secret is 256 bits of random text, so its SHA-256 needs no salt and can be looked up by equality; it is
// shown in the answer that made it and nowhere else.
import { type Fault, rejectFaults } from "../core/errors.ts"
import { logFailure } from "../core/failure-log.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { RandomSource } from "../core/random.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { hourMs, type Instant } from "../core/time.ts"
import { untraced } from "../core/tracing.ts"

/** A token for audit trails reads those of HCP Terraform; here it may be made and revoked, and opens nothing. */
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

/** Lets secret scanners and people recognise a token of this product. */
export const tokenPrefix = "chy_"
const secretBytes = 32
const descriptionMaximum = 255

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
  if (description.length > descriptionMaximum)
    faults.push({
      field: ["description"],
      detail: `Description is too long (maximum is ${descriptionMaximum} characters)`,
    })
  if (expiresAt !== null && expiresAt <= now)
    faults.push({ field: ["expiresAt"], detail: "Expired at must be in the future" })
  rejectFaults(faults)
  return { id, owner, description, createdBy, createdAt: now, lastUsedAt: null, expiresAt }
}

/** Expired from that very instant on. */
export const isExpired = (token: { readonly expiresAt: Instant | null }, now: Instant): boolean =>
  token.expiresAt !== null && token.expiresAt <= now

/** Writing down each use would make every read a write; an hour is exact enough to find forgotten tokens. */
export const lastUseGranularityMs = hourMs

export const isUseWorthRecording = (lastUsedAt: Instant | null, now: Instant): boolean =>
  lastUsedAt === null || now - lastUsedAt >= lastUseGranularityMs

export const teamTokenSortKeys = ["team-name", "created-by", "expired-at", "last-used-at"] as const
export type TeamTokenSortKey = (typeof teamTokenSortKeys)[number]

export interface TeamTokenQuery {
  /** Part of the team's name. */
  readonly search?: string
  /** By the team's name when absent; tokens without a value come last. */
  readonly sort?: { readonly key: TeamTokenSortKey; readonly descending: boolean }
}

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

// When a token was last used is written behind the request that used it, never before its answer.

/** More than this at once means that the store cannot keep up; a use that is not written down then harms nobody. */
const pendingMaximum = 1_000

export interface TokenUses {
  /** Returns at once. */
  record(tokenId: string, at: Instant): void
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>
}

export function tokenUses(
  storage: Storage<{ readonly tokens: Pick<TokenRepository, "recordUse"> }>,
  { log, tracer }: Pick<Runtime, "log" | "tracer">,
): TokenUses {
  const inFlight = new Set<Promise<void>>()
  return {
    record(tokenId, at) {
      if (inFlight.size >= pendingMaximum) return
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
