import { describe, expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { Answer, RequestOptions } from "../../../testing/test-engine.ts"

const path = (workspace: string) => `/workspaces/${workspace}/relationships/remote-state-consumers`
const list = (...ids: string[]) => ({ data: ids.map((id) => ({ type: "workspaces", id })) })
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id)

/** Creates `acme` with the workspaces `producer`, `a`, `b` and `c`. */
async function consumerEngine() {
  const testEngine = await populatedEngine()
  const ids = {
    producer: await testEngine.workspace("producer"),
    a: await testEngine.workspace("a"),
    b: await testEngine.workspace("b"),
    c: await testEngine.workspace("c"),
  }
  const change = async (method: string, consumers: readonly string[], options: RequestOptions = {}) =>
    (await testEngine.request(method, path(ids.producer), { ...options, body: list(...consumers) })).status
  const consumers = async (options: RequestOptions = {}) =>
    idsOf(await testEngine.request("GET", path(ids.producer), options))
  const share = (id: string) => testEngine.engine.workspaces.update({ id }, { globalRemoteState: true })
  return Object.assign(testEngine, { ids, change, consumers, share })
}

describe("the list of remote state consumers", () => {
  test("[W-4.9-r1] [W-4.9-n1] contains the authorized workspaces, in pages", async () => {
    await using testEngine = await consumerEngine()
    const { a, b, c } = testEngine.ids
    expect(await testEngine.consumers()).toEqual([])
    await testEngine.change("POST", [c, a])
    const first = await testEngine.request("GET", `${path(testEngine.ids.producer)}?page[size]=1`)
    expect([first.status, idsOf(first)]).toEqual([200, [a]])
    expect(first.body.data[0]).toMatchObject({ type: "workspaces", attributes: { name: "a" } })
    expect(first.body.meta.pagination).toMatchObject({ "total-count": 2, "total-pages": 2, "next-page": 2 })
    const second = await testEngine.request("GET", `${path(testEngine.ids.producer)}?page[size]=1&page[number]=2`)
    expect(idsOf(second)).toEqual([c])
    expect((await testEngine.request("GET", path(testEngine.ids.producer))).body.meta.pagination["page-size"]).toBe(20)
    expect(await testEngine.consumers()).not.toContain(b)
  })

  test("[W-4.9-n1] contains every workspace of the organization but the subject when global-remote-state is true", async () => {
    await using testEngine = await consumerEngine()
    await testEngine.organization("other")
    await testEngine.workspace("foreign", { organization: "other" })
    const { producer, a, b, c } = testEngine.ids
    await testEngine.share(producer)
    expect(await testEngine.consumers()).toEqual([a, b, c])
    const page = await testEngine.request("GET", `${path(producer)}?page[size]=2&page[number]=2`)
    expect([idsOf(page), page.body.meta.pagination["total-count"]]).toEqual([[c], 3])
  })

  test.each([{ global: false }, { global: true }])(
    "[W-4.9-n1] omits workspaces that the token cannot read when global-remote-state is $global",
    async ({ global }) => {
      await using testEngine = await consumerEngine()
      const { producer, a, b, c } = testEngine.ids
      await testEngine.change("POST", [a, b, c])
      if (global) await testEngine.share(producer)
      const token = await testEngine.token({ on: { [producer]: "read", [b]: "read" } })
      const answer = await testEngine.request("GET", path(producer), { token })
      expect([idsOf(answer), answer.body.meta.pagination["total-count"]]).toEqual([[b], 1])
    },
  )

  test("is not found by callers who do not see the workspace, and needs a token", async () => {
    await using testEngine = await consumerEngine()
    const token = await testEngine.token({ on: { [testEngine.ids.a]: "admin" } })
    expect((await testEngine.request("GET", path(testEngine.ids.producer), { token })).status).toBe(404)
    expect((await testEngine.request("GET", path("ws-none"))).status).toBe(404)
    expect((await testEngine.request("GET", path(testEngine.ids.producer), { token: null })).status).toBe(401)
    expect((await testEngine.request("GET", `${path(testEngine.ids.producer)}?page[number]=-1`)).status).toBe(400)
  })
})

describe("replacing remote state consumers", () => {
  test("[W-4.9-r2] [W-4.9-n2] sets exactly the sent list, even an empty one", async () => {
    await using testEngine = await consumerEngine()
    const { producer, a, b, c } = testEngine.ids
    await testEngine.change("POST", [a, b])
    const answer = await testEngine.request("PATCH", path(producer), { body: list(b, c) })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await testEngine.consumers()).toEqual([b, c])
    expect(await testEngine.change("PATCH", [])).toBe(204)
    expect(await testEngine.consumers()).toEqual([])
  })

  test("[W-4.9-n3] needs the right to manage all workspaces; a workspace administrator can add and remove instead", async () => {
    await using testEngine = await consumerEngine()
    const { producer, a } = testEngine.ids
    const manager = await testEngine.token({ organization: { manageWorkspaces: true } })
    const admin = await testEngine.token({ on: { [producer]: "admin", [a]: "read" } })
    const writer = await testEngine.token({ on: { [producer]: "write", [a]: "read" } })
    expect(await testEngine.change("PATCH", [a], { token: admin })).toBe(404)
    expect(await testEngine.change("POST", [a], { token: admin })).toBe(204)
    expect(await testEngine.change("DELETE", [a], { token: admin })).toBe(204)
    expect(await testEngine.change("PATCH", [a], { token: manager })).toBe(204)
    for (const method of ["PATCH", "POST", "DELETE"])
      expect(await testEngine.change(method, [a], { token: writer })).toBe(404)
    expect(await testEngine.consumers()).toEqual([a])
  })
})

describe("adding remote state consumers", () => {
  test("[W-4.9-r3] [W-4.9-n5] ignores present workspaces and adds the others", async () => {
    await using testEngine = await consumerEngine()
    const { a, b } = testEngine.ids
    expect(await testEngine.change("POST", [a])).toBe(204)
    const answer = await testEngine.request("POST", path(testEngine.ids.producer), { body: list(a, b, b) })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await testEngine.consumers()).toEqual([a, b])
  })

  test("[W-4.9-r3] [W-4.9-n5] [W-7-r4] [W-4.9-r2] rejects the workspace itself with a fault, and adds nothing", async () => {
    await using testEngine = await consumerEngine()
    const { producer, a } = testEngine.ids
    for (const method of ["POST", "PATCH"]) {
      const { status, body } = await testEngine.request(method, path(producer), { body: list(a, producer) })
      expect([status, body.errors]).toEqual([
        422,
        [
          {
            status: "422",
            title: "unprocessable entity",
            detail: "A workspace cannot be a remote state consumer of itself",
            source: { pointer: "/data/1/id" },
          },
        ],
      ])
    }
    expect(await testEngine.consumers()).toEqual([])
  })
})

test("[W-4.9-r4] [W-4.9-n6] removing ignores absent workspaces and removes the others", async () => {
  await using testEngine = await consumerEngine()
  const { producer, a, b, c } = testEngine.ids
  await testEngine.change("POST", [a, b])
  const answer = await testEngine.request("DELETE", path(producer), { body: list(c, a, producer) })
  expect([answer.status, answer.body]).toEqual([204, undefined])
  expect(await testEngine.consumers()).toEqual([b])
})

describe.each(["PATCH", "POST", "DELETE"])("%s", (method) => {
  test("[W-4.9-r2] [W-4.9-r3] [W-4.9-r4] [W-4.9-n2] [W-7-r4] is rejected while global-remote-state is true", async () => {
    await using testEngine = await consumerEngine()
    await testEngine.share(testEngine.ids.producer)
    const { status, body } = await testEngine.request(method, path(testEngine.ids.producer), {
      body: list(testEngine.ids.a),
    })
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining("global-remote-state is true")])
  })

  test("[W-4.9-n4] [W-4.9-r2] [W-4.9-r3] [W-4.9-r4] accepts only workspaces of the organization that the token can read", async () => {
    await using testEngine = await consumerEngine()
    await testEngine.organization("other")
    const foreign = await testEngine.workspace("foreign", { organization: "other" })
    const { producer, a, b } = testEngine.ids
    const token = await testEngine.token({ on: { [producer]: "admin", [a]: "read" } })
    await testEngine.change("POST", [a])
    expect(await testEngine.change(method, [a, b], { token })).toBe(404)
    expect(await testEngine.change(method, [a, foreign])).toBe(404)
    expect(await testEngine.change(method, ["ws-none"])).toBe(404)
    expect(await testEngine.consumers()).toEqual([a])
  })

  test.each([
    { body: { data: [{ type: "workspaces" }] }, status: 422, pointer: "/data/0/id" },
    { body: { data: [{ type: "tags", id: "ws-1" }] }, status: 422, pointer: "/data/0/type" },
    { body: { data: null }, status: 400, pointer: "/data" },
    { body: {}, status: 400, pointer: "/data" },
  ])("[W-7-r4] reports the fault of the payload at $pointer", async ({ body, status, pointer }) => {
    await using testEngine = await consumerEngine()
    const answer = await testEngine.request(method, path(testEngine.ids.producer), { body })
    expect([answer.status, answer.body.errors[0].source]).toEqual([status, { pointer }])
  })
})

test("a deleted workspace is removed from every list of consumers", async () => {
  await using testEngine = await consumerEngine()
  await testEngine.change("POST", [testEngine.ids.a, testEngine.ids.b])
  await testEngine.engine.workspaces.forceDelete({ id: testEngine.ids.a })
  expect(await testEngine.consumers()).toEqual([testEngine.ids.b])
})
