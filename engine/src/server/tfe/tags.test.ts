import { describe, expect, test } from "vitest"
import { manualClock } from "../../../testing/manual-clock.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

const pool = "/organizations/acme/tags"
const named = (...names: string[]) => ({ data: names.map((name) => ({ type: "tags", attributes: { name } })) })
const identified = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ type, id })) })
const bindings = (pairs: Readonly<Record<string, string>>) => ({
  data: Object.entries(pairs).map(([key, value]) => ({ type: "tag-bindings", attributes: { key, value } })),
})

async function tagEngine() {
  const testEngine = await populatedEngine()
  const { request } = testEngine
  return Object.assign(testEngine, {
    add: async (workspace: string, ...names: string[]) =>
      (await request("POST", `/workspaces/${workspace}/relationships/tags`, { body: named(...names) })).status,
    pool: async (query = "", options: RequestOptions = {}) =>
      namesOf((await request("GET", `${pool}${query}`, options)).body),
    carried: async (workspace: string) =>
      namesOf((await request("GET", `/workspaces/${workspace}/relationships/tags`)).body),
    bound: async (workspace: string) => pairsOf((await request("GET", `/workspaces/${workspace}/tag-bindings`)).body),
    idOf: async (name: string) => {
      const { body } = await request("GET", `${pool}?q=${name}`)
      return body.data.find((tag: Named) => tag.attributes.name === name).id as string
    },
  })
}

interface Named {
  readonly attributes: { readonly name: string; readonly key: string; readonly value: string }
}
const namesOf = (body: { readonly data: readonly Named[] }) => body.data.map(({ attributes }) => attributes.name)
const pairsOf = (body: { readonly data: readonly Named[] }) =>
  Object.fromEntries(body.data.map(({ attributes }) => [attributes.key, attributes.value]))
const faultsOf = (body: { readonly errors: readonly { detail: string; source?: { pointer?: string } }[] }) =>
  body.errors.map(({ detail, source }) => [source?.pointer, detail])

const nowhere = ["ws-none", "tag-1111111111111111"] as const

describe("the tags of an organization", () => {
  test("[W-2.1-r1] [W-2.1-r2] [W-2.1-r4] [W-2.1-r5] [W-2.1-r6] have an id, a type, a name, a creation time, a count of users and an organization", async () => {
    const clock = manualClock(Date.UTC(2026, 1, 3, 4, 5, 6, 78))
    await using testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
    const [first, second] = [await testEngine.workspace("one"), await testEngine.workspace("two")]
    for (const id of [first, second])
      await testEngine.request("POST", `/workspaces/${id}/relationships/tags`, { body: named("prod") })
    const { status, body } = await testEngine.request("GET", pool)
    expect(status).toBe(200)
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^tag-[a-zA-Z0-9]{16}$/),
        type: "tags",
        attributes: { name: "prod", "created-at": "2026-02-03T04:05:06.078Z", "instance-count": 2 },
        relationships: { organization: { data: { id: "acme", type: "organizations" } } },
      },
    ])
  })

  test("[W-4.1-r1] are listed in pages, with links and counts", async () => {
    await using testEngine = await tagEngine()
    const names = Array.from({ length: 25 }, (_, index) => `t${index + 10}`)
    await testEngine.add(await testEngine.workspace("one"), ...names)
    const { body } = await testEngine.request("GET", pool)
    expect(namesOf(body)).toEqual(names.slice(0, 20))
    expect(body.meta.pagination).toMatchObject({ "total-count": 25, "total-pages": 2, "next-page": 2 })
    expect(body.links.next).toContain("http://chancery.test/api/v2/organizations/acme/tags?page")
    expect(await testEngine.pool("?page[number]=3&page[size]=10")).toEqual(names.slice(20))
  })

  test("[W-4.1-r1] [W-2.1-r3] are searched by a part of the name, and without those of a workspace", async () => {
    await using testEngine = await tagEngine()
    const [first, second] = [await testEngine.workspace("one"), await testEngine.workspace("two")]
    await testEngine.add(first, "Prod-eu", "dev")
    await testEngine.add(second, "prod-us")
    expect(await testEngine.pool("?q=PROD")).toEqual(["Prod-eu", "prod-us"])
    expect(await testEngine.pool("?q=d-")).toEqual(["Prod-eu", "prod-us"])
    expect(await testEngine.pool("?q=%25")).toEqual([])
    expect(await testEngine.pool(`?filter[exclude][taggable][id]=${first}`)).toEqual(["prod-us"])
    expect(await testEngine.pool(`?filter%5Bexclude%5D%5Btaggable%5D%5Bid%5D=${second}&q=prod`)).toEqual(["Prod-eu"])
  })

  test("do not reveal through the exclusion the tags of a workspace that the caller does not see", async () => {
    await using testEngine = await tagEngine()
    const hidden = await testEngine.workspace("hidden")
    await testEngine.add(hidden, "secret")
    const token = await testEngine.token()
    expect(await testEngine.pool(`?filter[exclude][taggable][id]=${hidden}`, { token })).toEqual(["secret"])
  })

  test.each([
    { query: "page[number]=0", parameter: "page[number]" },
    { query: "page[size]=x", parameter: "page[size]" },
  ])("are not listed for $query", async ({ query, parameter }) => {
    await using testEngine = await tagEngine()
    const { status, body } = await testEngine.request("GET", `${pool}?${query}`)
    expect([status, body.errors[0].source]).toEqual([400, { parameter }])
  })

  test("[W-1-n2] are created one or many at once, returned, and kept if they exist", async () => {
    await using testEngine = await tagEngine()
    const one = await testEngine.request("POST", pool, {
      body: { data: { type: "tags", attributes: { name: "Prod" } } },
    })
    expect(one.status).toBe(201)
    expect(one.body.data).toMatchObject({ type: "tags", attributes: { name: "Prod", "instance-count": 0 } })
    const many = await testEngine.request("POST", pool, { body: named("dev", "prod", "DEV") })
    expect([many.status, namesOf(many.body)]).toEqual([201, ["dev", "Prod"]])
    expect(many.body.data[1].id).toBe(one.body.data.id)
    expect(await testEngine.pool()).toEqual(["dev", "Prod"])
  })

  test("stay until they are removed from their last workspace when they were created directly", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("POST", pool, { body: named("direct") })
    await testEngine.add(workspace, "direct")
    await testEngine.request("DELETE", `/workspaces/${workspace}/relationships/tags`, { body: named("direct") })
    expect(await testEngine.pool()).toEqual([])
  })

  test("with invalid names are rejected together, each with its pointer", async () => {
    await using testEngine = await tagEngine()
    const many = await testEngine.request("POST", pool, { body: named("ok", "-", "hc:x") })
    expect([many.status, faultsOf(many.body).map(([pointer]) => pointer)]).toEqual([
      422,
      ["/data/1/attributes/name", "/data/2/attributes/name"],
    ])
    const one = await testEngine.request("POST", pool, { body: { data: { type: "tags", attributes: { name: "" } } } })
    expect([one.status, faultsOf(one.body)]).toEqual([422, [["/data/attributes/name", "Name can't be blank"]]])
    expect(await testEngine.pool()).toEqual([])
  })

  test("[W-4.1-r2] [W-4.1-p1] [W-3-p3] [W-1-n2] are removed from every workspace when they are deleted in bulk", async () => {
    await using testEngine = await tagEngine()
    const [first, second] = [await testEngine.workspace("one"), await testEngine.workspace("two")]
    await testEngine.add(first, "a", "b", "c")
    await testEngine.add(second, "a")
    const body = identified("tags", await testEngine.idOf("a"), await testEngine.idOf("b"))
    const answer = await testEngine.request("DELETE", pool, { body })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect([await testEngine.pool(), await testEngine.carried(first), await testEngine.carried(second)]).toEqual([
      ["c"],
      ["c"],
      [],
    ])
  })

  test("[W-4.1-p1] are all kept when a bulk deletion names a missing tag", async () => {
    await using testEngine = await tagEngine()
    await testEngine.organization("other")
    await testEngine.add(await testEngine.workspace("one"), "a")
    await testEngine.request("POST", "/organizations/other/tags", { body: named("theirs") })
    const theirs = (await testEngine.request("GET", "/organizations/other/tags")).body.data[0].id
    for (const missing of [nowhere[1], theirs]) {
      const body = identified("tags", await testEngine.idOf("a"), missing)
      expect((await testEngine.request("DELETE", pool, { body })).status).toBe(404)
    }
    expect(await testEngine.pool()).toEqual(["a"])
  })

  test.each([
    { body: { data: [{ type: "tags" }] }, pointer: "/data/0/id" },
    { body: { data: [{ id: "tag-1" }] }, pointer: "/data/0/type" },
    { body: { data: [{ type: "workspaces", id: "tag-1" }] }, pointer: "/data/0/type" },
  ])("[W-4.1-r2] need both type and id to be deleted: $pointer", async ({ body, pointer }) => {
    await using testEngine = await tagEngine()
    const answer = await testEngine.request("DELETE", pool, { body })
    expect([answer.status, faultsOf(answer.body).map(([at]) => at)]).toEqual([422, [pointer]])
  })

  test("[W-4.1-r2] are changed by callers who manage all workspaces of the organization; for others they are not found", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.add(workspace, "a")
    const manager = await testEngine.token({ organization: { manageWorkspaces: true } })
    const admin = await testEngine.token({ on: { [workspace]: "admin" } })
    const remove = async (path: string, options: RequestOptions) =>
      (await testEngine.request("DELETE", path, { ...options, body: identified("tags", await testEngine.idOf("a")) }))
        .status
    expect(await remove(pool, { token: null })).toBe(401)
    expect(await remove(pool, { token: admin })).toBe(404)
    expect(await remove("/organizations/none/tags", {})).toBe(404)
    expect((await testEngine.request("GET", "/organizations/none/tags")).status).toBe(404)
    expect((await testEngine.request("POST", pool, { token: admin, body: named("x") })).status).toBe(404)
    expect(await testEngine.pool("", { token: admin })).toEqual(["a"])
    expect(await remove(pool, { token: manager })).toBe(204)
  })
})

describe("adding one tag to many workspaces", () => {
  const path = (tag: string) => `/tags/${tag}/relationships/workspaces`

  test("[W-4.1-r3] [W-1-n2] adds it to all of them, even if some have it already", async () => {
    await using testEngine = await tagEngine()
    const ids = [
      await testEngine.workspace("one"),
      await testEngine.workspace("two"),
      await testEngine.workspace("three"),
    ]
    await testEngine.add(ids[0] as string, "a")
    const answer = await testEngine.request("POST", path(await testEngine.idOf("a")), {
      body: identified("workspaces", ...ids),
    })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await Promise.all(ids.map((id) => testEngine.carried(id)))).toEqual([["a"], ["a"], ["a"]])
    expect((await testEngine.request("GET", pool)).body.data[0].attributes["instance-count"]).toBe(3)
  })

  test("[W-4.1-r3] answers 404 and changes none when the tag or a workspace is missing or hidden from the caller", async () => {
    await using testEngine = await tagEngine()
    await testEngine.organization("other")
    const [mine, foreign] = [
      await testEngine.workspace("one"),
      await testEngine.workspace("two", { organization: "other" }),
    ]
    const [own, readable] = [await testEngine.workspace("three"), await testEngine.workspace("four")]
    await testEngine.add(mine, "a")
    const tag = await testEngine.idOf("a")
    const token = await testEngine.token({ on: { [own]: "admin", [readable]: "read" } })
    const give = async (to: string, ids: readonly string[], options: RequestOptions = {}) =>
      (await testEngine.request("POST", path(to), { ...options, body: identified("workspaces", ...ids) })).status
    expect(await give(nowhere[1], [own])).toBe(404)
    expect(await give(tag, [own, nowhere[0]])).toBe(404)
    expect(await give(tag, [own, foreign])).toBe(404)
    expect(await give(tag, [own, readable], { token })).toBe(404)
    expect(await testEngine.carried(own)).toEqual([])
    expect(await give(tag, [own], { token })).toBe(204)
    expect(await testEngine.carried(own)).toEqual(["a"])
  })

  test("names a workspace that binds the key with a value, and changes none", async () => {
    await using testEngine = await tagEngine()
    const ids = [await testEngine.workspace("one"), await testEngine.workspace("two")] as const
    await testEngine.request("POST", pool, { body: named("env") })
    await testEngine.request("PATCH", `/workspaces/${ids[1]}/tag-bindings`, { body: bindings({ ENV: "prod" }) })
    const { status, body } = await testEngine.request("POST", path(await testEngine.idOf("env")), {
      body: identified("workspaces", ...ids),
    })
    expect([status, faultsOf(body)]).toEqual([422, [["/data/1/id", expect.stringContaining(`${ids[1]}: Tag "env"`)]]])
    expect(await testEngine.carried(ids[0])).toEqual([])
  })
})

describe("flat tags of a workspace", () => {
  const path = (workspace: string) => `/workspaces/${workspace}/relationships/tags`

  test("[W-4.10-r1] [W-4.10-p1] are listed in pages, without bindings that have a value", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    const names = Array.from({ length: 22 }, (_, index) => `t${index + 10}`)
    await testEngine.add(workspace, ...names)
    await testEngine.request("PATCH", `/workspaces/${workspace}/tag-bindings`, { body: bindings({ a: "1" }) })
    const { status, body } = await testEngine.request("GET", path(workspace))
    expect([status, namesOf(body)]).toEqual([200, names.slice(0, 20)])
    expect(body.meta.pagination).toMatchObject({ "page-size": 20, "total-count": 22 })
    expect(body.data[0]).toMatchObject({ type: "tags", attributes: { "instance-count": 1 } })
    const second = await testEngine.request("GET", `${path(workspace)}?page[number]=2`)
    expect(namesOf(second.body)).toEqual(names.slice(20))
    const all = await testEngine.request("GET", `/workspaces/${workspace}/tag-bindings?page[size]=2`)
    expect([all.body.data.length, all.body.meta]).toEqual([1, undefined])
  })

  test("are searched by a part of the name in any case", async () => {
    await using testEngine = await tagEngine()
    const id = await testEngine.workspace("one")
    await testEngine.add(id, "env:Prod", "env:test", "web")
    const found = async (name: string) =>
      namesOf((await testEngine.request("GET", `/workspaces/${id}/relationships/tags?name=${name}`)).body)
    expect(await found("pROD")).toEqual(["env:Prod"])
    expect(await found("env")).toEqual(["env:Prod", "env:test"])
    expect(await found("nothing")).toEqual([])
    expect(await found("")).toHaveLength(3)
  })

  test("[W-4.10-r4] are added by name or id; present ones are ignored", async () => {
    await using testEngine = await tagEngine()
    const [workspace, other] = [await testEngine.workspace("one"), await testEngine.workspace("two")]
    await testEngine.add(other, "Shared")
    const data = [...named("new", "shared").data, { type: "tags", id: await testEngine.idOf("Shared") }]
    const answer = await testEngine.request("POST", path(workspace), { body: { data } })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await testEngine.add(workspace, "NEW")).toBe(204)
    expect(await testEngine.carried(workspace)).toEqual(["new", "Shared"])
    expect((await testEngine.request("GET", pool)).body.data.map((tag: Named) => tag.attributes)).toEqual([
      expect.objectContaining({ name: "new", "instance-count": 1 }),
      expect.objectContaining({ name: "Shared", "instance-count": 2 }),
    ])
  })

  test("[F-W6] are in tag-names of the workspace's document, and among bindings only when requested", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.add(workspace, "Prod")
    const { body } = await testEngine.request("GET", `/workspaces/${workspace}`)
    expect(body.data.attributes["tag-names"]).toEqual(["Prod"])
    expect(await testEngine.bound(workspace)).toEqual({})
    const pairs = bindings({ env: "a", empty: "" })
    await testEngine.request("PATCH", `/workspaces/${workspace}/tag-bindings`, { body: pairs })
    for (const view of ["tag-bindings", "effective-tag-bindings"]) {
      const entries = (await testEngine.request("GET", `/workspaces/${workspace}/${view}?show[tags]=true`)).body.data
      expect(
        entries
          .map(({ attributes }: Named & { readonly attributes: object }) => attributes)
          .toSorted((one: Named["attributes"], other: Named["attributes"]) => (one.key < other.key ? -1 : 1)),
      ).toMatchObject([
        { key: "Prod", value: "", "is-tag": true, "is-binding": false },
        { key: "empty", value: "", "is-tag": false, "is-binding": true },
        { key: "env", value: "a", "is-tag": false, "is-binding": true },
      ])
    }
  })

  test("[W-4.10-r5] [W-3-p3] are removed by name or id, and deleted after their last workspace", async () => {
    await using testEngine = await tagEngine()
    const [workspace, other] = [await testEngine.workspace("one"), await testEngine.workspace("two")]
    await testEngine.add(workspace, "a", "b", "c")
    await testEngine.add(other, "b")
    const data = [...named("A").data, { type: "tags", id: await testEngine.idOf("b") }]
    const answer = await testEngine.request("DELETE", path(workspace), { body: { data } })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect([await testEngine.carried(workspace), await testEngine.pool()]).toEqual([["c"], ["b", "c"]])
  })

  test("[W-4.10-p1] [W-4.10-r5] are all kept when a removal has a missing id, but a name without a tag is ignored", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.add(workspace, "a", "b")
    const remove = async (data: readonly unknown[]) =>
      (await testEngine.request("DELETE", path(workspace), { body: { data } })).status
    expect(await remove([...named("a").data, { type: "tags", id: nowhere[1] }])).toBe(404)
    expect(await testEngine.carried(workspace)).toEqual(["a", "b"])
    expect(await remove(named("none", "a").data)).toBe(204)
    expect(await testEngine.carried(workspace)).toEqual(["b"])
  })

  test("are rejected when their key is bound with a value, and nothing is added", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("PATCH", `/workspaces/${workspace}/tag-bindings`, { body: bindings({ env: "prod" }) })
    const { status, body } = await testEngine.request("POST", path(workspace), { body: named("new", "Env") })
    expect([status, faultsOf(body)]).toEqual([
      422,
      [["/data/1/attributes/name", 'Tag "Env" cannot be added: the key "env" is bound with a value']],
    ])
    expect(await testEngine.bound(workspace)).toEqual({ env: "prod" })
  })

  test.each([
    { body: { data: [{ type: "tags" }, { type: "x", id: "tag-1" }] }, status: 422, pointers: ["/data/1/type"] },
    { body: { data: [{ type: "tags" }] }, status: 422, pointers: ["/data/0"] },
    { body: { data: [{ type: "tags", attributes: { name: 7 } }] }, status: 422, pointers: ["/data/0/attributes/name"] },
    { body: { data: { type: "tags" } }, status: 400, pointers: ["/data"] },
    { body: named("a b", "-"), status: 422, pointers: ["/data/0/attributes/name", "/data/1/attributes/name"] },
  ])("are rejected with faults at $pointers when the list is malformed", async ({ body, status, pointers }) => {
    await using testEngine = await tagEngine()
    const answer = await testEngine.request("POST", path(await testEngine.workspace("one")), { body })
    expect([answer.status, faultsOf(answer.body).map(([pointer]) => pointer)]).toEqual([status, pointers])
  })

  test("[W-4.10-r4] [W-4.10-r5] are changed by workspace administrators, seen by readers, and not found by others", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    const [admin, writer, stranger] = [
      await testEngine.token({ on: { [workspace]: "admin" } }),
      await testEngine.token({ on: { [workspace]: "write" } }),
      await testEngine.token(),
    ]
    const statuses = async (token: string | null) => [
      (await testEngine.request("GET", path(workspace), { token })).status,
      (await testEngine.request("POST", path(workspace), { token, body: named("a") })).status,
      (await testEngine.request("DELETE", path(workspace), { token, body: named("a") })).status,
    ]
    expect(await statuses(admin)).toEqual([200, 204, 204])
    expect(await statuses(writer)).toEqual([200, 404, 404])
    expect(await statuses(stranger)).toEqual([404, 404, 404])
    expect(await statuses(null)).toEqual([401, 401, 401])
  })

  test("are created once when 50 workspaces add the same new tag concurrently", async () => {
    await using testEngine = await tagEngine()
    const ids = []
    for (let index = 0; index < 50; index += 1) ids.push(await testEngine.workspace(`w${index}`))
    expect(new Set(await Promise.all(ids.map((id) => testEngine.add(id, "new"))))).toEqual(new Set([204]))
    const { body } = await testEngine.request("GET", pool)
    expect(body.data.map((tag: Named) => tag.attributes)).toEqual([
      expect.objectContaining({ name: "new", "instance-count": 50 }),
    ])
  })
})

describe("key-value tags of a workspace", () => {
  const path = (workspace: string) => `/workspaces/${workspace}/tag-bindings`
  const patch = (testEngine: PopulatedEngine, workspace: string, pairs: Readonly<Record<string, string>>) =>
    testEngine.request("PATCH", path(workspace), { body: bindings(pairs) })

  test("[W-2.2-r1] [W-4.10-r2] have an id, a key and a value", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    const answer = await patch(testEngine, workspace, { env: "prod", team: "" })
    const listed = await testEngine.request("GET", path(workspace))
    expect([answer.status, listed.status]).toEqual([200, 200])
    expect(listed.body.data).toEqual([
      {
        id: expect.stringMatching(/^tb-[a-zA-Z0-9]{16}$/),
        type: "tag-bindings",
        attributes: { key: "env", value: "prod", "created-at": expect.stringMatching(/Z$/) },
      },
      expect.objectContaining({ attributes: expect.objectContaining({ key: "team", value: "" }) }),
    ])
    expect(answer.body).toEqual(listed.body)
  })

  test("are added and changed, keep their ids, and include a flat tag that gets a value", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.add(workspace, "flat")
    await patch(testEngine, workspace, { env: "a", other: "1" })
    const before = (await testEngine.request("GET", path(workspace))).body.data
    const after = (await patch(testEngine, workspace, { env: "b", FLAT: "v", other: "" })).body.data
    expect(pairsOf({ data: after })).toEqual({ env: "b", FLAT: "v", other: "" })
    const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id)
    expect(idsOf(after)).toEqual(expect.arrayContaining(idsOf(before)))
    expect([await testEngine.carried(workspace), await testEngine.pool()]).toEqual([[], []])
  })

  test.each(["POST", "PATCH"])(
    "are changed the same way with %s on the relationship, which returns nothing",
    async (method) => {
      await using testEngine = await tagEngine()
      const workspace = await testEngine.workspace("one")
      const answer = await testEngine.request(method, `/workspaces/${workspace}/relationships/tag-bindings`, {
        body: { data: [{ type: "tag-bindings", attributes: { key: "env", value: "prod" } }, flatBinding("flat")] },
      })
      expect([answer.status, answer.body]).toEqual([204, undefined])
      expect(await testEngine.bound(workspace)).toEqual({ env: "prod", flat: "" })
    },
  )

  const flatBinding = (key: string) => ({ type: "tag-bindings", attributes: { key } })

  test("above ten with a value are rejected with the text that clients match", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]))
    expect((await patch(testEngine, workspace, { ...numbered(10), flat: "" })).status).toBe(200)
    const { status, body } = await patch(testEngine, workspace, { one: "more" })
    expect([status, faultsOf(body)]).toEqual([
      422,
      [["/data", expect.stringContaining("cannot exceed 10 bindings per resource")]],
    ])
    expect(Object.keys(await testEngine.bound(workspace))).toHaveLength(11)
  })

  test("are rejected with all faults at once, each with its pointer", async () => {
    await using testEngine = await tagEngine()
    const { status, body } = await patch(testEngine, await testEngine.workspace("one"), {
      "a b": "c d",
      "hcp:x": "v",
      "": "v",
    })
    expect([status, faultsOf(body).map(([pointer]) => pointer)]).toEqual([
      422,
      ["/data/0/attributes/key", "/data/0/attributes/value", "/data/1/attributes/key", "/data/2/attributes/key"],
    ])
  })

  test("[W-2.2-r2] [W-4.10-r3] have effective bindings, those of the workspace and its project, without ids", async () => {
    await using testEngine = await tagEngine()
    const project = (await testEngine.engine.projects.create("acme", { name: "platform" })).id
    const workspace = await testEngine.workspace("one", { projectId: project })
    const given = await testEngine.request("PATCH", `/projects/${project}/tag-bindings`, {
      body: bindings({ env: "project", region: "eu" }),
    })
    expect([given.status, pairsOf(given.body)]).toEqual([200, { env: "project", region: "eu" }])
    await patch(testEngine, workspace, { ENV: "own" })
    await testEngine.add(workspace, "flat")
    const { status, body } = await testEngine.request("GET", `/workspaces/${workspace}/effective-tag-bindings`)
    expect(status).toBe(200)
    expect(body.data).toEqual([
      { type: "effective-tag-bindings", attributes: { key: "ENV", value: "own" } },
      {
        type: "effective-tag-bindings",
        attributes: { key: "region", value: "eu" },
        links: { "inherited-from": `/api/v2/projects/${project}` },
      },
    ])
    expect(await testEngine.bound(workspace)).toEqual({ ENV: "own" })
    const ofProject = await testEngine.request("GET", `/projects/${project}/tag-bindings`)
    expect(pairsOf(ofProject.body)).toEqual({ env: "project", region: "eu" })
    const effective = await testEngine.request("GET", `/projects/${project}/effective-tag-bindings`)
    expect(effective.body.data[1]).toEqual({
      type: "effective-tag-bindings",
      attributes: { key: "region", value: "eu" },
    })
  })

  test("are changed by workspace administrators, seen by readers, and not found by others", async () => {
    await using testEngine = await tagEngine()
    const workspace = await testEngine.workspace("one")
    const statuses = async (token: string | null) => [
      (await testEngine.request("GET", path(workspace), { token })).status,
      (await testEngine.request("GET", `/workspaces/${workspace}/effective-tag-bindings`, { token })).status,
      (await testEngine.request("PATCH", path(workspace), { token, body: bindings({ a: "1" }) })).status,
    ]
    expect(await statuses(await testEngine.token({ on: { [workspace]: "admin" } }))).toEqual([200, 200, 200])
    expect(await statuses(await testEngine.token({ on: { [workspace]: "plan" } }))).toEqual([200, 200, 404])
    expect(await statuses(await testEngine.token())).toEqual([404, 404, 404])
    expect(await statuses(null)).toEqual([401, 401, 401])
  })
})
