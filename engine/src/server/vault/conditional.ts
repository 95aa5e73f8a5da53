// Conditional reads (RFC 9110, section 13) of resources whose content can change at any time.
import { secondMs } from "../../core/time.ts"
import type { Version } from "../../contracts/vault/endpoint.ts"
import { dialectHeaders } from "../../contracts/vault/format/dialect.ts"
import type { PkiResponse, SystemRequest } from "./vault-route.ts"
import { isKnown } from "./raw-file.ts"

export type ConditionalResponse = Extract<PkiResponse, { readonly kind: "raw" | "data" }>

export const rawBytes = (body: string | Uint8Array, contentType: string): ConditionalResponse => ({
  kind: "raw",
  status: 200,
  body,
  headers: { "content-type": contentType },
})

/**
 * Returns 304 if the client has this version. `byDialect`: the answer depends on the dialect, so `Vary` names its headers.
 */
export function unlessKnown(
  { headers: asked, server }: Pick<SystemRequest, "headers" | "server">,
  { tag, modifiedAt }: Version,
  response: ConditionalResponse,
  // Envelopes always depend on the dialect.
  { byDialect = response.kind === "data" }: { readonly byDialect?: boolean } = {},
): PkiResponse {
  const strong = `"${tag}"`
  // The envelope around data contains a request id, so the tag is weak.
  const etag = response.kind === "data" ? `W/${strong}` : strong
  const modified = Math.floor(modifiedAt / secondMs) * secondMs
  // Another change within the same second would have the same date (section 8.8.2.2), so no date is sent until the second is over.
  const isDated = modifiedAt > 0 && server.now() >= modified + secondMs
  const headers = {
    etag,
    ...(isDated ? { "last-modified": new Date(modified).toUTCString() } : {}),
    "cache-control": "no-cache",
    ...(byDialect ? { vary: dialectHeaders } : {}),
  }
  if (isKnown(asked, strong, { modifiedAt: isDated ? modified : Infinity, now: server.now() }))
    return { kind: "raw", status: 304, body: "", headers }
  return { ...response, headers: { ...response.headers, ...headers } }
}
