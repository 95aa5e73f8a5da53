import { expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { UserId } from "../core/ids.ts"
import { changeAccount, createUser, usernameFaults, usernameOf } from "./user.ts"

const made = { id: "user-1" as UserId, now: 1 }

test.each([
  { username: "ada", valid: true },
  { username: "Ada.B-c_2", valid: true },
  { username: "7", valid: true },
  { username: "", valid: false },
  { username: "-ada", valid: false },
  { username: ".ada", valid: false },
  { username: "ada b", valid: false },
  { username: "ada@b", valid: false },
  { username: "a".repeat(60), valid: true },
  { username: "a".repeat(61), valid: false },
])('the username "$username" is valid: $valid', ({ username, valid }) => {
  expect(usernameFaults(username)).toHaveLength(valid ? 0 : 1)
})

test.each([
  { email: "ada@example.com", username: "ada" },
  { email: "ada.b+c@example.com", username: "ada.b-c" },
  { email: "..ada@example.com", username: "ada" },
  { email: "+@example.com", username: "user" },
  { email: `${"a".repeat(100)}@example.com`, username: "a".repeat(52) },
])("$email gives the valid username $username", ({ email, username }) => {
  expect(usernameOf(email)).toBe(username)
  expect(usernameFaults(username)).toEqual([])
})

test("a user has a username, an email address, or both", () => {
  expect(createUser({ email: "ada@b" }, made)).toMatchObject({ username: "ada", email: "ada@b", siteAdmin: false })
  expect(createUser({ username: "bob" }, made)).toMatchObject({ username: "bob", email: "" })
  const faultsOf = (work: () => unknown) => {
    try {
      return work()
    } catch (error) {
      return isEngineError(error, "invalid") && error.faults.map(({ detail }) => detail)
    }
  }
  expect(faultsOf(() => createUser({}, made))).toEqual(["Username can't be blank"])
  expect(faultsOf(() => createUser({ username: "-", email: "x" }, made))).toHaveLength(2)
  const root = createUser({ username: "root" }, made)
  expect(faultsOf(() => changeAccount(root, { username: "boss" }))).toEqual(["The user root cannot be renamed"])
  expect(changeAccount(root, { username: "root", email: "root@b" })).toMatchObject({ email: "root@b" })
})
