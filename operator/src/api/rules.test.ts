import { expect, test } from "vitest"
import { z } from "zod"
import { definitionOf, type Kind } from "./definition.ts"
import { immutable, ruled, specFaults } from "./rules.ts"

const inner = ruled(z.object({ low: z.int(), high: z.int().optional() }), {
  rule: "!has(self.high) || self.low <= self.high",
  message: "low must not be above high",
  fieldPath: ".low",
  holds: ({ low, high }) => high === undefined || low <= high,
})
const spec = ruled(
  z.object({
    name: z.string().max(10).optional(),
    range: inner.optional().describe("From where to where."),
    ranges: z.array(inner).max(3).optional(),
    labels: z.record(z.string(), z.string().max(5)).optional(),
    set: z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }).optional(),
    map: z
      .array(z.object({ key: z.string(), kind: z.string().default("a"), value: z.int() }))
      .optional()
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["kind", "key"] }),
  }),
  ...immutable<{ name?: string | undefined }>("name"),
)
const thing: Kind<z.output<typeof spec>> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Thing",
  plural: "things",
  singular: "thing",
  shortNames: [],
  scope: "Namespaced",
  description: "Thing is for tests.",
  spec,
  columns: [],
}

test.each([
  { given: {}, faults: [] },
  { given: { range: { low: 1, high: 2 } }, faults: [] },
  { given: { range: { low: 3, high: 2 } }, faults: ["spec.range.low: low must not be above high"] },
  { given: { ranges: [{ low: 1 }, { low: 3, high: 2 }] }, faults: ["spec.ranges.1.low: low must not be above high"] },
  { given: { name: "x" }, before: { name: "x" }, faults: [] },
  { given: { name: "y" }, before: { name: "x" }, faults: ["spec.name: name cannot be changed"] },
  { given: {}, before: { name: "x" }, faults: ["spec.name: name cannot be changed"] },
  { given: { name: "x" }, before: {}, faults: ["spec.name: name cannot be changed"] },
  { given: { set: ["a", "b"] }, faults: [] },
  { given: { set: ["a", "b", "a"] }, faults: ['spec.set.2: is a duplicate: "a"'] },
  {
    given: {
      map: [
        { key: "x", value: 1 },
        { key: "x", kind: "b", value: 1 },
        { key: "y", value: 1 },
      ],
    },
    faults: [],
  },
  {
    given: {
      map: [
        { key: "x", value: 1 },
        { key: "x", kind: "a", value: 2 },
      ],
    },
    faults: ['spec.map.1: is a duplicate: ["a","x"]'],
  },
])("$given after $before breaks $faults", ({ given, before, faults }) => {
  expect(specFaults(thing, given, before).map(({ field, message }) => `${field}: ${message}`)).toEqual(faults)
})

test("specFaults returns the field of a value that the schema rejects, and skips the rules", () => {
  const [fault, ...others] = specFaults(thing, { range: { low: "1" } })
  expect(fault?.field).toBe("spec.range.low")
  expect(others).toEqual([])
})

test("a definition contains rules as CEL only, and the schema of map values", () => {
  const text = JSON.stringify(definitionOf(thing))
  expect(text).toContain('"fieldPath":".low"')
  expect(text).not.toContain("holds")
  expect(text).toContain('"additionalProperties":{"type":"string","maxLength":5}')
  expect(text).not.toContain("propertyNames")
})
