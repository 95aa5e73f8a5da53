import { expect, test } from "vitest"
import { anyUserId } from "./user-id.ts"

test.each([
  { userId: "humans-alice", allowed: ["humans-alice"], expected: true, why: "itself" },
  { userId: "Humans-Alice", allowed: ["humans-ALICE"], expected: true, why: "in any case" },
  { userId: "humans-alice", allowed: ["robots", "HUMANS-*"], expected: true, why: "a glob, in any case" },
  { userId: "robot", allowed: ["humans-*"], expected: false, why: "another" },
  { userId: "anyone", allowed: ["*"], expected: true, why: "everybody" },
  { userId: "anyone", allowed: [], expected: false, why: "nothing said allows nobody" },
])("$userId is one of $allowed: $expected ($why)", ({ userId, allowed, expected }) => {
  expect(anyUserId(allowed)(userId)).toBe(expected)
})
