import { describe, expect, test } from "vitest"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import { type AppRoleInput, createAppRole } from "./app-role.ts"
import { admitted, createSecretId, type SecretId, type SecretIdInput } from "./secret-id.ts"

const now = Date.UTC(2030, 0, 1)
const roleWith = (input: AppRoleInput = {}) => createAppRole(input, { name: "web", roleId: "r" })
const make = (role: AppRoleInput, input: SecretIdInput, maximumMs = 768 * hourMs) =>
  createSecretId(roleWith(role), input, { accessor: "a", now, maximumMs })
const secretIdWith = (input: Partial<SecretId> = {}): SecretId => ({ ...make({}, {}).secretId, ...input })

test("a secret id has the limits of its role unless the request lowers them", () => {
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

test("a secret id without limits does not expire and has unlimited uses", () => {
  expect(make({}, { numUses: 0, ttlMs: 0 }).secretId).toMatchObject({ usesLeft: null, ttlMs: null, expiresAt: null })
})

test("a lifetime is capped at the maximum of the method", () => {
  const { secretId, warnings } = make({}, { ttlMs: 2 * hourMs }, hourMs)
  expect(secretId).toMatchObject({ ttlMs: hourMs, expiresAt: now + hourMs })
  expect(warnings).toEqual([expect.stringContaining("7200s")])
})

describe("an invalid secret id is rejected:", () => {
  test.each<{ role?: AppRoleInput; input: SecretIdInput; field: string; why: string }>([
    { input: { secretId: "" }, field: "secretId", why: "an empty secret id" },
    { input: { secretId: " a " }, field: "secretId", why: "whitespace around the secret id" },
    { input: { secretId: "a".repeat(4_097) }, field: "secretId", why: "a secret id that is too long" },
    { input: { metadata: { a: "\n" } }, field: "metadata", why: "a line break in the secret id" },
    { input: { metadata: { a: "x".repeat(513) } }, field: "metadata", why: "metadata that is too long" },
    {
      input: { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [at, ""])) },
      field: "metadata",
      why: "too many metadata entries",
    },
    { input: { cidrList: ["nowhere"] }, field: "cidrList", why: "a text that is not a range" },
    { input: { tokenBoundCidrs: ["10.0.0.0/40"] }, field: "tokenBoundCidrs", why: "a text that is not a range" },
    {
      role: { secretIdBoundCidrs: ["10.0.0.0/8"] },
      input: { cidrList: ["192.0.2.0/24"] },
      field: "cidrList",
      why: "a range outside the role's",
    },
    {
      role: { terms: { boundCidrs: ["10.0.0.0/8"] } },
      input: { tokenBoundCidrs: ["0.0.0.0/0"] },
      field: "tokenBoundCidrs",
      why: "a range wider than the role's",
    },
    { input: { numUses: -1 }, field: "numUses", why: "a negative number" },
    { role: { secretIdNumUses: 2 }, input: { numUses: 3 }, field: "numUses", why: "more uses than the role allows" },
    {
      role: { secretIdNumUses: 2 },
      input: { numUses: 0 },
      field: "numUses",
      why: "unlimited uses, although the role limits them",
    },
    { input: { ttlMs: 1 }, field: "ttlMs", why: "a fraction of a second" },
    {
      role: { secretIdTtlMs: hourMs },
      input: { ttlMs: hourMs + secondMs },
      field: "ttlMs",
      why: "a lifetime longer than the role's",
    },
    {
      role: { secretIdTtlMs: hourMs },
      input: { ttlMs: 0 },
      field: "ttlMs",
      why: "no expiry, although the role limits it",
    },
  ])("$input for $role: $why", ({ role = {}, input, field }) => {
    expect(() => make(role, input)).toThrow(expect.objectContaining({ code: "invalid" }))
    expect(() => make(role, input)).toThrow(
      expect.objectContaining({ faults: [expect.objectContaining({ field: [field] })] }),
    )
  })

  test("for a role without bind_secret_id", () => {
    expect(() => make({ bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"] }, {})).toThrow(
      "bind_secret_id is not set on the role",
    )
  })
})

describe("an AppRole login", () => {
  const inside = "10.1.2.3"
  const bound = roleWith({ secretIdBoundCidrs: ["10.0.0.0/8"] })
  const open = roleWith({ bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"] })
  test.each([
    {
      why: "role and secret id are valid",
      role: roleWith(),
      secretId: secretIdWith(),
      address: undefined,
      isAdmitted: true,
    },
    { why: "the role does not exist", role: undefined, secretId: secretIdWith(), address: inside, isAdmitted: false },
    { why: "the secret id does not exist", role: roleWith(), secretId: undefined, address: inside, isAdmitted: false },
    {
      why: "the address is in the role's range",
      role: bound,
      secretId: secretIdWith(),
      address: inside,
      isAdmitted: true,
    },
    {
      why: "the address is outside the role's range",
      role: bound,
      secretId: secretIdWith(),
      address: "192.0.2.7",
      isAdmitted: false,
    },
    { why: "the address is unknown", role: bound, secretId: secretIdWith(), address: undefined, isAdmitted: false },
    {
      why: "the address is in the secret id's range",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.1.0.0/16"] }),
      address: inside,
      isAdmitted: true,
    },
    {
      why: "the address is in the role's range only",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.2.0.0/16"] }),
      address: inside,
      isAdmitted: false,
    },
    {
      why: "the role was narrowed after the secret id was created",
      role: bound,
      secretId: secretIdWith({ cidrList: ["10.1.0.0/16", "192.0.2.0/24"] }),
      address: inside,
      isAdmitted: false,
    },
    {
      why: "the secret id expires in a moment",
      role: roleWith(),
      secretId: secretIdWith({ expiresAt: now + 1 }),
      address: undefined,
      isAdmitted: true,
    },
    {
      why: "the secret id expires now",
      role: roleWith(),
      secretId: secretIdWith({ expiresAt: now }),
      address: undefined,
      isAdmitted: false,
    },
    { why: "the role requires no secret id", role: open, secretId: undefined, address: inside, isAdmitted: true },
    {
      why: "the role requires no secret id and the address is outside its range",
      role: open,
      secretId: secretIdWith(),
      address: "192.0.2.7",
      isAdmitted: false,
    },
  ])("is allowed: $isAdmitted, when $why", ({ role, secretId, address, isAdmitted }) => {
    expect(admitted({ role, secretId, address }, now) !== undefined).toBe(isAdmitted)
  })

  test("counts no use of a secret id that the role does not require", () => {
    expect(admitted({ role: open, secretId: secretIdWith(), address: inside }, now)).toEqual({
      role: open,
      secretId: undefined,
    })
  })
})
