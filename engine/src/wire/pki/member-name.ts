// Underscores on the wire, camelCase inside; nothing else knows both. Units are said inside only: `maxTtlMs` is `max_ttl`.

/** `maxTtlMs` → `max_ttl`. */
export const underscored = (name: string): string =>
  name.replace(/(Ms|Seconds)$/, "").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `issuer_ref` → `issuerRef`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
