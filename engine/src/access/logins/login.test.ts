import { describe, expect, test } from "vitest"
import { hourMs, minuteMs } from "../../core/time.ts"
import { renewServiceToken } from "../service-tokens/service-token.ts"
import { type AuthMethodConfig, type AuthMethodId, initialAuthMethodConfig } from "./auth-method.ts"
import { loginToken } from "./login.ts"
import { initialTokenTerms, type TokenTerms } from "./token-terms.ts"

const now = 1_000
const who = { now, id: "at-1", displayName: "", meta: { role_name: "web" } }
const methodWith = (config: Partial<AuthMethodConfig> = {}) => ({
  id: "auth-1" as AuthMethodId,
  path: "team/approle",
  config: { ...initialAuthMethodConfig, ...config },
})
const loginWith = (terms: Partial<TokenTerms> = {}, config: Partial<AuthMethodConfig> = {}) =>
  loginToken({ ...initialTokenTerms, ...terms }, methodWith(config), who)

test("a login with a default role creates an orphan with the lifetime of the method and the default policy", () => {
  expect(loginWith()).toEqual({
    warnings: [],
    token: {
      id: "at-1",
      displayName: "team-approle",
      policies: ["default"],
      meta: { role_name: "web" },
      parentId: null,
      path: "auth/team/approle/login",
      createdAt: now,
      expiresAt: now + 768 * hourMs,
      ttlMs: 768 * hourMs,
      explicitMaxTtlMs: null,
      periodMs: null,
      maxTtlMs: 768 * hourMs,
      renewable: true,
      lastRenewedAt: null,
      usesLeft: null,
      boundCidrs: [],
      role: null,
      authMethodId: "auth-1",
    },
  })
})

test("a token has the terms of its role", () => {
  const terms = { policies: ["web", "api", "web"], noDefaultPolicy: true, numUses: 3, boundCidrs: ["10.0.0.0/8"] }
  expect(loginWith(terms).token).toMatchObject({ policies: ["api", "web"], usesLeft: 3, boundCidrs: ["10.0.0.0/8"] })
  expect(loginToken(initialTokenTerms, methodWith(), { ...who, displayName: "ns-sa" }).token.displayName).toBe(
    "team-approle-ns-sa",
  )
})

test("no login grants root, even with a role from an older release", () => {
  expect(loginWith({ policies: ["root", "web"] }).token.policies).toEqual(["default", "web"])
})

describe("the lifetime of a login token", () => {
  const capped = (what: string, requested: number, maximum: number) => [
    `${what} of "${requested}s" exceeded the effective max_ttl of "${maximum}s"; ${what === "TTL" ? "TTL" : what} value is capped accordingly`,
  ]
  test.each<{
    why: string
    terms?: Partial<TokenTerms>
    config?: Partial<AuthMethodConfig>
    ttlMs: number
    /** Remaining lifetime after a renewal without an increment, at the age of half an hour. */
    renewedMs: number
    warnings?: readonly string[]
  }>([
    { why: "is the role's", terms: { ttlMs: hourMs }, ttlMs: hourMs, renewedMs: hourMs },
    {
      why: "is the method's default when the role has none",
      config: { defaultLeaseTtlMs: 2 * hourMs },
      ttlMs: 2 * hourMs,
      renewedMs: 2 * hourMs,
    },
    {
      why: "ends at the role's maximum, also after a renewal",
      terms: { ttlMs: hourMs, maxTtlMs: hourMs },
      ttlMs: hourMs,
      renewedMs: 30 * minuteMs,
    },
    {
      why: "ends at the method's maximum, also after a renewal",
      terms: { ttlMs: 2 * hourMs, maxTtlMs: 4 * hourMs },
      config: { maxLeaseTtlMs: hourMs },
      ttlMs: hourMs,
      renewedMs: 30 * minuteMs,
      warnings: capped("TTL", 7_200, 3_600),
    },
    {
      why: "may exceed the system's maximum when the method allows it",
      terms: { ttlMs: 1_000 * hourMs },
      config: { maxLeaseTtlMs: 2_000 * hourMs },
      ttlMs: 1_000 * hourMs,
      renewedMs: 1_000 * hourMs,
    },
    {
      why: "ends at the explicit maximum",
      terms: { ttlMs: hourMs, explicitMaxTtlMs: 40 * minuteMs },
      ttlMs: 40 * minuteMs,
      renewedMs: 10 * minuteMs,
      warnings: capped("TTL", 3_600, 2_400),
    },
    {
      why: "is the period at each renewal, beyond the role's maximum",
      terms: { periodMs: hourMs, ttlMs: minuteMs, maxTtlMs: minuteMs },
      ttlMs: hourMs,
      renewedMs: hourMs,
    },
    {
      why: "is a period capped at the method's maximum",
      terms: { periodMs: 2 * hourMs },
      config: { maxLeaseTtlMs: hourMs },
      ttlMs: hourMs,
      renewedMs: hourMs,
      warnings: capped("period", 7_200, 3_600),
    },
    {
      why: "is a period capped at the explicit maximum",
      terms: { periodMs: hourMs, explicitMaxTtlMs: 80 * minuteMs },
      ttlMs: hourMs,
      renewedMs: 50 * minuteMs,
    },
  ])("$why", ({ terms, config, ttlMs, renewedMs, warnings = [] }) => {
    const { token, warnings: actualWarnings } = loginWith(terms, config)
    expect([token.expiresAt, actualWarnings]).toEqual([now + ttlMs, warnings])
    const later = now + 30 * minuteMs
    expect(renewServiceToken(token, undefined, later).token.expiresAt).toBe(later + renewedMs)
  })
})
