import type { CallerName, PkiSubject } from "./users.ts"

/** One valid request to an endpoint: whoever may make it gets a success, so that a refusal is about the caller alone. */
export interface PreparedPkiRequest {
  /** Of the path, by their names on the wire; the mount is known. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the caller's own. */
  readonly token?: string
}

/** Makes what the request needs, as root. */
export type PreparePki = (subject: PkiSubject, caller: CallerName) => PreparedPkiRequest | Promise<PreparedPkiRequest>

export const nothing: PreparePki = () => ({})
