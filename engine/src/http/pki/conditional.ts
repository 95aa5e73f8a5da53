// Conditional reads (RFC 9110, section 13) of what a reference leads to, which may be another thing at any moment.
import { type Instant, secondMs } from "../../core/time.ts"
import type { PkiResponse, SystemRequest } from "../pki-route.ts"
import { isKnown } from "./raw-file.ts"

export interface Version {
  /** Unlike that of any other content at the address; without quotes. */
  readonly tag: string
  /** Since when it is what it is; 0 where that is not known. */
  readonly modifiedAt: Instant
}

/** 304 for whoever has it already. */
export function unlessKnown(
  { headers: asked, server }: Pick<SystemRequest, "headers" | "server">,
  { tag, modifiedAt }: Version,
  response: Extract<PkiResponse, { readonly kind: "raw" | "data" }>,
): PkiResponse {
  const etag = `"${tag}"`
  const modified = Math.floor(modifiedAt / secondMs) * secondMs
  // While the second of the last change lasts, another one may follow that no date tells from it (section 8.8.2.2).
  const isDated = modifiedAt > 0 && server.now() >= modified + secondMs
  const headers = {
    etag,
    ...(isDated ? { "last-modified": new Date(modified).toUTCString() } : {}),
    "cache-control": "no-cache",
  }
  if (isKnown(asked, etag, isDated ? modified : Infinity)) return { kind: "raw", status: 304, body: "", headers }
  return { ...response, headers: { ...response.headers, ...headers } }
}
