import { expect, test } from "vitest"
import { createRole } from "../roles/role.ts"
import { allowedRsaExponentsProblem, rsaExponentProblem } from "./key-strength.ts"

test.each<{ exponents: readonly number[]; problem: RegExp }>([
  { exponents: [65_537], problem: /^none$/ },
  { exponents: [3, 17, 2_147_483_647], problem: /^none$/ },
  { exponents: [1], problem: /odd numbers from 3 to 2147483647; got 1$/ },
  { exponents: [65_537, 4], problem: /got 4$/ },
  { exponents: [2_147_483_649], problem: /got 2147483649$/ },
  { exponents: [3.5], problem: /got 3.5$/ },
  { exponents: Array.from({ length: 101 }, () => 3), problem: /not have more than 100 entries$/ },
])("[F-P9] allowed_rsa_exponents $exponents: $problem", ({ exponents, problem }) => {
  expect(allowedRsaExponentsProblem(exponents) ?? "none").toMatch(problem)
})

test.each<{ exponent: bigint | undefined; allowed: readonly number[]; isAllowed: boolean }>([
  { exponent: undefined, allowed: [65_537], isAllowed: true },
  { exponent: 65_537n, allowed: [65_537], isAllowed: true },
  { exponent: 3n, allowed: [65_537], isAllowed: false },
  { exponent: 3n, allowed: [65_537, 3], isAllowed: true },
  { exponent: 2n ** 32n + 1n, allowed: [65_537, 1], isAllowed: false },
])("[F-P9] of $allowed the exponent $exponent is allowed: $isAllowed", ({ exponent, allowed, isAllowed }) => {
  expect(rsaExponentProblem(exponent, allowed) === undefined).toBe(isAllowed)
})

test("[F-P9] a role allows only 65537 when its list is missing or empty", () => {
  expect(createRole({}).allowedRsaExponents).toEqual([65_537])
  expect(createRole({ allowedRsaExponents: [] }).allowedRsaExponents).toEqual([65_537])
  expect(() => createRole({ allowedRsaExponents: [2] })).toThrow(/allowed_rsa_exponents/)
})
