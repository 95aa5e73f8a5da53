import { describe, expect, test } from "vitest"
import type { ProjectId, TagId } from "../../core/ids.ts"
import {
  addAndChange,
  addFlat,
  bindingFaults,
  changesBetween,
  effectiveBindings,
  removeFlat,
  replaceBindings,
  type TagBinding,
  type TagEntry,
} from "./tag-binding.ts"

const prefix = ["tagBindings"]
const flat = (key: string): TagEntry => ({ key, value: "", isTag: true, isBinding: false })
/** Parses an entry: "env=prod" is a binding with a value, "env=" one without, "env" a flat tag, and "env&" both of the last two. */
const bound = (text: string): TagEntry => {
  const [key = "", value = ""] = text.replace("&", "").split("=")
  return { key, value, isTag: !text.includes("="), isBinding: /[=&]/.test(text) }
}
const all = (text: string): TagEntry[] => (text === "" ? [] : text.split(" ").map(bound))
const told = (bindings: readonly TagEntry[]) =>
  bindings.map(({ key, value, isTag, isBinding }) => (isBinding ? `${key}${isTag ? "&" : `=${value}`}` : key)).join(" ")
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: "v", isTag: false, isBinding: true }))

describe("a binding", () => {
  test.each([
    { key: "env", value: "prod" },
    { key: "a_.=+@-:b", value: "a_.=+@-:b" },
    { key: ".", value: "" },
    { key: "k".repeat(128), value: "v".repeat(256) },
    { key: "k".repeat(129), value: "" },
  ])("$key=$value is accepted", (binding) => {
    expect(bindingFaults([binding], prefix)).toEqual([])
  })

  test.each([
    { key: "k".repeat(129), value: "v", member: "key", fault: "too long (maximum is 128 characters)" },
    { key: "k", value: "v".repeat(257), member: "value", fault: "too long (maximum is 256 characters)" },
    { key: "", value: "v", member: "key", fault: "can't be blank" },
    { key: "a b", value: "v", member: "key", fault: "can only include" },
    { key: "k", value: "a b", member: "value", fault: "can only include" },
    { key: "k", value: "a/b", member: "value", fault: "can only include" },
    { key: "hc:k", value: "v", member: "key", fault: "reserved" },
    { key: "hcp:k", value: "", member: "key", fault: "reserved" },
    { key: "Hc:k", value: "v", member: "key", fault: "reserved" },
  ])("$key=$value is rejected at its $member: $fault", ({ key, value, member, fault }) => {
    const expected = { field: ["tagBindings", 0, member], detail: expect.stringContaining(fault) }
    expect(bindingFaults([{ key, value }], prefix)).toEqual([expected])
  })

  test("is rejected at the second position when its key is repeated in any case", () => {
    expect(bindingFaults(all("env=a ENV=b"), prefix)).toEqual([
      { field: ["tagBindings", 1, "key"], detail: 'Key "ENV" appears more than once' },
    ])
  })

  test("reports all faults of a list at once", () => {
    expect(bindingFaults([bound("=v"), { key: "a b", value: "c d" }], prefix)).toHaveLength(3)
  })
})

const tooMany = expect.stringContaining("cannot exceed 10 bindings per resource")

describe("at most ten bindings with a value", () => {
  test.each([
    { present: 10, given: 0, flatTags: 0, refused: false },
    { present: 10, given: 1, flatTags: 0, refused: true },
    { present: 9, given: 1, flatTags: 50, refused: false },
    { present: 0, given: 11, flatTags: 0, refused: true },
  ])("$given added to $present and $flatTags flat tags: rejected $refused", ({ present, given, flatTags, refused }) => {
    const before = [
      ...Array.from({ length: flatTags }, (_, index) => flat(`f${index}`)),
      ...numbered(present).map((entry) => ({ ...entry, key: `old-${entry.key}` })),
    ]
    const { faults } = addAndChange(before, numbered(given), prefix)
    expect(faults).toEqual(refused ? [{ field: ["tagBindings"], detail: tooMany }] : [])
  })

  test("ten bindings can be replaced with ten others", () => {
    const before = numbered(10).map((entry) => ({ ...entry, key: `old-${entry.key}` }))
    expect(replaceBindings(before, numbered(10), prefix).faults).toEqual([])
    expect(replaceBindings([], numbered(11), prefix).faults).toEqual([{ field: ["tagBindings"], detail: tooMany }])
  })
})

describe("planned changes", () => {
  test.each([
    { present: "", given: "env=a", after: "env=a" },
    { present: "env=a", given: "env=b", after: "env=b" },
    { present: "env=a x=1 f", given: "env=b", after: "env=b x=1 f" },
    { present: "env f", given: "env=a", after: "env=a f", why: "a flat tag gets a value" },
    { present: "env=a", given: "env=", after: "env=", why: "a value becomes empty" },
    { present: "", given: "env=", after: "env=", why: "a binding without a value is not a flat tag" },
    {
      present: "env",
      given: "env=",
      after: "env&",
      why: "a flat tag stays a flat tag next to a binding without a value",
    },
    { present: "Env=a", given: "env=a", after: "env=a", why: "the last spelling of a key is stored" },
  ])("adding $given to [$present] makes [$after]", ({ present, given, after }) => {
    const plan = addAndChange(all(present), all(given), prefix)
    expect([told(plan.bindings), plan.faults]).toEqual([after, []])
  })

  test.each([
    { present: "env=a x=1", given: "env=b", after: "env=b" },
    { present: "env=a f", given: "", after: "f", why: "flat tags stay" },
    { present: "f", given: "f=1 g=", after: "f=1 g=" },
    { present: "env=a", given: "env=", after: "env=" },
    { present: "env= f&", given: "", after: "f", why: "bindings without a value are removed, and flat tags stay" },
  ])("replacing the bindings of [$present] with [$given] leaves [$after]", ({ present, given, after }) => {
    expect(told(replaceBindings(all(present), all(given), prefix).bindings)).toBe(after)
  })

  test.each([
    { present: "f", given: ["g"], after: "f g", refused: [] },
    { present: "f", given: ["F", "f"], after: "f", refused: [] },
    { present: "f=", given: ["F"], after: "f&", refused: [] },
    { present: "env=a", given: ["g", "ENV"], after: "env=a g", refused: [1] },
  ])("adding the flat tags $given to [$present] leaves [$after]", ({ present, given, after, refused }) => {
    const plan = addFlat(all(present), given, ["data"])
    expect(told(plan.bindings)).toBe(after)
    expect(plan.faults).toEqual(
      refused.map((index) => ({
        field: ["data", index, "name"],
        detail: expect.stringContaining(`Tag "${given[index]}" cannot be added`),
      })),
    )
  })

  test.each([
    { present: "f g", given: ["F"], after: "g" },
    { present: "f env=a", given: ["env", "none"], after: "f env=a" },
    { present: "f& g=", given: ["f", "g"], after: "f= g=" },
  ])("removing the flat tags $given from [$present] leaves [$after]", ({ present, given, after }) => {
    expect(told(removeFlat(all(present), given))).toBe(after)
  })
})

describe("changesBetween", () => {
  const kept = (text: string): TagBinding => {
    const binding = bound(text)
    return { ...binding, id: `tb-${binding.key}`, tagId: `tag-${binding.key}` as TagId, createdAt: 1, owners: ["a"] }
  }

  test("returns added, changed and removed bindings", () => {
    const before = ["same=1", "changed=1", "Case=1", "gone"].map(kept)
    const { put, remove } = changesBetween(before, all("same=1 changed=2 case=1 new"))
    expect(put).toEqual([
      { ...bound("changed=2"), present: before[1] },
      { ...bound("case=1"), present: before[2] },
      bound("new"),
    ])
    expect(remove).toEqual([before[3]])
  })

  test("returns bindings whose kind changed", () => {
    const before = ["tag", "binding="].map(kept)
    expect(changesBetween(before, all("tag& binding&")).put).toEqual([
      { ...bound("tag&"), present: before[0] },
      { ...bound("binding&"), present: before[1] },
    ])
  })

  test("returns bindings whose owners changed", () => {
    const before = ["same=1", "given=1", "let-go=1"].map(kept)
    const { put, remove } = changesBetween(before, [
      { ...bound("same=1"), owners: ["a"] },
      { ...bound("given=1"), owners: ["a", "b"] },
      { ...bound("let-go=1"), owners: [] },
    ])
    expect(put).toEqual([
      { ...bound("given=1"), owners: ["a", "b"], present: before[1] },
      { ...bound("let-go=1"), owners: [], present: before[2] },
    ])
    expect(remove).toEqual([])
  })
})

test("effective bindings are those of the workspace, and those of the project that the workspace does not override", () => {
  const project = { id: "prj-1" as ProjectId, bindings: all("env=project region=eu empty= tag=1") }
  expect(effectiveBindings(all("ENV=own empty=1 tag"), project)).toEqual([
    { ...bound("ENV=own"), inheritedFrom: null },
    { ...bound("empty=1"), inheritedFrom: null },
    { ...bound("region=eu"), inheritedFrom: "prj-1" },
    { ...bound("tag=1"), inheritedFrom: "prj-1" },
  ])
})
