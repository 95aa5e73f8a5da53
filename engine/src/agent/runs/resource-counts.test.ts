import { expect, test } from "vitest"
import { appliedCounts, plannedCounts } from "./resource-counts.ts"

const change = (actions: readonly string[], more: object = {}) => ({ change: { actions, ...more } })

test.each([
  { changes: undefined, counts: [0, 0, 0, 0] },
  { changes: [change(["no-op"]), change(["read"])], counts: [0, 0, 0, 0] },
  { changes: [change(["create"]), change(["update"]), change(["delete"])], counts: [1, 1, 1, 0] },
  { changes: [change(["delete", "create"]), change(["create", "delete"])], counts: [2, 0, 2, 0] },
  { changes: [change(["update"], { importing: { id: "x" } })], counts: [0, 1, 0, 1] },
])("plannedCounts returns $counts when the changes are $changes", ({ changes, counts }) => {
  const { additions, changes: changed, destructions, imports } = plannedCounts({ resource_changes: changes })
  expect([additions, changed, destructions, imports]).toEqual(counts)
})

test.each([
  { output: "", counts: undefined },
  { output: "Error: no\n", counts: undefined },
  { output: "Apply complete! Resources: 1 added, 2 changed, 3 destroyed.\n\nOutputs:\n", counts: [1, 2, 3, 0] },
  { output: "Apply complete! Resources: 4 imported, 1 added, 2 changed, 3 destroyed.", counts: [1, 2, 3, 4] },
  { output: "Destroy complete! Resources: 5 destroyed.\n", counts: [0, 0, 5, 0] },
  {
    output: `{"type":"change_summary","changes":{"add":9,"change":0,"remove":0,"operation":"plan"}}
{"type":"change_summary","changes":{"add":1,"change":2,"import":4,"remove":3,"operation":"apply"}}
{"type":"outputs"}`,
    counts: [1, 2, 3, 4],
  },
  { output: '{"type":"change_summary","changes":{"add":9,"operation":"plan"}}', counts: undefined },
  { output: '{"type":"change_summary"', counts: undefined },
])("appliedCounts returns $counts when the output is $output", ({ output, counts }) => {
  const found = appliedCounts(output)
  expect(found && [found.additions, found.changes, found.destructions, found.imports]).toEqual(counts)
})
