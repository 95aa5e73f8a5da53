import { expect, test } from "vitest"
import { applyArguments, planArguments } from "./tool-arguments.ts"

const paths = { plan: "/run/plan", variables: "/run/v.tfvars", generatedConfiguration: "/run/generated.tf" }
const run = {
  isDestroy: false,
  refreshOnly: false,
  refresh: true,
  targetAddrs: [],
  replaceAddrs: [],
  allowConfigGeneration: false,
}
const always = ["plan", "-json", "-input=false", "-detailed-exitcode", "-out=/run/plan", "-var-file=/run/v.tfvars"]

test.each([
  { change: {}, added: [] },
  { change: { isDestroy: true }, added: ["-destroy"] },
  { change: { refreshOnly: true }, added: ["-refresh-only"] },
  { change: { refresh: false }, added: ["-refresh=false"] },
  { change: { allowConfigGeneration: true }, added: ["-generate-config-out=/run/generated.tf"] },
  { change: { targetAddrs: ["a.b", 'm["x y"].c'] }, added: ["-target=a.b", '-target=m["x y"].c'] },
  { change: { replaceAddrs: ["a.b"] }, added: ["-replace=a.b"] },
])("planArguments adds $added when the run has $change", ({ change, added }) => {
  expect(planArguments({ ...run, ...change }, paths, true)).toEqual([...always, ...added])
})

test.each([
  { structured: true, option: "-json" },
  { structured: false, option: "-no-color" },
])("planArguments and applyArguments contain $option when the log is structured: $structured", (given) => {
  expect(planArguments(run, paths, given.structured)[1]).toBe(given.option)
  expect(applyArguments(paths, given.structured)).toEqual(["apply", given.option, "-input=false", "/run/plan"])
})
