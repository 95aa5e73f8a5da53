import type { CallerName, Subject } from "./users.ts"

/** One valid request to an endpoint: whoever may make it gets a success, so that a refusal is about the caller alone. */
export interface PreparedRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  /** Instead of the caller's own. */
  readonly token?: string
}

/** Makes what the request needs, as the site administrator. */
export type Prepare = (subject: Subject, caller: CallerName) => PreparedRequest | Promise<PreparedRequest>

export const nothing: Prepare = () => ({})
