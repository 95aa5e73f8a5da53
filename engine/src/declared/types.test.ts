import { describe, expect, expectTypeOf, test } from "vitest"
import { member, required, type SpecOf, typeFaults } from "./members.ts"
import * as types from "./types.ts"

const members = {
  name: required(types.filledText, "Name."),
  reason: member(types.textUpTo(3), "Reason."),
  mode: member(types.oneOf("remote", "local", "agent"), "Mode."),
  only: member(types.oneOf("one"), "Only one."),
  isLocked: member(types.flag, "Locked."),
  count: member(types.integer, "Count."),
  days: member(types.orNull(types.number), "Days."),
  patterns: member(types.texts(), "Patterns."),
  checks: member(types.choices("a", "b"), "Checks."),
  bindings: member(types.textMap, "Bindings."),
  labels: member(types.boundedTextMap(2, 3), "Labels."),
  repository: member(
    types.orNull(
      types.objectType(types.objectOf({ identifier: types.text.schema, branch: types.text.schema.optional() })),
    ),
    "Repository.",
  ),
  policies: member(types.listOf(types.textOr(types.objectOf({ oid: types.text.schema }))), "Policies."),
  ttl: member(types.duration, "Lifetime."),
  at: member(types.orNull(types.instant), "Time."),
}

const detailsOf = (spec: object, open: readonly string[] = []) =>
  typeFaults(members, { name: "api", ...spec }, new Set(open)).map(({ detail }) => detail)

describe("typeFaults", () => {
  test.each<{ spec: object; detail: string }>([
    { spec: { name: undefined }, detail: "name is required" },
    { spec: { name: 7 }, detail: "name must be a string" },
    { spec: { name: null }, detail: "name must be a string" },
    { spec: { name: "" }, detail: "name must not be empty" },
    { spec: { reason: "long" }, detail: "reason must have at most 3 characters" },
    { spec: { mode: "cloud" }, detail: 'mode must be "remote", "local" or "agent"' },
    { spec: { only: "two" }, detail: 'only must be "one"' },
    { spec: { isLocked: "true" }, detail: "isLocked must be a boolean" },
    { spec: { count: 1.5 }, detail: "count must be an integer" },
    { spec: { count: "1" }, detail: "count must be an integer" },
    { spec: { days: Number.NaN }, detail: "days must be a number" },
    { spec: { patterns: "a" }, detail: "patterns must be an array" },
    { spec: { patterns: ["a", ""] }, detail: "patterns.1 must not be empty" },
    { spec: { patterns: [undefined] }, detail: "patterns.0 is required" },
    { spec: { checks: [] }, detail: "checks must not be empty" },
    { spec: { checks: ["c"] }, detail: 'checks.0 must be "a" or "b"' },
    { spec: { bindings: ["a"] }, detail: "bindings must be an object of strings" },
    { spec: { bindings: { env: 1 } }, detail: "bindings.env must be a string" },
    { spec: { labels: "a" }, detail: "labels must be an object of strings" },
    { spec: { labels: { a: ["b"] } }, detail: "labels.a must be a string" },
    { spec: { repository: "a/b" }, detail: "repository must be an object" },
    { spec: { repository: {} }, detail: "repository.identifier is required" },
    { spec: { repository: { identifier: "a/b", Branch: "x" } }, detail: "Branch is not a known member; use branch" },
    { spec: { policies: [{ oid: 1 }] }, detail: "policies.0.oid must be a string" },
    { spec: { policies: [1] }, detail: "policies.0 must be a string or an object" },
    { spec: { ttl: "soon" }, detail: "ttl must be a duration such as 30m, 720h or 90d" },
    { spec: { at: "2030" }, detail: "at must be a time such as 2030-01-31T08:00:00Z" },
    { spec: { "is-locked": true }, detail: "is-locked is not a known member; use isLocked" },
  ])("rejects $spec: $detail", ({ spec, detail }) => expect(detailsOf(spec)).toEqual([detail]))

  test("ignores members of a prototype", () => {
    expect(typeFaults(members, Object.create({ name: "api" }) as Record<string, unknown>, new Set())).toHaveLength(1)
  })

  test("returns all faults with their fields", () => {
    const faults = typeFaults(members, { name: 1, repository: { identifier: 2 } }, new Set())
    expect(faults.map(({ field }) => field)).toEqual([["name"], ["repository", "identifier"]])
  })

  test("lists the known members for an unknown member", () => {
    expect(detailsOf({ colour: "red" })).toEqual([
      expect.stringMatching(/^colour is not a known member; known members: name, reason,/),
    ])
  })

  test("does not require members whose value is unknown", () => {
    expect(detailsOf({ name: undefined }, ["name"])).toEqual([])
  })

  test.each([
    { spec: {} },
    { spec: { days: null, repository: null, bindings: {}, patterns: [] } },
    { spec: { labels: { a: "the server bounds its length" } } },
    { spec: { count: 0, days: 0.5, isLocked: false, policies: ["1.2", { oid: "1.3" }] } },
  ])("accepts $spec", ({ spec }) => expect(detailsOf(spec)).toEqual([]))

  test("infers the type of the spec", () => {
    expectTypeOf<SpecOf<typeof members>>().toExtend<{
      name: string
      mode?: "remote" | "local" | "agent" | undefined
      days?: number | null | undefined
      policies?: (string | { oid: string })[] | undefined
    }>()
  })
})

describe("boundedTextMap", () => {
  test.each([
    { value: {}, isAccepted: true },
    { value: { a: "abc" }, isAccepted: true },
    { value: { a: "abcd" }, isAccepted: false },
    { value: { a: 1 }, isAccepted: false },
  ])("bounds $value in manifests: $isAccepted", ({ value, isAccepted }) => {
    expect(types.boundedTextMap(2, 3).manifest?.safeParse(value).success).toBe(isAccepted)
  })
})
