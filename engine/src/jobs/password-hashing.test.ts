import { expect, onTestFinished, test } from "vitest"
import { cheapPasswordHash as cheap } from "../../testing/cheap-password.ts"
import { systemTimers } from "../core/timers.ts"
import { openPasswordHashing } from "./password-hashing.ts"

const salt = new Uint8Array(16).fill(1)

function opened(threadCount = 1, maxWaiting = 10) {
  const passwords = openPasswordHashing({ timers: systemTimers, threadCount, maxWaiting })
  onTestFinished(() => passwords[Symbol.dispose]())
  return passwords
}

test("a password has its own hash of scrypt, and no other has it", async () => {
  const passwords = opened()
  const hash = await passwords.hash("correct horse 🐴", salt)
  expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$/)
  expect(hash).not.toContain("horse")
  expect(await passwords.verify("correct horse 🐴", hash)).toBe(true)
  expect(await passwords.verify("correct horse", hash)).toBe(false)
  expect(await passwords.hash("correct horse 🐴", new Uint8Array(16).fill(2))).not.toBe(hash)
})

test.each([
  ["the right password", "password", cheap, true],
  ["a wrong password", "Password", cheap, false],
  ["the right password in the form of PHP", "password", cheap.replace("$2b$", "$2y$"), true],
  ["the right password in the older form", "password", cheap.replace("$2b$", "$2a$"), true],
  ["a hash that costs too much", "password", cheap.replace("$04$", "$31$"), false],
  ["a text that is no hash", "password", "password", false],
])("a hash of bcrypt is verified for %s", async (_, password, hash, matches) => {
  expect(await opened().verify(password, hash)).toBe(matches)
})

test("a password of more than 72 bytes does not match a hash of bcrypt that ignores the rest", async () => {
  const { hashSync } = await import("bcryptjs")
  const password = "x".repeat(72)
  const hash = hashSync(password, 4)
  const passwords = opened()
  expect(await passwords.verify(password, hash)).toBe(true)
  expect(await passwords.verify(`${password}y`, hash)).toBe(false)
})

test("too many passwords at once are rejected, and the others are verified", async () => {
  const passwords = opened(1, 2)
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => passwords.verify("password", cheap)))
  expect(answers.map((answer) => (answer.status === "fulfilled" ? answer.value : answer.reason.code))).toEqual([
    true,
    true,
    true,
    "busy",
    "busy",
  ])
  expect(await passwords.verify("password", cheap)).toBe(true)
})

test("passwords that are hashed or wait are rejected as unavailable at the end", async () => {
  const passwords = openPasswordHashing({ timers: systemTimers, threadCount: 1, maxWaiting: 2 })
  const answers = Promise.allSettled([passwords.verify("password", cheap), passwords.verify("password", cheap)])
  passwords[Symbol.dispose]()
  expect(await answers).toMatchObject([{ reason: { code: "unavailable" } }, { reason: { code: "unavailable" } }])
  await expect(passwords.verify("password", cheap)).rejects.toMatchObject({ code: "unavailable" })
})

test("a password whose turn comes as the engine closes is rejected as unavailable", async () => {
  const passwords = openPasswordHashing({ timers: systemTimers, threadCount: 1, maxWaiting: 2 })
  const first = passwords.verify("password", cheap)
  const second = Promise.allSettled([passwords.verify("password", cheap)])
  // Closes when the first password has given its place to the second, which has not begun.
  const closed = first.finally(() => passwords[Symbol.dispose]())
  expect(await closed).toBe(true)
  expect(await second).toMatchObject([{ reason: { code: "unavailable" } }])
})
