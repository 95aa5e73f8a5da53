import { describe, expect, test } from "vitest"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const older = (days: unknown) => ({
  data: { type: "data-retention-policy-delete-olders", attributes: { "delete-older-than-n-days": days } },
})
const keep = { data: { type: "data-retention-policy-dont-deletes" } }
const ofWorkspace = (id: string) => `/workspaces/${id}/relationships/data-retention-policy`
const ofAcme = "/organizations/acme/relationships/data-retention-policy"
const ofSite = "/admin/data-retention-policy-settings"

const memberOf = async (testEngine: PopulatedEngine, workspace: string) =>
  (await testEngine.request("GET", `/workspaces/${workspace}`)).body.data.relationships["data-retention-policy"]

describe("the policy of a workspace", () => {
  test("[W-4.11-r2] [W-4.11-p1] [W-1-n5] is created, then updated with the same id", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    const made = await testEngine.request("POST", ofWorkspace(workspace), { body: older(30) })
    expect(made.status).toBe(200)
    expect(made.body.data).toEqual({
      id: expect.stringMatching(/^drp-[a-zA-Z0-9]{16}$/),
      type: "data-retention-policy-delete-olders",
      attributes: { "delete-older-than-n-days": 30 },
      relationships: { target: { data: { id: workspace, type: "workspaces" } } },
    })
    const changed = await testEngine.request("POST", ofWorkspace(workspace), { body: older(7) })
    expect(changed.body.data).toEqual({ ...made.body.data, attributes: { "delete-older-than-n-days": 7 } })
    expect((await testEngine.request("GET", ofWorkspace(workspace))).body).toEqual(changed.body)
  })

  test("[W-4.11-r2] is replaced by one of another type with a new id", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    const before = (await testEngine.request("POST", ofWorkspace(workspace), { body: older(30) })).body.data
    const after = (await testEngine.request("POST", ofWorkspace(workspace), { body: keep })).body.data
    expect(after).toMatchObject({ type: "data-retention-policy-dont-deletes", attributes: {} })
    expect(after.id).not.toBe(before.id)
    expect((await testEngine.request("GET", ofWorkspace(workspace))).body.data).toEqual(after)
  })

  test("[W-4.11-r1] is its own, else that of the organization, else not found", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("POST", ofSite, { body: older(365) })
    expect((await testEngine.request("GET", ofWorkspace(workspace))).status).toBe(404)
    await testEngine.request("POST", ofAcme, { body: keep })
    const inherited = await testEngine.request("GET", ofWorkspace(workspace))
    expect([inherited.status, inherited.body.data.type]).toEqual([200, "data-retention-policy-dont-deletes"])
    expect(inherited.body.data.relationships.target.data).toEqual({ id: "acme", type: "organizations" })
    await testEngine.request("POST", ofWorkspace(workspace), { body: older(5) })
    const own = await testEngine.request("GET", ofWorkspace(workspace))
    expect([own.status, own.body.data.attributes]).toEqual([200, { "delete-older-than-n-days": 5 }])
  })

  test("[W-4.11-r3] is deleted without deleting that of the organization", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("POST", ofAcme, { body: older(9) })
    await testEngine.request("POST", ofWorkspace(workspace), { body: older(5) })
    const removed = await testEngine.request("DELETE", ofWorkspace(workspace))
    expect([removed.status, removed.body]).toEqual([204, undefined])
    const left = await testEngine.request("GET", ofWorkspace(workspace))
    expect(left.body.data.attributes).toEqual({ "delete-older-than-n-days": 9 })
    expect((await testEngine.request("DELETE", ofWorkspace(workspace))).status).toBe(404)
  })

  test("[W-4.11-p1] is in the workspace's document, with its type, only while it is set on the workspace", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("POST", ofAcme, { body: keep })
    expect(await memberOf(testEngine, workspace)).toBeUndefined()
    const { id } = (await testEngine.request("POST", ofWorkspace(workspace), { body: older(5) })).body.data
    expect(await memberOf(testEngine, workspace)).toEqual({ data: { id, type: "data-retention-policy-delete-olders" } })
    await testEngine.request("DELETE", ofWorkspace(workspace))
    expect(await memberOf(testEngine, workspace)).toBeUndefined()
  })

  test.each(["POST", "PATCH"])("%s in the legacy type is answered in the legacy type", async (method) => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    const body = { data: { type: "data-retention-policies", attributes: { "delete-older-than-n-days": 12 } } }
    const { status, body: answer } = await testEngine.request(method, ofWorkspace(workspace), { body })
    expect([status, answer.data.type, answer.data.attributes]).toEqual([
      200,
      "data-retention-policies",
      { "delete-older-than-n-days": 12 },
    ])
    const read = (await testEngine.request("GET", ofWorkspace(workspace))).body.data
    expect([read.id, read.type]).toEqual([answer.data.id, "data-retention-policy-delete-olders"])
  })

  test("accepts its attribute in camel case", async () => {
    await using testEngine = await populatedEngine()
    const body = { data: { type: "data-retention-policy-delete-olders", attributes: { deleteOlderThanNDays: 8 } } }
    const answer = await testEngine.request("POST", ofWorkspace(await testEngine.workspace("one")), { body })
    expect([answer.status, answer.body.data.attributes]).toEqual([200, { "delete-older-than-n-days": 8 }])
  })

  const days = "/data/attributes/delete-older-than-n-days"
  test.each([
    { body: older(0), pointer: days },
    { body: older(-3), pointer: days },
    { body: older(1.5), pointer: days },
    { body: older("7"), pointer: days },
    { body: older(null), pointer: days },
    { body: { data: { type: "data-retention-policy-delete-olders" } }, pointer: days },
    { body: { data: { type: "policies" } }, pointer: "/data/type" },
  ])("is rejected with a fault at $pointer, and nothing is set", async ({ body, pointer }) => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    const answer = await testEngine.request("POST", ofWorkspace(workspace), { body })
    expect([answer.status, answer.body.errors[0].source]).toEqual([422, { pointer }])
    expect((await testEngine.request("GET", ofWorkspace(workspace))).status).toBe(404)
  })

  test("[W-1-n5] is not shown after the edition was changed to hosted", async () => {
    await using place = await defaultSharedKind.place()
    const { url } = place
    await using before = await populatedEngine({ url })
    const workspace = await before.workspace("one")
    await before.request("POST", ofWorkspace(workspace), { body: older(5) })
    await using hosted = await openTestEngine({ url, edition: "hosted" })
    const { body } = await hosted.request("GET", `/workspaces/${workspace}`)
    expect(body.data.relationships["data-retention-policy"]).toBeUndefined()
  })
})

describe("permissions on retention policies", () => {
  test("let workspace administrators change a workspace's policy, and its readers see it", async () => {
    await using testEngine = await populatedEngine()
    const workspace = await testEngine.workspace("one")
    await testEngine.request("POST", ofAcme, { body: older(9) })
    const statuses = async (token: string | null) => [
      (await testEngine.request("GET", ofWorkspace(workspace), { token })).status,
      (await testEngine.request("POST", ofWorkspace(workspace), { token, body: older(1) })).status,
      (await testEngine.request("DELETE", ofWorkspace(workspace), { token })).status,
    ]
    expect(await statuses(await testEngine.token({ on: { [workspace]: "admin" } }))).toEqual([200, 200, 204])
    expect(await statuses(await testEngine.token({ on: { [workspace]: "write" } }))).toEqual([200, 404, 404])
    expect(await statuses(await testEngine.token())).toEqual([404, 404, 404])
    expect(await statuses(null)).toEqual([401, 401, 401])
  })

  test("let owners change an organization's policy, and its members see it", async () => {
    await using testEngine = await populatedEngine()
    const member = await testEngine.token()
    expect((await testEngine.request("GET", ofAcme)).status).toBe(404)
    expect((await testEngine.request("POST", ofAcme, { token: member, body: keep })).status).toBe(404)
    expect((await testEngine.request("POST", ofAcme, { body: keep })).status).toBe(200)
    expect((await testEngine.request("GET", ofAcme, { token: member })).status).toBe(200)
    expect((await testEngine.request("DELETE", ofAcme, { token: member })).status).toBe(404)
    expect((await testEngine.request("DELETE", ofAcme)).status).toBe(204)
    expect((await testEngine.request("POST", ofAcme.replace("acme", "none"), { body: keep })).status).toBe(404)
  })

  test("let site administrators see and change the site's policy, which can only delete", async () => {
    await using testEngine = await populatedEngine()
    const manager = await testEngine.token({ organization: { manageWorkspaces: true } })
    const made = await testEngine.request("POST", ofSite, { body: older(365) })
    expect([made.status, made.body.data.relationships.target.data]).toEqual([200, null])
    expect((await testEngine.request("GET", ofSite)).body).toEqual(made.body)
    const refused = await testEngine.request("PATCH", ofSite, { body: keep })
    expect([refused.status, refused.body.errors[0].source]).toEqual([422, { pointer: "/data/type" }])
    expect((await testEngine.request("GET", ofSite, { token: manager })).status).toBe(404)
    expect((await testEngine.request("POST", ofSite, { token: manager, body: older(1) })).status).toBe(404)
    expect((await testEngine.request("DELETE", ofSite, { token: manager })).status).toBe(404)
    expect((await testEngine.request("DELETE", ofSite)).status).toBe(204)
    expect((await testEngine.request("GET", ofSite)).status).toBe(404)
  })
})

test.each(["GET", "POST", "PATCH", "DELETE"])(
  "[W-1-n5] the hosted edition has no retention policies: %s",
  async (method) => {
    await using testEngine = await populatedEngine({ edition: "hosted" })
    const workspace = await testEngine.workspace("one")
    for (const path of [ofWorkspace(workspace), ofAcme, ofSite]) {
      const body = method === "GET" || method === "DELETE" ? {} : { body: older(1) }
      expect((await testEngine.request(method, path, body)).status).toBe(404)
    }
  },
)
