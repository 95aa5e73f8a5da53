import { expect, test } from "vitest"
import { toMailbox } from "./email.ts"

test.each([
  { text: "user@example.com", expected: "user@example.com", why: "an address" },
  { text: "First.Last+tag@Example.com", expected: "First.Last+tag@Example.com", why: "case is kept" },
  { text: "user@bücher.example", expected: "user@xn--bcher-kva.example", why: "the domain becomes A-labels" },
  { text: "user@localhost", expected: "user@localhost", why: "one label is a domain" },
  { text: "jürgen@example.com", expected: undefined, why: "a local part outside ASCII has a name type of its own" },
  { text: '"a b"@example.com', expected: undefined, why: "a quoted local part" },
  { text: ".user@example.com", expected: undefined, why: "a dot at the beginning" },
  { text: "a..b@example.com", expected: undefined, why: "two dots" },
  { text: "@example.com", expected: undefined, why: "no local part" },
  { text: "user@", expected: undefined, why: "no domain" },
  { text: "user", expected: undefined, why: "no @" },
  { text: "a@b@example.com", expected: undefined, why: "two @" },
  { text: "user@[192.0.2.1]", expected: undefined, why: "an address literal" },
  { text: "user@exa_mple.com", expected: undefined, why: "the domain is a host name" },
  { text: `${"a".repeat(65)}@example.com`, expected: undefined, why: "a local part of 65 octets" },
  { text: "user@example.com\n", expected: undefined, why: "a line break" },
])('"$text" is the mailbox $expected: $why', ({ text, expected }) => {
  expect(toMailbox(text)).toBe(expected)
})
