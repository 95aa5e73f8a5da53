import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

async function assessmentWorld() {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const world = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  const id = await world.workspace("web")
  const path = `/workspaces/${id}/assessment-results`
  return Object.assign(world, {
    id,
    clock,
    path,
    create: (attributes: Record<string, unknown> = { drifted: false, succeeded: true }, more: RequestOptions = {}) =>
      world.request("POST", path, { body: { data: { type: "assessment-results", attributes } }, ...more }),
    remembered: async () => {
      const { attributes, relationships } = (await world.request("GET", `/workspaces/${id}`)).body.data
      return [attributes["last-assessment-result-at"], relationships["current-assessment-result"].data]
    },
  })
}

describe("an assessment result", () => {
  test("is created, shown, listed newest first, and deleted", async () => {
    await using world = await assessmentWorld()
    const first = (await world.create()).body.data.id
    world.clock.advance(1)
    const { status, body } = await world.create({ drifted: true, succeeded: false, "error-msg": "no credentials" })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      type: "assessment-results",
      attributes: {
        drifted: true,
        succeeded: false,
        "error-msg": "no credentials",
        "created-at": "2026-01-01T00:00:00.001Z",
      },
      relationships: { workspace: { data: { id: world.id } } },
    })
    const path = `/assessment-results/${body.data.id}`
    expect((await world.request("GET", path)).body).toEqual(body)
    const list = (await world.request("GET", world.path)).body
    expect(list.data.map(({ id }: { readonly id: string }) => id)).toEqual([body.data.id, first])
    expect((await world.request("DELETE", path)).status).toBe(204)
    expect((await world.request("GET", path)).status).toBe(404)
  })

  test("[W-2.3-r17] [W-2.5-r6] the workspace has its newest assessment and the time of it", async () => {
    await using world = await assessmentWorld()
    expect(await world.remembered()).toEqual([null, null])
    const first = (await world.create()).body.data.id
    world.clock.advance(hourMs)
    const second = (await world.create()).body.data.id
    expect(await world.remembered()).toEqual(["2026-01-01T01:00:00.000Z", { type: "assessment-results", id: second }])
    await world.request("DELETE", `/assessment-results/${second}`)
    expect(await world.remembered()).toEqual(["2026-01-01T00:00:00.000Z", { type: "assessment-results", id: first }])
    await world.request("DELETE", `/assessment-results/${first}`)
    expect(await world.remembered()).toEqual([null, null])
  })

  test("is rejected with all faults at once", async () => {
    await using world = await assessmentWorld()
    const { status, body } = await world.create({ drifted: "yes" })
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
    await using world = await assessmentWorld()
    const { id } = (await world.create()).body.data
    const token = await world.token(who === "stranger" ? {} : { on: { [world.id]: who } })
    const answers = [
      await world.request("GET", `/assessment-results/${id}`, { token }),
      await world.create(undefined, { token }),
      await world.request("DELETE", `/assessment-results/${id}`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })
})
