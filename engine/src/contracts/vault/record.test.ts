import { expect, test } from "vitest"
import { decodeDocument, type Parameters } from "./format/parameters.ts"
import { parameter, type ParameterReader, record } from "./record.ts"
import { exactInstant, flag, seconds, text, unsupported, zeroAsNull } from "./types.ts"

const account = record(
  {
    periodMs: parameter(zeroAsNull(seconds), "Period.", { wireName: "token_period", alias: "period" }),
    comment: parameter(text, "Comment.", { optional: true }),
  },
  {
    defaults: { periodMs: null },
    constants: { local: false },
    readOnly: { createdAt: parameter(exactInstant, "Time of creation.") },
    writeOnly: { secret: parameter(text, "Secret.") },
    unsupported: { strict: parameter(unsupported(flag), "Vault's.") },
  },
)

const requestOf = (document: Readonly<Record<string, unknown>>): ParameterReader => ({
  decode: <T extends object>(table: Parameters<T>) => decodeDocument(table, document).value,
  read: <T extends object>(table: Parameters<T>) => decodeDocument(table, document),
})

test("record reads parameters by the older name unless the newer one is sent", () => {
  expect(account.input.decode(requestOf({ period: 60 }))).toEqual({ periodMs: 60_000, faults: [] })
  expect(account.input.decode(requestOf({ token_period: 30, period: 60 }))).toEqual({ periodMs: 30_000, faults: [] })
  expect(account.input.decode(requestOf({ period: "never" })).faults).toMatchObject([
    { detail: expect.stringContaining('"period" must be a duration') },
  ])
})

test("record drops unsupported parameters, and rejects values of them", () => {
  expect(account.change.decode(requestOf({ strict: false, secret: "s" }))).toEqual({ secret: "s" })
  expect(account.input.decode(requestOf({ strict: true })).faults).toEqual([
    { field: ["strict"], detail: '"strict" is not supported' },
  ])
})

test("record ignores read-only members in requests, and omits write-only ones from answers", () => {
  expect(account.change.decode(requestOf({ created_at: "2030-01-01T00:00:00Z" }))).toEqual({})
  const view = { periodMs: 60_000, comment: "c", createdAt: 0 }
  const document = { token_period: 60, comment: "c", created_at: "1970-01-01T00:00:00.000Z", local: false }
  expect(account.encode(view, "native")).toEqual(document)
  expect(account.decode(document)).toEqual(view)
})

test("record rejects answers that lack a required member", () => {
  expect(account.decode({ token_period: 0, created_at: "2030-01-01T00:00:00Z" })).toMatchObject({ periodMs: null })
  expect(() => account.decode({ token_period: 0 })).toThrow('"created_at" is missing')
})

test("record resets parameters that a patch sets to null", () => {
  expect(account.patch.decode(requestOf({ token_period: null }))).toEqual({ periodMs: null, faults: [] })
})
