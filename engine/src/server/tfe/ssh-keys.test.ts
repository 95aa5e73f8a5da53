import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"

const keys = "/organizations/acme/ssh-keys"
const secret = "dGhlIHNlY3JldCBvZiB0aGlzIHRlc3Q"
const value = `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----\n`
const document = (attributes: Readonly<Record<string, unknown>>) => ({ data: { type: "ssh-keys", attributes } })

async function create(testEngine: PopulatedEngine, name: string, organization = "acme"): Promise<string> {
  const path = `/organizations/${organization}/ssh-keys`
  const { status, body } = await testEngine.request("POST", path, { body: document({ name, value }) })
  expect(status).toBe(201)
  return body.data.id
}

describe("SSH keys", () => {
  test("are created, listed in pages, shown, renamed and deleted", async () => {
    await using testEngine = await populatedEngine()
    const id = await create(testEngine, "deploy")
    const shown = { id, type: "ssh-keys", attributes: { name: "deploy" }, links: { self: `/api/v2/ssh-keys/${id}` } }
    expect(id).toMatch(/^sshkey-[a-zA-Z0-9]{16}$/)
    expect((await testEngine.request("GET", `/ssh-keys/${id}`)).body.data).toEqual(shown)
    await create(testEngine, "another")
    const list = await testEngine.request("GET", `${keys}?page[size]=1&page[number]=2`)
    expect([list.status, list.body.data]).toEqual([200, [shown]])
    expect(list.body.meta.pagination["total-count"]).toBe(2)
    const renamed = await testEngine.request("PATCH", `/ssh-keys/${id}`, { body: document({ name: "new" }) })
    expect([renamed.status, renamed.body.data.attributes]).toEqual([200, { name: "new" }])
    expect((await testEngine.request("PATCH", `/ssh-keys/${id}`, { body: document({ value }) })).status).toBe(200)
    expect((await testEngine.request("DELETE", `/ssh-keys/${id}`)).status).toBe(204)
    expect((await testEngine.request("GET", `/ssh-keys/${id}`)).status).toBe(404)
  })

  test("have values that no response and no byte of the database contains", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-"))
    try {
      const file = join(folder, "chancery.db")
      await using testEngine = await populatedEngine({ url: `sqlite:${file}` })
      const made = await testEngine.request("POST", keys, { body: document({ name: "deploy", value }) })
      const shown = await testEngine.request("GET", keys)
      expect(JSON.stringify([made.body, shown.body])).not.toContain(secret)
      const stored = await Promise.all([readFile(file), readFile(`${file}-wal`)])
      expect(stored.map((bytes) => bytes.includes(secret))).toEqual([false, false])
      expect(stored.some((bytes) => bytes.includes("deploy"))).toBe(true)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test("are rejected with all faults, none of which contains the value", async () => {
    await using testEngine = await populatedEngine()
    const tooLong = "hunter2".repeat(10_000)
    const refused = await testEngine.request("POST", keys, { body: document({ name: "", value: tooLong }) })
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [
        expect.objectContaining({ detail: "Name can't be blank", source: { pointer: "/data/attributes/name" } }),
        expect.objectContaining({ source: { pointer: "/data/attributes/value" } }),
      ],
    ])
    expect(JSON.stringify(refused.body)).not.toContain("hunter2")
    const missing = await testEngine.request("POST", keys, { body: document({}) })
    expect([missing.status, missing.body.errors.length]).toEqual([422, 2])
    await create(testEngine, "deploy")
    const taken = await testEngine.request("POST", keys, { body: document({ name: "deploy", value }) })
    expect([taken.status, taken.body.errors[0].detail]).toEqual([422, "Name has already been taken"])
  })

  test("[F-W5] accept any value, and one that is not a private key causes a warning when it is used", async () => {
    const warnings: unknown[] = []
    const warn = (event: string, fields: object = {}) => void warnings.push([event, fields])
    await using testEngine = await populatedEngine({
      runtime: systemRuntime({ debug() {}, info() {}, error() {}, warn }),
    })
    const made = await testEngine.request("POST", keys, { body: document({ name: "opaque", value: "hunter2" }) })
    expect([made.status, made.body.data.attributes]).toEqual([201, { name: "opaque" }])
    expect(warnings).toEqual([])
    const workspace = await testEngine.workspace("one")
    const assign = (id: unknown) =>
      testEngine.request("PATCH", `/workspaces/${workspace}/relationships/ssh-key`, {
        body: { data: { type: "workspaces", attributes: { id } } },
      })
    const id = made.body.data.id
    expect((await assign(id)).status).toBe(200)
    const warning = ["ssh-key-unusable", { sshKey: id, workspace }]
    expect(warnings).toEqual([warning])
    expect((await testEngine.request("PATCH", `/ssh-keys/${id}`, { body: document({ value }) })).status).toBe(200)
    expect((await assign(id)).status).toBe(200)
    expect((await assign(null)).status).toBe(200)
    expect(warnings).toEqual([warning])
    expect((await testEngine.request("PATCH", `/ssh-keys/${id}`, { body: document({ value: "other" }) })).status).toBe(
      200,
    )
    expect((await assign(id)).status).toBe(200)
    expect(warnings).toEqual([warning, warning])
  })

  test("are visible to members, managed with the right to manage VCS settings, and hidden from others", async () => {
    await using testEngine = await populatedEngine()
    await testEngine.organization("other")
    const [id, foreign] = [await create(testEngine, "deploy"), await create(testEngine, "theirs", "other")]
    const statuses = async (token: string | null, key: string) => [
      (await testEngine.request("GET", `/ssh-keys/${key}`, { token })).status,
      (await testEngine.request("GET", keys, { token })).status,
      (await testEngine.request("POST", keys, { token, body: document({ name: `n${token}`, value }) })).status,
      (await testEngine.request("PATCH", `/ssh-keys/${key}`, { token, body: document({ name: "x" }) })).status,
      (await testEngine.request("DELETE", `/ssh-keys/${key}`, { token })).status,
    ]
    const manager = await testEngine.token({ organization: { manageVcsSettings: true } })
    expect(await statuses(null, id)).toEqual([401, 401, 401, 401, 401])
    expect(await statuses(await testEngine.token(), id)).toEqual([200, 200, 404, 404, 404])
    expect(await statuses(manager, foreign)).toEqual([404, 200, 201, 404, 404])
    expect(await statuses(manager, id)).toEqual([200, 200, 422, 200, 204])
  })
})

describe("the SSH key of a workspace", () => {
  const path = (workspace: string) => `/workspaces/${workspace}/relationships/ssh-key`
  const own = (id: unknown) => ({ data: { type: "workspaces", attributes: { id } } })
  const keyOf = async (testEngine: PopulatedEngine, id: string) =>
    (await testEngine.request("GET", `/workspaces/${id}`)).body.data.relationships["ssh-key"].data

  test.each([
    { form: "attributes.id", assign: own, unassign: own(null) },
    { form: "attributes.id, emptied", assign: own, unassign: own("") },
    {
      form: "data.id",
      assign: (id: string) => ({ data: { type: "ssh-keys", id } }),
      unassign: { data: null },
    },
  ])("[W-4.8-p1] is assigned and removed by $form; the response is the workspace", async ({ assign, unassign }) => {
    await using testEngine = await populatedEngine()
    const [workspace, id] = [await testEngine.workspace("one"), await create(testEngine, "deploy")]
    const assigned = await testEngine.request("PATCH", path(workspace), { body: assign(id) })
    expect([assigned.status, assigned.body.data.id, assigned.body.data.type]).toEqual([200, workspace, "workspaces"])
    expect(assigned.body.data.relationships["ssh-key"]).toEqual({
      data: { id, type: "ssh-keys" },
      links: { related: `/api/v2/ssh-keys/${id}` },
    })
    expect(await keyOf(testEngine, workspace)).toEqual({ id, type: "ssh-keys" })
    const unassigned = await testEngine.request("PATCH", path(workspace), { body: unassign })
    expect([unassigned.status, unassigned.body.data.relationships["ssh-key"].data]).toEqual([200, null])
    expect(await keyOf(testEngine, workspace)).toBeNull()
  })

  test("is not found, and stays unchanged, when the key is missing or of another organization", async () => {
    await using testEngine = await populatedEngine()
    await testEngine.organization("other")
    const [workspace, mine, theirs] = [
      await testEngine.workspace("one"),
      await create(testEngine, "mine"),
      await create(testEngine, "theirs", "other"),
    ]
    await testEngine.request("PATCH", path(workspace), { body: own(mine) })
    for (const id of [theirs, "sshkey-1111111111111111"])
      expect((await testEngine.request("PATCH", path(workspace), { body: own(id) })).status).toBe(404)
    expect(await keyOf(testEngine, workspace)).toEqual({ id: mine, type: "ssh-keys" })
    expect((await testEngine.request("PATCH", path("ws-none"), { body: own(mine) })).status).toBe(404)
  })

  test("is removed when the key is deleted", async () => {
    await using testEngine = await populatedEngine()
    const [workspace, id] = [await testEngine.workspace("one"), await create(testEngine, "deploy")]
    await testEngine.request("PATCH", path(workspace), { body: own(id) })
    await testEngine.request("DELETE", `/ssh-keys/${id}`)
    expect(await keyOf(testEngine, workspace)).toBeNull()
  })

  test("is changed by administrators of the workspace", async () => {
    await using testEngine = await populatedEngine()
    const [workspace, id] = [await testEngine.workspace("one"), await create(testEngine, "deploy")]
    const assign = async (access: "admin" | "write") => {
      const token = await testEngine.token({ on: { [workspace]: access } })
      return (await testEngine.request("PATCH", path(workspace), { token, body: own(id) })).status
    }
    expect([await assign("write"), await assign("admin")]).toEqual([404, 200])
    expect((await testEngine.request("PATCH", path(workspace), { token: null, body: own(id) })).status).toBe(401)
  })

  test.each([
    { body: { data: { type: "workspaces" } }, status: 422, pointer: "/data/attributes/id" },
    { body: own(7), status: 422, pointer: "/data/attributes/id" },
    { body: { data: { type: "ssh-keys" } }, status: 422, pointer: "/data/id" },
    { body: { data: { type: "runs", id: "x" } }, status: 422, pointer: "/data/type" },
    { body: { data: [] }, status: 400, pointer: "/data" },
    { body: {}, status: 400, pointer: "/data" },
  ])("is rejected with $status and a fault at $pointer", async ({ body, status, pointer }) => {
    await using testEngine = await populatedEngine()
    const answer = await testEngine.request("PATCH", path(await testEngine.workspace("one")), { body })
    expect([answer.status, answer.body.errors[0].source]).toEqual([status, { pointer }])
  })
})
