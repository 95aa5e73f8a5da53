import { describe, expect, test } from "vitest"
import { basicCredentials, decodeEstBody, encodeEstBody } from "./body.ts"

const type = "application/pkcs10"
const bytes = (text: string) => Buffer.from(text, "latin1")

describe("decodeEstBody", () => {
  test.each(["MAA=", "MAA", " MA\r\nA=\n", "M\tA\nA\r", "MAA=\r\n\r\n"])("reads %j", (text) => {
    expect(Buffer.from(decodeEstBody(type, type, bytes(text))).toString("hex")).toBe("3000")
  })

  test.each(["", " \n", "MA-_", "=MAA", "MA=A", "-----BEGIN CERTIFICATE REQUEST-----", "0\u0082\u0001", "MAA=;"])(
    "rejects %j",
    (text) => {
      expect(() => decodeEstBody(type, type, bytes(text))).toThrow(expect.objectContaining({ code: "bad-request" }))
    },
  )

  test.each([null, "", "text/plain", "application/pkcs10x"])("rejects the media type %j", (contentType) => {
    expect(() => decodeEstBody(contentType, type, bytes("MAA="))).toThrow(
      expect.objectContaining({ code: "unsupported-media-type" }),
    )
  })

  test.each(["application/pkcs10", "Application/PKCS10", "application/pkcs10; charset=us-ascii"])(
    "accepts the media type %s",
    (contentType) => {
      expect(decodeEstBody(contentType, type, bytes("MAA="))).toHaveLength(2)
    },
  )
})

test("encodeEstBody writes lines of 64 characters that decodeEstBody reads", () => {
  const der = Buffer.alloc(200, 7)
  const text = encodeEstBody(der)
  expect(text.split("\n").map(({ length }) => length)).toEqual([64, 64, 64, 64, 12, 0])
  expect(Buffer.compare(decodeEstBody(type, type, bytes(text)), der)).toBe(0)
})

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

test.each([
  { header: basic("printer:secret"), credentials: { name: "printer", password: "secret" } },
  { header: basic("printer:a:b"), credentials: { name: "printer", password: "a:b" } },
  { header: basic("drücker:größe"), credentials: { name: "drücker", password: "größe" } },
  { header: basic("printer:"), credentials: { name: "printer", password: "" } },
  { header: basic("printer:secret").replace("Basic", "bAsIc  "), credentials: { name: "printer", password: "secret" } },
  { header: null, credentials: undefined },
  { header: "Bearer abc", credentials: undefined },
  { header: "Basic", credentials: undefined },
  { header: "Basic !", credentials: undefined },
  { header: basic(":secret"), credentials: undefined },
  { header: basic("printer"), credentials: undefined },
  { header: basic(`printer:${"x".repeat(10_000)}`), credentials: undefined },
])("basicCredentials returns $credentials for a header", ({ header, credentials }) => {
  expect(basicCredentials(header)).toEqual(credentials)
})
