import { describe, expect, test } from "vitest"
import { EngineError } from "../../core/errors.ts"
import {
  assertDeletable,
  createTerraformVersion,
  type TerraformVersionInput,
  updateTerraformVersion,
  versionOrder,
} from "./terraform-version.ts"

const sha = "84ccfb8e13b5fce63051294f787885b76a1fedef6bdbecf51c5e586c9e20c9b7"
const amd64 = { url: "https://example.com/amd64.zip", sha, os: "linux", arch: "amd64" }
const arm64 = { url: "https://example.com/arm64.zip", sha, os: "linux", arch: "arm64" }
const valid = { version: "1.5.7", url: amd64.url, sha }
const create = (input: TerraformVersionInput) => createTerraformVersion(input, { id: "tool-1", now: 1 })

/** Returns the members that the error names. */
function refusedMembers(act: () => unknown): readonly string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof EngineError && error.code === "invalid")
      return error.faults.map(({ field }) => (field ?? []).join("."))
    throw error
  }
  return []
}

describe("[F-W15] a Terraform version", () => {
  test.each(["0.11.8", "1.0.9223372036854775807", "1.1.2-custom", "1.10.0-rc.1", "1.5.7-beta20230531+ent"])(
    "accepts the version %s",
    (version) => {
      expect(create({ ...valid, version }).version).toBe(version)
    },
  )

  test.each([
    "",
    " 1.5.7",
    "1.5",
    "v1.5.7",
    "latest",
    "~> 1.5",
    "01.5.7",
    "1.5.7-",
    "1.5.7\n",
    "1.5.7-ä",
    `1.5.${"9".repeat(128)}`,
  ])("rejects the version %j", (version) => {
    expect(refusedMembers(() => create({ ...valid, version }))).toEqual(["version"])
  })

  test.each<{ readonly input: Partial<TerraformVersionInput>; readonly members: readonly string[] }>([
    { input: { url: "releases.example.com/x.zip" }, members: ["url"] },
    { input: { url: `https://example.com/${"x".repeat(2_048)}` }, members: ["url"] },
    { input: { url: "" }, members: ["url"] },
    { input: { url: null, sha: null }, members: ["url", "sha"] },
    { input: { sha: "z".repeat(64) }, members: ["sha"] },
    { input: { sha: "a".repeat(39) }, members: ["sha"] },
    { input: { archs: [arm64] }, members: ["url", "sha"] },
    { input: { archs: [{ ...amd64, sha: "ab".repeat(32) }, arm64] }, members: ["sha"] },
    { input: { archs: [amd64, amd64] }, members: ["archs.1.arch"] },
    { input: { archs: [amd64, arm64, amd64] }, members: ["archs"] },
    {
      input: { archs: [amd64, { url: "", sha: "", os: "plan9", arch: "mips" }] },
      members: ["url", "sha", "os", "arch"].map((name) => `archs.1.${name}`),
    },
    { input: { deprecatedReason: "old" }, members: ["deprecatedReason"] },
    { input: { deprecated: true, deprecatedReason: "x".repeat(1_001) }, members: ["deprecatedReason"] },
  ])("is rejected with faults for $members when it is created with $input", ({ input, members }) => {
    expect(refusedMembers(() => create({ ...valid, ...input }))).toEqual(members)
  })

  test.each<{ readonly patch: Partial<TerraformVersionInput>; readonly expected: object }>([
    { patch: {}, expected: { archs: [amd64, arm64], deprecatedReason: "old" } },
    {
      patch: { url: "https://example.com/new.zip" },
      expected: { archs: [{ ...amd64, url: "https://example.com/new.zip" }] },
    },
    { patch: { archs: [], sha: "ab".repeat(32) }, expected: { archs: [{ ...amd64, sha: "ab".repeat(32) }] } },
    { patch: { url: "", sha: "", archs: [arm64] }, expected: { archs: [arm64] } },
    { patch: { deprecatedReason: " " }, expected: { deprecated: true, deprecatedReason: null } },
    { patch: { deprecated: false }, expected: { deprecated: false, deprecatedReason: null } },
    {
      patch: { version: "1.5.8", official: true, enabled: false, beta: true },
      expected: { version: "1.5.8", official: true, enabled: false, beta: true },
    },
  ])("is updated with $patch", ({ patch, expected }) => {
    const before = create({ version: "1.5.7", archs: [amd64, arm64], deprecated: true, deprecatedReason: "old" })
    expect(updateTerraformVersion(before, patch)).toEqual({ ...before, ...expected })
  })

  test.each<{ readonly patch: Partial<TerraformVersionInput>; readonly members: readonly string[] }>([
    { patch: { archs: [] }, members: ["archs"] },
    { patch: { url: amd64.url }, members: ["sha"] },
    { patch: { sha: null }, members: ["url", "sha"] },
  ])("is not updated with $patch when it has no binary for amd64", ({ patch, members }) => {
    const before = create({ version: "1.5.7", archs: [arm64] })
    expect(refusedMembers(() => updateTerraformVersion(before, patch))).toEqual(members)
  })

  test("can be deleted unless it is official or in use", () => {
    const version = create(valid)
    expect(() => assertDeletable(version, 0)).not.toThrow()
    expect(() => assertDeletable(version, 1)).toThrow("is used by 1 workspace and")
    expect(() => assertDeletable({ ...version, official: true }, 0)).toThrow("is official")
  })

  test("is sorted by its numbers, with pre-releases before the release", () => {
    const sorted = ["0.9.10", "0.15.5", "1.2.3-alpha", "1.2.3-rc1", "1.2.3", "1.2.3+ent", "1.2.10", "1.10.0"]
    expect(sorted.toReversed().toSorted((one, other) => (versionOrder(one) < versionOrder(other) ? -1 : 1))).toEqual(
      sorted,
    )
  })
})
