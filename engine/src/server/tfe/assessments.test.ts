import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

async function assessmentEngine() {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  const id = await testEngine.workspace("web")
  const path = `/workspaces/${id}/assessment-results`
  return Object.assign(testEngine, {
    id,
    clock,
    path,
    create: (attributes: Record<string, unknown> = { drifted: false, succeeded: true }, more: RequestOptions = {}) =>
      testEngine.request("POST", path, { body: { data: { type: "assessment-results", attributes } }, ...more }),
    remembered: async () => {
      const { attributes, relationships } = (await testEngine.request("GET", `/workspaces/${id}`)).body.data
      return [attributes["last-assessment-result-at"], relationships["current-assessment-result"].data]
    },
  })
}

describe("an assessment result", () => {
  test("is created, shown, listed newest first, and deleted", async () => {
    await using testEngine = await assessmentEngine()
    const first = (await testEngine.create()).body.data.id
    testEngine.clock.advance(1)
    const { status, body } = await testEngine.create({ drifted: true, succeeded: false, "error-msg": "no credentials" })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      type: "assessment-results",
      attributes: {
        drifted: true,
        succeeded: false,
        "error-msg": "no credentials",
        "created-at": "2026-01-01T00:00:00.001Z",
      },
      relationships: { workspace: { data: { id: testEngine.id } } },
    })
    const path = `/assessment-results/${body.data.id}`
    expect((await testEngine.request("GET", path)).body).toEqual(body)
    const list = (await testEngine.request("GET", testEngine.path)).body
    expect(list.data.map(({ id }: { readonly id: string }) => id)).toEqual([body.data.id, first])
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect((await testEngine.request("GET", path)).status).toBe(404)
  })

  test("[W-2.3-r17] [W-2.5-r6] the workspace has its newest assessment and the time of it", async () => {
    await using testEngine = await assessmentEngine()
    expect(await testEngine.remembered()).toEqual([null, null])
    const first = (await testEngine.create()).body.data.id
    testEngine.clock.advance(hourMs)
    const second = (await testEngine.create()).body.data.id
    expect(await testEngine.remembered()).toEqual([
      "2026-01-01T01:00:00.000Z",
      { type: "assessment-results", id: second },
    ])
    await testEngine.request("DELETE", `/assessment-results/${second}`)
    expect(await testEngine.remembered()).toEqual([
      "2026-01-01T00:00:00.000Z",
      { type: "assessment-results", id: first },
    ])
    await testEngine.request("DELETE", `/assessment-results/${first}`)
    expect(await testEngine.remembered()).toEqual([null, null])
  })

  test("is rejected with all faults at once", async () => {
    await using testEngine = await assessmentEngine()
    const { status, body } = await testEngine.create({ drifted: "yes" })
    expect([
      status,
      ...body.errors.map(({ source }: { readonly source: { pointer: string } }) => source.pointer),
    ]).toEqual([422, "/data/attributes/drifted", "/data/attributes/succeeded"])
  })

  test.each<{ who: "stranger" | "read" | "write" | "admin"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404] },
    { who: "read", statuses: [200, 404, 404] },
    { who: "write", statuses: [200, 404, 404] },
    { who: "admin", statuses: [200, 201, 204] },
  ])("is shown to, created by and deleted by $who: $statuses", async ({ who, statuses }) => {
    await using testEngine = await assessmentEngine()
    const { id } = (await testEngine.create()).body.data
    const token = await testEngine.token(who === "stranger" ? {} : { on: { [testEngine.id]: who } })
    const answers = [
      await testEngine.request("GET", `/assessment-results/${id}`, { token }),
      await testEngine.create(undefined, { token }),
      await testEngine.request("DELETE", `/assessment-results/${id}`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })
})
