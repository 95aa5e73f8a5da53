// Bytes that anybody may read and keep: certificates and revocation lists (pki-facts 0.4).
import type { Instant } from "../../core/time.ts"
import type { PkiResponse, SystemRequest } from "../pki-route.ts"

export interface RawFile {
  readonly body: string | Uint8Array
  readonly contentType: string
  /** Unlike that of any other content at the address; without quotes. */
  readonly tag: string
  readonly modifiedAt: Instant
  /** Unless what is there may change at any time. */
  readonly cacheControl?: string
  readonly expiresAt?: Instant
}

/** 304 for whoever has it already (RFC 9110, section 13.2.2), 204 where there is nothing. */
export function rawFile({ headers: asked }: Pick<SystemRequest, "headers">, file: RawFile | undefined): PkiResponse {
  if (file === undefined) return { kind: "none" }
  const { body, contentType, tag, modifiedAt, cacheControl = "no-cache", expiresAt } = file
  const etag = `"${tag}"`
  const headers = {
    etag,
    "last-modified": new Date(modifiedAt).toUTCString(),
    "cache-control": cacheControl,
    ...(expiresAt === undefined ? {} : { expires: new Date(expiresAt).toUTCString() }),
  }
  if (isKnown(asked, etag, modifiedAt)) return { kind: "raw", status: 304, body: "", headers }
  return { kind: "raw", status: 200, body, headers: { "content-type": contentType, ...headers } }
}

/** A tag goes before a date. */
export function isKnown(asked: Headers, etag: string, modifiedAt: Instant): boolean {
  const tags = asked.get("if-none-match")
  if (tags !== null)
    return tags.trim() === "*" || tags.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)
  const since = Date.parse(asked.get("if-modified-since") ?? "")
  // The header has seconds.
  return !Number.isNaN(since) && Math.floor(modifiedAt / 1_000) * 1_000 <= since
}
