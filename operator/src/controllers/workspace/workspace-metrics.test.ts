import { expect, test } from "vitest"
import { createMetrics } from "../../metrics.ts"
import { workspaceFigures } from "./workspace-metrics.ts"

const [drift] = workspaceFigures
const object = (status?: unknown) => ({ metadata: { name: "web", namespace: "team" }, status })

test.each([
  { status: undefined, value: undefined },
  { status: { drift: [{}, {}] }, value: 2 },
])("the drift metric of $status is $value", ({ status, value }) => {
  expect(drift?.of(object(status), 0)).toBe(value)
})

test("a metric of objects is computed by the leader when it is read", async () => {
  let leads = true
  const metrics = createMetrics({ name: "", leading: () => leads })
  let values = [{ namespace: "team", name: "web", value: 3 }]
  metrics.figure("chancery_operator_drift_fields", "Fields.", () => values)
  const text = async () => (await metrics.expose()).text
  expect(await text()).toContain('chancery_operator_drift_fields{namespace="team",name="web"} 3')
  leads = false
  expect(await text()).not.toContain('name="web"')
  leads = true
  values = []
  expect(await text()).not.toContain('name="web"')
})
