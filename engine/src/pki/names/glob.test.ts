import { expect, test } from "vitest"
import * as fc from "fast-check"
import { anyGlob } from "./host-names.ts"

const globMatches = (pattern: string, text: string) => anyGlob([pattern])(text)

test.each([
  { pattern: "", text: "", matches: true, why: "nothing is nothing" },
  { pattern: "", text: "a", matches: false, why: "nothing is not something" },
  { pattern: "*", text: "", matches: true, why: "a run may be empty" },
  { pattern: "*", text: "a.b/c", matches: true, why: "a run goes over dots and slashes" },
  { pattern: "a", text: "ab", matches: false, why: "all of the text counts" },
  { pattern: "a*c", text: "abc", matches: true, why: "both ends are there" },
  { pattern: "a*a", text: "a", matches: false, why: "the ends do not share a letter" },
  { pattern: "*ab*ba*", text: "aba", matches: false, why: "nor do parts in the middle" },
  { pattern: "a*b*c", text: "axbxbxc", matches: true, why: "a part may come again" },
  { pattern: "*.example.com", text: "a.b.example.com", matches: true, why: "a run spans labels" },
  { pattern: "*.example.com", text: "example.com", matches: false, why: "the dot is part of the pattern" },
  { pattern: "a.c", text: "abc", matches: false, why: "a dot is a dot" },
  { pattern: "**", text: "a", matches: true, why: "two runs are one" },
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

test("a glob matches what trying every placement matches", () => {
  const patterns = fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), maxLength: 8 })
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 10 })
  fc.assert(
    fc.property(patterns, texts, (pattern, text) => {
      expect(globMatches(pattern, text)).toBe(naive(pattern, text))
    }),
    { numRuns: 2_000 },
  )
})

test("a pattern made to backtrack is done at once", () => {
  expect(globMatches("*a".repeat(500) + "b", "a".repeat(2_000))).toBe(false)
})

test("one of several is enough", () => {
  const isAllowed = anyGlob(["a", "b*"])
  expect(["a", "b", "bc", "ab", ""].map(isAllowed)).toEqual([true, true, true, false, false])
})
