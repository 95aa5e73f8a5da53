import { expect, test } from "vitest"
import { z } from "zod"
import { toManySchema } from "./relationship.ts"

const schema = toManySchema(z.object({ id: z.string() }))
const issuesOf = (data: unknown) =>
  schema.safeParse({ data }).error?.issues.map(({ code, path }) => [code, path.join("/")]) ?? []

test("a list of related resources above the maximum is one fault, whatever its elements are", () => {
  expect(issuesOf(Array.from({ length: 200_000 }, () => 5))).toEqual([["too_big", "data"]])
})

test("each element of a list of related resources has its own faults", () => {
  expect(issuesOf([{ id: "team-1" }, {}, { id: 5 }])).toEqual([
    ["invalid_type", "data/1/id"],
    ["invalid_type", "data/2/id"],
  ])
  expect(schema.parse({ data: [{ id: "team-1" }] })).toEqual({ data: [{ id: "team-1" }] })
})
