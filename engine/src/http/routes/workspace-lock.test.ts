// Lock, unlock and force-unlock over HTTP (specification 3 and 4.7).
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { document, made } from "../../testing/people.ts"
import { type PopulatedWorld, populatedWorld } from "../../testing/populated-world.ts"

let world: PopulatedWorld
let count = 0
beforeAll(async () => {
  world = await populatedWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const fresh = () => world.workspace(`ws-${(count += 1)}`)
const act = (id: string, action: "lock" | "unlock" | "force-unlock", token?: string, body?: unknown) =>
  world.request("POST", `/workspaces/${id}/actions/${action}`, { body, ...(token === undefined ? {} : { token }) })

describe("lock", () => {
  test("[W-3-p1] [W-3-r1] [W-4.7-r1] locks, keeps the reason, names the holder and answers the workspace", async () => {
    const id = await fresh()
    const before = await made(world, "GET", `/workspaces/${id}`)
    expect(before.attributes).toMatchObject({ locked: false, "locked-reason": null })
    expect(before.relationships["locked-by"].data).toBeNull()
    const answer = await act(id, "lock", undefined, { reason: "Upgrading the database" })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({
      id,
      type: "workspaces",
      attributes: { locked: true, "locked-reason": "Upgrading the database" },
      relationships: { "locked-by": { data: { type: "users" } } },
    })
    expect((await world.request("GET", `/workspaces/${id}`)).body).toEqual(answer.body)
  })

  test.each<[form: string, body: unknown, reason: string]>([
    ["a bare reason", { reason: "why" }, "why"],
    ["a document, with an empty type as clients send it", { data: { type: "", attributes: { reason: "why" } } }, "why"],
    ["no body", undefined, ""],
    ["an empty object", {}, ""],
  ])("[W-4.7-r1] takes %s", async (_form, body, reason) => {
    const { body: answer } = await act(await fresh(), "lock", undefined, body)
    expect(answer.data.attributes["locked-reason"]).toBe(reason)
  })

  test("[W-3-r2] [W-4.7-r1] a locked workspace is not locked again: 409 that names the holder, and the lock stays", async () => {
    const id = await fresh()
    await act(id, "lock", undefined, { reason: "first" })
    const holder = (await made(world, "GET", "/account/details")).id
    for (const token of [undefined, await world.token({ on: { [id]: "admin" } })]) {
      const answer = await act(id, "lock", token, { reason: "second" })
      expect(answer.status).toBe(409)
      expect(answer.body.errors[0].detail).toContain(`User ${holder}`)
    }
    expect((await made(world, "GET", `/workspaces/${id}`)).attributes["locked-reason"]).toBe("first")
  })

  test("[W-4.7-r1] a reason of the wrong type is refused, and nothing is locked", async () => {
    const id = await fresh()
    expect((await act(id, "lock", undefined, { reason: 7 })).status).toBe(422)
    expect((await made(world, "GET", `/workspaces/${id}`)).attributes.locked).toBe(false)
  })

  test("of many at once one wins", async () => {
    const id = await fresh()
    const answers = await Promise.all(Array.from({ length: 20 }, () => act(id, "lock")))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  })
})

describe("unlock", () => {
  test("[W-4.7-r2] [W-3-r3] the holder unlocks: 200 with the workspace", async () => {
    const id = await fresh()
    await act(id, "lock")
    const answer = await act(id, "unlock")
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id, attributes: { locked: false, "locked-reason": null } })
  })

  test("[W-4.7-r2] [W-3-r6] an unlocked workspace is a conflict", async () => {
    expect((await act(await fresh(), "unlock")).status).toBe(409)
  })

  test("[W-4.7-r2] [W-3-r5] another holder's lock stays, and the text says whose it is, as clients look for it", async () => {
    const id = await fresh()
    const token = await world.token({ on: { [id]: "admin" } })
    await act(id, "lock")
    const byUser = await act(id, "unlock", token)
    expect([byUser.status, byUser.body.errors[0].detail]).toEqual([409, expect.stringContaining("is locked by User")])
    await act(id, "force-unlock")
    await act(id, "lock", token)
    const byTeam = await act(id, "unlock")
    expect([byTeam.status, byTeam.body.errors[0].detail]).toEqual([409, expect.stringContaining("is locked by Team")])
    expect((await made(world, "GET", `/workspaces/${id}`)).attributes.locked).toBe(true)
  })

  test("[W-4.7-r2] [W-7-r5] while the newest state is on its way it waits: 503, and the text that clients retry on", async () => {
    const id = await fresh()
    await act(id, "lock")
    const version = document("state-versions", { serial: 1, md5: "0".repeat(32), lineage: "line", intermediate: true })
    await made(world, "POST", `/workspaces/${id}/state-versions`, version)
    const answer = await act(id, "unlock")
    expect(answer.status).toBe(503)
    expect(answer.body.errors[0].detail).toContain("latest state version is still pending")
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  })
})

describe("force-unlock", () => {
  test("[W-4.7-r3] [W-4.7-p1] [W-3-r7] admins of the workspace take anyone's lock away: 200 with the workspace", async () => {
    const id = await fresh()
    await act(id, "lock")
    const answer = await act(id, "force-unlock", await world.token({ on: { [id]: "admin" } }))
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id, attributes: { locked: false } })
  })

  test("[W-4.7-r3] [W-3-r8] an unlocked workspace is a conflict", async () => {
    expect((await act(await fresh(), "force-unlock")).status).toBe(409)
  })

  test("[W-4.7-p1] for those below admin it is not found", async () => {
    const id = await fresh()
    await act(id, "lock")
    for (const access of ["read", "plan", "write"] as const)
      expect((await act(id, "force-unlock", await world.token({ on: { [id]: access } }))).status).toBe(404)
    expect((await made(world, "GET", `/workspaces/${id}`)).attributes.locked).toBe(true)
  })
})

test.each(["lock", "unlock", "force-unlock"] as const)(
  "[W-4.7-r1] [W-4.7-r2] [W-4.7-r3] %s of a workspace that is not there, or not the caller's, is not found",
  async (action) => {
    const id = await fresh()
    expect((await act("ws-1111111111111111", action)).status).toBe(404)
    expect((await act(id, action, await world.token())).status).toBe(404)
  },
)
