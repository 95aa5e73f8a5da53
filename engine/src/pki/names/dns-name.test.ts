import { domainToASCII } from "node:url"
import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { isWildcardLabel, splitWildcard, toAsciiHostName, toDnsName } from "./host-names.ts"

const label63 = "a".repeat(63)

test.each([
  { text: "example.com", expected: "example.com", why: "letters" },
  { text: "Example.COM", expected: "Example.COM", why: "case is kept" },
  { text: "localhost", expected: "localhost", why: "one label" },
  { text: "1-2.3a", expected: "1-2.3a", why: "digits and hyphens inside" },
  { text: "example.com.", expected: "example.com", why: "the dot of the root is not written" },
  { text: "bücher.example", expected: "xn--bcher-kva.example", why: "a U-label becomes an A-label" },
  { text: "faß.example", expected: "xn--fa-hia.example", why: "nontransitional: ß stays what it is" },
  { text: "ＥＸＡＭＰＬＥ．com", expected: "example.com", why: "full-width letters and dots become ASCII" },
  { text: "xn--bcher-kva.example", expected: "xn--bcher-kva.example", why: "an A-label stays" },
  { text: "XN--BCHER-KVA.example", expected: "xn--bcher-kva.example", why: "an A-label has one spelling" },
  { text: "xn--a.example", expected: undefined, why: "an A-label that decodes to nothing" },
  { text: "xn--.example", expected: undefined, why: "an A-label that decodes to nothing" },
  { text: "xn--pokxncvks.example", expected: undefined, why: "punycode that overflows" },
  { text: "x\u200Dy.example", expected: undefined, why: "a joiner with nothing to join" },
  { text: `${label63}.com`, expected: `${label63}.com`, why: "63 octets are a label" },
  { text: `${label63}a.com`, expected: undefined, why: "64 octets are not a label" },
  { text: `${`${label63}.`.repeat(3)}${"a".repeat(61)}`, expected: expect.any(String), why: "253 octets are a name" },
  { text: `${`${label63}.`.repeat(3)}${"a".repeat(62)}`, expected: undefined, why: "254 octets are not a name" },
  { text: "a_b.example", expected: undefined, why: "an underscore is not a letter" },
  { text: "-a.example", expected: undefined, why: "a hyphen at the beginning" },
  { text: "a-.example", expected: undefined, why: "a hyphen at the end" },
  { text: "a..example", expected: undefined, why: "an empty label" },
  { text: ".example", expected: undefined, why: "an empty label" },
  { text: "", expected: undefined, why: "an empty string" },
  { text: ".", expected: undefined, why: "the root" },
  { text: "*.example", expected: undefined, why: "a wildcard is not a host name" },
  { text: "a b.example", expected: undefined, why: "a space" },
  { text: "a/b.example", expected: undefined, why: "a URL parser would read a path" },
  { text: "a%2eb.example", expected: undefined, why: "a URL parser would decode it" },
  { text: "é@b.example", expected: undefined, why: "a URL parser would read a user" },
  { text: "é:1.example", expected: undefined, why: "a URL parser would read a port" },
  { text: "a\té.example", expected: undefined, why: "a URL parser would remove it" },
  { text: "a\0.example", expected: undefined, why: "a NUL character" },
  { text: "\uD800.example", expected: undefined, why: "an unpaired surrogate" },
  { text: "é".repeat(2_000), expected: undefined, why: "too long to convert" },
])('"$text" is the host name $expected: $why', ({ text, expected }) => {
  expect(toAsciiHostName(text)).toEqual(expected)
})

describe("a dNSName holds", () => {
  const strict = { enforceHostnames: true }
  const loose = { enforceHostnames: false }
  test.each([
    { text: "example.com", rules: strict, expected: "example.com", why: "a host name" },
    { text: "*.example.com", rules: strict, expected: "*.example.com", why: "a wildcard label" },
    { text: "*.bücher.example", rules: strict, expected: "*.xn--bcher-kva.example", why: "a wildcard over an A-label" },
    { text: "f*o.example.com.", rules: strict, expected: "f*o.example.com", why: "a wildcard inside a label" },
    { text: "*", rules: strict, expected: "*", why: "only a wildcard" },
    { text: "a.*.example.com", rules: strict, expected: undefined, why: "the wildcard is not left-most" },
    { text: "*.*.com", rules: strict, expected: undefined, why: "two wildcards" },
    { text: "*.", rules: strict, expected: undefined, why: "a wildcard over the root" },
    { text: "xn--*.example", rules: strict, expected: undefined, why: "a wildcard inside an A-label" },
    {
      text: `*.${label63}.${label63}.${label63}.${"a".repeat(60)}`,
      rules: strict,
      expected: undefined,
      why: "too long",
    },
    { text: "my_service.example", rules: strict, expected: undefined, why: "no underscore in host names" },
    {
      text: "my_service.example",
      rules: loose,
      expected: "my_service.example",
      why: "an underscore when host names are not enforced",
    },
    { text: "*.my_service", rules: loose, expected: "*.my_service", why: "an underscore under a wildcard" },
    { text: "-a-.example", rules: loose, expected: "-a-.example", why: "a hyphen at the edge of a label" },
    { text: "my service", rules: loose, expected: undefined, why: "a space is always rejected" },
    { text: "a@b.example", rules: loose, expected: undefined, why: "an e-mail address is not a DNS name" },
    { text: "192.0.2.1", rules: strict, expected: undefined, why: "an IP address is not a DNS name" },
    { text: "192.0.2.1", rules: loose, expected: undefined, why: "an IP address is not a DNS name" },
  ])("$expected for $text: $why", ({ text, rules, expected }) => {
    expect(toDnsName(text, rules)).toBe(expected)
  })
})

test.each([
  { text: "*", parts: { label: "*", base: "" } },
  { text: "*.a.b", parts: { label: "*", base: "a.b" } },
  { text: "x*y.a", parts: { label: "x*y", base: "a" } },
  { text: "a.b", parts: undefined },
  { text: "**.a", parts: undefined },
  { text: "a.*", parts: undefined },
  { text: "*.a*", parts: undefined },
])("the wildcard label of $text", ({ text, parts }) => {
  expect(splitWildcard(text)).toEqual(parts)
})

test.each([
  { label: "*", valid: true },
  { label: "foo*", valid: true },
  { label: "*foo", valid: true },
  { label: "f*o", valid: true },
  { label: "f-*", valid: false },
  { label: "*-o", valid: false },
  { label: "_*", valid: false },
  { label: "**", valid: false },
  { label: "xn--f*o", valid: false },
  { label: `${label63}*`, valid: false },
])("$label is a wildcard label: $valid", ({ label, valid }) => {
  expect(isWildcardLabel(label)).toBe(valid)
})

test("a host name is valid for the platform, and converting it twice changes nothing", () => {
  const labels = fc.string({
    unit: fc.oneof(fc.constantFrom(..."ab1-_.".split("")), fc.constantFrom("é", "ß", "中", "ا", "①", "İ", "。")),
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.array(labels, { minLength: 1, maxLength: 3 }), (parts) => {
      const name = toAsciiHostName(parts.join("."))
      if (name === undefined) return
      expect(toAsciiHostName(name)).toBe(name)
      expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/)
      // `domainToASCII` takes a name whose last label is numeric for an IPv4 address, so a letter label is appended.
      expect(domainToASCII(`${name}.x`)).toBe(`${name}.x`)
    }),
    { numRuns: 1_000 },
  )
})
