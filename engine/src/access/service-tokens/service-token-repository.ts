import type { Instant } from "../../core/time.ts"
import type { ServiceToken } from "./service-token.ts"

export interface AccessorQuery {
  /** Only accessors that sort after this one. */
  readonly after?: string
  /** Unlimited if omitted. */
  readonly limit?: number
}

export interface ServiceTokenRepository {
  /** Returns undefined for a token of any other kind. */
  find(id: string): Promise<ServiceToken | undefined>
  /** Returns the ids of unexpired tokens, in order. */
  accessors(query: AccessorQuery, now: Instant): Promise<readonly string[]>
  insert(token: ServiceToken, hash: string): Promise<void>
  recordRenewal(token: ServiceToken): Promise<void>
  /** Deletes a token of any kind, with its descendants. */
  remove(id: string): Promise<void>
  /**
   * Deletes tokens that were created at a path or below it, with their descendants. Examines at most `limit` tokens after `after`. Returns
   * the id to continue after, or undefined at the end.
   */
  removeMadeAt(path: string, page: { readonly after: string; readonly limit: number }): Promise<string | undefined>
  /** Turns the children of a token into orphans. */
  orphanChildren(id: string): Promise<void>
  /** Deletes at most `limit` expired tokens, and their descendants. Returns their number. */
  sweep(now: Instant, limit: number): Promise<number>
}
