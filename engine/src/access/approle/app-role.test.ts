import { describe, expect, test } from "vitest"
import { hourMs, secondMs } from "../../core/time.ts"
import {
  type AppRoleInput,
  type AppRolePart,
  appRoleParts,
  appRoleWarnings,
  boundsCover,
  changeAppRole,
  changeAppRolePart,
  createAppRole,
  partOf,
  resetAppRolePart,
} from "./app-role.ts"
import { initialTokenTerms } from "../logins/token-terms.ts"

const made = { name: "web", roleId: "drawn" }
const faultsOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    const { code, faults, message } = error as { code: string; faults: { field: unknown[] }[]; message: string }
    return code === "invalid" ? faults.map(({ field }) => field[0]) : message
  }
  return "nothing"
}

test("a new role requires a secret id that does not expire, and leaves lifetimes to the method", () => {
  expect(createAppRole({}, made)).toEqual({
    ...made,
    bindSecretId: true,
    secretIdBoundCidrs: [],
    secretIdNumUses: 0,
    secretIdTtlMs: 0,
    localSecretIds: false,
    terms: initialTokenTerms,
  })
})

test("a change keeps members that it does not name", () => {
  const role = createAppRole({ secretIdNumUses: 3, roleId: "own", terms: { ttlMs: hourMs, policies: ["web"] } }, made)
  expect(changeAppRole(role, { secretIdTtlMs: hourMs, terms: { numUses: 2 } })).toEqual({
    ...role,
    secretIdTtlMs: hourMs,
    terms: { ...role.terms, numUses: 2 },
  })
  expect(role.roleId).toBe("own")
})

describe("an invalid role is rejected:", () => {
  test.each<{ input: AppRoleInput; refused: unknown; why: string }>([
    { input: { roleId: "" }, refused: ["roleId"], why: "an empty role id" },
    { input: { roleId: " a" }, refused: ["roleId"], why: "whitespace around the role id" },
    { input: { roleId: "a\n" }, refused: ["roleId"], why: "a line break in the role id" },
    { input: { roleId: "a".repeat(256) }, refused: ["roleId"], why: "a role id that is too long" },
    {
      input: { secretIdBoundCidrs: ["10.0.0.0/33"] },
      refused: ["secretIdBoundCidrs"],
      why: "a text that is not a range",
    },
    { input: { secretIdBoundCidrs: ["host"] }, refused: ["secretIdBoundCidrs"], why: "a host name" },
    {
      input: { secretIdBoundCidrs: Array.from({ length: 101 }, () => "10.0.0.1") },
      refused: ["secretIdBoundCidrs"],
      why: "too many ranges",
    },
    { input: { secretIdNumUses: -1 }, refused: ["secretIdNumUses"], why: "a negative number" },
    { input: { secretIdNumUses: 0.5 }, refused: ["secretIdNumUses"], why: "a fraction of a use" },
    { input: { secretIdTtlMs: 1 }, refused: ["secretIdTtlMs"], why: "a fraction of a second" },
    { input: { secretIdTtlMs: -secondMs }, refused: ["secretIdTtlMs"], why: "a negative number" },
    { input: { terms: { policies: ["root"] } }, refused: ["policies"], why: "the policy root" },
    {
      input: { terms: { ttlMs: 2 * hourMs, maxTtlMs: hourMs }, secretIdNumUses: -1 },
      refused: ["secretIdNumUses", "ttlMs"],
      why: "faults of several members, reported together",
    },
    {
      input: { bindSecretId: false },
      refused: "at least one constraint should be enabled on the role",
      why: "no constraint on the role id",
    },
  ])("$input: $why", ({ input, refused }) => {
    expect(faultsOf(() => createAppRole(input, made))).toEqual(refused)
    expect(faultsOf(() => changeAppRole(createAppRole({}, made), input))).toEqual(refused)
  })

  test.each(["", "-web", "web.", "a b", "a/b", "ä", "x".repeat(256)])("the name %j", (name) => {
    expect(faultsOf(() => createAppRole({}, { ...made, name }))).toEqual(["name"])
  })

  test("a change of the constraints of secret ids", () => {
    const role = createAppRole({ localSecretIds: true }, made)
    expect(changeAppRole(role, { localSecretIds: true })).toEqual(role)
    expect(faultsOf(() => changeAppRole(role, { localSecretIds: false }))).toBe(
      "local_secret_ids can only be modified during role creation",
    )
  })
})

test.each<AppRoleInput>([
  { secretIdBoundCidrs: ["10.0.0.0/8"] },
  { secretIdBoundCidrs: ["2001:db8::7"] },
  { terms: { boundCidrs: ["192.0.2.7"] } },
])("%j replaces a secret id as constraint", (bounds) => {
  expect(createAppRole({ bindSecretId: false, ...bounds }, made)).toMatchObject({ bindSecretId: false })
})

const changes: Readonly<Record<AppRolePart, AppRoleInput>> = {
  policies: { terms: { policies: ["web"] } },
  "secret-id-num-uses": { secretIdNumUses: 7 },
  "secret-id-ttl": { secretIdTtlMs: hourMs },
  "token-ttl": { terms: { ttlMs: hourMs } },
  "token-max-ttl": { terms: { maxTtlMs: 2 * hourMs } },
  "token-num-uses": { terms: { numUses: 9 } },
  "bind-secret-id": { bindSecretId: false },
  "secret-id-bound-cidrs": { secretIdBoundCidrs: ["10.0.0.0/8"] },
  "token-bound-cidrs": { terms: { boundCidrs: ["10.0.0.0/8"] } },
  period: { terms: { periodMs: hourMs } },
}

describe.each(appRoleParts)("the role part %s", (part) => {
  const bounded = createAppRole({ secretIdBoundCidrs: ["192.0.2.0/24"] }, made)
  const change = changes[part]

  test("is changed, returned and reset separately", () => {
    const changed = changeAppRolePart(bounded, part, { secretIdNumUses: 1, terms: { numUses: 1 }, ...change })
    expect(changed).toEqual(changeAppRole(bounded, change))
    expect(partOf(changed, part)).toEqual(change)
    const reset = resetAppRolePart(changed, part)
    expect(reset).toEqual(part === "secret-id-bound-cidrs" ? createAppRole({}, made) : bounded)
  })

  test("is required in a change of this part", () => {
    const others = appRoleParts.filter((other) => other !== part).map((other) => changes[other])
    const terms = Object.assign({}, ...others.map((other) => other.terms))
    const rest: AppRoleInput = { ...Object.assign({}, ...others), terms }
    expect(faultsOf(() => changeAppRolePart(bounded, part, rest))).toEqual([Object.keys(change.terms ?? change)[0]])
  })
})

test.each([
  { outer: [], inner: ["10.0.0.0/8"], covered: true, why: "the role has no bounds" },
  { outer: ["10.0.0.0/8"], inner: [], covered: true, why: "the request has no bounds" },
  { outer: ["10.0.0.0/8"], inner: ["10.1.0.0/16", "10.2.3.4"], covered: true, why: "both ranges are inside" },
  {
    outer: ["10.0.0.0/8", "192.0.2.7"],
    inner: ["192.0.2.7/32"],
    covered: true,
    why: "one address, written as a range",
  },
  { outer: ["10.0.0.0/8"], inner: ["10.0.0.0/7"], covered: false, why: "wider" },
  { outer: ["10.0.0.0/8"], inner: ["10.1.0.0/16", "11.0.0.0/16"], covered: false, why: "one range is outside" },
  { outer: ["0.0.0.0/0"], inner: ["::1"], covered: false, why: "another address family" },
])("boundsCover of $outer and $inner is $covered: $why", ({ outer, inner, covered }) => {
  expect(boundsCover(outer, inner)).toBe(covered)
})

test("warns about lifetimes and policies that logins do not get", () => {
  const role = createAppRole({ terms: { maxTtlMs: 3 * hourMs, periodMs: hourMs, policies: ["gone", "web"] } }, made)
  const warnings = appRoleWarnings(role, { maximumMs: 2 * hourMs, policies: ["default", "web"] })
  expect(warnings).toEqual([expect.stringMatching(/^token_max_ttl .*7200 seconds/), expect.stringContaining('"gone"')])
  expect(appRoleWarnings(role, { maximumMs: 3 * hourMs, policies: ["gone", "web"] })).toEqual([])
})
