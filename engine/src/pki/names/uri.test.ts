import { expect, test } from "vitest"
import { isUri } from "./uri.ts"

test.each([
  { text: "spiffe://example.org/service", valid: true, why: "scheme, authority and path" },
  { text: "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", valid: true, why: "no authority" },
  { text: "https://[2001:db8::1]:8443/a?b=c#d", valid: true, why: "all components" },
  { text: "https://example.org/%C3%A9", valid: true, why: "percent-encoded" },
  { text: "https://example.org/é", valid: false, why: "not ASCII" },
  { text: "https://example.org/%zz", valid: false, why: "a percent sign that encodes nothing" },
  { text: "https://example.org/a b", valid: false, why: "a space" },
  { text: "https:// example.org", valid: false, why: "a space" },
  { text: "//example.org/a", valid: false, why: "no scheme" },
  { text: "example.org", valid: false, why: "no scheme" },
  { text: "https:", valid: false, why: "only a scheme" },
  { text: "https://[::1", valid: false, why: "a bracket that is not closed" },
  { text: "", valid: false, why: "an empty string" },
  { text: `https://example.org/${"a".repeat(2_100)}`, valid: false, why: "too long" },
])('"$text" is a URI: $valid ($why)', ({ text, valid }) => {
  expect(isUri(text)).toBe(valid)
})
