// Contents of a state: resources, outputs, and the counts that the workspace shows.
import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { detailOf, stateEngine } from "../../../testing/state-engine.ts"

describe("workspace resources", () => {
  const provider = 'provider["registry.terraform.io/hashicorp/null"]'
  const text = (serial: number, resources: readonly object[]) =>
    JSON.stringify({ version: 4, terraform_version: "1.11.4", serial, lineage: "one", outputs: {}, resources })
  const managed = { mode: "managed", type: "null_resource", name: "web", provider }

  async function push(
    testEngine: Awaited<ReturnType<typeof stateEngine>>,
    serial: number,
    resources: readonly object[],
  ) {
    const state = text(serial, resources)
    const attributes = {
      serial,
      lineage: "one",
      md5: createHash("md5").update(state).digest("hex"),
      state: Buffer.from(state).toString("base64"),
    }
    const { status, body } = await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, {
      body: { data: { type: "state-versions", attributes } },
    })
    expect(status).toBe(201)
    return body.data.id as string
  }

  test("[F-W14] are those of the current state, each with its address and its last change", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    await using testEngine = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    const list = async (query = "") =>
      (await testEngine.request("GET", `/workspaces/${testEngine.id}/resources${query}`)).body
    expect((await list()).data).toEqual([])
    await testEngine.lock()
    const first = await push(testEngine, 1, [
      {
        ...managed,
        instances: [
          { index_key: "b", attributes: { id: 1 } },
          { index_key: 0, attributes: { id: 2 } },
        ],
      },
      { ...managed, name: "db", module: "module.data", instances: [{ attributes: { id: 3 } }] },
      { ...managed, mode: "data", name: "zone", instances: [{}] },
    ])
    const { data } = await list()
    expect(
      data.map(({ attributes }: { readonly attributes: { readonly address: string } }) => attributes.address),
    ).toEqual(["data.null_resource.db", 'null_resource.web["b"]', "null_resource.web[0]"])
    const [inModule, changing] = data
    // [F-W14] As in HCP Terraform, without the word `module`.
    expect(inModule.attributes.module).toBe("data")
    expect(changing).toEqual({
      id: expect.stringMatching(/^wsr-\w{16}$/),
      type: "resources",
      attributes: {
        address: 'null_resource.web["b"]',
        name: "web",
        module: "root",
        provider: "hashicorp/null",
        "provider-type": "null_resource",
        "name-index": "b",
        "created-at": "2026-01-01T00:00:00.000Z",
        "updated-at": "2026-01-01T00:00:00.000Z",
        "modified-by-state-version-id": first,
      },
    })
    clock.advance(hourMs)
    const second = await push(testEngine, 2, [
      { ...managed, instances: [{ index_key: "b", attributes: { id: 9 } }] },
      { ...managed, name: "db", module: "module.data", instances: [{ attributes: { id: 3 } }] },
    ])
    const later = await list("?page%5Bsize%5D=1&page%5Bnumber%5D=2")
    expect([later.meta.pagination["total-count"], later.data]).toEqual([
      2,
      [
        {
          ...changing,
          attributes: {
            ...changing.attributes,
            "updated-at": "2026-01-01T01:00:00.000Z",
            "modified-by-state-version-id": second,
          },
        },
      ],
    ])
    expect((await list()).data[0]).toEqual(data[0])
  })
})

describe("the workspace", () => {
  test("[W-2.3-r16] has the creation time of its latest state version as latest-change-at", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    await using testEngine = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    expect((await testEngine.show()).attributes["latest-change-at"]).toBe("2026-01-01T00:00:00.000Z")
    clock.advance(hourMs)
    await testEngine.lock()
    await testEngine.announce({}, { inline: true })
    clock.advance(hourMs)
    await testEngine.unlock()
    expect((await testEngine.show()).attributes["latest-change-at"]).toBe("2026-01-01T01:00:00.000Z")
  })

  test("[W-2.3-r30] [W-2.5-r5] counts the resources of its current state and links to it", async () => {
    await using testEngine = await stateEngine()
    const empty = await testEngine.show()
    expect(empty.attributes["resource-count"]).toBe(0)
    expect(empty.relationships["current-state-version"].data).toBeNull()
    await testEngine.lock()
    const id = await testEngine.put({ serial: 1, instances: 4 })
    const { attributes, relationships } = await testEngine.show()
    expect(attributes["resource-count"]).toBe(4)
    expect(relationships["current-state-version"]).toEqual({
      data: { type: "state-versions", id },
      links: { related: `/api/v2/workspaces/${testEngine.id}/current-state-version` },
    })
    await testEngine.put({ serial: 2 })
    expect((await testEngine.show()).attributes["resource-count"]).toBe(0)
  })

  test("[W-2.5-r10] lists the outputs of its current state", async () => {
    await using testEngine = await stateEngine()
    expect((await testEngine.show()).relationships.outputs.data).toEqual([])
    await testEngine.lock()
    await testEngine.put({ outputs: { b: { value: 1, type: "number" }, a: { value: "x", type: "string" } } })
    const { data, links } = (await testEngine.show()).relationships.outputs
    expect(data).toEqual([
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
    ])
    expect(links).toEqual({ related: `/api/v2/workspaces/${testEngine.id}/current-state-version-outputs` })
  })

  test("answers 409 to a safe delete while its state has resources, and is deleted afterwards", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({ serial: 1, instances: 1 })
    await testEngine.unlock()
    const path = `/workspaces/${testEngine.id}/actions/safe-delete`
    expect(detailOf(await testEngine.request("POST", path))).toEqual([
      409,
      expect.stringContaining("managing resources"),
    ])
    await testEngine.lock()
    await testEngine.put({ serial: 2 })
    await testEngine.unlock()
    expect((await testEngine.request("POST", path)).status).toBe(204)
    expect((await testEngine.current()).status).toBe(404)
  })
})

describe("outputs", () => {
  const outputs = {
    password: { value: "hunter2", type: "string", sensitive: true },
    zones: { value: ["a", "b"], type: ["list", "string"] },
  }

  test("are listed without sensitive values, and shown with them by id", async () => {
    await using testEngine = await stateEngine()
    expect((await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version-outputs`)).status).toBe(
      404,
    )
    await testEngine.lock()
    const version = await testEngine.put({ outputs })
    const list = (await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version-outputs`)).body
      .data
    expect(list.map(({ attributes }: { readonly attributes: unknown }) => attributes)).toEqual([
      { name: "password", sensitive: true, type: "string", value: null, "detailed-type": "string" },
      { name: "zones", sensitive: false, type: "array", value: ["a", "b"], "detailed-type": ["list", "string"] },
    ])
    const [secret] = list
    const one = await testEngine.request("GET", `/state-version-outputs/${secret.id}`)
    expect(one.body.data).toMatchObject({ type: "state-version-outputs", attributes: { value: "hunter2" } })
    const page = await testEngine.request(
      "GET",
      `/state-versions/${version}/outputs?page%5Bsize%5D=1&page%5Bnumber%5D=2`,
    )
    expect(page.body.data.map(({ attributes }: { readonly attributes: { name: string } }) => attributes.name)).toEqual([
      "zones",
    ])
    expect(page.body.meta.pagination["total-count"]).toBe(2)
  })

  test("keep values of any type", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const value = { deep: [{ "": null, ünï: 1e21 }], text: '"\\\u2028' }
    const version = await testEngine.put({ outputs: { any: { value, type: "dynamic" } } })
    const { body } = await testEngine.request("GET", `/state-versions/${version}/outputs`)
    expect(body.data[0].attributes).toMatchObject({ value, type: "map", "detailed-type": "dynamic" })
  })
})
