import { expect, test } from "vitest"
import { retentionFaults, type RetentionRule, setPolicy } from "./retention-policy.ts"

const older = (days: number): RetentionRule => ({ kind: "delete-older", days })
const keep: RetentionRule = { kind: "dont-delete" }

test.each([
  { before: undefined, rule: older(7), id: "drp-new", why: "no policy existed" },
  { before: older(3), rule: older(7), id: "drp-old", why: "the number of days changes" },
  { before: keep, rule: keep, id: "drp-old", why: "the rule is unchanged" },
  { before: older(3), rule: keep, id: "drp-new", why: "a rule of another kind replaces the policy" },
  { before: keep, rule: older(7), id: "drp-new", why: "a rule of another kind replaces the policy" },
])("setPolicy returns the id $id: $why", ({ before, rule, id }) => {
  expect(setPolicy(before && { id: "drp-old", rule: before }, rule, "drp-new")).toEqual({ id, rule })
})

test.each([
  { target: "workspace", rule: older(1) },
  { target: "organization", rule: keep },
  { target: "site", rule: older(30) },
] as const)("$rule.kind on a $target is accepted", ({ target, rule }) => {
  expect(retentionFaults(target, rule)).toEqual([])
})

test.each([
  { target: "workspace", rule: older(0), field: "deleteOlderThanNDays" },
  { target: "workspace", rule: older(-1), field: "deleteOlderThanNDays" },
  { target: "organization", rule: older(1.5), field: "deleteOlderThanNDays" },
  { target: "site", rule: older(2 ** 60), field: "deleteOlderThanNDays" },
  { target: "site", rule: keep, field: "type" },
] as const)("$rule on a $target is rejected at its $field", ({ target, rule, field }) => {
  expect(retentionFaults(target, rule)).toEqual([{ field: [field], detail: expect.any(String) }])
})
