import { describe, expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"

const header = "x-chancery-owner"
const named = (...names: string[]) => ({ data: names.map((name) => ({ type: "tags", attributes: { name } })) })
const bindings = (pairs: Readonly<Record<string, string>>) => ({
  data: Object.entries(pairs).map(([key, value]) => ({ type: "tag-bindings", attributes: { key, value } })),
})
const as = (owner: string) => ({ headers: { [header]: owner } })

async function ownerEngine() {
  const testEngine = await populatedEngine()
  const id = await testEngine.workspace("one")
  const owned = async (path = `/workspaces/${id}/tag-bindings`) => {
    const { body } = await testEngine.request("GET", `${path}?show[owners]=true&show[tags]=true`)
    return body.data.map(({ attributes: { key, value, owners } }: Shown) => `${key}=${value}@${owners.join(",")}`)
  }
  return Object.assign(testEngine, { id, owned })
}

interface Shown {
  readonly attributes: { readonly key: string; readonly value: string; readonly owners: readonly string[] }
}

describe("the owner of a write", () => {
  test("is read from the header or from the document's meta", async () => {
    await using testEngine = await ownerEngine()
    const tags = `/workspaces/${testEngine.id}/relationships/tags`
    await testEngine.request("POST", tags, { body: named("a"), ...as("one") })
    await testEngine.request("POST", tags, { body: { ...named("a", "b"), meta: { owner: "two" } } })
    await testEngine.request("POST", tags, { body: { ...named("c"), meta: { owner: null } } })
    expect(await testEngine.owned()).toEqual(["a=@one,two", "b=@two", "c=@"])
    await testEngine.request("DELETE", tags, { body: { ...named("a"), meta: { owner: "one" } }, ...as("one") })
    expect(await testEngine.owned()).toEqual(["a=@two", "b=@two", "c=@"])
  })

  test.each([
    { said: "", problem: "can't be blank" },
    { said: "x".repeat(129), problem: "is too long (maximum is 128 characters)" },
    { said: "\u00e9", problem: "can only include printable ASCII characters" },
    { said: "a\tb", problem: "can only include printable ASCII characters" },
  ])("is rejected as the header $said", async ({ said, problem }) => {
    await using testEngine = await ownerEngine()
    const { status, body } = await testEngine.request("PATCH", `/workspaces/${testEngine.id}/tag-bindings`, {
      body: bindings({ env: "prod" }),
      ...as(said),
    })
    expect([status, body.errors]).toEqual([
      422,
      [
        {
          status: "422",
          title: "invalid attribute",
          detail: `X-Chancery-Owner ${problem}`,
          source: { header: "X-Chancery-Owner" },
        },
      ],
    ])
    expect(await testEngine.owned()).toEqual([])
  })

  test.each([
    { owner: "", detail: "owner can't be blank" },
    { owner: 7, detail: "owner must be a string" },
    { owner: ["a"], detail: "owner must be a string" },
    { owner: "a\nb", detail: "owner can only include printable ASCII characters" },
    { owner: "other", detail: "meta.owner must equal the value of the header X-Chancery-Owner; send one of them" },
  ])("is rejected as the member $owner", async ({ owner, detail }) => {
    await using testEngine = await ownerEngine()
    const options = owner === "other" ? as("one") : {}
    for (const [method, path, body] of [
      ["POST", `/workspaces/${testEngine.id}/relationships/tags`, named("a")],
      ["PATCH", `/workspaces/${testEngine.id}`, { data: { type: "workspaces", attributes: {} } }],
      ["POST", "/organizations/acme/projects", { data: { type: "projects", attributes: { name: "p" } } }],
    ] as const) {
      const answer = await testEngine.request(method, path, { body: { ...body, meta: { owner } }, ...options })
      expect(answer.status).toBe(422)
      expect(answer.body.errors).toMatchObject([{ detail, source: { pointer: "/meta/owner" } }])
    }
    expect(await testEngine.owned()).toEqual([])
  })

  test("is rejected with 409 when other owners use another value; the error names key, values and owners", async () => {
    await using testEngine = await ownerEngine()
    const path = `/workspaces/${testEngine.id}/tag-bindings`
    await testEngine.request("PATCH", path, { body: bindings({ env: "prod" }), ...as("one") })
    const { status, body } = await testEngine.request("PATCH", path, { body: bindings({ env: "dev" }), ...as("two") })
    expect([status, body.errors]).toEqual([
      409,
      [
        {
          status: "409",
          title: "conflict",
          detail: "Tag env=prod is owned by one; two cannot change it to env=dev",
          source: { pointer: "/data/0/attributes/value" },
        },
      ],
    ])
    const inDocument = await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, {
      body: { data: { type: "workspaces", relationships: { "tag-bindings": bindings({ env: "dev" }) } } },
      ...as("two"),
    })
    expect([inDocument.status, inDocument.body.errors[0].source]).toEqual([
      409,
      { pointer: "/data/relationships/tag-bindings/data/0/attributes/value" },
    ])
    expect(await testEngine.owned()).toEqual(["env=prod@one"])
  })
})

describe("owners in responses", () => {
  test("are in every list of bindings that requests them, and in no other document", async () => {
    await using testEngine = await ownerEngine()
    const { body: workspace } = await testEngine.request("GET", `/workspaces/${testEngine.id}`)
    const project = workspace.data.relationships.project.data.id as string
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}/tag-bindings`, {
      body: bindings({ env: "a" }),
      ...as("one"),
    })
    await testEngine.request("PATCH", `/projects/${project}/tag-bindings`, {
      body: bindings({ cost: "1" }),
      ...as("two"),
    })
    const lists = [
      { path: `/workspaces/${testEngine.id}/tag-bindings`, shown: ["env=a@one"] },
      { path: `/workspaces/${testEngine.id}/effective-tag-bindings`, shown: ["env=a@one", "cost=1@two"] },
      { path: `/projects/${project}/tag-bindings`, shown: ["cost=1@two"] },
      { path: `/projects/${project}/effective-tag-bindings`, shown: ["cost=1@two"] },
    ]
    for (const { path, shown } of lists) {
      expect(await testEngine.owned(path)).toEqual(shown)
      for (const query of ["", "?show[owners]=false", "?show[owners]="])
        expect(JSON.stringify((await testEngine.request("GET", `${path}${query}`)).body)).not.toContain("owners")
      const refused = await testEngine.request("GET", `${path}?show[owners]=maybe`)
      expect([refused.status, refused.body.errors[0].source]).toEqual([400, { parameter: "show[owners]" }])
    }
    const included = await testEngine.request("GET", `/workspaces/${testEngine.id}?include=effective_tag_bindings`)
    expect(included.body.included).toHaveLength(2)
    expect(JSON.stringify(included.body)).not.toContain("owners")
  })
})
