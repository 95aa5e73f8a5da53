// States that are uploaded after the creation of their version, to an upload URL, small and large.
import { describe, expect, test, vi } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { stateFile, type StateOptions } from "../../../testing/state-file.ts"
import { detailOf, faultsOf, stateEngine, stepsOf } from "../../../testing/state-engine.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

describe("a state version in two steps", () => {
  test("is pending until its state is uploaded, and current afterwards", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const state = stateFile({ serial: 3, instances: 2 })
    const announced = await testEngine.announce({ serial: 3, instances: 2 }, { "json-state-outputs": "e30=" })
    expect(announced.status).toBe(201)
    const { attributes, id } = announced.body.data
    expect(attributes).toMatchObject({
      status: "pending",
      serial: 3,
      md5: state.md5,
      "hosted-state-download-url": null,
      "hosted-state-upload-url": expect.stringMatching(/^http:\/\/chancery\.test\/uploads\//),
      "hosted-json-state-upload-url": expect.stringMatching(/^http:\/\/chancery\.test\/uploads\//),
    })
    expect((await testEngine.current()).status).toBe(404)
    // Clients upload both concurrently, in any order.
    const answers = await Promise.all([
      testEngine.upload(attributes["hosted-json-state-upload-url"], '{"format_version":"1.0"}'),
      testEngine.upload(attributes["hosted-state-upload-url"], state.text),
    ])
    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    const current = await testEngine.current()
    expect(current.body.data).toMatchObject({
      id,
      type: "state-versions",
      attributes: {
        status: "finalized",
        serial: 3,
        size: state.text.length,
        "state-version": 4,
        "terraform-version": "1.11.4",
        intermediate: false,
        "resources-processed": true,
        resources: [{ name: "web", type: "null_resource", count: 2, module: "root" }],
        modules: { root: { "null-resource": 2 } },
        "hosted-state-upload-url": null,
        "hosted-json-state-upload-url": null,
      },
      relationships: { workspace: { data: { type: "workspaces", id: testEngine.id } } },
    })
    const { "hosted-state-download-url": raw, "hosted-json-state-download-url": json } = current.body.data.attributes
    expect((await testEngine.request("GET", raw)).body).toEqual(JSON.parse(state.text))
    expect((await testEngine.request("GET", json)).body).toEqual({ format_version: "1.0" })
    expect((await testEngine.request("GET", raw.replace(/\?.*/, ""), { token: null })).status).toBe(401)
  })

  test("asks for snapshots during long applies", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    expect((await testEngine.announce()).headers.get("x-terraform-snapshot-interval")).toBe("60")
  })

  test.each([
    { seconds: 300, header: "300" },
    { seconds: 0, header: null },
  ])("asks for snapshots at the configured interval: $seconds", async ({ seconds, header }) => {
    await using testEngine = await stateEngine({ snapshotIntervalSeconds: seconds })
    await testEngine.lock()
    expect((await testEngine.announce()).headers.get("x-terraform-snapshot-interval")).toBe(header)
  })

  test("accepts the same upload again, but no other", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const { attributes } = (await testEngine.announce()).body.data
    const address = attributes["hosted-state-upload-url"]
    expect((await testEngine.upload(address, stateFile({ instances: 1 }).text)).status).toBe(422)
    expect((await testEngine.upload(address, stateFile().text)).status).toBe(204)
    expect((await testEngine.upload(address, stateFile().text)).status).toBe(204)
    expect(detailOf(await testEngine.upload(address, stateFile({ instances: 1 }).text))).toEqual([
      409,
      "The state of this state version has already been uploaded.",
    ])
  })

  test("has an upload URL that stays valid across restarts, expires after 25 hours, and cannot be changed", async () => {
    await using place = await defaultSharedKind.place()
    const options = { url: place.url }
    const clock = manualClock()
    const runtime = { ...systemRuntime(), clock }
    let address = ""
    {
      await using testEngine = await openTestEngine({ ...options, runtime })
      await testEngine.engine.organizations.create({ name: "acme", email: "acme@example.com" })
      const { id } = await testEngine.engine.workspaces.create("acme", { name: "web" })
      const steps = stepsOf(testEngine, id)
      await steps.lock()
      address = (await steps.announce()).body.data.attributes["hosted-state-upload-url"]
    }
    await using testEngine = await openTestEngine({ ...options, runtime })
    const { upload } = stepsOf(testEngine, "")
    expect((await upload(address.replace("/state?", "/json-state?"), "{}")).status).toBe(404)
    expect((await upload(`${address}0`, stateFile().text)).status).toBe(404)
    expect((await upload(address.replace(/\?.*/, ""), stateFile().text)).status).toBe(404)
    clock.advance(25 * hourMs)
    expect((await upload(address, stateFile().text)).status).toBe(404)
    clock.advance(-1)
    expect((await upload(address, stateFile().text)).status).toBe(204)
  })

  test("accepts only an announced state of format version 4", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const { attributes } = (await testEngine.announce()).body.data
    const address = attributes["hosted-state-upload-url"]
    expect(faultsOf(await testEngine.upload(address, "{"))).toEqual([
      ["/data/attributes/state", "state must be a JSON object"],
    ])
    expect(detailOf(await testEngine.upload(address, '{"version":3}'))).toEqual([
      422,
      "state has format version 3; only version 4 is supported; upgrade it with a newer release of the tool",
    ])
    expect(detailOf(await testEngine.upload(attributes["hosted-json-state-upload-url"], "no"))[0]).toBe(422)
    expect(await testEngine.statuses()).toEqual(["1 pending"])
  })
})

describe("a large state", () => {
  /** Longer than the server buffers as a whole. */
  const more = { filling: { value: "x".repeat(300_000), type: "string" } }

  test("is parsed after the response; until then its outputs answer 503 and a safe delete 409", async () => {
    await using testEngine = await stateEngine({ jobs: false })
    await testEngine.lock()
    const version = await testEngine.put({ instances: 2, outputs: more })
    const shown = (await testEngine.current()).body.data
    expect(shown).toMatchObject({
      id: version,
      attributes: {
        status: "finalized",
        "resources-processed": false,
        "terraform-version": "1.11.4",
        "state-version": 4,
      },
    })
    await testEngine.unlock()
    for (const path of [
      `/workspaces/${testEngine.id}/current-state-version-outputs`,
      `/state-versions/${version}/outputs`,
    ]) {
      const { status, body } = await testEngine.request("GET", path)
      expect([status, body.errors[0].title]).toEqual([503, "service unavailable"])
    }
    expect(detailOf(await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/safe-delete`))).toEqual([
      409,
      "Latest workspace state is being processed to discover resources, please try again later",
    ])
  })

  test("is parsed by any server, also after the server that received it has stopped", async () => {
    await using place = await defaultSharedKind.place()
    const { url } = place
    let id = ""
    {
      await using testEngine = await stateEngine({ url, jobs: false })
      id = testEngine.id
      await testEngine.lock()
      await testEngine.put({ instances: 2, outputs: more })
    }
    {
      const clock = manualClock(systemRuntime().clock.now())
      const timers = manualTimers(clock)
      await using testEngine = await openTestEngine({ url, timers, runtime: { ...systemRuntime(), clock } })
      await timers.advance(minuteMs)
      const show = async () =>
        (await testEngine.request("GET", `/workspaces/${id}`)).body.data.attributes["resource-count"]
      await vi.waitFor(async () => expect(await show()).toBe(2), { timeout: 20_000 })
      const { body } = await testEngine.request("GET", `/workspaces/${id}/current-state-version?include=outputs`)
      expect(body.data.attributes).toMatchObject({
        "resources-processed": true,
        resources: [{ name: "web", type: "null_resource", count: 2 }],
      })
      expect(body.included[0].attributes.value).toBe(more.filling.value)
    }
  })

  test.each<{ what: string; change: (text: string) => string; detail: string }>([
    {
      what: "with other bytes",
      change: (text) => text.replace("xx", "xy"),
      detail: "md5 does not match the uploaded state",
    },
    { what: "that is truncated", change: (text) => text.slice(0, -1), detail: "state must be a JSON object" },
    {
      what: "that is not JSON",
      change: (text) => text.replace("null_resource", "null\n"),
      detail: "state must be a JSON object",
    },
    {
      what: "of another format version",
      change: (text) => text.replace('"version":4', '"version":5'),
      detail: "state has format version 5; only version 4 is supported",
    },
    {
      what: "of another lineage",
      change: (text) => text.replace("lineage-1", "lineage-2"),
      detail: "md5 does not match the uploaded state",
    },
  ])(
    "$what is rejected, leaves the version pending, and does not affect the correct one",
    async ({ change, detail }) => {
      await using testEngine = await stateEngine()
      await testEngine.lock()
      const state: StateOptions = { instances: 2, outputs: more }
      const address = (await testEngine.announce(state)).body.data.attributes["hosted-state-upload-url"]
      expect(detailOf(await testEngine.upload(address, change(stateFile(state).text)))).toEqual([422, detail])
      expect(await testEngine.statuses()).toEqual(["1 pending"])
      expect((await testEngine.upload(address, stateFile(state).text)).status).toBe(204)
      expect(await testEngine.statuses()).toEqual(["1 finalized"])
    },
  )

  test("above the limit answers 413, with and without Content-Length", async () => {
    await using testEngine = await stateEngine({ stateLimitBytes: 400_000 })
    await testEngine.lock()
    const within = { outputs: more }
    const beyond = { outputs: { filling: { value: "x".repeat(400_000), type: "string" } } }
    const address = (await testEngine.announce(beyond)).body.data.attributes["hosted-state-upload-url"]
    const sent = Buffer.from(stateFile(beyond).text)
    const announced = await testEngine.request("PUT", address, {
      token: null,
      body: new Uint8Array(0),
      headers: { "content-type": "application/octet-stream", "content-length": String(sent.length) },
    })
    const text = "The state is larger than 400000 bytes."
    expect(detailOf(announced)).toEqual([413, text])
    expect(detailOf(await testEngine.upload(address, sent.toString()))).toEqual([413, text])
    expect(await testEngine.statuses()).toEqual(["1 pending"])
    await testEngine.put(within)
    expect(await testEngine.statuses()).toEqual(["1 finalized", "1 discarded"])
  })

  test("is uploaded 32 times concurrently, each unchanged", async () => {
    await using testEngine = await stateEngine()
    const ids = await Promise.all(Array.from({ length: 32 }, (_, index) => testEngine.workspace(`large-${index}`)))
    const texts = await Promise.all(
      ids.map(async (id, index) => {
        const { lock, put } = stepsOf(testEngine, id)
        const state: StateOptions = {
          lineage: id,
          outputs: { filling: { value: `${index}`.repeat(300_000), type: "string" } },
        }
        await lock()
        const address = `/state-versions/${await put(state)}/download`
        return [
          stateFile(state).text,
          Buffer.from((await testEngine.request("GET", address)).bytes).toString(),
        ] as const
      }),
    )
    for (const [sent, back] of texts) expect(back === sent).toBe(true)
  })
})
