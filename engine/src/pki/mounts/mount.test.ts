import { describe, expect, test } from "vitest"
import { hourMs } from "../../core/time.ts"
import {
  initialMountConfig,
  initialMountTraits,
  leaseTtls,
  type Mount,
  type MountConfig,
  mountFaults,
  mountInTheWay,
  mountPathFaults,
  mountPathOf,
} from "./mount.ts"

const mountAt = (path: string): Mount => ({
  id: "mnt-1" as Mount["id"],
  path,
  type: "pki",
  description: "",
  config: initialMountConfig,
  traits: initialMountTraits,
  options: {},
  accessor: "pki_00000000",
  uuid: "",
  createdAt: 0,
})

describe("the path of a mount", () => {
  test.each(["pki", "team/web/pki", "pki-root", "PKI_2", "a.b/c~d@e:f=g", "system", "author/sys", "tune", "tune/pki"])(
    'may be "%s"',
    (path) => expect(mountPathFaults(path)).toEqual([]),
  )

  test.each([
    ["", "blank"],
    ["/", "slashes"],
    ["a//b", "slashes"],
    ["a/../b", "slashes"],
    [".", "slashes"],
    ["a b", "slashes"],
    ["a*", "slashes"],
    ["+/a", "slashes"],
    ["a%2fb", "slashes"],
    ["ключ", "slashes"],
    ["a?b", "slashes"],
    ["sys", "reserved"],
    ["sys/pki", "reserved"],
    ["auth/token", "reserved"],
    ["cubbyhole", "reserved"],
    ["identity/x", "reserved"],
    ["pki/tune", "reserved"],
    ["a".repeat(256), "too long"],
    ["a/".repeat(16) + "a", "too deep"],
  ])('must not be "%s"', (path, why) => {
    const [fault, ...others] = mountPathFaults(path)
    expect(others).toEqual([])
    expect(fault).toMatchObject({ field: ["path"], detail: expect.stringMatching(new RegExp(`^path .*${why}`)) })
  })

  test("is accepted with or without a slash at either end", () => {
    expect(["pki", "pki/", "/pki", "/team/pki/"].map(mountPathOf)).toEqual(["pki", "pki", "pki", "team/pki"])
  })

  test.each([
    ["pki", true],
    ["pki/web", true],
    ["team", true],
    ["team/pki", true],
    ["team/pki/web", true],
    ["pki2", false],
    ["team/web", false],
    ["teams", false],
  ])("%s is rejected with the mounts pki and team/pki: %s", (path, refused) => {
    expect(mountInTheWay(path, [mountAt("pki"), mountAt("team/pki")]) !== undefined).toBe(refused)
  })
})

describe("the tuning of a mount", () => {
  const faultsOf = (config: Partial<MountConfig>, description = "") =>
    mountFaults({ description, config: { ...initialMountConfig, ...config } })

  test("is empty by default, and both lifetimes are the system's 768 hours", () => {
    expect(faultsOf({})).toEqual([])
    expect(leaseTtls(initialMountConfig)).toEqual({ defaultMs: 768 * hourMs, maximumMs: 768 * hourMs })
  })

  test.each([
    [{ maxLeaseTtlMs: 24 * hourMs }, { defaultMs: 24 * hourMs, maximumMs: 24 * hourMs }],
    [{ maxLeaseTtlMs: 8_760 * hourMs }, { defaultMs: 768 * hourMs, maximumMs: 8_760 * hourMs }],
    [{ defaultLeaseTtlMs: hourMs }, { defaultMs: hourMs, maximumMs: 768 * hourMs }],
  ])("%j gives %j", (config, expected) => {
    expect(faultsOf(config)).toEqual([])
    expect(leaseTtls({ ...initialMountConfig, ...config })).toEqual(expected)
  })

  test.each<[Partial<MountConfig>, string]>([
    [{ defaultLeaseTtlMs: 769 * hourMs }, "defaultLeaseTtlMs"],
    [{ defaultLeaseTtlMs: 2 * hourMs, maxLeaseTtlMs: hourMs }, "defaultLeaseTtlMs"],
    [{ defaultLeaseTtlMs: 0 }, "defaultLeaseTtlMs"],
    [{ maxLeaseTtlMs: -hourMs }, "maxLeaseTtlMs"],
    [{ maxLeaseTtlMs: 1_500 }, "maxLeaseTtlMs"],
    [{ maxLeaseTtlMs: 1e15 }, "maxLeaseTtlMs"],
    [{ allowedResponseHeaders: ["Replay-Nonce", "no header"] }, "allowedResponseHeaders"],
    [{ passthroughRequestHeaders: [""] }, "passthroughRequestHeaders"],
    [{ auditNonHmacRequestKeys: ["a".repeat(257)] }, "auditNonHmacRequestKeys"],
    [{ auditNonHmacResponseKeys: Array.from({ length: 101 }, () => "key") }, "auditNonHmacResponseKeys"],
  ])("%j is rejected at %s", (config, field) => {
    expect(faultsOf(config).map((fault) => fault.field)).toContainEqual([field])
  })

  test("has a description of at most 1024 characters without control characters", () => {
    expect(faultsOf({}, "Leaves of the web team.")).toEqual([])
    expect(faultsOf({}, "x".repeat(1_025))).toMatchObject([{ field: ["description"] }])
    expect(faultsOf({}, "a\nb")).toMatchObject([{ field: ["description"] }])
  })
})
