import type { CallerName, Subject } from "./users.ts"

/** One valid request to an endpoint. It succeeds for permitted callers, so that a refusal can only be due to the caller. */
export interface PreparedRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  /** Replaces the caller's own token. */
  readonly token?: string
}

/** Creates what the request needs, as the site administrator. */
export type Prepare = (subject: Subject, caller: CallerName) => PreparedRequest | Promise<PreparedRequest>

export const nothing: Prepare = () => ({})
