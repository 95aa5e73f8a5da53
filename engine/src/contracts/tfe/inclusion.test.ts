import { expect, test } from "vitest"
import { inclusionOfParts } from "./endpoint.ts"

const parts = inclusionOfParts("project", "current_run", "current_run.plan")

test.each([
  { text: "", expected: undefined },
  { text: "project", expected: ["project"] },
  { text: "current_run.plan,project", expected: ["current_run.plan", "project"] },
  { text: "current-run, current-run.plan", expected: ["current_run", "current_run.plan"] },
])("include '$text' decodes to $expected", ({ text, expected }) => {
  expect(parts.parse(text)).toEqual(expected)
})

test("include with an unknown part is rejected with the text that clients match", () => {
  const { error } = parts.safeParse("project,nonsense")
  expect(error?.issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining("include parameter") as unknown }),
  ])
})
