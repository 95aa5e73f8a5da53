import { expect, test } from "vitest"
import { decodeEnvelope, encodeEnvelope } from "./envelope.ts"

const lease = { id: "pki/issue/web/1", durationSeconds: 60, renewable: false }

test("encodeEnvelope adds lease, warnings and auth to the data", () => {
  const answer = { data: { a: 1 }, warnings: ["one", "two\nlines"], lease, mountType: "pki" }
  expect(encodeEnvelope(answer, "r-1", "native")).toEqual({
    request_id: "r-1",
    lease_id: "pki/issue/web/1",
    renewable: false,
    lease_duration: 60,
    data: { a: 1 },
    wrap_info: null,
    warnings: "one\ntwo lines",
    auth: null,
    mount_type: "pki",
  })
  expect(encodeEnvelope(answer, "r-1", "vault")).toMatchObject({ warnings: ["one", "two\nlines"] })
  expect(encodeEnvelope({ data: null, auth: { client_token: "s.1" } }, "r-1", "vault")).toEqual({
    request_id: "r-1",
    lease_id: "",
    renewable: false,
    lease_duration: 0,
    data: null,
    wrap_info: null,
    warnings: null,
    auth: { client_token: "s.1" },
  })
})

test("encodeEnvelope repeats members of the data without replacing its own", () => {
  const envelope = encodeEnvelope({ data: { "pki/": {}, data: 1 }, repeated: true }, "r-1", "vault")
  expect(envelope).toMatchObject({ "pki/": {}, data: { "pki/": {}, data: 1 } })
})

test("decodeEnvelope reads an encoded envelope", () => {
  const read = (answer: Parameters<typeof encodeEnvelope>[0]) => decodeEnvelope(encodeEnvelope(answer, "r-1", "native"))
  expect(read({ data: { a: 1 } })).toEqual({ data: { a: 1 }, warnings: [], lease: undefined })
  expect(read({ data: null, warnings: ["one", "two"], lease })).toEqual({ data: null, warnings: ["one", "two"], lease })
})

test.each([undefined, [], "text", { warnings: ["a"] }, { lease_id: 1 }, { lease_duration: "1" }])(
  "decodeEnvelope rejects %j",
  (document) => {
    expect(() => decodeEnvelope(document)).toThrow(expect.objectContaining({ code: "unavailable" }))
  },
)
