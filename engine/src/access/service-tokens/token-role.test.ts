import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import {
  asRoleSaysNow,
  createServiceToken,
  type Maker,
  renewServiceToken,
  type ServiceTokenInput,
  serviceTokenTtlMs,
} from "./service-token.ts"
import { initialTokenRole, type TokenRole, tokenRoleFaults } from "./token-role.ts"

const now = 1_000
const token = { id: "at-0", expiresAt: null, service: true, boundCidrs: ["10.0.0.0/8"] }
const maker: Maker = { policies: ["maker"], everything: false, sudo: false, token }
const root: Maker = { policies: ["root"], everything: true, sudo: true, token: { ...token, boundCidrs: [] } }

const make = (role: Partial<TokenRole>, input: ServiceTokenInput = {}, by = maker) =>
  createServiceToken(input, by, {
    id: "at-1",
    path: "auth/token/create/web",
    now,
    orphan: false,
    by: { name: "web", role: { ...initialTokenRole, ...role } },
  })
/** Returns the token's policies, or the error texts. */
const policiesOf = (role: Partial<TokenRole>, input: ServiceTokenInput, by: Maker): readonly string[] => {
  try {
    return make(role, input, by).token.policies
  } catch (error) {
    if (!isEngineError(error)) throw error
    return error.faults.map(({ detail }) => detail)
  }
}

describe("policiesByRole:", () => {
  const rootRefused = ['policies contains "root", which only a caller with root can grant']
  test.each<{
    why: string
    role: Partial<TokenRole>
    requested?: readonly string[]
    input?: ServiceTokenInput
    by?: Maker
    policies: readonly string[]
  }>([
    {
      why: "allowed policies are granted by default, even if the creator does not hold them",
      role: { allowedPolicies: ["a", "b"] },
      policies: ["a", "b", "default"],
    },
    {
      why: "some of the allowed policies can be requested",
      role: { allowedPolicies: ["a", "b"] },
      requested: ["B"],
      policies: ["b", "default"],
    },
    {
      why: "other policies are rejected, even if the creator holds them",
      role: { allowedPolicies: ["a"] },
      requested: ["maker", "a"],
      policies: ['policies contains "maker", which the role does not allow'],
    },
    {
      why: "a policy that matches a glob can be requested",
      role: { allowedPoliciesGlob: ["team-*"] },
      requested: ["team-web"],
      policies: ["default", "team-web"],
    },
    { why: "a glob alone grants nothing by default", role: { allowedPoliciesGlob: ["team-*"] }, policies: ["default"] },
    {
      why: "a policy that matches no glob is rejected",
      role: { allowedPoliciesGlob: ["team-*"], allowedPolicies: ["a"] },
      requested: ["a", "team", "x-team-y"],
      policies: ["team", "x-team-y"].map((name) => `policies contains "${name}", which the role does not allow`),
    },
    {
      why: "policies that are not disallowed are granted",
      role: { disallowedPolicies: ["admin"] },
      requested: ["anything"],
      policies: ["anything", "default"],
    },
    {
      why: "disallowed policies are rejected",
      role: { disallowedPolicies: ["admin"], disallowedPoliciesGlob: ["*-admin"] },
      requested: ["admin", "db-admin", "a"],
      policies: ["admin", "db-admin"].map((name) => `policies contains "${name}", which the role disallows`),
    },
    {
      why: "disallowed policies take precedence over allowed ones",
      role: { allowedPoliciesGlob: ["*"], disallowedPolicies: ["a"] },
      requested: ["a"],
      policies: ['policies contains "a", which the role disallows'],
    },
    {
      why: "the creator's policies are granted by default when the role only disallows",
      role: { disallowedPolicies: ["admin"] },
      policies: ["default", "maker"],
    },
    {
      why: "the creator's policies are rejected when the role disallows them",
      role: { disallowedPoliciesGlob: ["mak*"] },
      policies: ['policies contains "maker", which the role disallows'],
    },
    {
      why: "default is not added when the request excludes it",
      role: { allowedPolicies: ["a"] },
      input: { noDefaultPolicy: true },
      policies: ["a"],
    },
    {
      why: "default is not added when the role excludes it",
      role: { allowedPolicies: ["a"], noDefaultPolicy: true },
      policies: ["a"],
    },
    {
      why: "default is not added when it is disallowed",
      role: { allowedPolicies: ["a"], disallowedPolicies: ["default"] },
      policies: ["a"],
    },
    {
      why: "default is not added when a glob disallows it",
      role: { disallowedPoliciesGlob: ["def*"] },
      requested: ["a"],
      policies: ["a"],
    },
    {
      why: "default is rejected when it is requested and disallowed",
      role: { disallowedPolicies: ["default"] },
      requested: ["default"],
      policies: ['policies contains "default", which the role disallows'],
    },
    {
      why: "default is rejected when it is excluded, requested and not allowed",
      role: { allowedPolicies: ["a"], noDefaultPolicy: true },
      requested: ["default"],
      policies: ['policies contains "default", which the role does not allow'],
    },
    {
      why: "root is rejected even when it is allowed",
      role: { allowedPolicies: ["root"] },
      requested: ["root"],
      policies: rootRefused,
    },
    {
      why: "root is rejected even when a glob allows it",
      role: { allowedPoliciesGlob: ["*"] },
      requested: ["root"],
      policies: rootRefused,
    },
    {
      why: "root is rejected even when it is the only allowed policy",
      role: { allowedPolicies: ["root"] },
      policies: rootRefused,
    },
    {
      why: "root is rejected when it is merely not disallowed",
      role: { disallowedPolicies: ["x"] },
      requested: ["root"],
      policies: rootRefused,
    },
    {
      why: "root is rejected for a creator with sudo",
      role: { allowedPoliciesGlob: ["*"] },
      requested: ["root"],
      by: { ...maker, sudo: true },
      policies: rootRefused,
    },
    {
      why: "root is granted by a creator that holds it when it is allowed",
      role: { allowedPolicies: ["root"] },
      by: root,
      policies: ["root"],
    },
    {
      why: "root is rejected for a creator that holds it when it is not allowed",
      role: { allowedPolicies: ["a"] },
      requested: ["root"],
      by: root,
      policies: ['policies contains "root", which the role does not allow'],
    },
    {
      why: "a role without policies leaves the request to the creator's policies",
      role: {},
      requested: ["other"],
      policies: ['policies contains "other", which the caller does not have'],
    },
    {
      why: "a role without policies grants the creator's policies",
      role: { noDefaultPolicy: true },
      policies: ["maker"],
    },
  ])("$why", ({ role, requested, input = {}, by = maker, policies }) => {
    expect(policiesOf(role, { ...input, ...(requested === undefined ? {} : { policies: requested }) }, by)).toEqual(
      policies,
    )
  })
})

describe("a token with a role", () => {
  test("is revoked with its creator's token, and has bound addresses only if the role sets them", () => {
    expect(make({ allowedPolicies: ["a"] })).toEqual({
      warnings: [],
      token: expect.objectContaining({
        parentId: "at-0",
        path: "auth/token/create/web",
        role: "web",
        boundCidrs: [],
        renewable: true,
        ttlMs: serviceTokenTtlMs,
        usesLeft: null,
      }),
    })
  })

  test("has the terms of the role", () => {
    const role = { orphan: true, renewable: false, pathSuffix: "v2", boundCidrs: ["192.0.2.1"], numUses: 3 }
    expect(make(role, { renewable: true }).token).toMatchObject({
      parentId: null,
      path: "auth/token/create/web/v2",
      boundCidrs: ["192.0.2.1"],
      renewable: false,
      usesLeft: 3,
    })
  })

  test("is not an orphan on request", () => {
    const { token: made, warnings } = make({}, { noParent: true })
    expect([made.parentId, warnings]).toEqual([
      "at-0",
      ['"no_parent" has no effect; the role sets whether its tokens are orphans'],
    ])
  })

  test.each<[requested: number, ofRole: number, uses: number | null]>([
    [0, 0, null],
    [2, 0, 2],
    [0, 3, 3],
    [2, 3, 2],
    [4, 3, 3],
  ])("with %i requested uses and %i uses of the role has %s", (numUses, ofRole, uses) => {
    expect(make({ numUses: ofRole }, { numUses }).token.usesLeft).toBe(uses)
  })

  const lesser = (what: string, seconds: number) =>
    `${what} specified both during creation call and in role; using the lesser value of ${seconds} seconds`
  test.each<{
    why: string
    role: Partial<TokenRole>
    input?: ServiceTokenInput
    by?: Maker
    ttlMs: number
    warnings?: readonly string[]
  }>([
    { why: "for the requested lifetime", role: {}, input: { ttlMs: hourMs }, ttlMs: hourMs },
    { why: "for the role's period, without sudo", role: { periodMs: hourMs }, ttlMs: hourMs },
    {
      why: "for the lesser of two periods",
      role: { periodMs: hourMs },
      input: { periodMs: 2 * hourMs },
      by: { ...maker, sudo: true },
      ttlMs: hourMs,
      warnings: [lesser("Period", 3_600)],
    },
    {
      why: "up to the role's maximum",
      role: { explicitMaxTtlMs: hourMs },
      input: { ttlMs: 2 * hourMs },
      ttlMs: hourMs,
      warnings: ['TTL of "7200s" exceeded the effective max_ttl of "3600s"; TTL value is capped accordingly'],
    },
    {
      why: "up to the lesser of two maxima",
      role: { explicitMaxTtlMs: hourMs },
      input: { ttlMs: minuteMs, explicitMaxTtlMs: 30 * minuteMs },
      ttlMs: minuteMs,
      warnings: [lesser("Explicit max TTL", 1_800)],
    },
  ])("lives $why", ({ role, input, by, ttlMs, warnings = [] }) => {
    const made = make(role, input, by)
    expect([made.token.ttlMs, made.warnings]).toEqual([ttlMs, warnings])
  })

  test("requires sudo for a requested period", () => {
    expect(() => make({ periodMs: hourMs }, { periodMs: minuteMs })).toThrow(/^period requires the sudo capability/)
  })
})

describe("renewal of a token with a role", () => {
  const role = { ...initialTokenRole, periodMs: hourMs, explicitMaxTtlMs: 24 * hourMs }
  const { token: made } = make(role)
  const renewed = (now_: TokenRole | undefined, later: number) =>
    renewServiceToken(asRoleSaysNow(made, now_), undefined, later).token.expiresAt

  test("applies the current role", () => {
    const later = now + minuteMs
    expect(renewed(role, later)).toBe(later + hourMs)
    expect(renewed({ ...role, periodMs: minuteMs }, later)).toBe(later + minuteMs)
    expect(renewed({ ...role, periodMs: 2 * hourMs }, later)).toBe(later + hourMs)
    // Without a period, the role's tokens renew like any other token.
    expect(renewed({ ...role, periodMs: null, explicitMaxTtlMs: 30 * minuteMs }, later)).toBe(now + 30 * minuteMs)
    expect(renewed({ ...role, explicitMaxTtlMs: null }, now + 23 * hourMs + 30 * minuteMs)).toBe(now + 24 * hourMs)
  })

  test("fails when the role does not exist", () => {
    expect(() => renewed(undefined, now)).toThrow('role "web" does not exist; its tokens cannot be renewed')
  })

  test("leaves a token without role unchanged", () => {
    const own = { ...made, role: null }
    expect(asRoleSaysNow(own, undefined)).toBe(own)
  })
})

test.each<{ name?: string; role: Partial<TokenRole>; details: readonly RegExp[] }>([
  { role: {}, details: [] },
  { name: "a.b-c_9", role: { pathSuffix: "v-1", allowedPoliciesGlob: ["*"] }, details: [] },
  { name: "", role: {}, details: [/^role_name must have 1 to 255/] },
  { name: "a/b", role: {}, details: [/^role_name must/] },
  { role: { pathSuffix: "-v1" }, details: [/^path_suffix must/] },
  { role: { pathSuffix: "a/b" }, details: [/^path_suffix must/] },
  {
    role: { allowedPolicies: [""], disallowedPoliciesGlob: Array<string>(1_001).fill("a") },
    details: [/^allowed_policies must contain names/, /^disallowed_policies_glob has too many/],
  },
  {
    role: { periodMs: 1, boundCidrs: ["x"], numUses: -1 },
    details: [/^token_period/, /^token_bound_cidrs/, /^token_num_uses/],
  },
])("the role $name $role has the faults $details", ({ name = "web", role, details }) => {
  const faults = tokenRoleFaults({ name, role: { ...initialTokenRole, ...role } })
  expect(faults.map(({ detail }) => detail)).toEqual(details.map((detail) => expect.stringMatching(detail)))
})
