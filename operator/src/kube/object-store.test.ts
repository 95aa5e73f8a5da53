import { array, assert, constantFrom, property, record, subarray } from "fast-check"
import { expect, test } from "vitest"
import type { KubernetesObject } from "./kubernetes-object.ts"
import { ObjectStore } from "./object-store.ts"

const names = ["a", "b", "c"]
const labelsOf = (object: KubernetesObject) => Object.keys(object.metadata.labels ?? {})

test("an index returns the same objects as a search through all", () => {
  const change = record({ name: constantFrom(...names), labels: subarray(["x", "y"]), gone: constantFrom(true, false) })
  assert(
    property(array(change), (changes) => {
      const store = new ObjectStore({ label: labelsOf })
      const expected = new Map<string, KubernetesObject>()
      const told: (readonly [KubernetesObject | undefined, KubernetesObject | undefined])[] = []
      for (const { name, labels, gone } of changes) {
        const key = `here/${name}`
        const previous = expected.get(key)
        if (gone) {
          told.push([store.delete(key), previous])
          expected.delete(key)
        } else {
          const object = {
            metadata: { name, namespace: "here", labels: Object.fromEntries(labels.map((label) => [label, ""])) },
          }
          told.push([store.set(object), previous])
          expected.set(key, object)
        }
      }
      expect(told.map(([answered]) => answered)).toEqual(told.map(([, previous]) => previous))
      expect([...store.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
      for (const label of ["x", "y"])
        expect(new Set(store.by("label", label))).toEqual(
          new Set([...expected.values()].filter((object) => labelsOf(object).includes(label))),
        )
    }),
  )
})

test("an unknown index throws", () => {
  expect(() => new ObjectStore().by("label", "x")).toThrow("no index label")
})
