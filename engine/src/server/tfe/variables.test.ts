import { describe, expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { Answer, RequestOptions } from "../../../testing/test-engine.ts"

async function variableWorld() {
  const world = await populatedEngine()
  const id = await world.workspace("web")
  const path = `/workspaces/${id}/vars`
  const document = (attributes: Record<string, unknown>) => ({ body: { data: { type: "vars", attributes } } })
  return Object.assign(world, {
    id,
    path,
    create: (attributes: Record<string, unknown>, more: RequestOptions = {}) =>
      world.request("POST", path, { ...document(attributes), ...more }),
    update: (variable: string, attributes: Record<string, unknown>, more: RequestOptions = {}) =>
      world.request("PATCH", `${path}/${variable}`, { ...document(attributes), ...more }),
    list: (query = "") => world.request("GET", `${path}${query}`),
  })
}

const region = { key: "region", value: "eu", category: "terraform" }
const faultsOf = ({ status, body }: Answer) => [
  status,
  ...body.errors.map(({ source, detail }: { readonly source: { pointer: string }; readonly detail: string }) => [
    source.pointer,
    detail,
  ]),
]

describe("a variable", () => {
  test("is created with defaults, shown, changed and deleted", async () => {
    await using world = await variableWorld()
    const { status, body } = await world.create(region)
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^var-\w{16}$/),
      type: "vars",
      attributes: { ...region, description: "", hcl: false, sensitive: false },
      relationships: { configurable: { data: { type: "workspaces", id: world.id } } },
    })
    const path = `${world.path}/${body.data.id}`
    expect((await world.request("GET", path)).body).toEqual(body)
    const changed = await world.update(body.data.id, { value: "us", hcl: true })
    expect(changed.body.data.attributes).toMatchObject({ key: "region", value: "us", hcl: true })
    expect(changed.body.data.attributes["version-id"]).not.toBe(body.data.attributes["version-id"])
    const unchanged = await world.request("PATCH", path, { body: { data: { type: "vars", id: body.data.id } } })
    expect([unchanged.status, unchanged.body.data.attributes.value]).toEqual([200, "us"])
    expect((await world.request("DELETE", path)).status).toBe(204)
    expect((await world.request("GET", path)).status).toBe(404)
    expect((await world.request("DELETE", path)).status).toBe(404)
  })

  test("that is sensitive is write-only permanently", async () => {
    await using world = await variableWorld()
    const { body } = await world.create({ ...region, sensitive: true })
    const { id } = body.data
    expect(body.data.attributes.value).toBeNull()
    expect((await world.update(id, { value: "secret-value" })).body.data.attributes.value).toBeNull()
    expect(faultsOf(await world.update(id, { sensitive: false }))).toEqual([
      422,
      ["/data/attributes/sensitive", "sensitive cannot be changed to false; delete the variable instead"],
    ])
    expect(JSON.stringify((await world.list()).body)).not.toContain("secret-value")
  })

  test("has a unique key in its category and workspace", async () => {
    await using world = await variableWorld()
    await world.create(region)
    const taken = [422, ["/data/attributes/key", "Key has already been taken"]]
    expect(faultsOf(await world.create(region))).toEqual(taken)
    expect((await world.create({ ...region, category: "env" })).status).toBe(201)
    const other = (await world.create({ ...region, key: "other" })).body.data.id
    expect(faultsOf(await world.update(other, { key: "region" }))).toEqual(taken)
    const elsewhere = await world.workspace("elsewhere")
    const body = { data: { type: "vars", attributes: region } }
    expect((await world.request("POST", `/workspaces/${elsewhere}/vars`, { body })).status).toBe(201)
    expect((await world.request("GET", `/workspaces/${elsewhere}/vars/${other}`)).status).toBe(404)
  })

  test("is rejected with all faults at once", async () => {
    await using world = await variableWorld()
    expect(faultsOf(await world.create({ category: "shell", value: 3 }))).toEqual([
      422,
      ["/data/attributes/key", "key can't be blank"],
      ["/data/attributes/category", 'category must be one of "terraform", "env"'],
      ["/data/attributes/value", "value must be a string"],
    ])
    expect(faultsOf(await world.create({ ...region, key: "k".repeat(129), description: "d".repeat(513) }))).toEqual([
      422,
      ["/data/attributes/key", "Key is too long (maximum is 128 characters)"],
      ["/data/attributes/description", "Description is too long (maximum is 512 characters)"],
    ])
    expect((await world.list()).body.data).toEqual([])
  })

  test("[W-2.5-r16] is in the list of the workspace, which is complete unless a page is requested", async () => {
    await using world = await variableWorld()
    const ids: string[] = []
    for (let index = 0; index < 25; index += 1)
      ids.push((await world.create({ ...region, key: `key-${index}` })).body.data.id)
    const { data } = (await world.request("GET", `/workspaces/${world.id}`)).body.data.relationships.vars
    expect(new Set(data.map(({ id }: { readonly id: string }) => id))).toEqual(new Set(ids))
    expect(data[0].type).toBe("vars")
    expect((await world.list()).body.data).toHaveLength(25)
    const page = (await world.list("?page[size]=10&page[number]=3")).body
    expect([page.data.length, page.meta.pagination["total-pages"]]).toEqual([5, 3])
  })

  test.each<{ who: "stranger" | "read" | "plan" | "write"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404, 404, 404] },
    { who: "read", statuses: [200, 200, 404, 404, 404] },
    { who: "plan", statuses: [200, 200, 404, 404, 404] },
    { who: "write", statuses: [200, 200, 201, 200, 204] },
  ])("is listed, shown, created, changed and deleted by $who: $statuses", async ({ who, statuses }) => {
    await using world = await variableWorld()
    const { id } = (await world.create(region)).body.data
    const token = await world.token(who === "stranger" ? {} : { on: { [world.id]: who } })
    const answers = [
      await world.request("GET", world.path, { token }),
      await world.request("GET", `${world.path}/${id}`, { token }),
      await world.create({ ...region, key: "more" }, { token }),
      await world.update(id, { value: "x" }, { token }),
      await world.request("DELETE", `${world.path}/${id}`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })
})

describe("the paths for earlier clients", () => {
  const named = "filter[organization][name]=acme&filter[workspace][name]=web"
  const made = (workspace: string, attributes: Record<string, unknown>) => ({
    body: {
      data: { type: "vars", attributes, relationships: { workspace: { data: { type: "workspaces", id: workspace } } } },
    },
  })

  test("create, show, list, change and delete the same variables", async () => {
    await using world = await variableWorld()
    const { status, body } = await world.request("POST", "/vars", made(world.id, region))
    expect([status, body.data.attributes.key]).toEqual([201, "region"])
    const path = `/vars/${body.data.id}`
    expect((await world.request("GET", path)).body).toEqual(body)
    expect((await world.request("GET", `${world.path}/${body.data.id}`)).body).toEqual(body)
    expect((await world.request("GET", `/vars?${named}`)).body.data).toEqual([body.data])
    const changed = await world.request("PATCH", path, {
      body: { data: { type: "vars", attributes: { value: "us" } } },
    })
    expect([changed.status, changed.body.data.attributes.value]).toEqual([200, "us"])
    expect((await world.request("GET", `/workspaces/${world.id}/all-vars`)).body.data).toEqual([changed.body.data])
    expect((await world.request("DELETE", path)).status).toBe(204)
    expect((await world.list()).body.data).toEqual([])
  })

  test("need a workspace, and report where it is missing", async () => {
    await using world = await variableWorld()
    const bare = await world.request("POST", "/vars", { body: { data: { type: "vars", attributes: region } } })
    expect([bare.status, bare.body.errors[0].source]).toEqual([422, { pointer: "/data/relationships" }])
    const list = await world.request("GET", "/vars?filter[organization][name]=acme")
    expect([list.status, list.body.errors[0].source]).toEqual([400, { parameter: "filter[workspace][name]" }])
    expect((await world.request("POST", "/vars", made("ws-none", region))).status).toBe(404)
    const twice = [await world.create(region), await world.request("POST", "/vars", made(world.id, region))]
    expect(twice.map(({ status }) => status)).toEqual([201, 422])
  })

  test("show no sensitive value, and no variable to strangers", async () => {
    await using world = await variableWorld()
    const { id } = (await world.create({ ...region, sensitive: true })).body.data
    expect((await world.request("GET", `/vars/${id}`)).body.data.attributes.value).toBeNull()
    const token = await world.token()
    const body = { data: { type: "vars", attributes: { value: "mine" } } }
    for (const [method, path] of [
      ["GET", `/vars/${id}`],
      ["PATCH", `/vars/${id}`],
      ["DELETE", `/vars/${id}`],
      ["GET", `/vars?${named}`],
    ] as const)
      expect((await world.request(method, path, { token, ...(method === "PATCH" ? { body } : {}) })).status).toBe(404)
  })
})
