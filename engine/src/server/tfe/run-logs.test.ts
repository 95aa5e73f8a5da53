import { assert, asyncProperty, integer } from "fast-check"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { origin } from "../../../testing/test-engine.ts"

async function logWorld() {
  const clock = manualClock()
  const world = await populatedEngine({ runtime: { ...systemRuntime(), clock }, jobs: false })
  const workspace = await world.workspace("web")
  const run = await made(world, "POST", "/runs", document("runs", {}, { workspace: one("workspaces", workspace) }))
  const claim = (await made(world, "POST", `/workspaces/${workspace}/run-claims`)).id as string
  const report = (attributes: object) =>
    made(world, "POST", `/run-claims/${claim}/actions/report`, document("runs", attributes))
  const address = async (stage: "plan" | "apply"): Promise<string> =>
    (await world.request("GET", `/runs/${run.id}/${stage}`)).body.data.attributes["log-read-url"]
  return Object.assign(world, {
    clock,
    run: run.id as string,
    report,
    address,
    append: (stage: string, offset: number, text: string) =>
      world.request("POST", `/run-claims/${claim}/logs/${stage}?offset=${offset}`, { body: Buffer.from(text) }),
    read: async (url: string, query = "") => {
      const answer = await world.request("GET", `${url}${query}`, { token: null })
      return [answer.status, Buffer.from(answer.bytes).toString()]
    },
  })
}

describe("the log of a plan", () => {
  test("is read without a token while it grows, between its start and end markers", async () => {
    await using world = await logWorld()
    const url = await world.address("plan")
    expect(url).toMatch(new RegExp(`^${origin}/logs/plan-`))
    expect(await world.read(url)).toEqual([200, "\x02"])
    expect(await world.read(url, "?limit=10&offset=1")).toEqual([200, ""])
    await world.report({ status: "planning" })
    await world.append("plan", 0, "Refreshing …\n")
    await world.append("plan", 15, "Plan: 1 to add\n")
    expect(await world.read(url)).toEqual([200, "\x02Refreshing …\nPlan: 1 to add\n"])
    expect(await world.read(url, "?limit=10&offset=0")).toEqual([200, "\x02Refreshin"])
    expect(await world.read(url, "?limit=4&offset=16")).toEqual([200, "Plan"])
    await world.report({ status: "planned" })
    expect(await world.read(url, "?offset=16")).toEqual([200, "Plan: 1 to add\n\x03"])
    expect(await world.read(url, "?offset=31")).toEqual([200, "\x03"])
    expect(await world.read(url, "?offset=32")).toEqual([200, ""])
    const detached = await world.request("GET", `/runs/${world.run}?include=plan`)
    expect(detached.body.included[0].attributes["log-read-url"]).toBeNull()
  })

  test("is complete when it is read in slices of any size", async () => {
    await using world = await logWorld()
    await world.report({ status: "planning" })
    const text = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("")
    await world.append("plan", 0, text)
    await world.report({ status: "errored" })
    const url = await world.address("plan")
    await assert(
      asyncProperty(integer({ min: 1, max: 900 }), async (limit) => {
        let read = ""
        for (;;) {
          const [, slice] = (await world.read(url, `?limit=${limit}&offset=${read.length}`)) as [number, string]
          if (slice === "") break
          expect(slice.length).toBeLessThanOrEqual(limit)
          read += slice
        }
        expect(read).toBe(`\x02${text}\x03`)
      }),
      { numRuns: 20 },
    )
  })

  test("differs from that of the apply, and its URL expires and does not open the other", async () => {
    await using world = await logWorld()
    const [plan, apply] = [await world.address("plan"), await world.address("apply")]
    const swapped = apply.replace(/[^/]*$/, plan.slice(plan.lastIndexOf("/") + 1))
    const refused = [swapped, `${plan}x`, plan.replace(/\/[^/]*$/, "/nothing"), plan.replace(/plan-\w+/, "plan-none")]
    for (const url of refused) expect((await world.read(url))[0]).toBe(404)
    expect((await world.read(plan, "?offset=-1"))[0]).toBe(400)
    world.clock.advance(25 * hourMs - 1)
    expect((await world.read(plan))[0]).toBe(200)
    world.clock.advance(1)
    expect((await world.read(plan))[0]).toBe(404)
  })
})
