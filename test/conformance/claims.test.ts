import { expect, test } from "vitest"
import { claimsIn } from "./claims.ts"

// Split in two, so that this file itself claims nothing.
const id = ["W-4.7", "r2"].join("-")
const other = ["W-3", "r5"].join("-")

test.each([
  { why: "a plain title", source: `test("[${id}] unlock answers 409", () => {})`, titles: ["unlock answers 409"] },
  { why: "a title on its own line", source: `test(\n  "[${id}] unlocks",\n  () => {})`, titles: ["unlocks"] },
  { why: "a title with two ids", source: `test("[${id}] [${other}] waits", () => {})`, titles: ["waits", "waits"] },
  {
    why: "a table row that the title interpolates",
    source: `test.each([\n  { id: "${id}", status: 409, why: "held" },\n])("[$id] answers $status: $why", () => {})`,
    titles: ["answers 409: held"],
  },
  {
    why: "a row far above its title",
    source: `const rows = [{ id: "${id}", name: "unlock" }]\ntest.each(rows)("$id $name answers", () => {})`,
    titles: ["unlock answers"],
  },
  {
    why: "a line inside a test",
    source: `test("walks the lock", async () => {\n  step("${id}")\n})\ntest("another", () => {})`,
    titles: ["walks the lock"],
  },
  {
    why: "a test inside groups",
    source: `describe("locks", () => {\n  describe("held", () => {\n    test("[${id}] conflict", () => {})\n  })\n})`,
    titles: ["locks: held: conflict"],
  },
  {
    why: "a test beside a group",
    source: `describe("locks", () => {\n  test("work", () => {})\n})\ntest("[${id}] conflict", () => {})`,
    titles: ["conflict"],
  },
  { why: "a comment is no claim", source: `// ${id}\ntest("unlocks", () => {})`, titles: [] },
  { why: "a skipped test is no claim", source: `test.skip("[${id}] unlocks", () => {})`, titles: [] },
])("finds claims in $why", ({ source, titles }) => {
  expect(claimsIn(source).map(({ title }) => title)).toEqual(titles)
})
