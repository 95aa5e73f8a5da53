import { expect, test } from "vitest"
import { decodeInclude } from "./include.ts"

const known = ["project", "current_run", "current_run.plan"] as const

test.each([
  { text: "", expected: [] },
  { text: "project", expected: ["project"] },
  { text: "current_run.plan,project", expected: ["current_run.plan", "project"] },
  { text: "current-run, current-run.plan", expected: ["current_run", "current_run.plan"] },
])("include '$text' asks for $expected", ({ text, expected }) => {
  expect([...decodeInclude(new URLSearchParams({ include: text }), known)]).toEqual(expected)
})

test("an unknown part is refused with the text that clients look for", () => {
  const faults = [
    expect.objectContaining({ parameter: "include", detail: expect.stringContaining("include parameter") }),
  ]
  expect(() => decodeInclude(new URLSearchParams({ include: "project,nonsense" }), known)).toThrow(
    expect.objectContaining({ code: "bad-request", faults }),
  )
})
