import { expect, test } from "vitest"
import { minuteMs } from "../../core/time.ts"
import { initialTokenTerms } from "../logins/token-terms.ts"
import { changeUserpassUser, userNameFaults, type UserpassUserInput } from "./userpass-user.ts"

const hash = "$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"

test("a new user has the given terms, and defaults for the others", () => {
  const user = changeUserpassUser("mitchell", undefined, { password: "x", policies: ["web"], ttlMs: minuteMs })
  expect(user).toEqual({ ...initialTokenTerms, policies: ["web"], ttlMs: minuteMs })
})

test("a changed user keeps the terms that are left out, and needs no password", () => {
  const before = { ...initialTokenTerms, policies: ["web"], numUses: 3 }
  expect(changeUserpassUser("mitchell", before, { numUses: 0 })).toEqual({ ...before, numUses: 0 })
})

test.each<readonly [string, UserpassUserInput, readonly string[]]>([
  ["the password is missing", {}, ["password"]],
  ["the password is empty", { password: "" }, ["password"]],
  ["the hash is a password", { passwordHash: "secret" }, ["passwordHash"]],
  ["password and hash are given", { password: "x", passwordHash: hash }, ["passwordHash"]],
  ["the password could not be read", { faults: [{ field: ["password"], detail: "x" }] }, ["password"]],
  ["terms are wrong", { password: "x", policies: ["root"], boundCidrs: ["here"] }, ["policies", "boundCidrs"]],
])("a new user is rejected when %s", (_, input, fields) => {
  expect(() => changeUserpassUser("mitchell", undefined, input)).toThrow(
    expect.objectContaining({
      code: "invalid",
      faults: fields.map((field) => expect.objectContaining({ field: [field] })),
    }),
  )
})

test.each([
  ["web", true],
  ["first.last_2-x", true],
  ["_", true],
  ["x".repeat(255), true],
  ["x".repeat(256), false],
  ["", false],
  ["-web", false],
  [".web", false],
  ["web.", false],
  ["a b", false],
  ["a@b.example", false],
  ["web\n", false],
])("userNameFaults judges the name %j", (name, valid) => {
  expect(userNameFaults(name).length === 0).toBe(valid)
})
