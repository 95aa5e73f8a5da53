// Locking over HTTP, transition by transition (W-3 and W-4.7 of docs/conformance.md). Clients match parts of the error texts.
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { made, newMember, newTeam, type Person } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import type { Answer } from "../../../testing/test-engine.ts"

let testEngine: PopulatedEngine
let holder: Person
let other: Person
let reader: string
let count = 0

beforeAll(async () => {
  testEngine = await populatedEngine()
  holder = await newMember(testEngine, "acme", "holder")
  other = await newMember(testEngine, "acme", "other")
  await newTeam(testEngine, "acme", "managers", { access: { "manage-workspaces": true }, members: [holder, other] })
})
afterAll(() => testEngine[Symbol.asyncDispose]())

async function newWorkspace(): Promise<string> {
  count += 1
  const id = await testEngine.workspace(`lock-${count}`)
  reader = await testEngine.token({ on: { [id]: "read" } })
  return id
}

const act = (id: string, action: string, token: string, body?: unknown): Promise<Answer> =>
  testEngine.request("POST", `/workspaces/${id}/actions/${action}`, { token, body })

const stateDocument = JSON.stringify({
  version: 4,
  serial: 1,
  lineage: "lineage",
  terraform_version: "1.11.4",
  outputs: {},
  resources: [],
})
const pendingVersion = {
  data: {
    type: "state-versions",
    attributes: {
      serial: 1,
      lineage: "lineage",
      md5: createHash("md5").update(stateDocument).digest("hex"),
      intermediate: true,
    },
  },
}

describe("a workspace", () => {
  test("[W-3-p1] is unlocked, or locked with a reason and a holder", async () => {
    const id = await newWorkspace()
    const shown = async () => await made(testEngine, "GET", `/workspaces/${id}`)
    expect((await shown()).attributes).toMatchObject({ locked: false, "locked-reason": null })
    expect((await shown()).relationships["locked-by"].data).toBeNull()
    await act(id, "lock", holder.token, { reason: "migration" })
    expect((await shown()).attributes).toMatchObject({ locked: true, "locked-reason": "migration" })
    expect((await shown()).relationships["locked-by"]).toEqual({
      data: { type: "users", id: holder.id },
      links: { related: `/api/v2/users/${holder.id}` },
    })
  })
})

describe("lock", () => {
  test.each([
    { sent: "a bare reason", body: { reason: "why" }, reason: "why" },
    {
      sent: "a document",
      body: { data: { type: "", attributes: { reason: "Locked by Terraform" } } },
      reason: "Locked by Terraform",
    },
    { sent: "no body", body: undefined, reason: "" },
    { sent: "no reason", body: {}, reason: "" },
  ])("[W-4.7-r1] [W-3-r1] with $sent answers 200 and stores the reason '$reason'", async ({ body, reason }) => {
    const id = await newWorkspace()
    const { status, body: answer } = await act(id, "lock", holder.token, body)
    expect(status).toBe(200)
    expect(answer.data).toMatchObject({ type: "workspaces", id, attributes: { locked: true, "locked-reason": reason } })
  })

  test("[W-4.7-r1] [W-3-r2] of a locked workspace answers 409, also to its holder, and changes nothing", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token, { reason: "first" })
    for (const { token } of [holder, other]) {
      const { status, body } = await act(id, "lock", token, { reason: "second" })
      expect(status).toBe(409)
      expect(body.errors[0]).toMatchObject({ status: "409", title: "conflict" })
      expect(body.errors[0].detail).toContain(`already locked by User ${holder.id}`)
    }
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes["locked-reason"]).toBe("first")
  })

  test("[W-4.7-r1] answers 404 when the workspace is missing, or the caller may not lock it", async () => {
    const id = await newWorkspace()
    expect((await act("ws-1234567812345678", "lock", holder.token)).status).toBe(404)
    expect((await act(id, "lock", reader)).status).toBe(404)
  })

  test("of one workspace by 32 concurrent callers succeeds once", async () => {
    const id = await newWorkspace()
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => act(id, "lock", holder.token, { reason: "race" })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(31)
  })

  test("with a reason that is not a string answers 422 with its pointer", async () => {
    const id = await newWorkspace()
    const { status, body } = await act(id, "lock", holder.token, { reason: 7 })
    expect(status).toBe(422)
    expect(body.errors[0].source).toEqual({ pointer: "/reason" })
  })
})

describe("unlock", () => {
  test("[W-4.7-r2] [W-3-r3] by the holder answers 200 with the workspace", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    const { status, body } = await act(id, "unlock", holder.token)
    expect(status).toBe(200)
    expect(body.data.attributes).toMatchObject({ locked: false, "locked-reason": null })
  })

  test("[W-4.7-r2] [W-3-r6] of an unlocked workspace answers 409", async () => {
    const { status, body } = await act(await newWorkspace(), "unlock", holder.token)
    expect(status).toBe(409)
    expect(body.errors[0].detail).toContain("already unlocked")
  })

  test("[W-4.7-r2] [W-3-r5] by another caller answers 409 with the kind of the holder", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    const { status, body } = await act(id, "unlock", other.token)
    expect(status).toBe(409)
    expect(body.errors[0].detail).toContain(
      `The workspace is locked by User ${holder.id} (holder) and may not be unlocked except by them.`,
    )
    const team = await testEngine.token({ on: { [id]: "write" } })
    const teamLocked = await newWorkspace()
    const owningTeam = await testEngine.token({ on: { [teamLocked]: "write" } })
    await act(teamLocked, "lock", owningTeam)
    expect((await act(teamLocked, "unlock", holder.token)).body.errors[0].detail).toContain("is locked by Team team-")
    expect((await act(id, "unlock", team)).status).toBe(409)
  })

  test("[W-4.7-r2] [W-3-r4] while the newest state version is pending answers 503 with Retry-After, and stays locked", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    await made(testEngine, "POST", `/workspaces/${id}/state-versions`, pendingVersion, holder.token)
    const { status, body, headers } = await act(id, "unlock", holder.token)
    expect(status).toBe(503)
    expect(body.errors[0].detail).toContain("latest state version is still pending")
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes.locked).toBe(true)
  })

  test("[W-4.7-r2] answers 404 when the workspace is missing, or the caller may not lock it", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    expect((await act("ws-1234567812345678", "unlock", holder.token)).status).toBe(404)
    expect((await act(id, "unlock", reader)).status).toBe(404)
  })
})

describe("force-unlock", () => {
  test("[W-4.7-r3] [W-3-r7] by an administrator answers 200 with the workspace, for any holder", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    const { status, body } = await act(id, "force-unlock", other.token)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ type: "workspaces", attributes: { locked: false } })
  })

  test("[W-4.7-r3] [W-3-r8] of an unlocked workspace answers 409", async () => {
    const { status, body } = await act(await newWorkspace(), "force-unlock", holder.token)
    expect(status).toBe(409)
    expect(body.errors[0].detail).toContain("already unlocked")
  })

  test("[W-4.7-r3] answers 404 when the workspace is missing, or the caller is not an administrator of it", async () => {
    const id = await newWorkspace()
    await act(id, "lock", holder.token)
    const writer = await testEngine.token({ on: { [id]: "write" } })
    expect((await act("ws-1234567812345678", "force-unlock", holder.token)).status).toBe(404)
    expect((await act(id, "force-unlock", writer)).status).toBe(404)
  })
})
