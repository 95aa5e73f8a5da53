import { expect, test } from "vitest"
import { inclusionOfParts } from "./endpoint.ts"

const parts = inclusionOfParts("project", "current_run", "current_run.plan")

test.each([
  { text: "", expected: undefined },
  { text: "project", expected: ["project"] },
  { text: "current_run.plan,project", expected: ["current_run.plan", "project"] },
  { text: "current-run, current-run.plan", expected: ["current_run", "current_run.plan"] },
])("include '$text' asks for $expected", ({ text, expected }) => {
  expect(parts.parse(text)).toEqual(expected)
})

test("an unknown part is refused with the text that clients look for", () => {
  const { error } = parts.safeParse("project,nonsense")
  expect(error?.issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining("include parameter") as unknown }),
  ])
})
