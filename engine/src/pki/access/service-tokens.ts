import type { Capability } from "../../core/access.ts"
import type { ServiceToken, ServiceTokenInput } from "./service-token.ts"
import type { AccessorQuery } from "./service-token-store.ts"

/** What is shown of a token of any kind: never its secret. */
export interface ServiceTokenView extends Omit<ServiceToken, "id" | "parentId" | "maxTtlMs" | "authMethodId"> {
  readonly accessor: string
  /** Whose it is: a user, a team or an organization; empty for a service token. */
  readonly entityId: string
  /** Ends with no other token. */
  readonly orphan: boolean
  /** Whole seconds from now to its end, or that of a token with which it ends; null without one. */
  readonly remainingMs: number | null
}

/** `warnings` are sentences about what was done otherwise than asked. */
export interface TokenAnswer {
  readonly token: ServiceTokenView
  readonly warnings: readonly string[]
}

/** The one answer that carries the secret. */
export interface CreatedServiceToken extends TokenAnswer {
  readonly secret: string
}

/** `root` stands for everything; what may do nothing has `deny` alone. */
export interface PathCapabilities {
  readonly path: string
  readonly capabilities: readonly (Capability | "root")[]
}

/** A token by its secret, or by its accessor. */
export type TokenRef = "self" | { readonly secret: string } | { readonly accessor: string }

/**
 * Tokens for the certificate API. A service token has its policies and nothing else; it can be made by whoever may, with
 * policies its maker holds, and ends with its maker's token unless it is an orphan. Whatever ends is refused from the next
 * request on, on every replica. A secret or an accessor that no token has is `forbidden`.
 *
 * Looking at, renewing and revoking the token that is used itself takes other paths, so that policies can tell them apart.
 * By secret, tokens of users, teams and organizations are found as well; by accessor they are not.
 */
export interface ServiceTokens {
  create(input: ServiceTokenInput): Promise<CreatedServiceToken>
  /** Without a parent. */
  createOrphan(input: ServiceTokenInput): Promise<CreatedServiceToken>
  /** As the token role says; `not-found` where there is none of that name. */
  createByRole(role: string, input: ServiceTokenInput): Promise<CreatedServiceToken>
  lookup(token: TokenRef): Promise<ServiceTokenView>
  /** Accessors in order. */
  list(query?: AccessorQuery): Promise<readonly string[]>
  /** Until so long from now, or as long as it was made for, but not beyond its maximum. */
  renew(token: TokenRef, incrementMs?: number): Promise<TokenAnswer>
  /** With every token that ends with it. Nothing happens when no token has this secret. */
  revoke(token: TokenRef): Promise<void>
  /** Those that would have ended with it go on as orphans. */
  revokeOrphan(secret: string): Promise<void>
  /** In the order asked. */
  capabilities(token: TokenRef, paths: readonly string[]): Promise<readonly PathCapabilities[]>
}
