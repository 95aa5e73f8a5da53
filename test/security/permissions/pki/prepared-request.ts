import type { CallerName, PkiSubject } from "./users.ts"

/** One valid request to an endpoint. It succeeds for permitted callers, so that a refusal can only be due to the caller. */
export interface PreparedPkiRequest {
  /** Path parameters by their names on the wire, without the mount. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Certificates that the client presents, DER. */
  readonly clientChain?: readonly Uint8Array[]
  /** Replaces the caller's own token. */
  readonly token?: string
}

/** Creates what the request needs, as root. */
export type PreparePki = (subject: PkiSubject, caller: CallerName) => PreparedPkiRequest | Promise<PreparedPkiRequest>

export const nothing: PreparePki = () => ({})
