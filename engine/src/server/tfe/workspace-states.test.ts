// Locks and states of a workspace as Terraform uses them (W-3 of docs/conformance.md): state versions are created and uploaded, and users,
// teams and runs hold and release locks. All writes go over HTTP.
import { describe, expect, test } from "vitest"
import { document, made, many, newMember, newTeam, type Person } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, type StateOptions, stateVersionDocument } from "../../../testing/state-file.ts"
import type { Answer } from "../../../testing/test-engine.ts"

async function lifeEngine() {
  const testEngine = await populatedEngine()
  const [holder, other] = [await newMember(testEngine, "acme", "holder"), await newMember(testEngine, "acme", "other")]
  await newTeam(testEngine, "acme", "managers", { access: { "manage-workspaces": true }, members: [holder, other] })
  const id = await testEngine.workspace("web")
  const path = `/workspaces/${id}`
  const act = (action: string, { token }: { readonly token: string }, body?: unknown): Promise<Answer> =>
    testEngine.request("POST", `${path}/actions/${action}`, { token, body })
  /** Creates a state version without its content. */
  const announce = async (by: Person, state: StateOptions, attributes: Record<string, unknown> = {}) => {
    const body = stateVersionDocument(stateFile(state), attributes)
    const version = await made(testEngine, "POST", `${path}/state-versions`, body, by.token)
    const address = version.attributes["hosted-state-upload-url"] as string
    return { id: version.id as string, upload: () => upload(address, stateFile(state).text) }
  }
  const upload = async (address: string, body: string) => {
    const headers = { "content-type": "application/octet-stream" }
    expect((await testEngine.request("PUT", address, { token: null, body, headers })).status).toBe(204)
  }
  return Object.assign(testEngine, {
    id,
    path,
    holder,
    other,
    act,
    announce,
    async put(by: Person, state: StateOptions, attributes: Record<string, unknown> = {}) {
      const version = await announce(by, state, attributes)
      await version.upload()
      return version.id
    },
    shown: async () => made(testEngine, "GET", path),
    current: async () => (await testEngine.request("GET", `${path}/current-state-version`)).body.data?.id,
    /** Returns the current state, downloaded as clients do and parsed. */
    async state() {
      const { attributes } = await made(testEngine, "GET", `${path}/current-state-version`)
      return JSON.parse(
        Buffer.from((await testEngine.request("GET", attributes["hosted-state-download-url"])).bytes).toString(),
      )
    },
  })
}

const intermediate = { intermediate: true }

describe("an unlocked workspace", () => {
  test("[W-3-r1] is locked by a lock, stores the reason, and accepts states only from the holder", async () => {
    await using testEngine = await lifeEngine()
    const body = stateVersionDocument(stateFile({ serial: 1 }))
    const write = async (by: Person) =>
      (await testEngine.request("POST", `${testEngine.path}/state-versions`, { token: by.token, body })).status
    expect([await write(testEngine.holder), await write(testEngine.other)]).toEqual([409, 409])
    const { status, body: answer } = await testEngine.act("lock", testEngine.holder, { reason: "apply" })
    expect([status, answer.data.id]).toEqual([200, testEngine.id])
    expect(answer.data.attributes).toMatchObject({ locked: true, "locked-reason": "apply" })
    expect(answer.data.relationships["locked-by"].data).toEqual({ type: "users", id: testEngine.holder.id })
    expect([await write(testEngine.other), await write(testEngine.holder)]).toEqual([409, 201])
  })

  test("[W-3-r6] [W-3-r8] cannot be unlocked, not even by force, and keeps its state", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    const version = await testEngine.put(testEngine.holder, { serial: 1 })
    await testEngine.act("unlock", testEngine.holder)
    for (const action of ["unlock", "force-unlock"]) {
      const { status, body } = await testEngine.act(action, testEngine.holder)
      expect([status, body.errors[0].detail]).toEqual([409, expect.stringContaining("already unlocked")])
    }
    expect(await testEngine.current()).toBe(version)
  })
})

describe("a locked workspace", () => {
  test("[W-3-r2] rejects another lock while states are uploaded, from any caller, and keeps the first", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder, { reason: "first" })
    const pending = await testEngine.announce(testEngine.holder, { serial: 1 })
    for (const by of [testEngine.other, testEngine.holder])
      expect((await testEngine.act("lock", by, { reason: "second" })).status).toBe(409)
    await pending.upload()
    expect((await testEngine.shown()).attributes).toMatchObject({ locked: true, "locked-reason": "first" })
    expect(await testEngine.current()).toBe(pending.id)
  })

  test("[W-3-r3] is unlocked by its holder, and the latest intermediate state becomes the current one", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    const before = await testEngine.put(testEngine.holder, { serial: 1 })
    await testEngine.put(testEngine.holder, { serial: 2, instances: 1 }, intermediate)
    const latest = await testEngine.put(testEngine.holder, { serial: 3, instances: 2 }, intermediate)
    expect(await testEngine.current()).toBe(before)
    const { status, body } = await testEngine.act("unlock", testEngine.holder)
    expect(status).toBe(200)
    expect(body.data.attributes).toMatchObject({ locked: false, "locked-reason": null, "resource-count": 2 })
    expect(body.data.relationships["locked-by"].data).toBeNull()
    expect(await testEngine.current()).toBe(latest)
    expect((await testEngine.state()).serial).toBe(3)
  })

  test("[W-3-r4] cannot be unlocked while the latest intermediate state is pending; a retry afterwards succeeds", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    const before = await testEngine.put(testEngine.holder, { serial: 1 })
    const late = await testEngine.announce(testEngine.holder, { serial: 2 }, intermediate)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { status, headers } = await testEngine.act("unlock", testEngine.holder)
      expect([status, Number(headers.get("retry-after")) > 0]).toEqual([503, true])
      expect((await testEngine.shown()).attributes.locked).toBe(true)
    }
    expect(await testEngine.current()).toBe(before)
    await late.upload()
    expect((await testEngine.act("unlock", testEngine.holder)).status).toBe(200)
    expect(await testEngine.current()).toBe(late.id)
  })

  test("[W-3-r5] is not unlocked by other callers, whether a user, a team or a run holds it", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    await testEngine.put(testEngine.holder, { serial: 1 }, intermediate)
    const refusal = async () => {
      const { status, body } = await testEngine.act("unlock", testEngine.other)
      expect(status).toBe(409)
      return body.errors[0].detail
    }
    expect(await refusal()).toContain(`is locked by User ${testEngine.holder.id}`)
    expect((await testEngine.shown()).attributes.locked).toBe(true)
    await testEngine.act("unlock", testEngine.holder)
    const team = await testEngine.token({ on: { [testEngine.id]: "write" } })
    await testEngine.act("lock", { token: team })
    expect(await refusal()).toContain("is locked by Team team-")
    await testEngine.act("unlock", { token: team })
    const related = { workspace: { data: { type: "workspaces", id: testEngine.id } } }
    const run = await made(testEngine, "POST", "/runs", document("runs", {}, related))
    await made(testEngine, "POST", `/runs/${run.id}/actions/transition`, { status: "planning" })
    expect(await refusal()).toContain(`is locked by Run ${run.id}`)
  })

  test("[W-3-r7] [W-3-p2] is unlocked by force by administrators, and the list shows which states were saved", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    const saved = await testEngine.put(testEngine.holder, { serial: 1 }, intermediate)
    const lost = await testEngine.announce(testEngine.holder, { serial: 2 }, intermediate)
    const writer = { token: await testEngine.token({ on: { [testEngine.id]: "write" } }) }
    expect((await testEngine.act("force-unlock", writer)).status).toBe(404)
    const { status, body } = await testEngine.act("force-unlock", testEngine.other)
    expect([status, body.data.attributes.locked]).toEqual([200, false])
    const list = await made(testEngine, "GET", `${testEngine.path}/state-versions`)
    expect(list.map(({ id, attributes }: Answer["body"]) => [id, attributes.status])).toEqual([
      [lost.id, "discarded"],
      [saved, "finalized"],
    ])
    expect((await testEngine.act("lock", testEngine.other)).status).toBe(200)
  })
})

describe("an existing workspace", () => {
  test("[W-3-r9] [W-3-r10] is safely deleted only when its state has no resources", async () => {
    await using testEngine = await lifeEngine()
    const safelyDeleted = async () => (await testEngine.act("safe-delete", testEngine.holder)).status
    await testEngine.act("lock", testEngine.holder)
    await testEngine.put(testEngine.holder, { serial: 1, instances: 1 })
    expect(await safelyDeleted()).toBe(409)
    await testEngine.act("unlock", testEngine.holder)
    expect(await safelyDeleted()).toBe(409)
    await testEngine.act("lock", testEngine.holder)
    await testEngine.put(testEngine.holder, { serial: 2, instances: 0 })
    await testEngine.act("unlock", testEngine.holder)
    expect(await safelyDeleted()).toBe(204)
    expect((await testEngine.request("GET", testEngine.path)).status).toBe(404)
  })

  test("[W-3-r11] is deleted by force with its resources, its states and its lock, by callers who may", async () => {
    await using testEngine = await lifeEngine()
    await testEngine.act("lock", testEngine.holder)
    const version = await testEngine.put(testEngine.holder, { serial: 1, instances: 1 })
    expect((await testEngine.request("DELETE", testEngine.path, { token: testEngine.holder.token })).status).toBe(403)
    expect((await testEngine.request("DELETE", testEngine.path)).status).toBe(204)
    for (const path of [testEngine.path, `/state-versions/${version}`, `/state-versions/${version}/download`])
      expect((await testEngine.request("GET", path)).status).toBe(404)
  })
})

test("[W-3-p3] loses tags that are deleted, and a tag is deleted with its last workspace", async () => {
  await using testEngine = await lifeEngine()
  const second = await testEngine.workspace("second")
  const tags = (workspace: string, method: string, ...names: string[]) =>
    testEngine.request(method, `/workspaces/${workspace}/relationships/tags`, {
      body: { data: names.map((name) => ({ type: "tags", attributes: { name } })) },
    })
  await tags(testEngine.id, "POST", "shared", "single")
  await tags(second, "POST", "shared")
  const pool = async () => made(testEngine, "GET", "/organizations/acme/tags")
  const names = async () => (await pool()).map(({ attributes }: Answer["body"]) => attributes.name).toSorted()
  await tags(testEngine.id, "DELETE", "single", "shared")
  expect(await names()).toEqual(["shared"])
  const [shared] = await pool()
  const body = many("tags", [shared.id])
  expect((await testEngine.request("DELETE", "/organizations/acme/tags", { body })).status).toBe(204)
  expect([await names(), (await made(testEngine, "GET", `/workspaces/${second}`)).attributes["tag-names"]]).toEqual([
    [],
    [],
  ])
})
