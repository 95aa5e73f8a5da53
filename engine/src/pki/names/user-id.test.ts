import { expect, test } from "vitest"
import { anyUserId } from "./user-id.ts"

test.each([
  { userId: "humans-alice", allowed: ["humans-alice"], expected: true, why: "the same text" },
  { userId: "Humans-Alice", allowed: ["humans-ALICE"], expected: true, why: "another letter case" },
  { userId: "humans-alice", allowed: ["robots", "HUMANS-*"], expected: true, why: "a glob in another letter case" },
  { userId: "robot", allowed: ["humans-*"], expected: false, why: "a different text" },
  { userId: "anyone", allowed: ["*"], expected: true, why: "a glob for all" },
  { userId: "anyone", allowed: [], expected: false, why: "an empty list allows no user id" },
])("$userId is one of $allowed: $expected ($why)", ({ userId, allowed, expected }) => {
  expect(anyUserId(allowed)(userId)).toBe(expected)
})
