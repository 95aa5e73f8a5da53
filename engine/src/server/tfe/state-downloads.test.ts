import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { stateFile } from "../../../testing/state-file.ts"
import { stateEngine } from "../../../testing/state-engine.ts"

describe("a download URL", () => {
  async function finalized() {
    const clock = manualClock()
    const testEngine = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    await testEngine.lock()
    const { data } = (
      await testEngine.announce({}, { inline: true, "json-state": Buffer.from("{}").toString("base64") })
    ).body
    const { attributes } = data
    const get = async (address: string, token: string | null = null) =>
      (await testEngine.request("GET", address, { token })).status
    return Object.assign(testEngine, {
      clock,
      get,
      state: attributes["hosted-state-download-url"] as string,
      json: attributes["hosted-json-state-download-url"] as string,
    })
  }

  test("needs no token for an hour", async () => {
    await using testEngine = await finalized()
    const { status, body, headers } = await testEngine.request("GET", testEngine.state, { token: null })
    expect([status, body, headers.get("cache-control")]).toEqual([200, JSON.parse(stateFile().text), "no-store"])
    expect((await testEngine.request("GET", testEngine.json, { token: null })).body).toEqual({})
    testEngine.clock.advance(hourMs - 1)
    expect(await testEngine.get(testEngine.state)).toBe(200)
    testEngine.clock.advance(1)
    expect(await testEngine.get(testEngine.state)).toBe(404)
  })

  test("is not found when it was changed or belongs to another resource", async () => {
    await using testEngine = await finalized()
    await testEngine.put({ serial: 2 })
    const [other, { state, json }] = [(await testEngine.current()).body.data.id, testEngine]
    const changed = [
      `${state}0`,
      state.replace(/=.*/, "="),
      state.replace("/download?", "/json-download?"),
      json.replace("/json-download?", "/download?"),
      state.replace(/sv-\w+/, other),
      state.replace(/sv-\w+/, "sv-1111111111111111"),
    ]
    for (const address of changed) expect([address, await testEngine.get(address)]).toEqual([address, 404])
  })

  test("later needs a token that may read the state", async () => {
    await using testEngine = await finalized()
    testEngine.clock.advance(2 * hourMs)
    const { id } = testEngine
    expect(await testEngine.get(testEngine.state, await testEngine.token({ on: { [id]: "read" } }))).toBe(200)
    expect(await testEngine.get(testEngine.state, await testEngine.token())).toBe(404)
    expect(await testEngine.get(testEngine.state, "unknown")).toBe(401)
  })

  test("is not shown with a workspace that includes its state version", async () => {
    await using testEngine = await finalized()
    const { body } = await testEngine.request("GET", `/workspaces/${testEngine.id}?include=current_state_version`)
    expect(body.included[0].attributes["hosted-state-download-url"]).toMatch(/\/download$/)
  })
})
