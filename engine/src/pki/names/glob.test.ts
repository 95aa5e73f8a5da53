import { expect, test } from "vitest"
import * as fc from "fast-check"
import { anyGlob } from "./host-names.ts"

const globMatches = (pattern: string, text: string) => anyGlob([pattern])(text)

test.each([
  { pattern: "", text: "", matches: true, why: "an empty pattern matches an empty text" },
  { pattern: "", text: "a", matches: false, why: "an empty pattern matches no other text" },
  { pattern: "*", text: "", matches: true, why: '"*" matches an empty run' },
  { pattern: "*", text: "a.b/c", matches: true, why: '"*" spans dots and slashes' },
  { pattern: "a", text: "ab", matches: false, why: "the whole text must match" },
  { pattern: "a*c", text: "abc", matches: true, why: "both ends match" },
  { pattern: "a*a", text: "a", matches: false, why: "the ends must not overlap" },
  { pattern: "*ab*ba*", text: "aba", matches: false, why: "parts in the middle must not overlap" },
  { pattern: "a*b*c", text: "axbxbxc", matches: true, why: "a part may occur again" },
  { pattern: "*.example.com", text: "a.b.example.com", matches: true, why: '"*" spans labels' },
  { pattern: "*.example.com", text: "example.com", matches: false, why: "the dot is part of the pattern" },
  { pattern: "a.c", text: "abc", matches: false, why: "a dot matches only a dot" },
  { pattern: "**", text: "a", matches: true, why: '"**" equals "*"' },
])('"$pattern" matches "$text": $matches ($why)', ({ pattern, text, matches }) => {
  expect(globMatches(pattern, text)).toBe(matches)
})

/** Reference implementation that tries every length of every wildcard match. */
function naive(pattern: string, text: string): boolean {
  if (pattern === "") return text === ""
  if (pattern.startsWith("*"))
    return Array.from({ length: text.length + 1 }, (_, at) => text.slice(at)).some((rest) =>
      naive(pattern.slice(1), rest),
    )
  return text !== "" && pattern[0] === text[0] && naive(pattern.slice(1), text.slice(1))
}

test("a glob matches the same texts as a search of all placements", () => {
  const patterns = fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), maxLength: 8 })
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 10 })
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(globMatches(pattern, text)).toBe(naive(pattern, text))
    }),
    { numRuns: 2_000 },
  )
})

test("a pattern that would backtrack takes linear time", () => {
  expect(globMatches("*a".repeat(500) + "b", "a".repeat(2_000))).toBe(false)
})

test("one matching pattern of several is enough", () => {
  const isAllowed = anyGlob(["a", "b*"])
  expect(["a", "b", "bc", "ab", ""].map(isAllowed)).toEqual([true, true, true, false, false])
})
