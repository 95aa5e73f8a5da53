import { describe, expect, test } from "vitest"
import { maxOwner, ownerOf, ownerProblem } from "./owner.ts"

describe("the name of an owner", () => {
  test.each(["a", "pulumi:site/prod", "kubernetes:acme/default/api", "a b", "~!", "x".repeat(maxOwner)])(
    "%j is accepted",
    (owner) => {
      expect(ownerProblem(owner)).toBeUndefined()
      expect(ownerOf({ owner })).toBe(owner)
    },
  )

  test.each([
    { owner: "", problem: "can't be blank" },
    { owner: " ", problem: "can't be blank" },
    { owner: "\t", problem: "can't be blank" },
    { owner: "x".repeat(maxOwner + 1), problem: "is too long (maximum is 128 characters)" },
    { owner: " a", problem: "can't begin or end with a space" },
    { owner: "a ", problem: "can't begin or end with a space" },
    { owner: "a\nb", problem: "can only include printable ASCII characters" },
    { owner: "a\tb", problem: "can only include printable ASCII characters" },
    { owner: "a\u0000", problem: "can only include printable ASCII characters" },
    { owner: "a\u007f", problem: "can only include printable ASCII characters" },
    { owner: "é", problem: "can only include printable ASCII characters" },
    { owner: "🦀", problem: "can only include printable ASCII characters" },
    { owner: "\u00a0a", problem: "can only include printable ASCII characters" },
  ])("$owner $problem", ({ owner, problem }) => {
    expect(ownerProblem(owner)).toBe(problem)
    expect(() => ownerOf({ owner })).toThrow(`owner ${problem}`)
  })

  test("may be absent", () => {
    expect(ownerOf({})).toBeUndefined()
  })
})
