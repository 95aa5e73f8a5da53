import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  authorizePath,
  capabilities,
  capabilitiesOn,
  compileAccess,
  fullAccess,
  noAccess,
  reachesBelow,
  type Capability,
  type PathDemand,
  type PathRule,
} from "./access.ts"
import { isEngineError } from "./errors.ts"

type Granted = Readonly<Record<string, readonly Capability[]>>

const rulesOf = (granted: Granted): readonly PathRule[] =>
  Object.entries(granted).map(([path, capabilities]) => ({ path, capabilities }))
const holding = (...policies: readonly Granted[]) => ({
  acl: compileAccess(policies.map((granted, index) => ({ name: `p${index}`, rules: rulesOf(granted) }))),
})
const on = (path: string, ...policies: readonly Granted[]) => [...capabilitiesOn(holding(...policies), path)].toSorted()

const refusalOf = (work: () => void): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return isEngineError(error) ? `${error.code}: ${error.message}` : String(error)
  }
}

describe("a path rule", () => {
  test.each<{ rule: string; path: string; matched: boolean }>([
    { rule: "pki/issue/web", path: "pki/issue/web", matched: true },
    { rule: "pki/issue/web", path: "pki/issue/web2", matched: false },
    { rule: "pki/issue/web", path: "pki/issue", matched: false },
    { rule: "pki/roles", path: "pki/roles/", matched: true },
    { rule: "pki/roles/", path: "pki/roles", matched: false },
    { rule: "pki/issue/*", path: "pki/issue/web", matched: true },
    { rule: "pki/issue/*", path: "pki/issue/a/b", matched: true },
    { rule: "pki/issue/*", path: "pki/issue/", matched: true },
    { rule: "pki/issue/*", path: "pki/issue", matched: false },
    { rule: "pki/issue/we*", path: "pki/issue/web", matched: true },
    { rule: "pki/issue/we*", path: "pki/issue/wide", matched: false },
    { rule: "*", path: "sys/mounts", matched: true },
    { rule: "+/issue/web", path: "pki/issue/web", matched: true },
    { rule: "+/issue/web", path: "pki/int/issue/web", matched: false },
    { rule: "pki/issuer/+/issue/web", path: "pki/issuer/default/issue/web", matched: true },
    { rule: "pki/issuer/+/issue/+", path: "pki/issuer/default/issue/web", matched: true },
    { rule: "pki/issuer/+/issue/+", path: "pki/issuer/default/sign/web", matched: false },
    { rule: "pki/issuer/+", path: "pki/issuer/default/json", matched: false },
    { rule: "pki/+/we*", path: "pki/issue/web/more", matched: true },
    { rule: "pki/+/we*", path: "pki/issue", matched: false },
    { rule: "pki/a+b", path: "pki/acb", matched: false },
    { rule: "pki/a+b", path: "pki/a+b", matched: true },
  ])("$rule matches $path: $matched", ({ rule, path, matched }) => {
    expect(on(path, { [rule]: ["read"] })).toEqual(matched ? ["read"] : [])
  })

  // The granted capabilities show which rule won.
  test.each<{ path: string; winner: string; others: readonly string[]; why: string }>([
    { path: "a/b", winner: "a/b", others: ["a/*", "*", "+/b", "a/+"], why: "an exact path precedes any pattern" },
    { path: "a/b/", winner: "a/b", others: ["a/b/*", "a/*"], why: "an exact path precedes any pattern for lists" },
    { path: "a/b/", winner: "a/b/", others: ["a/b"], why: "the exact path with its slash precedes the one without" },
    { path: "a/b/c", winner: "a/b/*", others: ["a/*", "*", "a/b*"], why: "the longest prefix precedes others" },
    { path: "a/b/c", winner: "a/b/*", others: ["a/+/c", "+/b/c"], why: "the latest first wildcard precedes others" },
    { path: "a/b/c", winner: "a/b/+", others: ["a/b/*"], why: "a rule without * precedes one with it" },
    { path: "a/b/c", winner: "a/+/c", others: ["a/+/*", "a/+/+"], why: "fewer + precede more" },
    { path: "a/b/cd", winner: "a/+/cd*", others: ["a/+/c*", "a/+/*"], why: "the longer path precedes the shorter" },
  ])("$winner takes precedence on $path: $why", ({ path, winner, others }) => {
    const granted = { [winner]: ["sudo"], ...Object.fromEntries(others.map((other) => [other, ["read"]])) } as Granted
    expect(on(path, granted)).toEqual(["sudo"])
    const reversed = Object.fromEntries(Object.entries(granted).toReversed())
    expect(on(path, reversed)).toEqual(["sudo"])
  })
})

describe("several policies", () => {
  test("merge on the same path", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read"] }, { "pki/roles/*": ["update"] })).toEqual(["read", "update"])
  })

  test("do not merge across paths: only the most specific one applies", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read", "delete"] }, { "pki/roles/web": ["update"] })).toEqual([
      "update",
    ])
  })

  test("grant nothing on a path that one of them denies", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read"] }, { "pki/roles/*": ["deny", "sudo"] })).toEqual(["deny"])
  })

  test("grant everything when root is among them", () => {
    const acl = compileAccess([
      { name: "root", rules: [] },
      { name: "none", rules: rulesOf({ "*": ["deny"] }) },
    ])
    expect(acl).toEqual({ kind: "everything", policies: ["none", "root"] })
    expect(capabilitiesOn({ acl }, "sys/mounts")).toEqual(new Set(capabilities.filter((one) => one !== "deny")))
  })

  test("are listed once each, in order", () => {
    const rules: readonly PathRule[] = []
    expect(compileAccess(["b", "a", "b"].map((name) => ({ name, rules }))).policies).toEqual(["a", "b"])
  })
})

describe("authorizePath", () => {
  const caller = holding({
    "pki/issue/*": ["update"],
    "pki/roles/*": ["create", "list"],
    "pki/root": ["delete"],
    "pki2/root": ["delete", "sudo"],
    "pki/config/*": ["sudo"],
  })
  test.each<PathDemand & { allowed: boolean; why: string }>([
    { mount: "pki", path: "issue/web", capability: "update", allowed: true, why: "it is granted" },
    { path: "pki/issue/web", capability: "update", allowed: true, why: "a whole path is equivalent" },
    { mount: "pki", path: "issue/web", capability: "create", allowed: false, why: "another capability is granted" },
    {
      mount: "pki",
      path: "roles/web",
      capability: ["create", "update"],
      allowed: true,
      why: "one of two is sufficient",
    },
    { mount: "pki", path: "roles/web", capability: ["patch", "update"], allowed: false, why: "neither is granted" },
    { mount: "pki", path: "roles", capability: "list", allowed: true, why: "a listed path ends in a slash" },
    { mount: "pki", path: "roles/", capability: "list", allowed: true, why: "the slash may be absent for a list" },
    { mount: "pki", path: "roles", capability: "create", allowed: false, why: "other paths do not end in a slash" },
    { mount: "pki", path: "root", capability: "delete", sudo: true, allowed: false, why: "sudo is not granted" },
    { mount: "pki2", path: "root", capability: "delete", sudo: true, allowed: true, why: "sudo is granted too" },
    {
      mount: "pki",
      path: "config/urls",
      capability: "read",
      sudo: true,
      allowed: false,
      why: "sudo alone is not sufficient",
    },
    { mount: "other", path: "issue/web", capability: "update", allowed: false, why: "it is on another mount" },
  ])("of $capability on $mount/$path: $allowed, because $why", ({ allowed, why: _why, ...demand }) => {
    expect(refusalOf(() => authorizePath(caller, demand))).toEqual(allowed ? undefined : "forbidden: permission denied")
  })

  test("allows everything to callers with full access, and nothing to callers without rules", () => {
    const demand: PathDemand = { mount: "pki", path: "root/sign-self-issued", capability: "update", sudo: true }
    expect(() => authorizePath({ acl: fullAccess }, demand)).not.toThrow()
    expect(() => authorizePath({ acl: noAccess }, demand)).toThrow("permission denied")
  })
})

describe("a mount is visible", () => {
  test.each<[rule: string, reached: boolean]>([
    ["team/pki/issue/web", true],
    ["team/pki/", true],
    ["team/pki", false],
    ["team/pki2/issue/web", false],
    ["team/pki/*", true],
    ["team/*", true],
    ["team/p*", true],
    ["team/x*", false],
    ["*", true],
    ["+/pki/issue/+", true],
    ["+/+/issue/*", true],
    ["team/+", false],
    ["+/web/issue/+", false],
    ["team/pki/+", true],
    ["team/pki/issue/web/*", true],
  ])("through a rule for %s: %s", (rule, reached) => {
    expect(reachesBelow(holding({ [rule]: ["read"] }), "team/pki")).toBe(reached)
    expect(reachesBelow(holding({ [rule]: ["deny"] }), "team/pki")).toBe(false)
  })

  test("to callers with full access, and not to callers without rules", () => {
    expect(reachesBelow({ acl: fullAccess }, "pki")).toBe(true)
    expect(reachesBelow({ acl: noAccess }, "pki")).toBe(false)
  })
})

describe("for any rules", () => {
  const segment = fc.constantFrom("a", "ab", "b", "+", "")
  const path = fc.array(fc.constantFrom("a", "ab", "b", "c"), { minLength: 1, maxLength: 4 }).map((it) => it.join("/"))
  const rule = fc.record({
    path: fc
      .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([segments, open]) => (open && segments.at(-1) !== "+" ? `${segments.join("/")}*` : segments.join("/"))),
    capabilities: fc.uniqueArray(fc.constantFrom(...capabilities), { minLength: 1 }),
  })
  const policies = fc.array(fc.array(rule, { maxLength: 6 }), { minLength: 1, maxLength: 3 })
  const compiled = (all: readonly (readonly PathRule[])[]) => ({
    acl: compileAccess(all.map((rules, index) => ({ name: `p${index}`, rules }))),
  })

  /** Reference implementation: one regular expression per rule. */
  const matching = (all: readonly (readonly PathRule[])[], requested: string) =>
    all.flat().filter((one) => {
      const open = one.path.endsWith("*")
      const body = (open ? one.path.slice(0, -1) : one.path).split("/").map((part) => (part === "+" ? "[^/]*" : part))
      return new RegExp(`^${body.join("/")}${open ? ".*" : ""}$`).test(requested)
    })

  test("only the rules of one path apply, and all of them", () => {
    fc.assert(
      fc.property(policies, path, (all, requested) => {
        const found = capabilitiesOn(compiled(all), requested)
        const candidates = matching(all, requested)
        const united = [...new Set(candidates.map((one) => one.path))].map((winner) => {
          const granted = candidates.filter((one) => one.path === winner).flatMap((one) => one.capabilities)
          return new Set(granted.includes("deny") ? ["deny"] : granted)
        })
        expect(united.length === 0 ? [new Set()] : united).toContainEqual(found)
      }),
      { numRuns: 2_000 },
    )
  })

  test("an exact path precedes every pattern", () => {
    fc.assert(
      fc.property(policies, path, (all, requested) => {
        const exact: PathRule = { path: requested, capabilities: ["sudo"] }
        const others = all.map((rules) => rules.filter((one) => one.path !== requested))
        expect(capabilitiesOn(compiled([...others, [exact]]), requested)).toEqual(new Set(["sudo"]))
      }),
    )
  })

  test("a longer prefix of the path precedes a shorter one", () => {
    fc.assert(
      fc.property(path, fc.nat(), fc.nat(), (requested, one, other) => {
        const [short, long] = [one % requested.length, other % requested.length].toSorted((a, b) => a - b)
        fc.pre(short !== long)
        const rules: readonly PathRule[] = [
          { path: `${requested.slice(0, short)}*`, capabilities: ["read"] },
          { path: `${requested.slice(0, long)}*`, capabilities: ["update"] },
        ]
        expect(capabilitiesOn(compiled([rules]), requested)).toEqual(new Set(["update"]))
      }),
    )
  })

  test("deny on the matching path removes all capabilities", () => {
    fc.assert(
      fc.property(policies, path, (all, requested) => {
        const found = capabilitiesOn(compiled(all), requested)
        expect(found.size === 1 || !found.has("deny")).toBe(true)
      }),
    )
  })

  test("the order of policies and rules is irrelevant", () => {
    fc.assert(
      fc.property(policies, path, (all, requested) => {
        const reversed = all.map((rules) => rules.toReversed()).toReversed()
        expect(capabilitiesOn(compiled(reversed), requested)).toEqual(capabilitiesOn(compiled(all), requested))
      }),
    )
  })
})
