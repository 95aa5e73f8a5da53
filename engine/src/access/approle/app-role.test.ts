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

test("a role that says nothing takes a secret id that has no end, and leaves the rest to the method", () => {
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

test("a change leaves what it does not say", () => {
  const role = createAppRole({ secretIdNumUses: 3, roleId: "own", terms: { ttlMs: hourMs, policies: ["web"] } }, made)
  expect(changeAppRole(role, { secretIdTtlMs: hourMs, terms: { numUses: 2 } })).toEqual({
    ...role,
    secretIdTtlMs: hourMs,
    terms: { ...role.terms, numUses: 2 },
  })
  expect(role.roleId).toBe("own")
})

describe("is refused", () => {
  test.each<{ input: AppRoleInput; refused: unknown; why: string }>([
    { input: { roleId: "" }, refused: ["roleId"], why: "no role id" },
    { input: { roleId: " a" }, refused: ["roleId"], why: "logins trim what they are shown" },
    { input: { roleId: "a\n" }, refused: ["roleId"], why: "a line break" },
    { input: { roleId: "a".repeat(256) }, refused: ["roleId"], why: "too long a role id" },
    { input: { secretIdBoundCidrs: ["10.0.0.0/33"] }, refused: ["secretIdBoundCidrs"], why: "no range" },
    { input: { secretIdBoundCidrs: ["host"] }, refused: ["secretIdBoundCidrs"], why: "a name" },
    {
      input: { secretIdBoundCidrs: Array.from({ length: 101 }, () => "10.0.0.1") },
      refused: ["secretIdBoundCidrs"],
      why: "too many ranges",
    },
    { input: { secretIdNumUses: -1 }, refused: ["secretIdNumUses"], why: "below 0" },
    { input: { secretIdNumUses: 0.5 }, refused: ["secretIdNumUses"], why: "half a use" },
    { input: { secretIdTtlMs: 1 }, refused: ["secretIdTtlMs"], why: "part of a second" },
    { input: { secretIdTtlMs: -secondMs }, refused: ["secretIdTtlMs"], why: "below 0" },
    { input: { terms: { policies: ["root"] } }, refused: ["policies"], why: "no login gives everything" },
    {
      input: { terms: { ttlMs: 2 * hourMs, maxTtlMs: hourMs }, secretIdNumUses: -1 },
      refused: ["secretIdNumUses", "ttlMs"],
      why: "both, told together",
    },
    {
      input: { bindSecretId: false },
      refused: "at least one constraint should be enabled on the role",
      why: "the role id alone would be enough, from anywhere",
    },
  ])("$input: $why", ({ input, refused }) => {
    expect(faultsOf(() => createAppRole(input, made))).toEqual(refused)
    expect(faultsOf(() => changeAppRole(createAppRole({}, made), input))).toEqual(refused)
  })

  test.each(["", "-web", "web.", "a b", "a/b", "ä", "x".repeat(256)])("the name %j", (name) => {
    expect(faultsOf(() => createAppRole({}, { ...made, name }))).toEqual(["name"])
  })

  test("a change of where secret ids are known", () => {
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
])("%j stands in for a secret id", (bounds) => {
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

describe.each(appRoleParts)("the part %s", (part) => {
  const bounded = createAppRole({ secretIdBoundCidrs: ["192.0.2.0/24"] }, made)
  const change = changes[part]

  test("is changed, told and reset by itself", () => {
    const changed = changeAppRolePart(bounded, part, { secretIdNumUses: 1, terms: { numUses: 1 }, ...change })
    expect(changed).toEqual(changeAppRole(bounded, change))
    expect(partOf(changed, part)).toEqual(change)
    const reset = resetAppRolePart(changed, part)
    expect(reset).toEqual(part === "secret-id-bound-cidrs" ? createAppRole({}, made) : bounded)
  })

  test("must be said by what changes it", () => {
    const others = appRoleParts.filter((other) => other !== part).map((other) => changes[other])
    const terms = Object.assign({}, ...others.map((other) => other.terms))
    const rest: AppRoleInput = { ...Object.assign({}, ...others), terms }
    expect(faultsOf(() => changeAppRolePart(bounded, part, rest))).toEqual([Object.keys(change.terms ?? change)[0]])
  })
})

test.each([
  { outer: [], inner: ["10.0.0.0/8"], covered: true, why: "the role says nothing" },
  { outer: ["10.0.0.0/8"], inner: [], covered: true, why: "no narrowing is asked for" },
  { outer: ["10.0.0.0/8"], inner: ["10.1.0.0/16", "10.2.3.4"], covered: true, why: "both lie in it" },
  { outer: ["10.0.0.0/8", "192.0.2.7"], inner: ["192.0.2.7/32"], covered: true, why: "one address, spelt as a range" },
  { outer: ["10.0.0.0/8"], inner: ["10.0.0.0/7"], covered: false, why: "wider" },
  { outer: ["10.0.0.0/8"], inner: ["10.1.0.0/16", "11.0.0.0/16"], covered: false, why: "one lies outside" },
  { outer: ["0.0.0.0/0"], inner: ["::1"], covered: false, why: "another family" },
])("$inner lies within $outer: $covered, because $why", ({ outer, inner, covered }) => {
  expect(boundsCover(outer, inner)).toBe(covered)
})

test("warns of what logins will not have", () => {
  const role = createAppRole({ terms: { maxTtlMs: 3 * hourMs, periodMs: hourMs, policies: ["gone", "web"] } }, made)
  const warnings = appRoleWarnings(role, { maximumMs: 2 * hourMs, policies: ["default", "web"] })
  expect(warnings).toEqual([expect.stringMatching(/^token_max_ttl .*7200 seconds/), expect.stringContaining('"gone"')])
  expect(appRoleWarnings(role, { maximumMs: 3 * hourMs, policies: ["gone", "web"] })).toEqual([])
})
