import { describe, expect, test } from "vitest"
import { dayMs } from "../../core/time.ts"
import {
  type AcmeOrder,
  type Authorization,
  authorizationStatusOf,
  type AuthorizationStatus,
  caaValidityMs,
  challengesFor,
  isCaaOld,
  orderStatusOf,
  validityMs,
} from "./order.ts"

const now = 1_000_000

describe("an order is (RFC 8555, section 7.1.6)", () => {
  const table: readonly (readonly [AcmeOrder["state"], readonly AuthorizationStatus[], "ahead" | "past", string])[] = [
    ["open", ["pending"], "ahead", "pending"],
    ["open", ["pending", "valid"], "ahead", "pending"],
    ["open", ["valid"], "ahead", "ready"],
    ["open", ["valid", "valid"], "ahead", "ready"],
    ["open", ["invalid", "valid"], "ahead", "invalid"],
    ["open", ["pending", "invalid"], "ahead", "invalid"],
    ["open", ["deactivated"], "ahead", "invalid"],
    ["open", ["expired", "valid"], "ahead", "invalid"],
    ["open", ["pending"], "past", "invalid"],
    ["open", ["valid"], "past", "invalid"],
    ["valid", ["valid"], "ahead", "valid"],
    ["valid", ["deactivated"], "ahead", "valid"],
    ["valid", ["expired"], "past", "valid"],
  ]
  test.each(table)("in state %s with authorizations %j and expiry %s: %s", (state, statuses, end, status) => {
    expect(orderStatusOf({ state, expiresAt: end === "ahead" ? now + 1 : now }, statuses, now)).toBe(status)
  })
})

describe("an authorization is (RFC 8555, section 7.1.6)", () => {
  const table: readonly (readonly [Authorization["state"], "ahead" | "past", AuthorizationStatus])[] = [
    ["pending", "ahead", "pending"],
    ["pending", "past", "invalid"],
    ["valid", "ahead", "valid"],
    ["valid", "past", "expired"],
    ["invalid", "ahead", "invalid"],
    ["invalid", "past", "invalid"],
    ["deactivated", "ahead", "deactivated"],
    ["deactivated", "past", "deactivated"],
  ]
  test.each(table)("in state %s with expiry %s: %s", (state, end, status) => {
    const expiresAt = end === "ahead" ? now + 1 : now
    expect(authorizationStatusOf({ state, expiresAt } as Authorization, now)).toBe(status)
  })
})

describe("[P-4.1-n2] challenges", () => {
  test.each([
    [{ type: "dns", value: "example.com", wildcard: false }, ["http-01", "dns-01", "tls-alpn-01"]],
    [{ type: "dns", value: "example.com", wildcard: true }, ["dns-01"]],
    [{ type: "ip", value: "192.0.2.1", wildcard: false }, ["http-01"]],
  ] as const)("for %j are %j", (identifier, types) => {
    expect(challengesFor(identifier)).toEqual(types)
  })
})

describe("the CAA check of a validation", () => {
  const proved = { identifier: { type: "dns", value: "a.example", wildcard: false }, state: "valid" } as const
  const expiresAt = now + validityMs

  test.each([
    ["counts at first", proved, 0, false],
    ["counts for eight hours", proved, caaValidityMs - 1, false],
    ["counts no longer", proved, caaValidityMs, true],
    ["counts where the question was changed at the same moment", proved, 0, false, now],
    ["counts for nothing where another question is asked since", proved, 1, true, now + 1],
    ["counts for eight hours after that question", proved, caaValidityMs - 1, false, now - dayMs],
    [
      "is nothing of an address",
      { ...proved, identifier: { type: "ip", value: "::1", wildcard: false } },
      validityMs,
      false,
    ],
    ["is not known yet", { ...proved, state: "pending" }, validityMs, false],
  ] as const)("%s", (_what, authorization, laterMs, isOld, identitiesChangedAt = 0) => {
    expect(isCaaOld({ ...authorization, expiresAt }, now + laterMs, { identitiesChangedAt })).toBe(isOld)
  })
})
