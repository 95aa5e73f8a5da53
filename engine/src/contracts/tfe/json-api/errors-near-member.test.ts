import { expect, test } from "vitest"
import { distanceBetween, nearMember } from "./errors.ts"

const inAttributes = (attributes: object) => ({ data: { type: "workspaces", attributes } })

test.each([
  { given: { nme: "x" }, pointer: "/data/attributes/name", near: "nme" },
  { given: { Name: "x" }, pointer: "/data/attributes/name", near: "Name" },
  { given: { naem: "x" }, pointer: "/data/attributes/name", near: "naem" },
  { given: { working_directory: "x" }, pointer: "/data/attributes/working-directory", near: "working_directory" },
  {
    given: { "delete-older-then-n-days": 1 },
    pointer: "/data/attributes/delete-older-than-n-days",
    near: "delete-older-then-n-days",
  },
  { given: { description: "x" }, pointer: "/data/attributes/name", near: undefined },
  { given: { name: "" }, pointer: "/data/attributes/name", near: undefined },
  { given: {}, pointer: "/data/attributes/name", near: undefined },
])("[F-W20] nearMember returns $near for $pointer in $given", ({ given, pointer, near }) => {
  expect(nearMember(inAttributes(given), pointer)?.given).toBe(near)
})

test.each([
  {
    document: { data: { type: "workspaces", atributes: { name: "x" } } },
    near: { given: "atributes", meant: "attributes" },
  },
  { document: { dta: {} }, near: { given: "dta", meant: "data" } },
  { document: { data: [] }, near: undefined },
  { document: null, near: undefined },
  { document: "text", near: undefined },
  { document: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`dat${index}`, 1])), near: undefined },
])("[F-W20] nearMember searches for the first missing member of the pointer: $near", ({ document, near }) => {
  expect(nearMember(document, "/data/attributes/name")).toEqual(near)
})

test.each([
  ["", "", 0],
  ["name", "name", 0],
  ["nme", "name", 1],
  ["naem", "name", 1],
  ["nam", "name", 1],
  ["value", "name", 3],
] as const)("distanceBetween %s and %s is %i", (one, other, distance) => {
  expect(distanceBetween(one, other)).toBe(distance)
  expect(distanceBetween(other, one)).toBe(distance)
})
