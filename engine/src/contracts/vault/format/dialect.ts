/** Dialects of one wire format. They differ as the table in docs/dialects.md says. */
export type Dialect = "native" | "vault"

/** Vault's clients send `X-Vault-Token` and `X-Vault-Request`, or the token as Bearer. `X-Service-Token` overrides them all. */
export function dialectOf(headers: Pick<Headers, "get" | "has">): Dialect {
  if (headers.has("x-service-token")) return "native"
  const isVault = headers.has("x-vault-token") || headers.has("x-vault-request") || isBearer(headers)
  return isVault ? "vault" : "native"
}

const isBearer = (headers: Pick<Headers, "get" | "has">): boolean =>
  /^bearer +\S/i.test(headers.get("authorization") ?? "")

/** `Vary` of answers that differ by dialect. */
export const dialectHeaders = "X-Service-Token, X-Vault-Request, X-Vault-Token, Authorization"

// Underscores on the wire, camelCase inside; nothing else knows both. Units are said inside only: `maxTtlMs` is `max_ttl`.

/** `maxTtlMs` → `max_ttl`. */
export const underscored = (name: string): string =>
  name.replace(/(Ms|Seconds)$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `issuer_ref` → `issuerRef`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
