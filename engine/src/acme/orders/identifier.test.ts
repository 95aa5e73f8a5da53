import { describe, expect, test } from "vitest"
import { distinctIdentifiers, provedBy, readIdentifier } from "./identifier.ts"
import { AcmeProblem, type ProblemType } from "../problem.ts"

describe("readIdentifier", () => {
  test.each([
    ["dns", "example.com", "example.com"],
    ["dns", "WWW.Example.COM", "www.example.com"],
    ["dns", "*.example.com", "*.example.com"],
    ["dns", "localhost", "localhost"],
    ["dns", "1.2.3.x4", "1.2.3.x4"],
    ["dns", "0x7f.example", "0x7f.example"],
    ["dns", "2130706433.a1", "2130706433.a1"],
    ["dns", "a", "a"],
    ["dns", "0xyz", "0xyz"],
    ["dns", "127.xn--p1ai", "127.xn--p1ai"],
    ["ip", "::192.0.2.1", "::c000:201"],
    ["ip", "64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
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
    ...[
      "2130706433",
      "127.1",
      "127.0.1",
      "0x7f.1",
      "0x7f000001",
      "0x7F000001",
      "0x",
      "017700000001",
      "0177.0.0.1",
      "1.2.3.0x4",
      "example.0x7f",
      "example.123",
      "example.1-2",
      "*.2130706433",
      "*.127.1",
      "*.0x7f",
    ].map((name): readonly [string, unknown, ProblemType] => ["dns", name, "rejectedIdentifier"]),
    ...["::ffff:192.0.2.1", "::ffff:c000:201", "::FFFF:192.0.2.1", "0:0:0:0:0:ffff:192.0.2.1"].map(
      (address): readonly [string, unknown, ProblemType] => ["ip", address, "rejectedIdentifier"],
    ),
    ["dns", "::ffff:192.0.2.1", "rejectedIdentifier"],
    ["ip", "127.1", "malformed"],
    ["ip", "2130706433", "malformed"],
    ["ip", "0x7f.0.0.1", "malformed"],
    ["ip", "010.0.0.1", "malformed"],
    ["ip", "example.com", "malformed"],
    ["ip", "192.0.2.0/24", "malformed"],
  ]
  test.each(refused)("[F-A10] rejects %s %j", (type, value, problem) => {
    expect(() => readIdentifier(type, value)).toThrow(
      expect.toSatisfy((error) => error instanceof AcmeProblem && error.problem.type === problem),
    )
  })

  test("distinctIdentifiers sorts identifiers and removes duplicates", () => {
    const [a, b] = [readIdentifier("dns", "b.example"), readIdentifier("dns", "A.example")]
    expect(distinctIdentifiers([a, b, a])).toEqual([b, a])
  })

  test("provedBy returns the base name of a wildcard", () => {
    expect(provedBy({ type: "dns", value: "*.example.com" })).toEqual({
      type: "dns",
      value: "example.com",
      wildcard: true,
    })
    expect(provedBy({ type: "ip", value: "::1" })).toEqual({ type: "ip", value: "::1", wildcard: false })
  })
})
