import { describe, expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { Answer, RequestOptions } from "../../../testing/test-engine.ts"

async function variableEngine() {
  const testEngine = await populatedEngine()
  const id = await testEngine.workspace("web")
  const path = `/workspaces/${id}/vars`
  const document = (attributes: Record<string, unknown>) => ({ body: { data: { type: "vars", attributes } } })
  return Object.assign(testEngine, {
    id,
    path,
    create: (attributes: Record<string, unknown>, more: RequestOptions = {}) =>
      testEngine.request("POST", path, { ...document(attributes), ...more }),
    update: (variable: string, attributes: Record<string, unknown>, more: RequestOptions = {}) =>
      testEngine.request("PATCH", `${path}/${variable}`, { ...document(attributes), ...more }),
    list: (query = "") => testEngine.request("GET", `${path}${query}`),
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
    await using testEngine = await variableEngine()
    const { status, body } = await testEngine.create(region)
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^var-\w{16}$/),
      type: "vars",
      attributes: { ...region, description: "", hcl: false, sensitive: false },
      relationships: { configurable: { data: { type: "workspaces", id: testEngine.id } } },
    })
    const path = `${testEngine.path}/${body.data.id}`
    expect((await testEngine.request("GET", path)).body).toEqual(body)
    const changed = await testEngine.update(body.data.id, { value: "us", hcl: true })
    expect(changed.body.data.attributes).toMatchObject({ key: "region", value: "us", hcl: true })
    expect(changed.body.data.attributes["version-id"]).not.toBe(body.data.attributes["version-id"])
    const unchanged = await testEngine.request("PATCH", path, { body: { data: { type: "vars", id: body.data.id } } })
    expect([unchanged.status, unchanged.body.data.attributes.value]).toEqual([200, "us"])
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect((await testEngine.request("GET", path)).status).toBe(404)
    expect((await testEngine.request("DELETE", path)).status).toBe(404)
  })

  test("that is sensitive is write-only permanently", async () => {
    await using testEngine = await variableEngine()
    const { body } = await testEngine.create({ ...region, sensitive: true })
    const { id } = body.data
    expect(body.data.attributes.value).toBeNull()
    expect((await testEngine.update(id, { value: "secret-value" })).body.data.attributes.value).toBeNull()
    expect(faultsOf(await testEngine.update(id, { sensitive: false }))).toEqual([
      422,
      ["/data/attributes/sensitive", "sensitive cannot be changed to false; delete the variable instead"],
    ])
    expect(JSON.stringify((await testEngine.list()).body)).not.toContain("secret-value")
  })

  test("has a unique key in its category and workspace", async () => {
    await using testEngine = await variableEngine()
    await testEngine.create(region)
    const taken = [422, ["/data/attributes/key", "Key has already been taken"]]
    expect(faultsOf(await testEngine.create(region))).toEqual(taken)
    expect((await testEngine.create({ ...region, category: "env" })).status).toBe(201)
    const other = (await testEngine.create({ ...region, key: "other" })).body.data.id
    expect(faultsOf(await testEngine.update(other, { key: "region" }))).toEqual(taken)
    const elsewhere = await testEngine.workspace("elsewhere")
    const body = { data: { type: "vars", attributes: region } }
    expect((await testEngine.request("POST", `/workspaces/${elsewhere}/vars`, { body })).status).toBe(201)
    expect((await testEngine.request("GET", `/workspaces/${elsewhere}/vars/${other}`)).status).toBe(404)
  })

  test("is rejected with all faults at once", async () => {
    await using testEngine = await variableEngine()
    expect(faultsOf(await testEngine.create({ category: "shell", value: 3 }))).toEqual([
      422,
      ["/data/attributes/key", "key can't be blank"],
      ["/data/attributes/category", 'category must be one of "terraform", "env"'],
      ["/data/attributes/value", "value must be a string"],
    ])
    expect(
      faultsOf(await testEngine.create({ ...region, key: "k".repeat(129), description: "d".repeat(513) })),
    ).toEqual([
      422,
      ["/data/attributes/key", "Key is too long (maximum is 128 characters)"],
      ["/data/attributes/description", "Description is too long (maximum is 512 characters)"],
    ])
    expect((await testEngine.list()).body.data).toEqual([])
  })

  test("[W-2.5-r16] is in the list of the workspace, which is complete unless a page is requested", async () => {
    await using testEngine = await variableEngine()
    const ids: string[] = []
    for (let index = 0; index < 25; index += 1)
      ids.push((await testEngine.create({ ...region, key: `key-${index}` })).body.data.id)
    const { data } = (await testEngine.request("GET", `/workspaces/${testEngine.id}`)).body.data.relationships.vars
    expect(new Set(data.map(({ id }: { readonly id: string }) => id))).toEqual(new Set(ids))
    expect(data[0].type).toBe("vars")
    expect((await testEngine.list()).body.data).toHaveLength(25)
    const page = (await testEngine.list("?page[size]=10&page[number]=3")).body
    expect([page.data.length, page.meta.pagination["total-pages"]]).toEqual([5, 3])
  })

  test.each<{ who: "stranger" | "read" | "plan" | "write"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404, 404, 404] },
    { who: "read", statuses: [200, 200, 404, 404, 404] },
    { who: "plan", statuses: [200, 200, 404, 404, 404] },
    { who: "write", statuses: [200, 200, 201, 200, 204] },
  ])("is listed, shown, created, changed and deleted by $who: $statuses", async ({ who, statuses }) => {
    await using testEngine = await variableEngine()
    const { id } = (await testEngine.create(region)).body.data
    const token = await testEngine.token(who === "stranger" ? {} : { on: { [testEngine.id]: who } })
    const answers = [
      await testEngine.request("GET", testEngine.path, { token }),
      await testEngine.request("GET", `${testEngine.path}/${id}`, { token }),
      await testEngine.create({ ...region, key: "more" }, { token }),
      await testEngine.update(id, { value: "x" }, { token }),
      await testEngine.request("DELETE", `${testEngine.path}/${id}`, { token }),
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
    await using testEngine = await variableEngine()
    const { status, body } = await testEngine.request("POST", "/vars", made(testEngine.id, region))
    expect([status, body.data.attributes.key]).toEqual([201, "region"])
    const path = `/vars/${body.data.id}`
    expect((await testEngine.request("GET", path)).body).toEqual(body)
    expect((await testEngine.request("GET", `${testEngine.path}/${body.data.id}`)).body).toEqual(body)
    expect((await testEngine.request("GET", `/vars?${named}`)).body.data).toEqual([body.data])
    const changed = await testEngine.request("PATCH", path, {
      body: { data: { type: "vars", attributes: { value: "us" } } },
    })
    expect([changed.status, changed.body.data.attributes.value]).toEqual([200, "us"])
    expect((await testEngine.request("GET", `/workspaces/${testEngine.id}/all-vars`)).body.data).toEqual([
      changed.body.data,
    ])
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect((await testEngine.list()).body.data).toEqual([])
  })

  test("need a workspace, and report where it is missing", async () => {
    await using testEngine = await variableEngine()
    const bare = await testEngine.request("POST", "/vars", { body: { data: { type: "vars", attributes: region } } })
    expect([bare.status, bare.body.errors[0].source]).toEqual([422, { pointer: "/data/relationships" }])
    const list = await testEngine.request("GET", "/vars?filter[organization][name]=acme")
    expect([list.status, list.body.errors[0].source]).toEqual([400, { parameter: "filter[workspace][name]" }])
    expect((await testEngine.request("POST", "/vars", made("ws-none", region))).status).toBe(404)
    const twice = [
      await testEngine.create(region),
      await testEngine.request("POST", "/vars", made(testEngine.id, region)),
    ]
    expect(twice.map(({ status }) => status)).toEqual([201, 422])
  })

  test("show no sensitive value, and no variable to strangers", async () => {
    await using testEngine = await variableEngine()
    const { id } = (await testEngine.create({ ...region, sensitive: true })).body.data
    expect((await testEngine.request("GET", `/vars/${id}`)).body.data.attributes.value).toBeNull()
    const token = await testEngine.token()
    const body = { data: { type: "vars", attributes: { value: "mine" } } }
    for (const [method, path] of [
      ["GET", `/vars/${id}`],
      ["PATCH", `/vars/${id}`],
      ["DELETE", `/vars/${id}`],
      ["GET", `/vars?${named}`],
    ] as const)
      expect((await testEngine.request(method, path, { token, ...(method === "PATCH" ? { body } : {}) })).status).toBe(
        404,
      )
  })
})
