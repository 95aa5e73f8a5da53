import { describe, expect, test } from "vitest"
import { findChecksum } from "./checksums.ts"

const [a, b] = ["a".repeat(64), "B".repeat(64)]

describe("the checksum of a file", () => {
  test.each([
    { text: `${a}  x.zip\n${b}  y.zip\n`, expected: "b".repeat(64) },
    { text: `${b} *y.zip\r\n`, expected: "b".repeat(64) },
    { text: `${b}  y.zip\n${b}  y.zip`, expected: "b".repeat(64) },
    { text: `${b}  not-y.zip\n`, expected: undefined },
    { text: "", expected: undefined },
  ])("is $expected when the file is $text", ({ text, expected }) => {
    expect(findChecksum(text, "y.zip")).toBe(expected)
  })

  test.each([
    { text: `${a}  y.zip\n<html>\n`, problem: "line 2 is not a SHA-256 checksum" },
    { text: `${a.slice(1)}  y.zip`, problem: "line 1 is not a SHA-256 checksum" },
    { text: `${a}  y.zip\n${b}  y.zip`, problem: "y.zip is listed with different checksums" },
  ])("is rejected when the file is $text", ({ text, problem }) => {
    expect(() => findChecksum(text, "y.zip")).toThrow(problem)
  })
})
