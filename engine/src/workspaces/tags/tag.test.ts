import { expect, test } from "vitest"
import { flatTagFaults } from "./tag.ts"

test.each(["a", "Prod", "team:core_a-1", "hc-a", "x".repeat(255)])("the flat tag %s is accepted", (name) => {
  expect(flatTagFaults([name], ["data"])).toEqual([])
})

test.each([
  { name: "", fault: "can't be blank" },
  { name: "x".repeat(256), fault: "too long" },
  { name: "-a", fault: "can only include" },
  { name: "a:", fault: "can only include" },
  { name: "a b", fault: "can only include" },
  { name: "a.b", fault: "can only include" },
  { name: "é", fault: "can only include" },
  { name: "a\n", fault: "can only include" },
  { name: "hc:a", fault: "reserved" },
  { name: "HCP:a", fault: "reserved" },
])("the flat tag $name is rejected: $fault", ({ name, fault }) => {
  const expected = { field: ["data", 1, "name"], detail: expect.stringContaining(fault) }
  expect(flatTagFaults(["ok", name], ["data"])).toEqual([expected])
})
