// Responses that shared caches may store until they expire: those of the OCSP responder.
import { type Instant, isAhead } from "../../core/time.ts"
import type { RequestHeaders } from "../http/message.ts"
import type { PkiResponse, SystemRequest } from "./vault-route.ts"

export interface RawFile {
  readonly body: string | Uint8Array
  readonly contentType: string
  /** Entity tag without quotes; differs for any other content at the same URL. */
  readonly tag: string
  readonly modifiedAt: Instant
  readonly cacheControl: string
  readonly expiresAt: Instant
}

/** Returns the file, or 304 if the client has this version (RFC 9110, section 13.2.2). */
export function rawFile(
  { headers: asked, server }: Pick<SystemRequest, "headers" | "server">,
  file: RawFile,
): PkiResponse {
  const { body, contentType, tag, modifiedAt, cacheControl, expiresAt } = file
  const etag = `"${tag}"`
  const headers = {
    etag,
    "last-modified": new Date(modifiedAt).toUTCString(),
    "cache-control": cacheControl,
    expires: new Date(expiresAt).toUTCString(),
  }
  if (isKnown(asked, etag, { modifiedAt, now: server.now() })) return { kind: "raw", status: 304, body: "", headers }
  return { kind: "raw", status: 200, body, headers: { "content-type": contentType, ...headers } }
}

/**
 * Returns true if the client has this version. `If-None-Match` has precedence over `If-Modified-Since`. A date later than `now` is ignored,
 * because it comes from a clock that was ahead.
 */
export function isKnown(
  asked: RequestHeaders,
  etag: string,
  { modifiedAt, now }: Readonly<Record<"modifiedAt" | "now", Instant>>,
): boolean {
  const tags = asked.get("if-none-match")
  if (tags !== null)
    return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)
  const since = Date.parse(asked.get("if-modified-since") ?? "")
  // The header has a precision of one second.
  return !Number.isNaN(since) && !isAhead(since, now) && Math.floor(modifiedAt / 1_000) * 1_000 <= since
}
