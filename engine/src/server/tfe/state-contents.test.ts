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

  async function push(world: Awaited<ReturnType<typeof stateEngine>>, serial: number, resources: readonly object[]) {
    const state = text(serial, resources)
    const attributes = {
      serial,
      lineage: "one",
      md5: createHash("md5").update(state).digest("hex"),
      state: Buffer.from(state).toString("base64"),
    }
    const { status, body } = await world.request("POST", `/workspaces/${world.id}/state-versions`, {
      body: { data: { type: "state-versions", attributes } },
    })
    expect(status).toBe(201)
    return body.data.id as string
  }

  test("[F-W14] are those of the current state, each with its address and its last change", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    await using world = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    const list = async (query = "") => (await world.request("GET", `/workspaces/${world.id}/resources${query}`)).body
    expect((await list()).data).toEqual([])
    await world.lock()
    const first = await push(world, 1, [
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
    const second = await push(world, 2, [
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
    await using world = await stateEngine({ runtime: { ...systemRuntime(), clock } })
    expect((await world.show()).attributes["latest-change-at"]).toBe("2026-01-01T00:00:00.000Z")
    clock.advance(hourMs)
    await world.lock()
    await world.announce({}, { inline: true })
    clock.advance(hourMs)
    await world.unlock()
    expect((await world.show()).attributes["latest-change-at"]).toBe("2026-01-01T01:00:00.000Z")
  })

  test("[W-2.3-r30] [W-2.5-r5] counts the resources of its current state and links to it", async () => {
    await using world = await stateEngine()
    const empty = await world.show()
    expect(empty.attributes["resource-count"]).toBe(0)
    expect(empty.relationships["current-state-version"].data).toBeNull()
    await world.lock()
    const id = await world.put({ serial: 1, instances: 4 })
    const { attributes, relationships } = await world.show()
    expect(attributes["resource-count"]).toBe(4)
    expect(relationships["current-state-version"]).toEqual({
      data: { type: "state-versions", id },
      links: { related: `/api/v2/workspaces/${world.id}/current-state-version` },
    })
    await world.put({ serial: 2 })
    expect((await world.show()).attributes["resource-count"]).toBe(0)
  })

  test("[W-2.5-r10] lists the outputs of its current state", async () => {
    await using world = await stateEngine()
    expect((await world.show()).relationships.outputs.data).toEqual([])
    await world.lock()
    await world.put({ outputs: { b: { value: 1, type: "number" }, a: { value: "x", type: "string" } } })
    const { data, links } = (await world.show()).relationships.outputs
    expect(data).toEqual([
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
    ])
    expect(links).toEqual({ related: `/api/v2/workspaces/${world.id}/current-state-version-outputs` })
  })

  test("answers 409 to a safe delete while its state has resources, and is deleted afterwards", async () => {
    await using world = await stateEngine()
    await world.lock()
    await world.put({ serial: 1, instances: 1 })
    await world.unlock()
    const path = `/workspaces/${world.id}/actions/safe-delete`
    expect(detailOf(await world.request("POST", path))).toEqual([409, expect.stringContaining("managing resources")])
    await world.lock()
    await world.put({ serial: 2 })
    await world.unlock()
    expect((await world.request("POST", path)).status).toBe(204)
    expect((await world.current()).status).toBe(404)
  })
})

describe("outputs", () => {
  const outputs = {
    password: { value: "hunter2", type: "string", sensitive: true },
    zones: { value: ["a", "b"], type: ["list", "string"] },
  }

  test("are listed without sensitive values, and shown with them by id", async () => {
    await using world = await stateEngine()
    expect((await world.request("GET", `/workspaces/${world.id}/current-state-version-outputs`)).status).toBe(404)
    await world.lock()
    const version = await world.put({ outputs })
    const list = (await world.request("GET", `/workspaces/${world.id}/current-state-version-outputs`)).body.data
    expect(list.map(({ attributes }: { readonly attributes: unknown }) => attributes)).toEqual([
      { name: "password", sensitive: true, type: "string", value: null, "detailed-type": "string" },
      { name: "zones", sensitive: false, type: "array", value: ["a", "b"], "detailed-type": ["list", "string"] },
    ])
    const [secret] = list
    const one = await world.request("GET", `/state-version-outputs/${secret.id}`)
    expect(one.body.data).toMatchObject({ type: "state-version-outputs", attributes: { value: "hunter2" } })
    const page = await world.request("GET", `/state-versions/${version}/outputs?page%5Bsize%5D=1&page%5Bnumber%5D=2`)
    expect(page.body.data.map(({ attributes }: { readonly attributes: { name: string } }) => attributes.name)).toEqual([
      "zones",
    ])
    expect(page.body.meta.pagination["total-count"]).toBe(2)
  })

  test("keep values of any type", async () => {
    await using world = await stateEngine()
    await world.lock()
    const value = { deep: [{ "": null, ünï: 1e21 }], text: '"\\\u2028' }
    const version = await world.put({ outputs: { any: { value, type: "dynamic" } } })
    const { body } = await world.request("GET", `/state-versions/${version}/outputs`)
    expect(body.data[0].attributes).toMatchObject({ value, type: "map", "detailed-type": "dynamic" })
  })
})
