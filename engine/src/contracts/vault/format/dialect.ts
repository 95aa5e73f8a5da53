/** Dialects of one wire format. The table in docs/dialects.md lists their differences. */
export type Dialect = "native" | "vault"

/**
 * Returns the dialect of a client. Vault clients send `X-Vault-Token`, `X-Vault-Request` or a Bearer token; `X-Service-Token` overrides
 * them all.
 */
export function dialectOf(headers: Pick<Headers, "get" | "has">): Dialect {
  if (headers.has("x-service-token")) return "native"
  const isVault = headers.has("x-vault-token") || headers.has("x-vault-request") || isBearer(headers)
  return isVault ? "vault" : "native"
}

const isBearer = (headers: Pick<Headers, "get" | "has">): boolean =>
  /^bearer +\S/i.test(headers.get("authorization") ?? "")

/** `Vary` of answers that differ by dialect. */
export const dialectHeaders = "X-Service-Token, X-Vault-Request, X-Vault-Token, Authorization"

// Names are underscored on the wire and camelCase in the domain; only this file converts them. Units are in domain names only: `maxTtlMs`
// is `max_ttl`.

/** Converts `maxTtlMs` to `max_ttl`. */
export const underscored = (name: string): string =>
  name.replace(/(Ms|Seconds)$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Converts `issuer_ref` to `issuerRef`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
