import type { Instant } from "../../core/time.ts"
import type { ServiceToken } from "./service-token.ts"

export interface AccessorQuery {
  /** Only those that sort after this one. */
  readonly after?: string
  /** All of them when left out. */
  readonly limit?: number
}

export interface ServiceTokenRepository {
  /** Undefined for a token of any other kind. */
  find(id: string): Promise<ServiceToken | undefined>
  /** Ids of those that have not ended, in order. */
  accessors(query: AccessorQuery, now: Instant): Promise<readonly string[]>
  insert(token: ServiceToken, hash: string): Promise<void>
  recordRenewal(token: ServiceToken): Promise<void>
  /** A token of any kind, with those that end with it. */
  remove(id: string): Promise<void>
  /**
   * Those made at a path or below it, with those that end with them. Looks at so many at once, and answers after which one to go
   * on; undefined when it has seen all.
   */
  removeMadeAt(path: string, page: { readonly after: string; readonly limit: number }): Promise<string | undefined>
  /** Those that would end with a token end on their own from now on. */
  orphanChildren(id: string): Promise<void>
  /** Forgets some that have ended, at most this many beside those that end with them. */
  sweep(now: Instant, limit: number): Promise<number>
}
