// The list of workspaces over HTTP (W-4.4 and W-2.6 of docs/conformance.md): each parameter, alone and combined, and the pages.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, newOrganization, one } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"

/** Loosely typed, because tests read members at any depth. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const list = "/organizations/acme/workspaces"
const namesOf = (body: Loose): string[] => body.data.map(({ attributes }: Loose) => attributes.name)

let testEngine: PopulatedEngine
let project: string
const ids: Record<string, string> = {}

beforeAll(async () => {
  const clock = manualClock()
  testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  project = (await made(testEngine, "POST", "/organizations/acme/projects", document("projects", { name: "Shop" }))).id
  await made(testEngine, "PATCH", `/projects/${project}/tag-bindings`, {
    data: [{ type: "tag-bindings", attributes: { key: "area", value: "shop" } }],
  })
  const make = async (
    name: string,
    tags: readonly string[],
    bound: Readonly<Record<string, string>> = {},
    projectId?: string,
  ) => {
    clock.advance(1_000)
    ids[name] = await testEngine.workspace(name, {
      tags: tags.map((tag) => ({ name: tag })),
      tagBindings: Object.entries(bound).map(([key, value]) => ({ key, value })),
      ...(projectId === undefined ? {} : { projectId }),
    })
  }
  await make("web-prod", ["red", "blue"], { env: "prod" })
  await make("web-test", ["red"], { env: "test" })
  await make("db-prod", ["blue"], { env: "prod", tier: "gold" })
  await make("db-test", [], { env: "test", tier: "gold" }, project)
  await make("App-Net-1", ["Green"], { area: "own" }, project)
  const run = async (name: string, ...statuses: readonly string[]) => {
    clock.advance(1_000)
    const { id } = await made(
      testEngine,
      "POST",
      "/runs",
      document("runs", {}, { workspace: one("workspaces", ids[name] ?? "") }),
    )
    for (const status of statuses) await made(testEngine, "POST", `/runs/${id}/actions/transition`, { status })
  }
  await run("db-prod", "planning", "errored")
  await run("web-prod", "planning", "planned_and_finished")
  await run("db-test")
})
afterAll(() => testEngine[Symbol.asyncDispose]())

describe("the query parameter", () => {
  const byName = ["App-Net-1", "db-prod", "db-test", "web-prod", "web-test"]
  test.each<[title: string, query: string, names: readonly string[]]>([
    ["none: all, in a stable order", "", byName],
    ["[W-4.4-r2] search[name]", "search[name]=prod", ["db-prod", "web-prod"]],
    ["[W-4.4-r2] search[name] in any case, inside the name", "search[name]=P-nEt", ["App-Net-1"]],
    ["[W-4.4-r2] search[name] of less than three letters", "search[name]=db", ["db-prod", "db-test"]],
    ["[W-4.4-r2] search[name] without a match", "search[name]=nowhere", []],
    ["[W-4.4-r2] search[name] treats % and _ literally", "search[name]=%25", []],
    ["[W-4.4-r3] search[tags]", "search[tags]=red", ["web-prod", "web-test"]],
    ["[W-4.4-r3] search[tags] with several: all of them", "search[tags]=red,blue", ["web-prod"]],
    ["[W-4.4-r3] search[tags] in any case", "search[tags]=GREEN", ["App-Net-1"]],
    ["[W-4.4-r3] search[tags] with the key of a binding", "search[tags]=tier,env", ["db-prod", "db-test"]],
    ["[W-4.4-r3] search[tags] with a key inherited from the project", "search[tags]=area", ["App-Net-1", "db-test"]],
    ["[W-4.4-r3] search[tags] with a missing tag", "search[tags]=red,none", []],
    ["[W-4.4-r4] search[exclude-tags]", "search[exclude-tags]=red", ["App-Net-1", "db-prod", "db-test"]],
    ["[W-4.4-r4] search[exclude-tags] with several: any of them", "search[exclude-tags]=red,tier", ["App-Net-1"]],
    ["[W-4.4-r5] search[wildcard-name] with a prefix", "search[wildcard-name]=web-*", ["web-prod", "web-test"]],
    ["[W-4.4-r5] search[wildcard-name] with a suffix", "search[wildcard-name]=*-test", ["db-test", "web-test"]],
    ["[W-4.4-r5] search[wildcard-name] with both", "search[wildcard-name]=*-net-*", ["App-Net-1"]],
    ["[W-4.4-r6] sort=name", "sort=name", byName],
    ["[W-4.4-r6] sort=-name", "sort=-name", byName.toReversed()],
    [
      "[W-4.4-r6] sort=latest-change-at",
      "sort=latest-change-at",
      ["web-prod", "web-test", "db-prod", "db-test", "App-Net-1"],
    ],
    [
      "[W-4.4-r6] sort=-latest-change-at",
      "sort=-latest-change-at",
      ["App-Net-1", "db-test", "db-prod", "web-test", "web-prod"],
    ],
    ["[W-4.4-r7] filter[project][id]", "filter[project][id]=PROJECT", ["App-Net-1", "db-test"]],
    ["[W-4.4-r7] filter[project][id] of none", "filter[project][id]=prj-none", []],
    ["[W-4.4-r8] filter[current-run][status]", "filter[current-run][status]=errored", ["db-prod"]],
    [
      "[W-4.4-r8] filter[current-run][status] with several",
      "filter[current-run][status]=errored,planned_and_finished",
      ["db-prod", "web-prod"],
    ],
    ["[W-4.4-r8] filter[current-run][status] that no run has", "filter[current-run][status]=applied", []],
    ["[W-4.4-r9] filter[tagged][0][key]", "filter[tagged][0][key]=tier", ["db-prod", "db-test"]],
    ["[W-4.4-r9] filter[tagged] with an inherited key", "filter[tagged][0][key]=area", ["App-Net-1", "db-test"]],
    ["[W-4.4-r10] filter[tagged][0][value]", "filter[tagged][0][value]=prod", ["db-prod", "web-prod"]],
    [
      "[W-4.4-r10] filter[tagged] with key and value of one index",
      "filter[tagged][0][key]=env&filter[tagged][0][value]=test",
      ["db-test", "web-test"],
    ],
    [
      "[W-4.4-r10] an empty value is any value",
      "filter[tagged][0][key]=env&filter[tagged][0][value]=",
      ["db-prod", "db-test", "web-prod", "web-test"],
    ],
    [
      "[W-4.4-r10] a value of the workspace overrides that of the project",
      "filter[tagged][0][key]=area&filter[tagged][0][value]=shop",
      ["db-test"],
    ],
    [
      "[W-4.4-r9] [W-4.4-r10] several indexes combine with AND",
      "filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tagged][1][key]=tier&filter[tagged][1][value]=gold",
      ["db-prod"],
    ],
    [
      "all filters combine with AND",
      "search[name]=prod&search[tags]=blue&search[exclude-tags]=red&filter[tagged][0][key]=tier&filter[current-run][status]=errored",
      ["db-prod"],
    ],
    ["unknown parameters are ignored", "TagBindings={a:b}&filter[nothing][0]=x&no=such", byName],
  ])("%s", async (_title, query, names) => {
    const { status, body } = await testEngine.request("GET", `${list}?${query.replace("PROJECT", project)}`)
    expect(status).toBe(200)
    expect(query.startsWith("sort") ? namesOf(body) : namesOf(body).toSorted((a, b) => a.localeCompare(b))).toEqual(
      query.startsWith("sort") ? names : names.toSorted((a, b) => a.localeCompare(b)),
    )
    expect(body.meta.pagination["total-count"]).toBe(names.length)
  })

  test("[W-4.4-r6] sort=current-run.created-at lists workspaces without a run last, and first when reversed", async () => {
    const forward = namesOf((await testEngine.request("GET", `${list}?sort=current-run.created-at`)).body)
    expect(forward.slice(0, 3)).toEqual(["db-prod", "web-prod", "db-test"])
    const backward = namesOf((await testEngine.request("GET", `${list}?sort=-current-run.created-at`)).body)
    expect(backward).toEqual(forward.toReversed())
  })

  test.each([
    ["[W-4.4-r6] sort", "sort=size"],
    ["[W-4.4-r1] page[number]", "page[number]=0"],
    ["[W-4.4-r1] page[number]", "page[number]=-1"],
    ["[W-4.4-r1] page[number]", "page[number]=two"],
    ["[W-4.4-r1] page[size]", "page[size]=0"],
    ["[W-4.4-r1] page[size]", "page[size]=1.5"],
  ])("%s rejects unknown values: %s", async (title, query) => {
    const { status, body } = await testEngine.request("GET", `${list}?${query}`)
    expect(status).toBe(400)
    expect(body.errors).toEqual([
      expect.objectContaining({ status: "400", source: { parameter: title.split(" ").at(-1) } }),
    ])
  })
})

describe("a page", () => {
  test("[W-4.4-p1] [W-4.4-r1] [W-8-r1] [W-8-r2] [W-4-b1] is by default the first with twenty workspaces, each with links to its tags", async () => {
    await using many = await populatedEngine()
    for (let index = 10; index < 33; index += 1) await many.workspace(`ws-${index}`)
    const { body } = await many.request("GET", list)
    expect(namesOf(body)).toEqual(Array.from({ length: 20 }, (_, index) => `ws-${index + 10}`))
    expect(body.meta.pagination).toMatchObject({ "current-page": 1, "page-size": 20 })
    for (const { id, relationships } of body.data) {
      expect(relationships["tag-bindings"].links.related).toBe(`/api/v2/workspaces/${id}/tag-bindings`)
      expect(relationships["effective-tag-bindings"].links.related).toBe(
        `/api/v2/workspaces/${id}/effective-tag-bindings`,
      )
    }
    const encoded = await many.request("GET", `${list}?page%5Bnumber%5D=2&page%5Bsize%5D=20`)
    expect(namesOf(encoded.body)).toEqual(["ws-30", "ws-31", "ws-32"])
    const clamped = await many.request("GET", `${list}?page[size]=1000`)
    expect(clamped.body.meta.pagination["page-size"]).toBe(100)
  })

  const pageUrl = (number: number) =>
    `http://chancery.test/api/v2/organizations/acme/workspaces?page%5Bsize%5D=2&page%5Bnumber%5D=${number}`

  test.each([
    { number: 1, next: 2, prev: null },
    { number: 2, next: 3, prev: 1 },
    { number: 3, next: null, prev: 2 },
  ])(
    "[W-2.6-p1] $number of 3 has absolute links to first, last, next, prev and itself",
    async ({ number, next, prev }) => {
      const { body } = await testEngine.request("GET", `${list}?page[size]=2&page[number]=${number}`)
      const link = (to: number | null) => (to === null ? null : pageUrl(to))
      expect(body.links).toEqual({
        self: link(number),
        first: link(1),
        prev: link(prev),
        next: link(next),
        last: link(3),
      })
      expect(body.meta.pagination).toEqual({
        "current-page": number,
        "page-size": 2,
        "prev-page": prev,
        "next-page": next,
        "total-pages": 3,
        "total-count": 5,
      })
      const followed = await testEngine.request("GET", body.links.self)
      expect(followed.body.data).toEqual(body.data)
    },
  )

  test("[W-2.6-p1] past the end is empty, and has its number and the count", async () => {
    const { status, body } = await testEngine.request("GET", `${list}?page[number]=999`)
    expect([status, body.data]).toEqual([200, []])
    expect(body.meta.pagination).toMatchObject({ "current-page": 999, "next-page": null, "total-count": 5 })
  })

  test("has links with the filters", async () => {
    const { body } = await testEngine.request("GET", `${list}?search[tags]=red&page[size]=1`)
    const next = await testEngine.request("GET", body.links.next)
    expect([...namesOf(body), ...namesOf(next.body)]).toEqual(["web-prod", "web-test"])
  })
})

describe("the caller of the list", () => {
  test("[W-5-n3] sees the workspaces that they may read, and only those are counted", async () => {
    const webProd = ids["web-prod"] as string
    const namesFor = async (token: string, query = "") => {
      const { body } = await testEngine.request("GET", `${list}${query}`, { token })
      expect(body.meta.pagination["total-count"]).toBe(body.data.length)
      return namesOf(body)
    }
    expect(await namesFor(await testEngine.token())).toEqual([])
    const reader = await testEngine.token({ on: { [webProd]: "read" } })
    expect(await namesFor(reader)).toEqual(["web-prod"])
    expect(await namesFor(reader, "?search[tags]=blue")).toEqual(["web-prod"])
    expect(await namesFor(reader, "?search[name]=db")).toEqual([])
    expect(await namesFor(await testEngine.token({ organization: { readWorkspaces: true } }))).toHaveLength(5)
  })

  test("sees each workspace with their own permissions", async () => {
    const token = await testEngine.token({
      on: { [ids["web-prod"] as string]: "write", [ids["db-prod"] as string]: "read" },
    })
    const { body } = await testEngine.request("GET", list, { token })
    expect(body.data.map(({ attributes }: Loose) => [attributes.name, attributes.permissions["can-lock"]])).toEqual([
      ["db-prod", false],
      ["web-prod", true],
    ])
  })

  test("gets 404 as a stranger or for a missing organization, and 401 without a token", async () => {
    await newOrganization(testEngine, "rival")
    const team = await made(testEngine, "POST", "/organizations/rival/teams", document("teams", { name: "them" }))
    const { attributes } = await made(testEngine, "POST", `/teams/${team.id}/authentication-token`)
    expect((await testEngine.request("GET", list, { token: attributes.token })).status).toBe(404)
    expect((await testEngine.request("GET", "/organizations/nobody/workspaces")).status).toBe(404)
    expect((await testEngine.request("GET", list, { token: null })).status).toBe(401)
  })
})
