import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import {
  createServiceToken,
  type Maker,
  renewServiceToken,
  type ServiceToken,
  type ServiceTokenInput,
  serviceTokenTtlMs,
} from "./service-token.ts"

const root: Maker = {
  policies: ["root"],
  everything: true,
  sudo: true,
  token: { id: "at-0", expiresAt: null, service: false, boundCidrs: [] },
}
const user: Maker = { policies: ["issue", "read"], everything: false, sudo: false, token: root.token }
const service: Maker = { ...user, token: { id: "at-0", expiresAt: 5_000, service: true, boundCidrs: [] } }
const made = { id: "at-1", path: "auth/token/create", now: 1_000, orphan: false }

const create = (input: ServiceTokenInput, maker = root, orphan = false) =>
  createServiceToken(input, maker, { ...made, orphan })
const faultOf = (work: () => unknown): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return isEngineError(error) ? error.message : String(error)
  }
}

describe("a new service token", () => {
  test("lives 768 hours, has its creator's policies and is revoked with its creator's token by default", () => {
    expect(create({}, user)).toEqual({
      warnings: [],
      token: {
        id: "at-1",
        displayName: "token",
        policies: ["default", "issue", "read"],
        meta: {},
        parentId: "at-0",
        path: "auth/token/create",
        createdAt: 1_000,
        expiresAt: 1_000 + serviceTokenTtlMs,
        ttlMs: serviceTokenTtlMs,
        explicitMaxTtlMs: null,
        periodMs: null,
        renewable: true,
        lastRenewedAt: null,
        usesLeft: null,
        boundCidrs: [],
        role: null,
        maxTtlMs: null,
        authMethodId: null,
      },
    })
  })

  test("has the requested attributes", () => {
    const input: ServiceTokenInput = {
      policies: ["Issue"],
      ttlMs: hourMs,
      explicitMaxTtlMs: 2 * hourMs,
      renewable: false,
      numUses: 3,
      displayName: "build farm/7",
      meta: { team: "web" },
      noDefaultPolicy: true,
    }
    expect(create(input).token).toMatchObject({
      policies: ["issue"],
      expiresAt: 1_000 + hourMs,
      explicitMaxTtlMs: 2 * hourMs,
      renewable: false,
      usesLeft: 3,
      displayName: "token-build-farm-7",
      meta: { team: "web" },
    })
  })

  test.each<{ what: string; input: ServiceTokenInput; maker: Maker; policies: readonly string[] }>([
    { what: "root by default", input: {}, maker: root, policies: ["root"] },
    { what: "root only, when requested", input: { policies: ["root", "x"] }, maker: root, policies: ["root"] },
    { what: "any request from root", input: { policies: ["x"] }, maker: root, policies: ["default", "x"] },
    {
      what: "a request for some of the creator's policies",
      input: { policies: ["read"] },
      maker: user,
      policies: ["default", "read"],
    },
    {
      what: "a request for all of the creator's policies",
      input: { policies: [] },
      maker: user,
      policies: ["default", "issue", "read"],
    },
    { what: "a request that names default", input: { policies: ["default"] }, maker: user, policies: ["default"] },
    { what: "a request without default", input: { noDefaultPolicy: true }, maker: user, policies: ["issue", "read"] },
    { what: "a request from a token without default", input: {}, maker: service, policies: ["issue", "read"] },
    {
      what: "a request for default from a token that has it",
      input: { policies: ["read"] },
      maker: { ...service, policies: ["default", "read"] },
      policies: ["default", "read"],
    },
    {
      what: "any request from a creator with sudo",
      input: { policies: ["x"] },
      maker: { ...service, sudo: true },
      policies: ["default", "x"],
    },
  ])("has the policies of $what", ({ input, maker, policies }) => {
    expect(create(input, maker).token.policies).toEqual(policies)
  })

  test.each<{ input: ServiceTokenInput; maker?: Maker; fault: string }>([
    {
      input: { policies: ["x", "y"] },
      maker: user,
      fault:
        'policies contains "x", which the caller does not have; policies contains "y", which the caller does not have',
    },
    {
      input: { policies: ["root"] },
      maker: { ...user, sudo: true },
      fault: 'policies contains "root", which only a caller with root can grant',
    },
    {
      input: { policies: ["default"] },
      maker: service,
      fault: 'policies contains "default", which the caller does not have',
    },
    {
      input: { noParent: true },
      maker: user,
      fault: "no_parent requires the sudo capability",
    },
    { input: { periodMs: hourMs }, maker: user, fault: "period requires the sudo capability" },
    { input: { ttlMs: -1 }, fault: "ttl must be a whole number of seconds from 1 to 1000000000" },
    {
      input: { explicitMaxTtlMs: 1 },
      fault: "explicit_max_ttl must be a whole number of seconds from 1 to 1000000000",
    },
    { input: { periodMs: 1e15 }, fault: "period must be a whole number of seconds from 1 to 1000000000" },
    { input: { numUses: -1 }, fault: "num_uses must be an integer from 0 to 1000000000" },
    { input: { numUses: 1.5 }, fault: "num_uses must be an integer from 0 to 1000000000" },
    { input: { displayName: "x".repeat(129) }, fault: "display_name is too long (maximum is 128 characters)" },
    {
      input: { meta: { a: "x".repeat(513) } },
      fault: "meta must contain keys and values of at most 512 characters without control characters",
    },
    {
      input: { meta: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [index, ""])) },
      fault: "meta has too many entries (maximum is 64)",
    },
    { input: { policies: Array.from({ length: 101 }, String) }, fault: "policies has too many names (maximum is 100)" },
    {
      input: { ttlMs: 0, numUses: -1 },
      fault:
        "num_uses must be an integer from 0 to 1000000000; ttl must be a whole number of seconds from 1 to 1000000000",
    },
  ])("is rejected: $fault", ({ input, maker, fault }) => {
    expect(faultOf(() => create(input, maker))).toBe(fault)
  })

  test.each<{ what: string; input: ServiceTokenInput; ttlMs: number | null; warning?: string }>([
    { what: "root, which does not expire", input: {}, ttlMs: null },
    { what: "root with a requested lifetime", input: { ttlMs: minuteMs }, ttlMs: minuteMs },
    {
      what: "a period",
      input: { periodMs: 2 * serviceTokenTtlMs, ttlMs: secondMs },
      ttlMs: 2 * serviceTokenTtlMs,
    },
    {
      what: "a lifetime above the system's maximum",
      input: { policies: ["x"], ttlMs: 769 * hourMs },
      ttlMs: 768 * hourMs,
      warning: 'TTL of "2768400s" exceeded the effective max_ttl of "2764800s"; TTL value is capped accordingly',
    },
    {
      what: "a lifetime above its own maximum",
      input: { ttlMs: 2 * hourMs, explicitMaxTtlMs: hourMs },
      ttlMs: hourMs,
      warning: 'TTL of "7200s" exceeded the effective max_ttl of "3600s"; TTL value is capped accordingly',
    },
    {
      what: "a period above its own maximum",
      input: { periodMs: 2 * hourMs, explicitMaxTtlMs: hourMs },
      ttlMs: hourMs,
      warning: 'TTL of "7200s" exceeded the effective max_ttl of "3600s"; TTL value is capped accordingly',
    },
  ])("has the expiry of $what", ({ input, ttlMs, warning }) => {
    const { token, warnings } = create(input)
    expect(token).toMatchObject({ ttlMs, expiresAt: ttlMs === null ? null : 1_000 + ttlMs })
    expect(warnings).toEqual(warning === undefined ? [] : [warning])
  })

  test("is an orphan when a caller with sudo requests it, at the orphan endpoint, and from the engine itself", () => {
    expect(create({ noParent: true }).token.parentId).toBeNull()
    expect(create({}, user, true).token.parentId).toBeNull()
    expect(create({}, { ...root, token: undefined }).token.parentId).toBeNull()
  })

  test("does not expire only if its creator's token does not", () => {
    const ending: Maker = { ...root, token: { id: "at-0", expiresAt: 5_000, service: true, boundCidrs: [] } }
    expect(faultOf(() => create({}, ending, true))).toMatch(/^ttl is required/)
    expect(create({}, ending).token.expiresAt).toBeNull()
    expect(create({ ttlMs: hourMs }, ending, true).token.expiresAt).toBe(1_000 + hourMs)
  })
})

describe("renewServiceToken", () => {
  const token = (input: ServiceTokenInput): ServiceToken => create(input).token

  test.each<{
    what: string
    input: ServiceTokenInput
    atMs: number
    incrementMs?: number
    endMs: number
    warned?: true
  }>([
    { what: "by the lifetime of its creation", input: { ttlMs: hourMs }, atMs: minuteMs, endMs: minuteMs + hourMs },
    { what: "by a longer increment", input: { ttlMs: hourMs }, atMs: 0, incrementMs: 3 * hourMs, endMs: 3 * hourMs },
    { what: "by a shorter increment", input: { ttlMs: hourMs }, atMs: 0, incrementMs: minuteMs, endMs: minuteMs },
    {
      what: "by its period, ignoring the increment",
      input: { periodMs: hourMs },
      atMs: 2_000 * hourMs,
      incrementMs: secondMs,
      endMs: 2_001 * hourMs,
    },
    {
      what: "up to the system's maximum",
      input: { ttlMs: hourMs },
      atMs: 767.5 * hourMs,
      endMs: 768 * hourMs,
      warned: true,
    },
    {
      what: "up to its own maximum",
      input: { ttlMs: hourMs, explicitMaxTtlMs: 2 * hourMs },
      atMs: 1.5 * hourMs,
      endMs: 2 * hourMs,
      warned: true,
    },
    {
      what: "by a period up to its maximum",
      input: { periodMs: hourMs, explicitMaxTtlMs: 2 * hourMs },
      atMs: 1.5 * hourMs,
      endMs: 2 * hourMs,
      warned: true,
    },
    {
      what: "not beyond a maximum that has passed",
      input: { periodMs: hourMs, explicitMaxTtlMs: 2 * hourMs },
      atMs: 3 * hourMs,
      endMs: 3 * hourMs,
      warned: true,
    },
  ])("extends a token $what", ({ input, atMs, incrementMs, endMs, warned = false }) => {
    const before = token(input)
    const { token: after, warnings } = renewServiceToken(before, incrementMs, 1_000 + atMs)
    expect(after).toEqual({ ...before, expiresAt: 1_000 + endMs, lastRenewedAt: 1_000 + atMs })
    expect(warnings).toHaveLength(warned ? 1 : 0)
  })

  test.each<[string, ServiceTokenInput]>([
    ["made without it", { ttlMs: hourMs, renewable: false }],
    ["that does not end", {}],
  ])("rejects a token %s", (_what, input) => {
    expect(faultOf(() => renewServiceToken(token(input), undefined, 2_000))).toBe("lease is not renewable")
  })

  test("rejects an invalid increment", () => {
    expect(faultOf(() => renewServiceToken(token({ ttlMs: hourMs }), 0, 2_000))).toMatch(/^increment must be/)
  })
})
