import { describe, expect, test } from "vitest"
import type { PkiResponse } from "./vault-route.ts"
import { unlessKnown } from "./conditional.ts"

const modifiedAt = Date.parse("2026-11-21T12:00:00.400Z")
const date = "Sat, 21 Nov 2026 12:00:00 GMT"
const response = { kind: "raw", status: 200, body: "x", headers: { "content-type": "text/plain" } } as const

const answered = (
  asked: Readonly<Record<string, string>>,
  { now = modifiedAt + 1_000, at = modifiedAt }: { now?: number; at?: number } = {},
): PkiResponse =>
  unlessKnown(
    {
      headers: new Headers(asked),
      server: { now: () => now, clusterId: "", ready: () => Promise.resolve() },
    },
    { modifiedAt: at, tag: "t" },
    response,
  )

test("a first response contains ETag and Last-Modified", () => {
  expect(answered({})).toEqual({
    ...response,
    headers: { "content-type": "text/plain", etag: '"t"', "last-modified": date, "cache-control": "no-cache" },
  })
})

describe("a conditional request", () => {
  test.each<[status: number, asked: Readonly<Record<string, string>>, why: string]>([
    [304, { "if-none-match": '"t"' }, "the tag is that"],
    [304, { "if-none-match": 'W/"t"' }, "of a weak tag only the text counts"],
    [304, { "if-none-match": '"a", "t"' }, "one of the tags is that"],
    [304, { "if-none-match": "*" }, "anything is there"],
    [200, { "if-none-match": '"a"' }, "the tag is another"],
    [200, { "if-none-match": '"a"', "if-modified-since": date }, "a tag goes before a date"],
    [304, { "if-modified-since": date }, "the date is that"],
    [304, { "if-modified-since": "Sat, 21 Nov 2026 12:00:01 GMT" }, "the date is later"],
    [
      200,
      { "if-modified-since": "Sat, 21 Nov 2026 13:00:00 GMT" },
      "[F-P15] the date is later than the server's clock",
    ],
    [200, { "if-modified-since": "Sat, 21 Nov 2026 11:59:59 GMT" }, "it has changed since"],
    [200, { "if-modified-since": "yesterday" }, "that is not a date"],
    [200, {}, "nothing is known"],
  ])("%d to %j: %s", (status, asked) => {
    expect(answered(asked)).toMatchObject({ status })
  })
})

test("an enveloped response has a weak ETag", () => {
  const data = { kind: "data", status: 200, data: { a: 1 } } as const
  const ask = (headers: Readonly<Record<string, string>>) =>
    unlessKnown(
      {
        headers: new Headers(headers),
        server: { now: () => modifiedAt + 1_000, clusterId: "", ready: () => Promise.resolve() },
      },
      { modifiedAt, tag: "t" },
      data,
    )
  const vary = "X-Service-Token, X-Vault-Request, X-Vault-Token, Authorization"
  const known = { etag: 'W/"t"', "last-modified": date, "cache-control": "no-cache", vary }
  expect(ask({})).toEqual({ ...data, headers: known })
  expect(ask({ "if-none-match": 'W/"t"' })).toEqual({ kind: "raw", status: 304, body: "", headers: known })
})

test("If-Modified-Since is ignored within the second of the change", () => {
  const now = modifiedAt + 500
  const fresh = answered({ "if-modified-since": date }, { now })
  expect(fresh).toEqual({ ...response, headers: { ...response.headers, etag: '"t"', "cache-control": "no-cache" } })
  expect(answered({ "if-none-match": '"t"' }, { now })).toMatchObject({ status: 304 })
})

test("a response without a modification time has no Last-Modified", () => {
  expect(answered({ "if-modified-since": date }, { at: 0 })).toMatchObject({ status: 200 })
})
