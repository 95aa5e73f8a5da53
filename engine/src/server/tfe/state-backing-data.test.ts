// Backing data of states: deletion, restoration, and retention policies.
import { describe, expect, test, vi } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { detailOf, stateEngine } from "../../../testing/state-engine.ts"
import type { RequestOptions, TestEngine } from "../../../testing/test-engine.ts"

describe("backing data", () => {
  const act = async (testEngine: TestEngine, id: string, action: string, more: RequestOptions = {}) =>
    detailOf(await testEngine.request("POST", `/state-versions/${id}/actions/${action}_backing_data`, more))
  const refused = [409, "transition not allowed"]
  const done = [204, undefined]

  test("is softly deleted, restored, and permanently deleted", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const version = await testEngine.put({ serial: 1, outputs: { a: { value: 1, type: "number" } } })
    await testEngine.put({ serial: 2 })
    const show = async () => (await testEngine.request("GET", `/state-versions/${version}`)).body.data
    const before = await show()
    const address = before.attributes["hosted-state-download-url"]
    const output = before.relationships.outputs.data[0].id
    const statuses = () =>
      Promise.all(
        [address, `/state-versions/${version}/outputs`, `/state-version-outputs/${output}`].map(
          async (path) => (await testEngine.request("GET", path)).status,
        ),
      )
    expect(await act(testEngine, version, "restore")).toEqual(refused)
    expect(await act(testEngine, version, "permanently_delete")).toEqual(refused)
    expect(await act(testEngine, version, "soft_delete")).toEqual(done)
    expect((await show()).attributes).toMatchObject({
      status: "backing_data_soft_deleted",
      "hosted-state-download-url": null,
    })
    expect(await statuses()).toEqual([404, 404, 404])
    expect((await testEngine.request("GET", address, { token: null })).status).toBe(404)
    expect(await act(testEngine, version, "soft_delete")).toEqual(refused)
    expect(await act(testEngine, version, "restore")).toEqual(done)
    expect(await statuses()).toEqual([200, 200, 200])
    expect(await act(testEngine, version, "soft_delete")).toEqual(done)
    expect(await act(testEngine, version, "permanently_delete")).toEqual(done)
    expect((await show()).attributes.status).toBe("backing_data_permanently_deleted")
    expect(await statuses()).toEqual([404, 404, 404])
    for (const action of ["soft_delete", "restore", "permanently_delete"])
      expect(await act(testEngine, version, action)).toEqual(refused)
    expect(
      (
        await testEngine.request(
          "GET",
          `/state-versions?filter[organization][name]=acme&filter[workspace][name]=web&filter[status]=backing_data_permanently_deleted`,
        )
      ).body.data.length,
    ).toBe(1)
  })

  test("of the current version, and of one that may become current, cannot be deleted", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const current = await testEngine.put({ serial: 1 })
    const next = await testEngine.put({ serial: 2 }, { intermediate: true })
    expect(await act(testEngine, current, "soft_delete")).toEqual(refused)
    expect(await act(testEngine, next, "soft_delete")).toEqual(refused)
  })

  test("can be changed only by workspace administrators, and only in the self-hosted edition", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const version = await testEngine.put({ serial: 1 })
    await testEngine.put({ serial: 2 })
    const token = await testEngine.token({ on: { [testEngine.id]: "write" } })
    expect((await act(testEngine, version, "soft_delete", { token }))[0]).toBe(404)
    await using hosted = await stateEngine({ edition: "hosted" })
    await hosted.lock()
    const other = await hosted.put({ serial: 1 })
    await hosted.put({ serial: 2 })
    expect((await act(hosted, other, "soft_delete"))[0]).toBe(404)
  })
})

describe("automatic deletion", () => {
  /** Creates a server with manual timers, so that jobs run when the clock is advanced. */
  async function timedEngine() {
    const clock = manualClock(systemRuntime().clock.now())
    const timers = manualTimers(clock)
    const testEngine = await stateEngine({ timers, runtime: { ...systemRuntime(), clock } })
    const settled = () => testEngine.engine.ready()
    return Object.assign(testEngine, {
      /** Advances the clock, and then by ten minutes more with the timers, so that every periodic job runs. */
      pass: async (milliseconds: number) => {
        clock.advance(milliseconds)
        await timers.advance(10 * minuteMs, settled)
      },
    })
  }

  test("discards an upload that never arrived, and unlocks its workspace", async () => {
    await using testEngine = await timedEngine()
    await testEngine.lock()
    await testEngine.put({ serial: 1 })
    await testEngine.announce({ serial: 2 })
    expect((await testEngine.unlock()).status).toBe(503)
    await testEngine.pass(27 * hourMs)
    await vi.waitFor(async () => expect(await testEngine.statuses()).toEqual(["2 discarded", "1 finalized"]), {
      timeout: 10_000,
    })
    expect((await testEngine.unlock()).status).toBe(200)
    expect((await testEngine.current()).body.data.attributes.serial).toBe(1)
  })

  test.each<{ what: string; policies: readonly [string, string, number?][]; kept: boolean }>([
    { what: "the policy of the workspace", policies: [["workspaces", "delete-olders", 10]], kept: false },
    { what: "the policy of the organization", policies: [["organizations", "delete-olders", 10]], kept: false },
    { what: "the policy of the site", policies: [["admin", "delete-olders", 10]], kept: false },
    { what: "no policy that is short enough", policies: [["workspaces", "delete-olders", 30]], kept: true },
    {
      what: "no policy, because that of the workspace keeps data",
      policies: [
        ["organizations", "delete-olders", 10],
        ["workspaces", "dont-deletes"],
      ],
      kept: true,
    },
    { what: "none", policies: [], kept: true },
  ])("removes old states, but not the current one, by $what", async ({ policies, kept }) => {
    await using testEngine = await timedEngine()
    await testEngine.lock()
    const old = await testEngine.put({ serial: 1, outputs: { a: { value: 1, type: "number" } } })
    await testEngine.put({ serial: 2 })
    await testEngine.unlock()
    const places: Readonly<Record<string, string>> = {
      workspaces: `/workspaces/${testEngine.id}/relationships/data-retention-policy`,
      organizations: "/organizations/acme/relationships/data-retention-policy",
      admin: "/admin/data-retention-policy-settings",
    }
    for (const [at, kind, days] of policies) {
      const attributes = days === undefined ? {} : { "delete-older-than-n-days": days }
      const body = { data: { type: `data-retention-policy-${kind}`, attributes } }
      expect((await testEngine.request("POST", places[at] ?? "", { body })).status).toBe(200)
    }
    await testEngine.pass(11 * 24 * hourMs)
    const expected = `1 ${kept ? "finalized" : "backing_data_permanently_deleted"}`
    await vi.waitFor(async () => expect(await testEngine.statuses()).toEqual(["2 finalized", expected]), {
      timeout: 10_000,
    })
    expect((await testEngine.request("GET", `/state-versions/${old}/download`)).status).toBe(kept ? 200 : 404)
    expect((await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version`)).status).toBe(200)
  })
})
