import { assert, asyncProperty, integer } from "fast-check"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { origin } from "../../../testing/test-engine.ts"

async function logEngine() {
  const clock = manualClock()
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock }, jobs: false })
  const workspace = await testEngine.workspace("web")
  const run = await made(testEngine, "POST", "/runs", document("runs", {}, { workspace: one("workspaces", workspace) }))
  const claim = (await made(testEngine, "POST", `/workspaces/${workspace}/run-claims`)).id as string
  const report = (attributes: object) =>
    made(testEngine, "POST", `/run-claims/${claim}/actions/report`, document("runs", attributes))
  const address = async (stage: "plan" | "apply"): Promise<string> =>
    (await testEngine.request("GET", `/runs/${run.id}/${stage}`)).body.data.attributes["log-read-url"]
  return Object.assign(testEngine, {
    clock,
    run: run.id as string,
    report,
    address,
    append: (stage: string, offset: number, text: string) =>
      testEngine.request("POST", `/run-claims/${claim}/logs/${stage}?offset=${offset}`, { body: Buffer.from(text) }),
    read: async (url: string, query = "") => {
      const answer = await testEngine.request("GET", `${url}${query}`, { token: null })
      return [answer.status, Buffer.from(answer.bytes).toString()]
    },
  })
}

describe("the log of a plan", () => {
  test("is read without a token while it grows, between its start and end markers", async () => {
    await using testEngine = await logEngine()
    const url = await testEngine.address("plan")
    expect(url).toMatch(new RegExp(`^${origin}/logs/plan-`))
    expect(await testEngine.read(url)).toEqual([200, "\x02"])
    expect(await testEngine.read(url, "?limit=10&offset=1")).toEqual([200, ""])
    await testEngine.report({ status: "planning" })
    await testEngine.append("plan", 0, "Refreshing …\n")
    await testEngine.append("plan", 15, "Plan: 1 to add\n")
    expect(await testEngine.read(url)).toEqual([200, "\x02Refreshing …\nPlan: 1 to add\n"])
    expect(await testEngine.read(url, "?limit=10&offset=0")).toEqual([200, "\x02Refreshin"])
    expect(await testEngine.read(url, "?limit=4&offset=16")).toEqual([200, "Plan"])
    await testEngine.report({ status: "planned" })
    expect(await testEngine.read(url, "?offset=16")).toEqual([200, "Plan: 1 to add\n\x03"])
    expect(await testEngine.read(url, "?offset=31")).toEqual([200, "\x03"])
    expect(await testEngine.read(url, "?offset=32")).toEqual([200, ""])
    const detached = await testEngine.request("GET", `/runs/${testEngine.run}?include=plan`)
    expect(detached.body.included[0].attributes["log-read-url"]).toBeNull()
  })

  test("is complete when it is read in slices of any size", async () => {
    await using testEngine = await logEngine()
    await testEngine.report({ status: "planning" })
    const text = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("")
    await testEngine.append("plan", 0, text)
    await testEngine.report({ status: "errored" })
    const url = await testEngine.address("plan")
    await assert(
      asyncProperty(integer({ min: 1, max: 900 }), async (limit) => {
        let read = ""
        for (;;) {
          const [, slice] = (await testEngine.read(url, `?limit=${limit}&offset=${read.length}`)) as [number, string]
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
    await using testEngine = await logEngine()
    const [plan, apply] = [await testEngine.address("plan"), await testEngine.address("apply")]
    const swapped = apply.replace(/[^/]*$/, plan.slice(plan.lastIndexOf("/") + 1))
    const refused = [swapped, `${plan}x`, plan.replace(/\/[^/]*$/, "/nothing"), plan.replace(/plan-\w+/, "plan-none")]
    for (const url of refused) expect((await testEngine.read(url))[0]).toBe(404)
    expect((await testEngine.read(plan, "?offset=-1"))[0]).toBe(400)
    testEngine.clock.advance(25 * hourMs - 1)
    expect((await testEngine.read(plan))[0]).toBe(200)
    testEngine.clock.advance(1)
    expect((await testEngine.read(plan))[0]).toBe(404)
  })
})
