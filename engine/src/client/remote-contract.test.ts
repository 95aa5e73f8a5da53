import { expect, expectTypeOf, test } from "vitest"
import type { PathOf } from "../contracts/path.ts"
import type { ArgumentsOf } from "../contracts/tfe/endpoint.ts"
import type { teams } from "../contracts/tfe/team.ts"
import type { TeamInput, TeamPatch } from "../organizations/team.ts"
import { filled } from "./remote-contract.ts"

test("a path contains its encoded values, and only a parameter of several segments keeps slashes", () => {
  expect(filled("/teams/:team_id/relationships/:name", ["a/b", "ö"])).toBe("/teams/a%2Fb/relationships/%C3%B6")
  expect(filled("/sys/mounts/*path/tune", ["team/p k"])).toBe("/sys/mounts/team/p%20k/tune")
  expect(() => filled("/teams/:team_id", [".."])).toThrow("does not exist")
})

test("an endpoint takes its path parameters and its body", () => {
  expectTypeOf<PathOf<"/a/:b/c/*d">>().toEqualTypeOf<[string, string]>()
  expectTypeOf<PathOf<"/a/b">>().toEqualTypeOf<[]>()
  expectTypeOf<ArgumentsOf<typeof teams.get>[0]>().toEqualTypeOf<string>()
  expectTypeOf<ArgumentsOf<typeof teams.create>[1]>().toExtend<TeamInput>()
  expectTypeOf<TeamInput>().toExtend<ArgumentsOf<typeof teams.create>[1]>()
  expectTypeOf<ArgumentsOf<typeof teams.update>[1]>().toExtend<TeamPatch>()
  expectTypeOf<object>().not.toExtend<ArgumentsOf<typeof teams.create>[1]>()
})
