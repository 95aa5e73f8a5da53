import { describe, expect, test, vi } from "vitest"
import { stateFile } from "../../../testing/state-file.ts"
import { detailOf, stateEngine, stepsOf } from "../../../testing/state-engine.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

describe("a rollback", () => {
  const rollBack = (testEngine: Awaited<ReturnType<typeof stateEngine>>, target: string, more: RequestOptions = {}) =>
    testEngine.request("PATCH", `/workspaces/${testEngine.id}/state-versions`, {
      body: {
        data: {
          type: "state-versions",
          relationships: { "rollback-state-version": { data: { type: "state-versions", id: target } } },
        },
      },
      ...more,
    })

  test.each([
    { what: "small", filling: 10 },
    { what: "large", filling: 300_000 },
  ])("creates a new version of a $what state, with a new serial also inside the file", async ({ filling }) => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const outputs = { filling: { value: "x".repeat(filling), type: "string" } }
    const json = Buffer.from('{"format_version":"1.0"}').toString("base64")
    const earlier = await testEngine.announce(
      { serial: 3, instances: 2, outputs },
      { inline: true, "json-state": json },
    )
    await testEngine.put({ serial: 9 })
    const { status, body } = await rollBack(testEngine, earlier.body.data.id)
    const expected = stateFile({ serial: 10, instances: 2, outputs })
    expect([status, body.data.attributes]).toMatchObject([
      201,
      { status: "finalized", serial: 10, md5: expected.md5, size: expected.text.length, lineage: "lineage-1" },
    ])
    expect((await testEngine.current()).body.data.id).toBe(body.data.id)
    const { "hosted-state-download-url": state, "hosted-json-state-download-url": jsonState } = body.data.attributes
    expect(Buffer.from((await testEngine.request("GET", state)).bytes).toString() === expected.text).toBe(true)
    expect((await testEngine.request("GET", jsonState)).body).toEqual({ format_version: "1.0" })
    await vi.waitFor(async () => expect((await testEngine.show()).attributes["resource-count"]).toBe(2), {
      timeout: 20_000,
    })
    // Terraform writes the next serial.
    expect((await testEngine.announce({ serial: 11 })).status).toBe(201)
  })

  test("needs the lock, and a finalized version of the same workspace", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const version = await testEngine.put({ serial: 1 })
    await testEngine.put({ serial: 2 })
    const pending = (await testEngine.announce({ serial: 3 })).body.data.id
    expect(detailOf(await rollBack(testEngine, pending))[0]).toBe(422)
    expect((await rollBack(testEngine, "sv-1111111111111111")).status).toBe(404)
    const elsewhere = await testEngine.workspace("elsewhere")
    await stepsOf(testEngine, elsewhere).lock()
    expect((await rollBack(testEngine, await stepsOf(testEngine, elsewhere).put({}))).status).toBe(404)
    const admin = await testEngine.token({ on: { [testEngine.id]: "admin" } })
    expect(detailOf(await rollBack(testEngine, version, { token: admin }))).toEqual([
      409,
      expect.stringContaining("is locked by User"),
    ])
    await testEngine.forceUnlock()
    expect(detailOf(await rollBack(testEngine, version))).toEqual([409, expect.stringContaining("is not locked")])
    expect(await testEngine.statuses()).toEqual(["3 discarded", "2 finalized", "1 finalized"])
    const readers = await testEngine.token({ on: { [testEngine.id]: "plan" } })
    expect((await rollBack(testEngine, version, { token: readers })).status).toBe(404)
    const wrong = { body: { data: { type: "state-versions", relationships: {} } } }
    expect((await rollBack(testEngine, version, wrong)).status).toBe(422)
  })
})
