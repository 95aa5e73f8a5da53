// Bytes that anybody may keep until they expire: answers of an OCSP responder.
import { type Instant, isAhead } from "../../core/time.ts"
import type { RequestHeaders } from "../http/message.ts"
import type { PkiResponse, SystemRequest } from "./vault-route.ts"

export interface RawFile {
  readonly body: string | Uint8Array
  readonly contentType: string
  /** Unlike that of any other content at the address; without quotes. */
  readonly tag: string
  readonly modifiedAt: Instant
  readonly cacheControl: string
  readonly expiresAt: Instant
}

/** 304 for whoever has it already (RFC 9110, section 13.2.2). */
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

/** A tag goes before a date. A date later than `now` says nothing: the clock that it came from was ahead. */
export function isKnown(
  asked: RequestHeaders,
  etag: string,
  { modifiedAt, now }: Readonly<Record<"modifiedAt" | "now", Instant>>,
): boolean {
  const tags = asked.get("if-none-match")
  if (tags !== null)
    return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)
  const since = Date.parse(asked.get("if-modified-since") ?? "")
  // The header has seconds.
  return !Number.isNaN(since) && !isAhead(since, now) && Math.floor(modifiedAt / 1_000) * 1_000 <= since
}
