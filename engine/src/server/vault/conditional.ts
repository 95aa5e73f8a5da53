// Conditional reads (RFC 9110, section 13) of what a reference leads to, which may be another thing at any moment.
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

/** Returns 304 if the client has this version. `byDialect`: the request's dialect chooses the form of the answer. */
export function unlessKnown(
  { headers: asked, server }: Pick<SystemRequest, "headers" | "server">,
  { tag, modifiedAt }: Version,
  response: ConditionalResponse,
  // That of the envelope around data.
  { byDialect = response.kind === "data" }: { readonly byDialect?: boolean } = {},
): PkiResponse {
  const strong = `"${tag}"`
  // Around data there is an envelope, in which each request has an id of its own.
  const etag = response.kind === "data" ? `W/${strong}` : strong
  const modified = Math.floor(modifiedAt / secondMs) * secondMs
  // While the second of the last change lasts, another one may follow that no date tells from it (section 8.8.2.2).
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
