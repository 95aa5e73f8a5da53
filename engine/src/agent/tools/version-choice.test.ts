import { expect, test } from "vitest"
import { assertVersionText, chooseVersion, sortVersions } from "./version-choice.ts"

/** In no order, with a pre-release newer than all releases, and with what is no version. */
const versions = [
  "1.10.5",
  "1.2.0",
  "1.12.0-rc1",
  "1.11.4",
  "1.9.8",
  "2.0.0",
  "1.11.0",
  "1.11.3",
  "index",
  "1.8",
  "1.5.7+ent",
]

// Operators of https://developer.hashicorp.com/terraform/language/expressions/version-constraints
test.each([
  { text: "1.11.3", expected: "1.11.3" },
  { text: "= 1.11.3", expected: "1.11.3" },
  { text: "1.11.9", expected: undefined },
  { text: "~> 1.11.0", expected: "1.11.4" },
  { text: "~> 1.9", expected: "1.11.4" },
  { text: ">= 1.2.0, < 2.0.0", expected: "1.11.4" },
  { text: ">= 1.2.0, != 2.0.0, != 1.11.4", expected: "1.11.3" },
  { text: "> 1.2.0, <= 1.9.8", expected: "1.9.8" },
  { text: "> 1.11", expected: "2.0.0" },
  { text: "~> 1.12.0", expected: undefined },
  { text: ">= 3", expected: undefined },
  { text: "1.12.0-rc1", expected: "1.12.0-rc1" },
  { text: "1.12.0-rc2", expected: undefined },
  { text: "latest", expected: "2.0.0" },
])('"$text" chooses $expected', ({ text, expected }) => {
  expect(chooseVersion(text, versions)).toBe(expected)
})

test("latest chooses nothing when there are no releases", () => {
  expect(chooseVersion("latest", [])).toBeUndefined()
})

test("versions are sorted by number, without duplicates and other texts", () => {
  expect(sortVersions(["1.10.0", "1.9.0", "x", "1.10.0-rc1", "1.9.0"])).toEqual(["1.9.0", "1.10.0-rc1", "1.10.0"])
})

test.each(["", "newest", "^1.2", "1.2.3.4", "../1.2.3"])("the version %j is rejected", (text) => {
  expect(() => assertVersionText(text)).toThrow(`terraform-version ${JSON.stringify(text)} is invalid; use a version`)
})
