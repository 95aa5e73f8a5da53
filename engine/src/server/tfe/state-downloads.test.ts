import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { stateFile } from "../../../testing/state-file.ts"
import { stateEngine } from "../../../testing/state-engine.ts"

describe("a download URL", () => {
  async function finalized() {
    const clock = manualClock()
    const world = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    await world.lock()
    const { data } = (await world.announce({}, { inline: true, "json-state": Buffer.from("{}").toString("base64") }))
      .body
    const { attributes } = data
    const get = async (address: string, token: string | null = null) =>
      (await world.request("GET", address, { token })).status
    return Object.assign(world, {
      clock,
      get,
      state: attributes["hosted-state-download-url"] as string,
      json: attributes["hosted-json-state-download-url"] as string,
    })
  }

  test("needs no token for an hour", async () => {
    await using world = await finalized()
    const { status, body, headers } = await world.request("GET", world.state, { token: null })
    expect([status, body, headers.get("cache-control")]).toEqual([200, JSON.parse(stateFile().text), "no-store"])
    expect((await world.request("GET", world.json, { token: null })).body).toEqual({})
    world.clock.advance(hourMs - 1)
    expect(await world.get(world.state)).toBe(200)
    world.clock.advance(1)
    expect(await world.get(world.state)).toBe(404)
  })

  test("is not found when it was changed or belongs to another resource", async () => {
    await using world = await finalized()
    await world.put({ serial: 2 })
    const [other, { state, json }] = [(await world.current()).body.data.id, world]
    const changed = [
      `${state}0`,
      state.replace(/=.*/, "="),
      state.replace("/download?", "/json-download?"),
      json.replace("/json-download?", "/download?"),
      state.replace(/sv-\w+/, other),
      state.replace(/sv-\w+/, "sv-1111111111111111"),
    ]
    for (const address of changed) expect([address, await world.get(address)]).toEqual([address, 404])
  })

  test("later needs a token that may read the state", async () => {
    await using world = await finalized()
    world.clock.advance(2 * hourMs)
    const { id } = world
    expect(await world.get(world.state, await world.token({ on: { [id]: "read" } }))).toBe(200)
    expect(await world.get(world.state, await world.token())).toBe(404)
    expect(await world.get(world.state, "unknown")).toBe(401)
  })

  test("is not shown with a workspace that includes its state version", async () => {
    await using world = await finalized()
    const { body } = await world.request("GET", `/workspaces/${world.id}?include=current_state_version`)
    expect(body.included[0].attributes["hosted-state-download-url"]).toMatch(/\/download$/)
  })
})
