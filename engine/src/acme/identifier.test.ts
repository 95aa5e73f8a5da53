import { describe, expect, test } from "vitest"
import { distinctIdentifiers, provedBy, readIdentifier } from "./identifier.ts"
import { AcmeProblem, type ProblemType } from "./problem.ts"

describe("what an order may name", () => {
  test.each([
    ["dns", "example.com", "example.com"],
    ["dns", "WWW.Example.COM", "www.example.com"],
    ["dns", "*.example.com", "*.example.com"],
    ["dns", "localhost", "localhost"],
    ["dns", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["ip", "192.0.2.1", "192.0.2.1"],
    ["ip", "2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ])("%s %j is %j", (type, value, read) => {
    expect(readIdentifier(type, value)).toEqual({ type, value: read })
  })

  const refused: readonly (readonly [string, unknown, ProblemType])[] = [
    ["email", "a@example.com", "unsupportedIdentifier"],
    ["dns", "", "malformed"],
    ["dns", 7, "malformed"],
    ["dns", "a".repeat(256), "malformed"],
    ["dns", "bücher.example", "rejectedIdentifier"],
    ["dns", "xn--zz.example", "rejectedIdentifier"],
    ["dns", "192.0.2.1", "rejectedIdentifier"],
    ["dns", "::1", "rejectedIdentifier"],
    ["dns", "example.com.", "rejectedIdentifier"],
    ["dns", "*", "rejectedIdentifier"],
    ["dns", "*.*.example.com", "rejectedIdentifier"],
    ["dns", "www.*.example.com", "rejectedIdentifier"],
    ["dns", "w*.example.com", "rejectedIdentifier"],
    ["dns", "a b.example.com", "rejectedIdentifier"],
    ["dns", "_acme-challenge.example.com", "rejectedIdentifier"],
    ["dns", "-a.example.com", "rejectedIdentifier"],
    ["dns", "a..example.com", "rejectedIdentifier"],
    ["ip", "example.com", "malformed"],
    ["ip", "192.0.2.0/24", "malformed"],
  ]
  test.each(refused)("%s %j is refused", (type, value, problem) => {
    expect(() => readIdentifier(type, value)).toThrow(
      expect.toSatisfy((error) => error instanceof AcmeProblem && error.problem.type === problem),
    )
  })

  test("names come once, in an order of their own", () => {
    const [a, b] = [readIdentifier("dns", "b.example"), readIdentifier("dns", "A.example")]
    expect(distinctIdentifiers([a, b, a])).toEqual([b, a])
  })

  test("a wildcard is proved by its base", () => {
    expect(provedBy({ type: "dns", value: "*.example.com" })).toEqual({
      type: "dns",
      value: "example.com",
      wildcard: true,
    })
    expect(provedBy({ type: "ip", value: "::1" })).toEqual({ type: "ip", value: "::1", wildcard: false })
  })
})
