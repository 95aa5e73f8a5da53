import { expect, test } from "vitest"
import { isAtLeast, knownReleases, latestRelease, resolveEngineVersion } from "./terraform-version.ts"

const releases = knownReleases()

test.each([
  { text: "1.11.4", expected: "1.11.4", why: "an exact version is unchanged" },
  { text: "9.8.7", expected: "9.8.7", why: "an exact version newer than all releases is accepted" },
  { text: "1.14.0-rc1", expected: "1.14.0-rc1", why: "a pre-release is accepted" },
  { text: "latest", expected: latestRelease(releases), why: "latest is the newest release" },
  { text: "~> 1.5.0", expected: "1.5.7", why: "~> varies only the last part" },
  { text: "~> 1.5", expected: latestRelease(releases), why: "~> 1.5 includes every 1.x from 1.5" },
  { text: "~>0.15.0", expected: "0.15.5", why: "the space is optional" },
  { text: "~> 0", expected: latestRelease(releases), why: "~> with one part allows any version" },
  { text: ">= 1.2, < 2", expected: latestRelease(releases), why: "all terms must hold" },
  { text: ">= 1.2, < 1.4", expected: "1.3.10", why: "all terms must hold" },
  { text: "> 1.0.0, <= 1.0.3", expected: "1.0.3", why: "inclusive bounds include the version" },
  { text: "~> 1.5.0, != 1.5.7", expected: "1.5.6", why: "!= excludes one release" },
  { text: "= 1.6.2", expected: "1.6.2", why: "= requires one version" },
  { text: "1.6", expected: "1.6.0", why: "a short version is padded with zeros" },
  { text: "> 99", expected: undefined, why: "no release matches" },
  { text: "nonexisting", expected: undefined, why: "nonsense" },
  { text: "", expected: undefined, why: "blank" },
  { text: "1.2.3.4", expected: undefined, why: "four parts" },
  { text: ">= ", expected: undefined, why: "a term without a version" },
  { text: "^1.2", expected: undefined, why: "the syntax of another tool" },
  { text: ">= 1, ", expected: undefined, why: "a trailing comma" },
])('"$text" means $expected: $why', ({ text, expected }) => {
  expect(resolveEngineVersion(text, releases)).toBe(expected)
})

test("releases are sorted by number, with those of administrators, and without invalid entries", () => {
  const known = knownReleases(["1.99.0", "1.5.70", "soon"])
  expect(latestRelease(known)).toBe("1.99.0")
  expect(known.indexOf("1.5.70")).toBe(known.indexOf("1.5.7") + 1)
  expect(known).not.toContain("soon")
  expect(known.indexOf("1.9.0")).toBeLessThan(known.indexOf("1.10.0"))
})

test.each([
  { version: "0.15.4", expected: true },
  { version: "0.15.3", expected: false },
  { version: "0.15.10", expected: true },
  { version: "1.0.0-beta1", expected: true },
  { version: "0.9.9", expected: false },
])("$version is at least 0.15.4: $expected", ({ version, expected }) => {
  expect(isAtLeast(version, "0.15.4")).toBe(expected)
})
