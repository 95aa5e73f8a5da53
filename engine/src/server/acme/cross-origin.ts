// Cross-origin access to ACME. Its resources are authenticated by signatures and never by cookies. Clients in browsers may therefore use
// them from any origin (RFC 8555, section 6.1).

/** Headers of every ACME response. */
export const acmeCorsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Link, Location, Replay-Nonce, Retry-After",
} as const

const maxAgeSeconds = 86_400

/** Returns the headers of the answer to OPTIONS; `allow` is the list of methods. */
export const preflightHeaders = (allow: string): Readonly<Record<string, string>> => ({
  allow,
  ...acmeCorsHeaders,
  "access-control-allow-methods": allow,
  // Browsers send the media type of a JWS only if this header allows it.
  "access-control-allow-headers": "Content-Type",
  "access-control-max-age": String(maxAgeSeconds),
})
