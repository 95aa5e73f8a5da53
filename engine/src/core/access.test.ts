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
    { path: "a/b", winner: "a/b", others: ["a/*", "*", "+/b", "a/+"], why: "an exact path before any pattern" },
    { path: "a/b/", winner: "a/b", others: ["a/b/*", "a/*"], why: "of a listed path too" },
    { path: "a/b/", winner: "a/b/", others: ["a/b"], why: "the exact path with its slash before the one without" },
    { path: "a/b/c", winner: "a/b/*", others: ["a/*", "*", "a/b*"], why: "the longest prefix" },
    { path: "a/b/c", winner: "a/b/*", others: ["a/+/c", "+/b/c"], why: "the one whose first wildcard comes latest" },
    { path: "a/b/c", winner: "a/b/+", others: ["a/b/*"], why: "the one without * at the same place" },
    { path: "a/b/c", winner: "a/+/c", others: ["a/+/*", "a/+/+"], why: "then the one with fewer +" },
    { path: "a/b/cd", winner: "a/+/cd*", others: ["a/+/c*", "a/+/*"], why: "then the longer one" },
  ])("$winner wins on $path: $why", ({ path, winner, others }) => {
    const granted = { [winner]: ["sudo"], ...Object.fromEntries(others.map((other) => [other, ["read"]])) } as Granted
    expect(on(path, granted)).toEqual(["sudo"])
    const reversed = Object.fromEntries(Object.entries(granted).toReversed())
    expect(on(path, reversed)).toEqual(["sudo"])
  })
})

describe("several policies", () => {
  test("unite on the same path", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read"] }, { "pki/roles/*": ["update"] })).toEqual(["read", "update"])
  })

  test("do not unite across paths: only the most specific one counts", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read", "delete"] }, { "pki/roles/web": ["update"] })).toEqual([
      "update",
    ])
  })

  test("leave nothing of a path that one of them denies", () => {
    expect(on("pki/roles/web", { "pki/roles/*": ["read"] }, { "pki/roles/*": ["deny", "sudo"] })).toEqual(["deny"])
  })

  test("are everything if root is among them", () => {
    const acl = compileAccess([
      { name: "root", rules: [] },
      { name: "none", rules: rulesOf({ "*": ["deny"] }) },
    ])
    expect(acl).toEqual({ kind: "everything", policies: ["none", "root"] })
    expect(capabilitiesOn({ acl }, "sys/mounts")).toEqual(new Set(capabilities.filter((one) => one !== "deny")))
  })

  test("are named once each, in order", () => {
    const rules: readonly PathRule[] = []
    expect(compileAccess(["b", "a", "b"].map((name) => ({ name, rules }))).policies).toEqual(["a", "b"])
  })
})

describe("a demand", () => {
  const caller = holding({
    "pki/issue/*": ["update"],
    "pki/roles/*": ["create", "list"],
    "pki/root": ["delete"],
    "pki2/root": ["delete", "sudo"],
    "pki/config/*": ["sudo"],
  })
  test.each<PathDemand & { allowed: boolean; why: string }>([
    { mount: "pki", path: "issue/web", capability: "update", allowed: true, why: "it is granted" },
    { path: "pki/issue/web", capability: "update", allowed: true, why: "a whole path is the same" },
    { mount: "pki", path: "issue/web", capability: "create", allowed: false, why: "another capability is granted" },
    { mount: "pki", path: "roles/web", capability: ["create", "update"], allowed: true, why: "one of two is enough" },
    { mount: "pki", path: "roles/web", capability: ["patch", "update"], allowed: false, why: "neither is granted" },
    { mount: "pki", path: "roles", capability: "list", allowed: true, why: "what is listed ends in a slash" },
    { mount: "pki", path: "roles/", capability: "list", allowed: true, why: "with or without saying so" },
    { mount: "pki", path: "roles", capability: "create", allowed: false, why: "what is not listed does not" },
    { mount: "pki", path: "root", capability: "delete", sudo: true, allowed: false, why: "sudo is not granted" },
    { mount: "pki2", path: "root", capability: "delete", sudo: true, allowed: true, why: "sudo is granted besides" },
    {
      mount: "pki",
      path: "config/urls",
      capability: "read",
      sudo: true,
      allowed: false,
      why: "sudo alone is not enough",
    },
    { mount: "other", path: "issue/web", capability: "update", allowed: false, why: "it is on another mount" },
  ])("for $capability on $mount/$path is allowed: $allowed, because $why", ({ allowed, why: _why, ...demand }) => {
    expect(refusalOf(() => authorizePath(caller, demand))).toEqual(allowed ? undefined : "forbidden: permission denied")
  })

  test("is always met for whoever may do everything, and never for whoever may do nothing", () => {
    const demand: PathDemand = { mount: "pki", path: "root/sign-self-issued", capability: "update", sudo: true }
    expect(() => authorizePath({ acl: fullAccess }, demand)).not.toThrow()
    expect(() => authorizePath({ acl: noAccess }, demand)).toThrow("permission denied")
  })
})

describe("a mount is reached", () => {
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

  test("by whoever may do everything, and by nobody else without rules", () => {
    expect(reachesBelow({ acl: fullAccess }, "pki")).toBe(true)
    expect(reachesBelow({ acl: noAccess }, "pki")).toBe(false)
  })
})

describe("whatever the rules", () => {
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
  const matching = (all: readonly (readonly PathRule[])[], asked: string) =>
    all.flat().filter((one) => {
      const open = one.path.endsWith("*")
      const body = (open ? one.path.slice(0, -1) : one.path).split("/").map((part) => (part === "+" ? "[^/]*" : part))
      return new RegExp(`^${body.join("/")}${open ? ".*" : ""}$`).test(asked)
    })

  test("exactly one path's rules count, and all of that path's", () => {
    fc.assert(
      fc.property(policies, path, (all, asked) => {
        const found = capabilitiesOn(compiled(all), asked)
        const candidates = matching(all, asked)
        const united = [...new Set(candidates.map((one) => one.path))].map((winner) => {
          const granted = candidates.filter((one) => one.path === winner).flatMap((one) => one.capabilities)
          return new Set(granted.includes("deny") ? ["deny"] : granted)
        })
        expect(united.length === 0 ? [new Set()] : united).toContainEqual(found)
      }),
      { numRuns: 2_000 },
    )
  })

  test("an exact path beats every pattern", () => {
    fc.assert(
      fc.property(policies, path, (all, asked) => {
        const exact: PathRule = { path: asked, capabilities: ["sudo"] }
        const others = all.map((rules) => rules.filter((one) => one.path !== asked))
        expect(capabilitiesOn(compiled([...others, [exact]]), asked)).toEqual(new Set(["sudo"]))
      }),
    )
  })

  test("a longer prefix of the path beats a shorter one", () => {
    fc.assert(
      fc.property(path, fc.nat(), fc.nat(), (asked, one, other) => {
        const [short, long] = [one % asked.length, other % asked.length].toSorted((a, b) => a - b)
        fc.pre(short !== long)
        const rules: readonly PathRule[] = [
          { path: `${asked.slice(0, short)}*`, capabilities: ["read"] },
          { path: `${asked.slice(0, long)}*`, capabilities: ["update"] },
        ]
        expect(capabilitiesOn(compiled([rules]), asked)).toEqual(new Set(["update"]))
      }),
    )
  })

  test("deny on the winning path leaves nothing beside it", () => {
    fc.assert(
      fc.property(policies, path, (all, asked) => {
        const found = capabilitiesOn(compiled(all), asked)
        expect(found.size === 1 || !found.has("deny")).toBe(true)
      }),
    )
  })

  test("neither the order of policies nor that of rules matters", () => {
    fc.assert(
      fc.property(policies, path, (all, asked) => {
        const reversed = all.map((rules) => rules.toReversed()).toReversed()
        expect(capabilitiesOn(compiled(reversed), asked)).toEqual(capabilitiesOn(compiled(all), asked))
      }),
    )
  })
})
