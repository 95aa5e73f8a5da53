import { expect, test } from "vitest"
import { hashedData } from "./hashed-data.ts"

const hash = (text: string) => `<${text}>`

test("strings are hashed at every depth; numbers, booleans and null are not", () => {
  const data = {
    common_name: "web.example.com",
    ttl: 3600,
    exclude_cn_from_sans: true,
    serial: null,
    user_ids: ["alice", 7, ["bob"]],
    metadata: { owner: "carol", more: { note: "deep" } },
  }
  expect(hashedData(data, hash)).toEqual({
    common_name: "hmac-sha256:<web.example.com>",
    ttl: 3600,
    exclude_cn_from_sans: true,
    serial: null,
    user_ids: ["hmac-sha256:<alice>", 7, ["hmac-sha256:<bob>"]],
    metadata: { owner: "hmac-sha256:<carol>", more: { note: "hmac-sha256:<deep>" } },
  })
})

test("members that the mount exempts stay plain at the top level only", () => {
  const data = { common_name: "a", alt_names: ["b"], nested: { common_name: "c" } }
  expect(hashedData(data, hash, ["common_name", "alt_names", "absent"])).toEqual({
    common_name: "a",
    alt_names: ["b"],
    nested: { common_name: "hmac-sha256:<c>" },
  })
})

test("an unknown member name is hashed too, because a key may have been posted as a form", () => {
  const pem = "-----BEGIN PRIVATE KEY-----\nMIGH"
  const long = "k".repeat(65)
  expect(hashedData({ [pem]: "", [long]: 1, [`k`.padEnd(64, "k")]: 2 }, hash)).toEqual({
    [`hmac-sha256:<${pem}>`]: "hmac-sha256:<>",
    [`hmac-sha256:<${long}>`]: 1,
    [`k`.padEnd(64, "k")]: 2,
  })
})

test("a member called __proto__ stays a member", () => {
  const data = JSON.parse('{"__proto__":"x"}') as Record<string, unknown>
  expect(JSON.stringify(hashedData(data, hash))).toBe('{"__proto__":"hmac-sha256:<x>"}')
})

test.each([
  {
    what: "members at the top",
    data: Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`m${index}`, "x"])),
  },
  { what: "items of a list", data: { list: Array.from({ length: 1_000 }, () => "x") } },
  {
    what: "small lists",
    data: Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`m${index}`, ["x", "y"]])),
  },
])("$what beyond the limit are hashed together", ({ data }) => {
  let count = 0
  hashedData(data, (text) => {
    count += 1
    return hash(text)
  })
  expect(count).toBeLessThan(1_000)
})

test("values nested too deep are hashed as one string", () => {
  let data: Record<string, unknown> = { secret: "x" }
  for (let depth = 0; depth < 20; depth += 1) data = { in: data }
  const written = JSON.stringify(hashedData(data, hash))
  expect(written.match(/"in"/g)).toHaveLength(16)
  expect(written).toMatch(/hmac-sha256:<\{\\"in\\":/)
})
