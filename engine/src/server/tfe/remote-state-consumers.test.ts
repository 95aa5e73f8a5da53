import { describe, expect, test } from "vitest"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { Answer, RequestOptions } from "../../../testing/test-engine.ts"

const path = (workspace: string) => `/workspaces/${workspace}/relationships/remote-state-consumers`
const list = (...ids: string[]) => ({ data: ids.map((id) => ({ type: "workspaces", id })) })
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id)

/** Creates `acme` with the workspaces `producer`, `a`, `b` and `c`. */
async function consumerWorld() {
  const world = await populatedEngine()
  const ids = {
    producer: await world.workspace("producer"),
    a: await world.workspace("a"),
    b: await world.workspace("b"),
    c: await world.workspace("c"),
  }
  const change = async (method: string, consumers: readonly string[], options: RequestOptions = {}) =>
    (await world.request(method, path(ids.producer), { ...options, body: list(...consumers) })).status
  const consumers = async (options: RequestOptions = {}) =>
    idsOf(await world.request("GET", path(ids.producer), options))
  const share = (id: string) => world.engine.workspaces.update({ id }, { globalRemoteState: true })
  return Object.assign(world, { ids, change, consumers, share })
}

describe("the list of remote state consumers", () => {
  test("[W-4.9-r1] [W-4.9-n1] contains the authorized workspaces, in pages", async () => {
    await using world = await consumerWorld()
    const { a, b, c } = world.ids
    expect(await world.consumers()).toEqual([])
    await world.change("POST", [c, a])
    const first = await world.request("GET", `${path(world.ids.producer)}?page[size]=1`)
    expect([first.status, idsOf(first)]).toEqual([200, [a]])
    expect(first.body.data[0]).toMatchObject({ type: "workspaces", attributes: { name: "a" } })
    expect(first.body.meta.pagination).toMatchObject({ "total-count": 2, "total-pages": 2, "next-page": 2 })
    const second = await world.request("GET", `${path(world.ids.producer)}?page[size]=1&page[number]=2`)
    expect(idsOf(second)).toEqual([c])
    expect((await world.request("GET", path(world.ids.producer))).body.meta.pagination["page-size"]).toBe(20)
    expect(await world.consumers()).not.toContain(b)
  })

  test("[W-4.9-n1] contains every workspace of the organization but the subject when global-remote-state is true", async () => {
    await using world = await consumerWorld()
    await world.organization("other")
    await world.workspace("foreign", { organization: "other" })
    const { producer, a, b, c } = world.ids
    await world.share(producer)
    expect(await world.consumers()).toEqual([a, b, c])
    const page = await world.request("GET", `${path(producer)}?page[size]=2&page[number]=2`)
    expect([idsOf(page), page.body.meta.pagination["total-count"]]).toEqual([[c], 3])
  })

  test.each([{ global: false }, { global: true }])(
    "[W-4.9-n1] omits workspaces that the token cannot read when global-remote-state is $global",
    async ({ global }) => {
      await using world = await consumerWorld()
      const { producer, a, b, c } = world.ids
      await world.change("POST", [a, b, c])
      if (global) await world.share(producer)
      const token = await world.token({ on: { [producer]: "read", [b]: "read" } })
      const answer = await world.request("GET", path(producer), { token })
      expect([idsOf(answer), answer.body.meta.pagination["total-count"]]).toEqual([[b], 1])
    },
  )

  test("is not found by callers who do not see the workspace, and needs a token", async () => {
    await using world = await consumerWorld()
    const token = await world.token({ on: { [world.ids.a]: "admin" } })
    expect((await world.request("GET", path(world.ids.producer), { token })).status).toBe(404)
    expect((await world.request("GET", path("ws-none"))).status).toBe(404)
    expect((await world.request("GET", path(world.ids.producer), { token: null })).status).toBe(401)
    expect((await world.request("GET", `${path(world.ids.producer)}?page[number]=-1`)).status).toBe(400)
  })
})

describe("replacing remote state consumers", () => {
  test("[W-4.9-r2] [W-4.9-n2] sets exactly the sent list, even an empty one", async () => {
    await using world = await consumerWorld()
    const { producer, a, b, c } = world.ids
    await world.change("POST", [a, b])
    const answer = await world.request("PATCH", path(producer), { body: list(b, c) })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await world.consumers()).toEqual([b, c])
    expect(await world.change("PATCH", [])).toBe(204)
    expect(await world.consumers()).toEqual([])
  })

  test("[W-4.9-n3] needs the right to manage all workspaces; a workspace administrator can add and remove instead", async () => {
    await using world = await consumerWorld()
    const { producer, a } = world.ids
    const manager = await world.token({ organization: { manageWorkspaces: true } })
    const admin = await world.token({ on: { [producer]: "admin", [a]: "read" } })
    const writer = await world.token({ on: { [producer]: "write", [a]: "read" } })
    expect(await world.change("PATCH", [a], { token: admin })).toBe(404)
    expect(await world.change("POST", [a], { token: admin })).toBe(204)
    expect(await world.change("DELETE", [a], { token: admin })).toBe(204)
    expect(await world.change("PATCH", [a], { token: manager })).toBe(204)
    for (const method of ["PATCH", "POST", "DELETE"])
      expect(await world.change(method, [a], { token: writer })).toBe(404)
    expect(await world.consumers()).toEqual([a])
  })
})

describe("adding remote state consumers", () => {
  test("[W-4.9-r3] [W-4.9-n5] ignores present workspaces and adds the others", async () => {
    await using world = await consumerWorld()
    const { a, b } = world.ids
    expect(await world.change("POST", [a])).toBe(204)
    const answer = await world.request("POST", path(world.ids.producer), { body: list(a, b, b) })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(await world.consumers()).toEqual([a, b])
  })

  test("[W-4.9-r3] [W-4.9-n5] [W-7-r4] [W-4.9-r2] rejects the workspace itself with a fault, and adds nothing", async () => {
    await using world = await consumerWorld()
    const { producer, a } = world.ids
    for (const method of ["POST", "PATCH"]) {
      const { status, body } = await world.request(method, path(producer), { body: list(a, producer) })
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
    expect(await world.consumers()).toEqual([])
  })
})

test("[W-4.9-r4] [W-4.9-n6] removing ignores absent workspaces and removes the others", async () => {
  await using world = await consumerWorld()
  const { producer, a, b, c } = world.ids
  await world.change("POST", [a, b])
  const answer = await world.request("DELETE", path(producer), { body: list(c, a, producer) })
  expect([answer.status, answer.body]).toEqual([204, undefined])
  expect(await world.consumers()).toEqual([b])
})

describe.each(["PATCH", "POST", "DELETE"])("%s", (method) => {
  test("[W-4.9-r2] [W-4.9-r3] [W-4.9-r4] [W-4.9-n2] [W-7-r4] is rejected while global-remote-state is true", async () => {
    await using world = await consumerWorld()
    await world.share(world.ids.producer)
    const { status, body } = await world.request(method, path(world.ids.producer), { body: list(world.ids.a) })
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining("global-remote-state is true")])
  })

  test("[W-4.9-n4] [W-4.9-r2] [W-4.9-r3] [W-4.9-r4] accepts only workspaces of the organization that the token can read", async () => {
    await using world = await consumerWorld()
    await world.organization("other")
    const foreign = await world.workspace("foreign", { organization: "other" })
    const { producer, a, b } = world.ids
    const token = await world.token({ on: { [producer]: "admin", [a]: "read" } })
    await world.change("POST", [a])
    expect(await world.change(method, [a, b], { token })).toBe(404)
    expect(await world.change(method, [a, foreign])).toBe(404)
    expect(await world.change(method, ["ws-none"])).toBe(404)
    expect(await world.consumers()).toEqual([a])
  })

  test.each([
    { body: { data: [{ type: "workspaces" }] }, status: 422, pointer: "/data/0/id" },
    { body: { data: [{ type: "tags", id: "ws-1" }] }, status: 422, pointer: "/data/0/type" },
    { body: { data: null }, status: 400, pointer: "/data" },
    { body: {}, status: 400, pointer: "/data" },
  ])("[W-7-r4] reports the fault of the payload at $pointer", async ({ body, status, pointer }) => {
    await using world = await consumerWorld()
    const answer = await world.request(method, path(world.ids.producer), { body })
    expect([answer.status, answer.body.errors[0].source]).toEqual([status, { pointer }])
  })
})

test("a deleted workspace is removed from every list of consumers", async () => {
  await using world = await consumerWorld()
  await world.change("POST", [world.ids.a, world.ids.b])
  await world.engine.workspaces.forceDelete({ id: world.ids.a })
  expect(await world.consumers()).toEqual([world.ids.b])
})
