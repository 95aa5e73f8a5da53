import { describe, expect, test } from "vitest"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import { type AppRoleInput, createAppRole } from "./app-role.ts"
import { admitted, createSecretId, type SecretId, type SecretIdInput } from "./secret-id.ts"

const now = Date.UTC(2030, 0, 1)
const roleWith = (input: AppRoleInput = {}) => createAppRole(input, { name: "web", roleId: "r" })
const make = (role: AppRoleInput, input: SecretIdInput, maximumMs = 768 * hourMs) =>
  createSecretId(roleWith(role), input, { accessor: "a", now, maximumMs })
const secretIdWith = (input: Partial<SecretId> = {}): SecretId => ({ ...make({}, {}).secretId, ...input })

test("a secret id is as the role says, unless it asks for less", () => {
  const role = { secretIdNumUses: 5, secretIdTtlMs: hourMs }
  expect(make(role, { metadata: { job: "7" } })).toEqual({
    warnings: [],
    secretId: {
      accessor: "a",
      usesLeft: 5,
      ttlMs: hourMs,
      createdAt: now,
      updatedAt: now,
      expiresAt: now + hourMs,
      metadata: { job: "7" },
      cidrList: [],
      tokenBoundCidrs: [],
    },
  })
  expect(make(role, { numUses: 1, ttlMs: minuteMs }).secretId).toMatchObject({
    usesLeft: 1,
    ttlMs: minuteMs,
    expiresAt: now + minuteMs,
  })
})

test("without a limit anywhere it is for ever, and for any number of logins", () => {
  expect(make({}, { numUses: 0, ttlMs: 0 }).secretId).toMatchObject({ usesLeft: null, ttlMs: null, expiresAt: null })
})

test("no end is later than the method's longest", () => {
  const { secretId, warnings } = make({}, { ttlMs: 2 * hourMs }, hourMs)
  expect(secretId).toMatchObject({ ttlMs: hourMs, expiresAt: now + hourMs })
  expect(warnings).toEqual([expect.stringContaining("7200s")])
})

describe("is refused", () => {
  test.each<{ role?: AppRoleInput; input: SecretIdInput; field: string; why: string }>([
    { input: { secretId: "" }, field: "secretId", why: "nothing to show" },
    { input: { secretId: " a " }, field: "secretId", why: "logins trim what they are shown" },
    { input: { secretId: "a".repeat(4_097) }, field: "secretId", why: "too long" },
    { input: { metadata: { a: "\n" } }, field: "metadata", why: "a line break" },
    { input: { metadata: { a: "x".repeat(513) } }, field: "metadata", why: "too long a text" },
    {
      input: { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [at, ""])) },
      field: "metadata",
      why: "too many entries",
    },
    { input: { cidrList: ["nowhere"] }, field: "cidrList", why: "no range" },
    { input: { tokenBoundCidrs: ["10.0.0.0/40"] }, field: "tokenBoundCidrs", why: "no range" },
    {
      role: { secretIdBoundCidrs: ["10.0.0.0/8"] },
      input: { cidrList: ["192.0.2.0/24"] },
      field: "cidrList",
      why: "outside of the role's",
    },
    {
      role: { terms: { boundCidrs: ["10.0.0.0/8"] } },
      input: { tokenBoundCidrs: ["0.0.0.0/0"] },
      field: "tokenBoundCidrs",
      why: "wider than the role's",
    },
    { input: { numUses: -1 }, field: "numUses", why: "below 0" },
    { role: { secretIdNumUses: 2 }, input: { numUses: 3 }, field: "numUses", why: "more than the role's" },
    {
      role: { secretIdNumUses: 2 },
      input: { numUses: 0 },
      field: "numUses",
      why: "any number, where the role has one",
    },
    { input: { ttlMs: 1 }, field: "ttlMs", why: "part of a second" },
    {
      role: { secretIdTtlMs: hourMs },
      input: { ttlMs: hourMs + secondMs },
      field: "ttlMs",
      why: "longer than the role's",
    },
    {
      role: { secretIdTtlMs: hourMs },
      input: { ttlMs: 0 },
      field: "ttlMs",
      why: "for ever, where the role has an end",
    },
  ])("$input for $role: $why", ({ role = {}, input, field }) => {
    expect(() => make(role, input)).toThrow(expect.objectContaining({ code: "invalid" }))
    expect(() => make(role, input)).toThrow(
      expect.objectContaining({ faults: [expect.objectContaining({ field: [field] })] }),
    )
  })

  test("for a role that asks for none", () => {
    expect(() => make({ bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"] }, {})).toThrow(
      "bind_secret_id is not set on the role",
    )
  })
})

describe("a login", () => {
  const inside = "10.1.2.3"
  const bound = roleWith({ secretIdBoundCidrs: ["10.0.0.0/8"] })
  const open = roleWith({ bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"] })
  test.each([
    { why: "both fit", role: roleWith(), secretId: secretIdWith(), address: undefined, isAdmitted: true },
    { why: "there is no such role", role: undefined, secretId: secretIdWith(), address: inside, isAdmitted: false },
    { why: "there is no such secret id", role: roleWith(), secretId: undefined, address: inside, isAdmitted: false },
    { why: "it is the role's address", role: bound, secretId: secretIdWith(), address: inside, isAdmitted: true },
    { why: "it is not", role: bound, secretId: secretIdWith(), address: "192.0.2.7", isAdmitted: false },
    { why: "nobody knows the address", role: bound, secretId: secretIdWith(), address: undefined, isAdmitted: false },
    {
      why: "it is the secret id's address",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.1.0.0/16"] }),
      address: inside,
      isAdmitted: true,
    },
    {
      why: "it is the role's, and not the secret id's",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.2.0.0/16"] }),
      address: inside,
      isAdmitted: false,
    },
    {
      why: "the role was narrowed since the secret id was made",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.1.0.0/16", "192.0.2.0/24"] }),
      address: inside,
      isAdmitted: false,
    },
    {
      why: "it has a moment left",
      role: roleWith(),
      secretId: secretIdWith({ expiresAt: now + 1 }),
      address: undefined,
      isAdmitted: true,
    },
    {
      why: "it ends at this moment",
      role: roleWith(),
      secretId: secretIdWith({ expiresAt: now }),
      address: undefined,
      isAdmitted: false,
    },
    { why: "the role asks for no secret id", role: open, secretId: undefined, address: inside, isAdmitted: true },
    { why: "nor lets everybody in", role: open, secretId: secretIdWith(), address: "192.0.2.7", isAdmitted: false },
  ])("is admitted, $isAdmitted, where $why", ({ role, secretId, address, isAdmitted }) => {
    expect(admitted({ role, secretId, address }, now) !== undefined).toBe(isAdmitted)
  })

  test("takes no use of a secret id that is not asked for", () => {
    expect(admitted({ role: open, secretId: secretIdWith(), address: inside }, now)).toEqual({
      role: open,
      secretId: undefined,
    })
  })
})
