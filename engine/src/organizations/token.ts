// API tokens. The secret is 256 bits of random text, so its SHA-256 needs no salt and can be looked up by equality; it is
// shown in the answer that made it and nowhere else.
import { type Fault, rejectFaults } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { RandomSource } from "../core/random.ts"
import { hourMs, type Instant } from "../core/time.ts"

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
