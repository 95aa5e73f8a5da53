import { expect, test } from "vitest"
import { formatOtherName, parseOtherName } from "./other-name.ts"

const form = (text: string) => `other SAN "${text}" must have the form <oid>;UTF8:<value>`

test.each([
  { text: "1.3.6.1.4.1.311.20.2.3;UTF8:user@example.com", value: "user@example.com", why: "the usual form" },
  { text: "1.3.6.1.4.1.311.20.2.3;utf-8:user", value: "user", why: "the type in any spelling" },
  { text: "1.3.6.1.4.1.311.20.2.3;UTF8:a;b:c", value: "a;b:c", why: "the value may contain separators" },
  { text: "1.3.6.1.4.1.311.20.2.3;UTF8:", value: "", why: "the value may be empty" },
  { text: "1.3.6.1.4.1.311.20.2.3;UTF8:a\nb", value: "a\nb", why: "the value may be any text" },
])("$text has the value $value: $why", ({ text, value }) => {
  expect(parseOtherName(text)).toEqual({ name: { oid: "1.3.6.1.4.1.311.20.2.3", value } })
})

test.each([
  { text: "1.2.3", problem: form("1.2.3") },
  { text: "1.2.3;UTF8", problem: form("1.2.3;UTF8") },
  { text: "UTF8:a", problem: form("UTF8:a") },
  { text: "x;UTF8:a", problem: 'other SAN "x;UTF8:a" does not begin with an object identifier' },
  { text: "1.2.3;DER:a", problem: 'other SAN "1.2.3;DER:a" must have the type UTF8, not "DER"' },
])("$problem", ({ text, problem }) => {
  expect(parseOtherName(text)).toEqual({ problem })
})

test("a formatted other name is parsed to the same value", () => {
  const name = { oid: "2.5.4.5", value: "a;b:c" }
  expect(parseOtherName(formatOtherName(name))).toEqual({ name })
})
