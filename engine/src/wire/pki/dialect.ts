/**
 * Two dialects of one wire format (architecture 0.2): existing clients of the public API decode some members otherwise than the
 * specification has them. Who says nothing gets the specification's.
 */
export type Dialect = "specification" | "vault"

/** Both headers are sent by those clients and by nobody else. */
export const dialectOf = (headers: Headers): Dialect =>
  headers.has("x-vault-token") || headers.has("x-vault-request") ? "vault" : "specification"
