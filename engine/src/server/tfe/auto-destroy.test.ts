// Auto-destroy runs, started by the job.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, formatInstant, hourMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../storage/sealing/key-sealing.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { destroyWhenDue } from "../../workspaces/workspace/start-auto-destroy-runs.ts"
import type { WorkspaceInput } from "../../workspaces/workspace/workspace-input.ts"

async function dueEngine(input: WorkspaceInput = {}) {
  const clock = manualClock()
  const warnings: unknown[] = []
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (name: string, fields: object = {}) => void warnings.push([name, fields]),
  }
  const runtime = { ...systemRuntime(log), clock }
  const keyText = newKeyText(runtime.random)
  const place = await defaultSharedKind.place()
  const testEngine = await populatedEngine({ url: place.url, runtime, sealKeys: { text: keyText }, jobs: false })
  const id = await testEngine.workspace("web", input)
  const report = async (run: string, ...steps: readonly object[]) => {
    for (const attributes of steps)
      await made(testEngine, "POST", `/runs/${run}/actions/transition`, document("runs", attributes))
  }
  return Object.assign(testEngine, {
    id,
    clock,
    warnings,
    report,
    /** Runs the job once, on a database connection of its own. */
    async look(): Promise<void> {
      await using database = await openDatabase(place.url)
      const storage = repositoriesOver(database, keySealer(parseKeyRing(keyText), runtime.random), runtime.clock)
      await destroyWhenDue({ storage, runtime }, { signal: AbortSignal.timeout(20_000) })
    },
    runs: async () => (await testEngine.request("GET", `/workspaces/${id}/runs`)).body.data,
    /** Returns the scheduled instant and the status of the last auto-destroy. */
    async due(): Promise<readonly [string | null, string | null]> {
      const { attributes } = (await testEngine.request("GET", `/workspaces/${id}`)).body.data
      return [attributes["auto-destroy-at"], attributes["auto-destroy-status"]]
    },
    async saveState(run?: string): Promise<void> {
      const body = stateVersionDocument(stateFile({ serial: (serial += 1) }), { inline: true })
      if (run === undefined) await testEngine.request("POST", `/workspaces/${id}/actions/lock`)
      const relationships = run === undefined ? {} : { run: one("runs", run) }
      await made(testEngine, "POST", `/workspaces/${id}/state-versions`, { data: { ...body.data, relationships } })
      if (run === undefined) await testEngine.request("POST", `/workspaces/${id}/actions/unlock`)
    },
    async [Symbol.asyncDispose]() {
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  })
}
let serial = 0

describe("[W-2.3-r6] an auto-destroy time", () => {
  test("queues one destroy run when it is reached, which applies automatically", async () => {
    await using testEngine = await dueEngine({ autoDestroyAt: manualClock().now() + hourMs })
    await testEngine.look()
    expect(await testEngine.runs()).toEqual([])
    testEngine.clock.advance(hourMs)
    await testEngine.look()
    await testEngine.look()
    const [run, ...others] = await testEngine.runs()
    expect(others).toEqual([])
    expect(run.attributes).toMatchObject({
      status: "pending",
      "is-destroy": true,
      "auto-apply": true,
      source: "tfe-infrastructure-lifecycle",
    })
    expect(run.relationships["created-by"].data).toBeNull()
    expect(await testEngine.due()).toEqual([null, "queued"])
    await testEngine.report(
      run.id,
      { status: "planning" },
      { status: "planned" },
      { status: "applying" },
      { status: "applied" },
    )
    expect(await testEngine.due()).toEqual([null, "destroyed"])
  })

  test("queues no run when it was moved to later", async () => {
    await using testEngine = await dueEngine({ autoDestroyAt: manualClock().now() + hourMs })
    const later = formatInstant(testEngine.clock.now() + dayMs)
    await made(
      testEngine,
      "PATCH",
      `/workspaces/${testEngine.id}`,
      document("workspaces", { "auto-destroy-at": later }),
    )
    testEngine.clock.advance(2 * hourMs)
    await testEngine.look()
    expect([await testEngine.runs(), await testEngine.due()]).toEqual([[], [later, null]])
  })
})

describe("[W-2.3-r8] an auto-destroy duration without activity", () => {
  test("counts from the last state or run, without speculative runs", async () => {
    await using testEngine = await dueEngine({ autoDestroyActivityDuration: "2d" })
    const wait = async (milliseconds: number) => {
      testEngine.clock.advance(milliseconds)
      await testEngine.look()
    }
    const queue = (attributes: object) =>
      made(testEngine, "POST", "/runs", document("runs", attributes, { workspace: one("workspaces", testEngine.id) }))
    await wait(dayMs)
    await testEngine.saveState()
    await wait(dayMs)
    const { id } = await queue({})
    await testEngine.report(id, { status: "discarded" })
    expect((await testEngine.due())[0]).toBe(formatInstant(testEngine.clock.now() + 2 * dayMs))
    await wait(dayMs)
    await queue({ "plan-only": true })
    await wait(dayMs - 1)
    expect((await testEngine.runs()).length).toBe(2)
    await wait(1)
    expect((await testEngine.runs())[0].attributes["is-destroy"]).toBe(true)
  })

  test("restarts at the first activity after the destroy run", async () => {
    await using testEngine = await dueEngine({ autoDestroyActivityDuration: "24h" })
    await testEngine.saveState()
    testEngine.clock.advance(dayMs)
    await testEngine.look()
    const [{ id: run }] = await testEngine.runs()
    await testEngine.report(run, { status: "planning" }, { status: "planned" }, { status: "applying" })
    testEngine.clock.advance(1)
    await testEngine.saveState(run)
    await testEngine.report(run, { status: "applied" })
    testEngine.clock.advance(10 * dayMs)
    await testEngine.look()
    expect([(await testEngine.runs()).length, await testEngine.due()]).toEqual([1, [null, "destroyed"]])
    await testEngine.saveState()
    expect((await testEngine.due())[0]).toBe(formatInstant(testEngine.clock.now() + dayMs))
    testEngine.clock.advance(dayMs)
    await testEngine.look()
    expect((await testEngine.runs()).length).toBe(2)
  })

  test("queues no second run after a failed one, and shows the failure", async () => {
    await using testEngine = await dueEngine({ autoDestroyActivityDuration: "1h" })
    testEngine.clock.advance(hourMs)
    await testEngine.look()
    const [{ id: run }] = await testEngine.runs()
    await testEngine.report(run, { status: "errored" })
    testEngine.clock.advance(dayMs)
    await testEngine.look()
    expect([(await testEngine.runs()).length, await testEngine.due()]).toEqual([1, [null, "failed"]])
  })

  test("[W-2.3-r9] is that of the project when the workspace inherits it", async () => {
    await using testEngine = await dueEngine()
    const project = (await testEngine.request("GET", `/workspaces/${testEngine.id}`)).body.data.relationships.project
      .data.id
    await made(
      testEngine,
      "PATCH",
      `/projects/${project}`,
      document("projects", { "auto-destroy-activity-duration": "3h" }),
    )
    const own = document("workspaces", { "inherits-project-auto-destroy": false })
    await made(testEngine, "PATCH", `/workspaces/${testEngine.id}`, own)
    testEngine.clock.advance(3 * hourMs)
    await testEngine.look()
    expect(await testEngine.runs()).toEqual([])
    const inherited = document("workspaces", { "inherits-project-auto-destroy": true })
    await made(testEngine, "PATCH", `/workspaces/${testEngine.id}`, inherited)
    await testEngine.look()
    expect((await testEngine.runs()).length).toBe(1)
  })
})

test.each<{ why: string; input: WorkspaceInput; status: string }>([
  { why: "execute locally", input: { executionMode: "local" }, status: "skipped_local_execution" },
  { why: "allow no destroy plans", input: { allowDestroyPlan: false }, status: "skipped_destroy_not_allowed" },
])("[W-2.3-r7] workspaces that $why are not destroyed, and show it", async ({ input, status }) => {
  await using testEngine = await dueEngine({ ...input, autoDestroyAt: manualClock().now() })
  await testEngine.look()
  expect([await testEngine.runs(), await testEngine.due()]).toEqual([[], [null, status]])
  expect(testEngine.warnings).toContainEqual(["auto-destroy-skipped", { workspace: testEngine.id, status }])
})

test("several servers queue one run for each time", { timeout: 60_000 }, async () => {
  await using testEngine = await dueEngine({ autoDestroyActivityDuration: "1h" })
  testEngine.clock.advance(hourMs)
  await Promise.all([testEngine.look(), testEngine.look(), testEngine.look()])
  expect((await testEngine.runs()).length).toBe(1)
})
