import { createHash } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { populatedWorld } from "../../testing/populated-world.ts"
import { stateFile, type StateOptions, stateVersionDocument } from "../../testing/state-file.ts"
import { type Answer, openWorld, type RequestOptions, type World } from "../../testing/world.ts"

/** The workspace `web` of `acme`, and the steps that clients take with its state. */
async function stateWorld(options: Parameters<typeof populatedWorld>[0] = {}) {
  const world = await populatedWorld(options)
  const id = await world.workspace("web")
  return Object.assign(world, { id, ...stepsOf(world, id) })
}

function stepsOf({ request }: World, id: string) {
  const post = (path: string, more: RequestOptions = {}) => request("POST", `/workspaces/${id}/${path}`, more)
  const announce = (state: StateOptions = {}, attributes: Record<string, unknown> = {}, more: RequestOptions = {}) =>
    post("state-versions", { body: stateVersionDocument(stateFile(state), attributes), ...more })
  const upload = (address: string, body: string) =>
    request("PUT", address, { token: null, body, headers: { "content-type": "application/octet-stream" } })
  return {
    announce,
    upload,
    lock: (more?: RequestOptions) => post("actions/lock", more),
    unlock: (more?: RequestOptions) => post("actions/unlock", more),
    forceUnlock: (more?: RequestOptions) => post("actions/force-unlock", more),
    show: async () => (await request("GET", `/workspaces/${id}`)).body.data,
    current: () => request("GET", `/workspaces/${id}/current-state-version`),
    statuses: async () =>
      (await request("GET", `/workspaces/${id}/state-versions`)).body.data.map(
        ({ attributes }: { readonly attributes: { readonly status: string; readonly serial: number } }) =>
          `${attributes.serial} ${attributes.status}`,
      ),
    /** Announces and uploads; the id of the version. */
    async put(state: StateOptions, attributes: Record<string, unknown> = {}): Promise<string> {
      const { body } = await announce(state, attributes)
      const { status } = await upload(body.data.attributes["hosted-state-upload-url"], stateFile(state).text)
      expect(status).toBe(204)
      return body.data.id
    },
  }
}

const detailOf = ({ status, body }: Answer) => [status, body?.errors?.[0]?.detail]
const faultsOf = ({ body }: Answer) =>
  body.errors.map(({ detail, source }: { readonly detail: string; readonly source?: object }) => [
    Object.values(source ?? {})[0],
    detail,
  ])

describe("a state version in two steps", () => {
  test("is pending until its state arrives at the upload address, and current from then on", async () => {
    await using world = await stateWorld()
    await world.lock()
    const state = stateFile({ serial: 3, instances: 2 })
    const announced = await world.announce({ serial: 3, instances: 2 }, { "json-state-outputs": "e30=" })
    expect(announced.status).toBe(201)
    const { attributes, id } = announced.body.data
    expect(attributes).toMatchObject({
      status: "pending",
      serial: 3,
      md5: state.md5,
      "hosted-state-download-url": null,
      "hosted-state-upload-url": expect.stringMatching(/^http:\/\/chancery\.test\/uploads\//),
      "hosted-json-state-upload-url": expect.stringMatching(/^http:\/\/chancery\.test\/uploads\//),
    })
    expect((await world.current()).status).toBe(404)
    // Clients send both at once, in any order.
    const answers = await Promise.all([
      world.upload(attributes["hosted-json-state-upload-url"], '{"format_version":"1.0"}'),
      world.upload(attributes["hosted-state-upload-url"], state.text),
    ])
    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    const current = await world.current()
    expect(current.body.data).toMatchObject({
      id,
      type: "state-versions",
      attributes: {
        status: "finalized",
        serial: 3,
        size: state.text.length,
        "state-version": 4,
        "terraform-version": "1.11.4",
        intermediate: false,
        "resources-processed": true,
        resources: [{ name: "web", type: "null_resource", count: 2, module: "root" }],
        modules: { root: { "null-resource": 2 } },
        "hosted-state-upload-url": null,
        "hosted-json-state-upload-url": null,
      },
      relationships: { workspace: { data: { type: "workspaces", id: world.id } } },
    })
    const { "hosted-state-download-url": raw, "hosted-json-state-download-url": json } = current.body.data.attributes
    expect((await world.request("GET", raw)).body).toEqual(JSON.parse(state.text))
    expect((await world.request("GET", json)).body).toEqual({ format_version: "1.0" })
    expect((await world.request("GET", raw.replace(/\?.*/, ""), { token: null })).status).toBe(401)
  })

  test("asks for snapshots during long applies", async () => {
    await using world = await stateWorld()
    await world.lock()
    expect((await world.announce()).headers.get("x-terraform-snapshot-interval")).toBe("60")
  })

  test.each([
    { seconds: 300, header: "300" },
    { seconds: 0, header: null },
  ])("asks for snapshots as it is told to: $seconds", async ({ seconds, header }) => {
    await using world = await stateWorld({ snapshotIntervalSeconds: seconds })
    await world.lock()
    expect((await world.announce()).headers.get("x-terraform-snapshot-interval")).toBe(header)
  })

  test("takes the same upload again, and no other", async () => {
    await using world = await stateWorld()
    await world.lock()
    const { attributes } = (await world.announce()).body.data
    const address = attributes["hosted-state-upload-url"]
    expect((await world.upload(address, stateFile({ instances: 1 }).text)).status).toBe(422)
    expect((await world.upload(address, stateFile().text)).status).toBe(204)
    expect((await world.upload(address, stateFile().text)).status).toBe(204)
    expect(detailOf(await world.upload(address, stateFile({ instances: 1 }).text))).toEqual([
      409,
      "The state of this state version has already been uploaded.",
    ])
  })

  test("its upload address stays good across restarts, ends after 25 hours, and cannot be changed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-"))
    const options = { url: `sqlite:${join(folder, "chancery.db")}` }
    const clock = manualClock()
    const runtime = { ...systemRuntime(), clock }
    let address = ""
    {
      await using world = await openWorld({ ...options, runtime })
      await world.engine.organizations.create({ name: "acme", email: "acme@example.com" })
      const { id } = await world.engine.workspaces.create("acme", { name: "web" })
      const steps = stepsOf(world, id)
      await steps.lock()
      address = (await steps.announce()).body.data.attributes["hosted-state-upload-url"]
    }
    await using world = await openWorld({ ...options, runtime })
    const { upload } = stepsOf(world, "")
    expect((await upload(address.replace("/state?", "/json-state?"), "{}")).status).toBe(404)
    expect((await upload(`${address}0`, stateFile().text)).status).toBe(404)
    expect((await upload(address.replace(/\?.*/, ""), stateFile().text)).status).toBe(404)
    clock.advance(25 * hourMs)
    expect((await upload(address, stateFile().text)).status).toBe(404)
    clock.advance(-1)
    expect((await upload(address, stateFile().text)).status).toBe(204)
    await rm(folder, { recursive: true, force: true })
  })

  test("what is uploaded must be a state of format 4 that was announced", async () => {
    await using world = await stateWorld()
    await world.lock()
    const { attributes } = (await world.announce()).body.data
    const address = attributes["hosted-state-upload-url"]
    expect(faultsOf(await world.upload(address, "{"))).toEqual([
      ["/data/attributes/state", "State is not a JSON document"],
    ])
    expect(detailOf(await world.upload(address, '{"version":3}'))).toEqual([
      422,
      "State has format version 3; only version 4 is supported. Write it again with a newer release of the tool.",
    ])
    expect(detailOf(await world.upload(attributes["hosted-json-state-upload-url"], "no"))[0]).toBe(422)
    expect(await world.statuses()).toEqual(["1 pending"])
  })
})

describe("a download address", () => {
  async function finalized() {
    const clock = manualClock()
    const world = await stateWorld({ runtime: { ...systemRuntime(), clock } })
    await world.lock()
    const { data } = (await world.announce({}, { inline: true, "json-state": Buffer.from("{}").toString("base64") }))
      .body
    const { attributes } = data
    const get = async (address: string, token: string | null = null) =>
      (await world.request("GET", address, { token })).status
    return Object.assign(world, {
      clock,
      get,
      state: attributes["hosted-state-download-url"] as string,
      json: attributes["hosted-json-state-download-url"] as string,
    })
  }

  test("asks for no token, for an hour", async () => {
    await using world = await finalized()
    const { status, body, headers } = await world.request("GET", world.state, { token: null })
    expect([status, body, headers.get("cache-control")]).toEqual([200, JSON.parse(stateFile().text), "no-store"])
    expect((await world.request("GET", world.json, { token: null })).body).toEqual({})
    world.clock.advance(hourMs - 1)
    expect(await world.get(world.state)).toBe(200)
    world.clock.advance(1)
    expect(await world.get(world.state)).toBe(404)
  })

  test("that was changed, or made for something else, answers 404", async () => {
    await using world = await finalized()
    await world.put({ serial: 2 })
    const [other, { state, json }] = [(await world.current()).body.data.id, world]
    const changed = [
      `${state}0`,
      state.replace(/=.*/, "="),
      state.replace("/download?", "/json-download?"),
      json.replace("/json-download?", "/download?"),
      state.replace(/sv-\w+/, other),
      state.replace(/sv-\w+/, "sv-1111111111111111"),
    ]
    for (const address of changed) expect([address, await world.get(address)]).toEqual([address, 404])
  })

  test("goes on to open for a token that may read the state, and for no other", async () => {
    await using world = await finalized()
    world.clock.advance(2 * hourMs)
    const { id } = world
    expect(await world.get(world.state, await world.token({ on: { [id]: "read" } }))).toBe(200)
    expect(await world.get(world.state, await world.token())).toBe(404)
    expect(await world.get(world.state, "unknown")).toBe(401)
  })

  test("is not shown with a workspace that brings its state version along", async () => {
    await using world = await finalized()
    const { body } = await world.request("GET", `/workspaces/${world.id}?include=current_state_version`)
    expect(body.included[0].attributes["hosted-state-download-url"]).toMatch(/\/download$/)
  })
})

describe("a large state", () => {
  /** Longer than what is held whole. */
  const more = { filling: { value: "x".repeat(300_000), type: "string" } }

  test("is read after the answer; until then its outputs answer 503 and a safe delete 409", async () => {
    await using world = await stateWorld({ jobs: false })
    await world.lock()
    const version = await world.put({ instances: 2, outputs: more })
    const shown = (await world.current()).body.data
    expect(shown).toMatchObject({
      id: version,
      attributes: {
        status: "finalized",
        "resources-processed": false,
        "terraform-version": "1.11.4",
        "state-version": 4,
      },
    })
    await world.unlock()
    for (const path of [
      `/workspaces/${world.id}/current-state-version-outputs`,
      `/state-versions/${version}/outputs`,
    ]) {
      const { status, body } = await world.request("GET", path)
      expect([status, body.errors[0].title]).toEqual([503, "service unavailable"])
    }
    expect(detailOf(await world.request("POST", `/workspaces/${world.id}/actions/safe-delete`))).toEqual([
      409,
      "Latest workspace state is being processed to discover resources, please try again later",
    ])
  })

  test("is read by whichever server comes by, also where the one that took it has ended", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-"))
    const url = `sqlite:${join(folder, "chancery.db")}`
    let id = ""
    {
      await using world = await stateWorld({ url, jobs: false })
      id = world.id
      await world.lock()
      await world.put({ instances: 2, outputs: more })
    }
    {
      const clock = manualClock(systemRuntime().clock.now())
      const timers = manualTimers(clock)
      await using world = await openWorld({ url, timers, runtime: { ...systemRuntime(), clock } })
      await timers.advance(minuteMs)
      const show = async () => (await world.request("GET", `/workspaces/${id}`)).body.data.attributes["resource-count"]
      await vi.waitFor(async () => expect(await show()).toBe(2), { timeout: 20_000 })
      const { body } = await world.request("GET", `/workspaces/${id}/current-state-version?include=outputs`)
      expect(body.data.attributes).toMatchObject({
        "resources-processed": true,
        resources: [{ name: "web", type: "null_resource", count: 2 }],
      })
      expect(body.included[0].attributes.value).toBe(more.filling.value)
    }
    await rm(folder, { recursive: true, force: true })
  })

  test.each<{ what: string; change: (text: string) => string; detail: string }>([
    {
      what: "with other bytes",
      change: (text) => text.replace("xx", "xy"),
      detail: "MD5 does not match the state that was uploaded",
    },
    { what: "cut off", change: (text) => text.slice(0, -1), detail: "State is not a JSON document" },
    {
      what: "that is no JSON",
      change: (text) => text.replace("null_resource", "null\n"),
      detail: "State is not a JSON document",
    },
    {
      what: "of another format",
      change: (text) => text.replace('"version":4', '"version":5'),
      detail: "State has format version 5; only version 4 is supported.",
    },
    {
      what: "of another lineage",
      change: (text) => text.replace("lineage-1", "lineage-2"),
      detail: "MD5 does not match the state that was uploaded",
    },
  ])(
    "$what is refused, leaves the version pending, and takes nothing from the right one",
    async ({ change, detail }) => {
      await using world = await stateWorld()
      await world.lock()
      const state: StateOptions = { instances: 2, outputs: more }
      const address = (await world.announce(state)).body.data.attributes["hosted-state-upload-url"]
      expect(detailOf(await world.upload(address, change(stateFile(state).text)))).toEqual([422, detail])
      expect(await world.statuses()).toEqual(["1 pending"])
      expect((await world.upload(address, stateFile(state).text)).status).toBe(204)
      expect(await world.statuses()).toEqual(["1 finalized"])
    },
  )

  test("above the limit answers 413, announced or not", async () => {
    await using world = await stateWorld({ stateLimitBytes: 400_000 })
    await world.lock()
    const within = { outputs: more }
    const beyond = { outputs: { filling: { value: "x".repeat(400_000), type: "string" } } }
    const address = (await world.announce(beyond)).body.data.attributes["hosted-state-upload-url"]
    const sent = Buffer.from(stateFile(beyond).text)
    const announced = await world.request("PUT", address, {
      token: null,
      body: new Uint8Array(0),
      headers: { "content-type": "application/octet-stream", "content-length": String(sent.length) },
    })
    const text = "The state is larger than 400000 bytes."
    expect(detailOf(announced)).toEqual([413, text])
    expect(detailOf(await world.upload(address, sent.toString()))).toEqual([413, text])
    expect(await world.statuses()).toEqual(["1 pending"])
    await world.put(within)
    expect(await world.statuses()).toEqual(["1 finalized", "1 discarded"])
  })

  test("comes in 32 at once, and each as it was sent", async () => {
    await using world = await stateWorld()
    const ids = await Promise.all(Array.from({ length: 32 }, (_, index) => world.workspace(`large-${index}`)))
    const texts = await Promise.all(
      ids.map(async (id, index) => {
        const { lock, put } = stepsOf(world, id)
        const state: StateOptions = {
          lineage: id,
          outputs: { filling: { value: `${index}`.repeat(300_000), type: "string" } },
        }
        await lock()
        const address = `/state-versions/${await put(state)}/download`
        return [stateFile(state).text, Buffer.from((await world.request("GET", address)).bytes).toString()] as const
      }),
    )
    for (const [sent, back] of texts) expect(back === sent).toBe(true)
  })
})

describe("a state version in one step", () => {
  test("is finalized and current at once", async () => {
    await using world = await stateWorld()
    await world.lock()
    const { status, body } = await world.announce({ instances: 1 }, { inline: true })
    expect([status, body.data.attributes.status]).toEqual([201, "finalized"])
    expect((await world.current()).body.data.id).toBe(body.data.id)
  })

  test("is refused with every fault of its document at once, and leaves nothing", async () => {
    await using world = await stateWorld()
    await world.lock()
    const body = { data: { type: "states", attributes: { md5: "x", state: "%%%", force: "yes" } } }
    const answer = await world.request("POST", `/workspaces/${world.id}/state-versions`, { body })
    expect([answer.status, faultsOf(answer)]).toEqual([
      422,
      [
        ["/data/type", 'type must be "state-versions"'],
        ["/data/attributes/serial", "serial can't be blank"],
        ["/data/attributes/md5", "MD5 must be that of the state, in hex"],
        ["/data/attributes/force", "force must be a boolean"],
        ["/data/attributes/state", "state: must be base64"],
      ],
    ])
    expect(await world.statuses()).toEqual([])
  })

  test("must be the state that its MD5 and lineage say", async () => {
    await using world = await stateWorld()
    await world.lock()
    expect(faultsOf(await world.announce({}, { inline: true, md5: "0".repeat(32), lineage: "another" }))).toEqual([
      ["/data/attributes/md5", "MD5 does not match the state that was uploaded"],
      ["/data/attributes/lineage", "Lineage does not match the state that was uploaded"],
    ])
  })
})

describe("a rollback", () => {
  const rollBack = (world: Awaited<ReturnType<typeof stateWorld>>, target: string, more: RequestOptions = {}) =>
    world.request("PATCH", `/workspaces/${world.id}/state-versions`, {
      body: {
        data: {
          type: "state-versions",
          relationships: { "rollback-state-version": { data: { type: "state-versions", id: target } } },
        },
      },
      ...more,
    })

  test.each([
    { what: "small", filling: 10 },
    { what: "large", filling: 300_000 },
  ])("makes a new version of a $what state, with a serial of its own inside the file as well", async ({ filling }) => {
    await using world = await stateWorld()
    await world.lock()
    const outputs = { filling: { value: "x".repeat(filling), type: "string" } }
    const json = Buffer.from('{"format_version":"1.0"}').toString("base64")
    const earlier = await world.announce({ serial: 3, instances: 2, outputs }, { inline: true, "json-state": json })
    await world.put({ serial: 9 })
    const { status, body } = await rollBack(world, earlier.body.data.id)
    const expected = stateFile({ serial: 10, instances: 2, outputs })
    expect([status, body.data.attributes]).toMatchObject([
      201,
      { status: "finalized", serial: 10, md5: expected.md5, size: expected.text.length, lineage: "lineage-1" },
    ])
    expect((await world.current()).body.data.id).toBe(body.data.id)
    const { "hosted-state-download-url": state, "hosted-json-state-download-url": jsonState } = body.data.attributes
    expect(Buffer.from((await world.request("GET", state)).bytes).toString() === expected.text).toBe(true)
    expect((await world.request("GET", jsonState)).body).toEqual({ format_version: "1.0" })
    await vi.waitFor(async () => expect((await world.show()).attributes["resource-count"]).toBe(2), { timeout: 20_000 })
    // What the tool would write next.
    expect((await world.announce({ serial: 11 })).status).toBe(201)
  })

  test("takes the lock, a finalized version, and one of this workspace", async () => {
    await using world = await stateWorld()
    await world.lock()
    const version = await world.put({ serial: 1 })
    await world.put({ serial: 2 })
    const pending = (await world.announce({ serial: 3 })).body.data.id
    expect(detailOf(await rollBack(world, pending))[0]).toBe(422)
    expect((await rollBack(world, "sv-1111111111111111")).status).toBe(404)
    const elsewhere = await world.workspace("elsewhere")
    await stepsOf(world, elsewhere).lock()
    expect((await rollBack(world, await stepsOf(world, elsewhere).put({}))).status).toBe(404)
    const admin = await world.token({ on: { [world.id]: "admin" } })
    expect(detailOf(await rollBack(world, version, { token: admin }))).toEqual([
      409,
      expect.stringContaining("is locked by User"),
    ])
    await world.forceUnlock()
    expect(detailOf(await rollBack(world, version))).toEqual([409, expect.stringContaining("is not locked")])
    expect(await world.statuses()).toEqual(["3 discarded", "2 finalized", "1 finalized"])
    const readers = await world.token({ on: { [world.id]: "plan" } })
    expect((await rollBack(world, version, { token: readers })).status).toBe(404)
    const wrong = { body: { data: { type: "state-versions", relationships: {} } } }
    expect((await rollBack(world, version, wrong)).status).toBe(422)
  })
})

describe("backing data", () => {
  const act = async (world: World, id: string, action: string, more: RequestOptions = {}) =>
    detailOf(await world.request("POST", `/state-versions/${id}/actions/${action}_backing_data`, more))
  const refused = [409, "transition not allowed"]
  const done = [204, undefined]

  test("is deleted softly, restored, and deleted for ever", async () => {
    await using world = await stateWorld()
    await world.lock()
    const version = await world.put({ serial: 1, outputs: { a: { value: 1, type: "number" } } })
    await world.put({ serial: 2 })
    const show = async () => (await world.request("GET", `/state-versions/${version}`)).body.data
    const before = await show()
    const address = before.attributes["hosted-state-download-url"]
    const output = before.relationships.outputs.data[0].id
    const statuses = () =>
      Promise.all(
        [address, `/state-versions/${version}/outputs`, `/state-version-outputs/${output}`].map(
          async (path) => (await world.request("GET", path)).status,
        ),
      )
    expect(await act(world, version, "restore")).toEqual(refused)
    expect(await act(world, version, "permanently_delete")).toEqual(refused)
    expect(await act(world, version, "soft_delete")).toEqual(done)
    expect((await show()).attributes).toMatchObject({
      status: "backing_data_soft_deleted",
      "hosted-state-download-url": null,
    })
    expect(await statuses()).toEqual([404, 404, 404])
    expect((await world.request("GET", address, { token: null })).status).toBe(404)
    expect(await act(world, version, "soft_delete")).toEqual(refused)
    expect(await act(world, version, "restore")).toEqual(done)
    expect(await statuses()).toEqual([200, 200, 200])
    expect(await act(world, version, "soft_delete")).toEqual(done)
    expect(await act(world, version, "permanently_delete")).toEqual(done)
    expect((await show()).attributes.status).toBe("backing_data_permanently_deleted")
    expect(await statuses()).toEqual([404, 404, 404])
    for (const action of ["soft_delete", "restore", "permanently_delete"])
      expect(await act(world, version, action)).toEqual(refused)
    expect(
      (
        await world.request(
          "GET",
          `/state-versions?filter[organization][name]=acme&filter[workspace][name]=web&filter[status]=backing_data_permanently_deleted`,
        )
      ).body.data.length,
    ).toBe(1)
  })

  test("of the current version, and of what may become it, stays", async () => {
    await using world = await stateWorld()
    await world.lock()
    const current = await world.put({ serial: 1 })
    const next = await world.put({ serial: 2 }, { intermediate: true })
    expect(await act(world, current, "soft_delete")).toEqual(refused)
    expect(await act(world, next, "soft_delete")).toEqual(refused)
  })

  test("is there for administrators of the workspace only, and not where the edition is hosted", async () => {
    await using world = await stateWorld()
    await world.lock()
    const version = await world.put({ serial: 1 })
    await world.put({ serial: 2 })
    const token = await world.token({ on: { [world.id]: "write" } })
    expect((await act(world, version, "soft_delete", { token }))[0]).toBe(404)
    await using hosted = await stateWorld({ edition: "hosted" })
    await hosted.lock()
    const other = await hosted.put({ serial: 1 })
    await hosted.put({ serial: 2 })
    expect((await act(hosted, other, "soft_delete"))[0]).toBe(404)
  })
})

describe("resources", () => {
  const provider = 'provider["registry.terraform.io/hashicorp/null"]'
  const text = (serial: number, resources: readonly object[]) =>
    JSON.stringify({ version: 4, terraform_version: "1.11.4", serial, lineage: "one", outputs: {}, resources })
  const managed = { mode: "managed", type: "null_resource", name: "web", provider }

  async function push(world: Awaited<ReturnType<typeof stateWorld>>, serial: number, resources: readonly object[]) {
    const state = text(serial, resources)
    const attributes = {
      serial,
      lineage: "one",
      md5: createHash("md5").update(state).digest("hex"),
      state: Buffer.from(state).toString("base64"),
    }
    const { status, body } = await world.request("POST", `/workspaces/${world.id}/state-versions`, {
      body: { data: { type: "state-versions", attributes } },
    })
    expect(status).toBe(201)
    return body.data.id as string
  }

  test("are those that the current state manages, each with its address and its last change", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    await using world = await stateWorld({ runtime: { ...systemRuntime(), clock } })
    const list = async (query = "") => (await world.request("GET", `/workspaces/${world.id}/resources${query}`)).body
    expect((await list()).data).toEqual([])
    await world.lock()
    const first = await push(world, 1, [
      {
        ...managed,
        instances: [
          { index_key: "b", attributes: { id: 1 } },
          { index_key: 0, attributes: { id: 2 } },
        ],
      },
      { ...managed, name: "db", module: "module.data", instances: [{ attributes: { id: 3 } }] },
      { ...managed, mode: "data", name: "zone", instances: [{}] },
    ])
    const { data } = await list()
    expect(
      data.map(({ attributes }: { readonly attributes: { readonly address: string } }) => attributes.address),
    ).toEqual(["module.data.null_resource.db", 'null_resource.web["b"]', "null_resource.web[0]"])
    const [, changing] = data
    expect(changing).toEqual({
      id: expect.stringMatching(/^wsr-\w{16}$/),
      type: "resources",
      attributes: {
        address: 'null_resource.web["b"]',
        name: "web",
        module: "root",
        provider: "hashicorp/null",
        "provider-type": "null_resource",
        "name-index": "b",
        "created-at": "2026-01-01T00:00:00.000Z",
        "updated-at": "2026-01-01T00:00:00.000Z",
        "modified-by-state-version-id": first,
      },
    })
    clock.advance(hourMs)
    const second = await push(world, 2, [
      { ...managed, instances: [{ index_key: "b", attributes: { id: 9 } }] },
      { ...managed, name: "db", module: "module.data", instances: [{ attributes: { id: 3 } }] },
    ])
    const later = await list("?page%5Bsize%5D=1&page%5Bnumber%5D=2")
    expect([later.meta.pagination["total-count"], later.data]).toEqual([
      2,
      [
        {
          ...changing,
          attributes: {
            ...changing.attributes,
            "updated-at": "2026-01-01T01:00:00.000Z",
            "modified-by-state-version-id": second,
          },
        },
      ],
    ])
    expect((await list()).data[0]).toEqual(data[0])
  })
})

describe("without a request", () => {
  /** Everything on a store, and a server that does what falls due when the clock is moved. */
  async function timedWorld() {
    const clock = manualClock(systemRuntime().clock.now())
    const timers = manualTimers(clock)
    const world = await stateWorld({ timers, runtime: { ...systemRuntime(), clock } })
    const settled = () => world.engine.ready()
    return Object.assign(world, {
      /** Long enough for whatever is done now and then. */
      pass: async (milliseconds: number) => {
        clock.advance(milliseconds)
        await timers.advance(10 * minuteMs, settled)
      },
    })
  }

  test("an upload that never came is given up, and its workspace unlocks", async () => {
    await using world = await timedWorld()
    await world.lock()
    await world.put({ serial: 1 })
    await world.announce({ serial: 2 })
    expect((await world.unlock()).status).toBe(503)
    await world.pass(27 * hourMs)
    await vi.waitFor(async () => expect(await world.statuses()).toEqual(["2 discarded", "1 finalized"]), {
      timeout: 10_000,
    })
    expect((await world.unlock()).status).toBe(200)
    expect((await world.current()).body.data.attributes.serial).toBe(1)
  })

  test.each<{ what: string; policies: readonly [string, string, number?][]; kept: boolean }>([
    { what: "the workspace's own policy", policies: [["workspaces", "delete-olders", 10]], kept: false },
    { what: "the organization's", policies: [["organizations", "delete-olders", 10]], kept: false },
    { what: "the site's", policies: [["admin", "delete-olders", 10]], kept: false },
    { what: "none that is so short", policies: [["workspaces", "delete-olders", 30]], kept: true },
    {
      what: "none where the workspace's own says so",
      policies: [
        ["organizations", "delete-olders", 10],
        ["workspaces", "dont-deletes"],
      ],
      kept: true,
    },
    { what: "none", policies: [], kept: true },
  ])("old states, and never the current one, are given up by $what", async ({ policies, kept }) => {
    await using world = await timedWorld()
    await world.lock()
    const old = await world.put({ serial: 1, outputs: { a: { value: 1, type: "number" } } })
    await world.put({ serial: 2 })
    await world.unlock()
    const places: Readonly<Record<string, string>> = {
      workspaces: `/workspaces/${world.id}/relationships/data-retention-policy`,
      organizations: "/organizations/acme/relationships/data-retention-policy",
      admin: "/admin/data-retention-policy-settings",
    }
    for (const [at, kind, days] of policies) {
      const attributes = days === undefined ? {} : { "delete-older-than-n-days": days }
      const body = { data: { type: `data-retention-policy-${kind}`, attributes } }
      expect((await world.request("POST", places[at] ?? "", { body })).status).toBe(200)
    }
    await world.pass(11 * 24 * hourMs)
    const expected = `1 ${kept ? "finalized" : "backing_data_permanently_deleted"}`
    await vi.waitFor(async () => expect(await world.statuses()).toEqual(["2 finalized", expected]), { timeout: 10_000 })
    expect((await world.request("GET", `/state-versions/${old}/download`)).status).toBe(kept ? 200 : 404)
    expect((await world.request("GET", `/workspaces/${world.id}/current-state-version`)).status).toBe(200)
  })
})

describe("conflicts", () => {
  test.each<{ what: string; next: StateOptions; attributes?: Record<string, unknown>; text: string }>([
    { what: "the same serial with other bytes", next: { serial: 5, instances: 1 }, text: "different MD5 hash" },
    { what: "another lineage", next: { serial: 6, lineage: "lineage-2" }, text: "does not match the lineage" },
    { what: "a lower serial without lineage", next: { serial: 4 }, attributes: { lineage: null }, text: "not greater" },
  ])("$what is refused, and taken by force", async ({ next, attributes = {}, text }) => {
    await using world = await stateWorld()
    await world.lock()
    await world.announce({ serial: 5 }, { inline: true })
    expect(detailOf(await world.announce(next, attributes))).toEqual([409, expect.stringContaining(text)])
    expect((await world.announce(next, { ...attributes, force: true })).status).toBe(201)
  })

  test("a lower serial of the same lineage is taken from the holder of the lock", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.announce({ serial: 5 }, { inline: true })
    expect((await world.announce({ serial: 2 }, { inline: true })).status).toBe(201)
    expect((await world.current()).body.data.attributes.serial).toBe(2)
  })

  test("a newer pending version discards the older one, whose address then takes nothing", async () => {
    await using world = await stateWorld()
    await world.lock()
    const first = (await world.announce({ serial: 1 })).body.data.attributes
    await world.announce({ serial: 2 })
    expect(await world.statuses()).toEqual(["2 pending", "1 discarded"])
    expect(detailOf(await world.upload(first["hosted-state-upload-url"], stateFile({ serial: 1 }).text))).toEqual([
      409,
      "This state version was discarded and takes no upload.",
    ])
  })

  test("a state is taken only under a lock, and only from its holder", async () => {
    await using world = await stateWorld()
    expect(detailOf(await world.announce())).toEqual([
      409,
      expect.stringContaining("will only accept state uploads when locked"),
    ])
    await world.lock({ token: await world.token({ on: { [world.id]: "write" } }) })
    expect(detailOf(await world.announce())).toEqual([409, expect.stringContaining("is locked by Team team-")])
  })
})

describe("the end of a lock", () => {
  test("[W-3-r3] unlocking makes the latest finalized intermediate state version current", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({ serial: 1, instances: 1 })
    const first = (await world.current()).body.data.id
    await world.put({ serial: 2, instances: 2 }, { intermediate: true })
    const latest = await world.put({ serial: 3, instances: 3 }, { intermediate: true })
    expect((await world.current()).body.data.id).toBe(first)
    const { status, body } = await world.unlock()
    expect([status, body.data.attributes.locked, body.data.attributes["resource-count"]]).toEqual([200, false, 3])
    expect(body.data.relationships["current-state-version"].data).toEqual({ type: "state-versions", id: latest })
    expect((await world.current()).body.data.id).toBe(latest)
  })

  test("[W-3-r4] [W-7-r5] unlocking answers 503 while the latest state version is pending, and keeps the lock", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({ serial: 1 }, { intermediate: true })
    const { attributes } = (await world.announce({ serial: 2 }, { intermediate: true })).body.data
    const refused = await world.unlock()
    expect(detailOf(refused)).toEqual([503, expect.stringContaining("latest state version is still pending")])
    expect(refused.headers.get("retry-after")).toBe("1")
    expect((await world.show()).attributes.locked).toBe(true)
    await world.upload(attributes["hosted-state-upload-url"], stateFile({ serial: 2 }).text)
    expect((await world.unlock()).status).toBe(200)
    expect((await world.current()).body.data.attributes.serial).toBe(2)
  })

  test("[W-3-r5] unlocking by somebody else answers 409 and names the holder", async () => {
    await using world = await stateWorld()
    await world.lock()
    const token = await world.token({ on: { [world.id]: "admin" } })
    expect(detailOf(await world.unlock({ token }))).toEqual([
      409,
      expect.stringMatching(/is locked by User user-\w{16} and may not be unlocked except by them\.$/),
    ])
    expect((await world.show()).attributes.locked).toBe(true)
  })

  test("[W-3-r6] [W-3-r8] unlocking what is unlocked answers 409, by force as well", async () => {
    await using world = await stateWorld()
    const text = "Unable to unlock workspace. The workspace is already unlocked."
    expect(detailOf(await world.unlock())).toEqual([409, text])
    expect(detailOf(await world.forceUnlock())).toEqual([409, text])
  })

  test("[W-3-r7] only admin access unlocks by force", async () => {
    await using world = await stateWorld()
    await world.lock()
    expect((await world.forceUnlock({ token: await world.token({ on: { [world.id]: "write" } }) })).status).toBe(404)
    const { status, body } = await world.forceUnlock({ token: await world.token({ on: { [world.id]: "admin" } }) })
    expect([status, body.data.type, body.data.attributes.locked]).toEqual([200, "workspaces", false])
  })

  test("[W-3-p2] after unlocking by force the list shows which state was saved and which was lost", async () => {
    await using world = await stateWorld()
    await world.lock()
    const saved = await world.put({ serial: 1, instances: 1 }, { intermediate: true })
    const lost = (await world.announce({ serial: 2 }, { intermediate: true })).body.data.attributes
    expect((await world.forceUnlock()).body.data.attributes["resource-count"]).toBe(1)
    const list = await world.request(
      "GET",
      "/state-versions?filter%5Borganization%5D%5Bname%5D=acme&filter%5Bworkspace%5D%5Bname%5D=web",
    )
    expect(
      list.body.data.map(({ attributes }: { readonly attributes: Record<string, unknown> }) => [
        attributes["serial"],
        attributes["status"],
      ]),
    ).toEqual([
      [2, "discarded"],
      [1, "finalized"],
    ])
    expect((await world.current()).body.data.id).toBe(saved)
    expect((await world.upload(lost["hosted-state-upload-url"], stateFile({ serial: 2 }).text)).status).toBe(409)
  })

  test("a version of an earlier lock is not promoted again", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({ serial: 9 })
    await world.unlock()
    await world.lock()
    await world.unlock()
    expect((await world.current()).body.data.attributes.serial).toBe(9)
  })

  test("a reason to lock is at most 10000 characters long", async () => {
    await using world = await stateWorld()
    const refused = await world.lock({ body: { data: { attributes: { reason: "r".repeat(10_001) } } } })
    expect([refused.status, faultsOf(refused)]).toEqual([
      422,
      [["/data/attributes/reason", "Reason is too long (maximum is 10000 characters)"]],
    ])
    const locked = await world.lock({ body: { reason: "r".repeat(10_000) } })
    expect([locked.status, locked.body.data.attributes["locked-reason"].length]).toEqual([200, 10_000])
  })

  test("32 parallel locks give exactly one lock", async () => {
    await using world = await stateWorld()
    const answers = await Promise.all(Array.from({ length: 32 }, () => world.lock()))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 31 }, () => 409)])
  })
})

describe("the workspace", () => {
  test("[W-2.3-r16] tells in latest-change-at when its latest state version was created", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    await using world = await stateWorld({ runtime: { ...systemRuntime(), clock } })
    expect((await world.show()).attributes["latest-change-at"]).toBe("2026-01-01T00:00:00.000Z")
    clock.advance(hourMs)
    await world.lock()
    await world.announce({}, { inline: true })
    clock.advance(hourMs)
    await world.unlock()
    expect((await world.show()).attributes["latest-change-at"]).toBe("2026-01-01T01:00:00.000Z")
  })

  test("[W-2.3-r30] [W-2.5-r5] counts the resources of its current state and points at it", async () => {
    await using world = await stateWorld()
    const empty = await world.show()
    expect(empty.attributes["resource-count"]).toBe(0)
    expect(empty.relationships["current-state-version"].data).toBeNull()
    await world.lock()
    const id = await world.put({ serial: 1, instances: 4 })
    const { attributes, relationships } = await world.show()
    expect(attributes["resource-count"]).toBe(4)
    expect(relationships["current-state-version"]).toEqual({
      data: { type: "state-versions", id },
      links: { related: `/api/v2/workspaces/${world.id}/current-state-version` },
    })
    await world.put({ serial: 2 })
    expect((await world.show()).attributes["resource-count"]).toBe(0)
  })

  test("[W-2.5-r10] lists the outputs of its current state", async () => {
    await using world = await stateWorld()
    expect((await world.show()).relationships.outputs.data).toEqual([])
    await world.lock()
    await world.put({ outputs: { b: { value: 1, type: "number" }, a: { value: "x", type: "string" } } })
    const { data, links } = (await world.show()).relationships.outputs
    expect(data).toEqual([
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
      { type: "workspace-outputs", id: expect.stringMatching(/^wsout-\w{16}$/) },
    ])
    expect(links).toEqual({ related: `/api/v2/workspaces/${world.id}/current-state-version-outputs` })
  })

  test("takes 409 for a safe delete while its state holds resources, and goes once it holds none", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({ serial: 1, instances: 1 })
    await world.unlock()
    const path = `/workspaces/${world.id}/actions/safe-delete`
    expect(detailOf(await world.request("POST", path))).toEqual([409, expect.stringContaining("managing resources")])
    await world.lock()
    await world.put({ serial: 2 })
    await world.unlock()
    expect((await world.request("POST", path)).status).toBe(204)
    expect((await world.current()).status).toBe(404)
  })
})

describe("outputs", () => {
  const outputs = {
    password: { value: "hunter2", type: "string", sensitive: true },
    zones: { value: ["a", "b"], type: ["list", "string"] },
  }

  test("are read without secrets in the workspace's list, and whole one by one", async () => {
    await using world = await stateWorld()
    expect((await world.request("GET", `/workspaces/${world.id}/current-state-version-outputs`)).status).toBe(404)
    await world.lock()
    const version = await world.put({ outputs })
    const list = (await world.request("GET", `/workspaces/${world.id}/current-state-version-outputs`)).body.data
    expect(list.map(({ attributes }: { readonly attributes: unknown }) => attributes)).toEqual([
      { name: "password", sensitive: true, type: "string", value: null, "detailed-type": "string" },
      { name: "zones", sensitive: false, type: "array", value: ["a", "b"], "detailed-type": ["list", "string"] },
    ])
    const [secret] = list
    const one = await world.request("GET", `/state-version-outputs/${secret.id}`)
    expect(one.body.data).toMatchObject({ type: "state-version-outputs", attributes: { value: "hunter2" } })
    const page = await world.request("GET", `/state-versions/${version}/outputs?page%5Bsize%5D=1&page%5Bnumber%5D=2`)
    expect(page.body.data.map(({ attributes }: { readonly attributes: { name: string } }) => attributes.name)).toEqual([
      "zones",
    ])
    expect(page.body.meta.pagination["total-count"]).toBe(2)
  })

  test("keep a value whatever its shape", async () => {
    await using world = await stateWorld()
    await world.lock()
    const value = { deep: [{ "": null, ünï: 1e21 }], text: '"\\\u2028' }
    const version = await world.put({ outputs: { any: { value, type: "dynamic" } } })
    const { body } = await world.request("GET", `/state-versions/${version}/outputs`)
    expect(body.data[0].attributes).toMatchObject({ value, type: "map", "detailed-type": "dynamic" })
  })
})

describe("include", () => {
  test("brings outputs, whoever made the state, and the run with its maker and configuration", async () => {
    await using world = await stateWorld()
    const configuration = await world.request("POST", `/workspaces/${world.id}/configuration-versions`, {
      body: { data: { type: "configuration-versions", attributes: { readme: "# Web" } } },
    })
    const run = await world.request("POST", "/runs", {
      body: {
        data: { type: "runs", relationships: { workspace: { data: { type: "workspaces", id: world.id } } } },
      },
    })
    await world.lock()
    const outputs = Object.fromEntries(
      Array.from({ length: 101 }, (_, index) => [`output-${index}`, { value: index, type: "number" }]),
    )
    const document = stateVersionDocument(stateFile({ outputs }), { inline: true })
    const relationships = { run: { data: { type: "runs", id: run.body.data.id } } }
    const made = await world.request("POST", `/workspaces/${world.id}/state-versions`, {
      body: { data: { ...document.data, relationships } },
    })
    const path = `/state-versions/${made.body.data.id}`
    const included = async (at: string, parts: string) =>
      (await world.request("GET", `${at}?include=${parts}`)).body.included.map(
        ({ type, id }: { readonly type: string; readonly id: string }) => `${type} ${id}`,
      )
    const creator = `users ${made.body.data.relationships["created-by"].data.id}`
    const runs = `runs ${run.body.data.id}`
    const configurations = `configuration-versions ${configuration.body.data.id}`
    expect(await included(path, "created_by")).toEqual([creator])
    expect(await included(path, "run")).toEqual([runs])
    expect(await included(path, "created_by,run.created_by,run.configuration_version")).toEqual([
      creator,
      runs,
      configurations,
    ])
    expect(await included(path, "run.created_by")).toEqual([runs, creator])
    const current = `/workspaces/${world.id}/current-state-version`
    expect(await included(current, "outputs")).toEqual(
      made.body.data.relationships.outputs.data.map(({ id }: { readonly id: string }) => `state-version-outputs ${id}`),
    )
  })

  test("of something else is refused", async () => {
    await using world = await stateWorld()
    const answer = await world.request("GET", `/workspaces/${world.id}/current-state-version?include=secrets`)
    expect([answer.status, faultsOf(answer)]).toEqual([
      400,
      [["include", expect.stringContaining("include parameter")]],
    ])
  })
})

describe("who may", () => {
  test.each<{ who: "stranger" | "read" | "plan" | "write"; read: number; create: number; unlocks: number }>([
    { who: "stranger", read: 404, create: 404, unlocks: 404 },
    { who: "read", read: 200, create: 404, unlocks: 404 },
    { who: "plan", read: 200, create: 404, unlocks: 404 },
    { who: "write", read: 200, create: 201, unlocks: 200 },
  ])("$who: read $read, create $create", async ({ who, read, create, unlocks }) => {
    await using world = await stateWorld()
    await world.lock()
    const version = await world.put({ outputs: { a: { value: 1, type: "number" } } })
    await world.unlock()
    const output = (await world.show()).relationships.outputs.data[0].id
    const token = await world.token(who === "stranger" ? {} : { on: { [world.id]: who } })
    const paths = [
      `/workspaces/${world.id}/current-state-version`,
      `/workspaces/${world.id}/current-state-version-outputs`,
      `/workspaces/${world.id}/state-versions`,
      "/state-versions?filter[organization][name]=acme&filter[workspace][name]=web",
      `/state-versions/${version}`,
      `/state-versions/${version}/download`,
      `/state-versions/${version}/outputs`,
      `/state-version-outputs/${output}`,
    ]
    for (const path of paths) expect([path, (await world.request("GET", path, { token })).status]).toEqual([path, read])
    await world.lock({ token })
    expect((await world.announce({ serial: 2 }, { inline: true }, { token })).status).toBe(create)
    expect((await world.unlock({ token })).status).toBe(unlocks)
  })

  test.each<{ access: "read" | "plan" | "write"; address: unknown }>([
    { access: "read", address: null },
    { access: "plan", address: null },
    { access: "write", address: expect.stringContaining("/uploads/state-versions/") },
  ])("an address to upload to is shown with $access access: $address", async ({ access, address }) => {
    await using world = await stateWorld()
    await world.lock()
    const version = (await world.announce()).body.data.id
    const token = await world.token({ on: { [world.id]: access } })
    const shown = await world.request("GET", `/state-versions/${version}`, { token })
    const listed = await world.request("GET", `/workspaces/${world.id}/state-versions`, { token })
    for (const { attributes } of [shown.body.data, listed.body.data[0]]) {
      expect(attributes).toMatchObject({ status: "pending", "hosted-state-upload-url": address })
      expect(attributes).toMatchObject({ "hosted-json-state-upload-url": address })
    }
  })

  test("an organization token creates none", async () => {
    await using world = await stateWorld()
    const token = (await world.engine.tokens.createForOrganization("acme", {})).secret
    expect((await world.announce({}, { inline: true }, { token })).status).toBe(404)
  })
})

describe("whoever may run in another workspace", () => {
  test.each<{ access: "read" | "plan" | "write"; consumer: "listed" | "another" | "global"; status: number }>([
    { access: "plan", consumer: "listed", status: 200 },
    { access: "write", consumer: "listed", status: 200 },
    { access: "read", consumer: "listed", status: 404 },
    { access: "plan", consumer: "another", status: 404 },
    { access: "plan", consumer: "global", status: 200 },
    { access: "read", consumer: "global", status: 404 },
  ])("and has $access access there ($consumer) reads the current state: $status", async (row) => {
    await using world = await stateWorld()
    await world.lock()
    const earlier = await world.put({ serial: 1 })
    const version = await world.put({ serial: 2, outputs: { a: { value: 1, type: "number" } } })
    const output = (await world.show()).relationships.outputs.data[0].id
    const consumer = await world.workspace("consumer")
    if (row.consumer === "listed")
      await world.request("POST", `/workspaces/${world.id}/relationships/remote-state-consumers`, {
        body: { data: [{ type: "workspaces", id: consumer }] },
      })
    if (row.consumer === "global")
      await world.request("PATCH", `/workspaces/${world.id}`, {
        body: { data: { type: "workspaces", attributes: { "global-remote-state": true } } },
      })
    const token = await world.token({ on: { [consumer]: row.access } })
    const statusOf = async (path: string) => [path, (await world.request("GET", path, { token })).status]
    const open = [
      `/workspaces/${world.id}`,
      "/organizations/acme/workspaces/web",
      `/workspaces/${world.id}/current-state-version`,
      `/workspaces/${world.id}/current-state-version-outputs`,
      `/state-versions/${version}`,
      `/state-versions/${version}/download`,
      `/state-versions/${version}/outputs`,
      `/state-version-outputs/${output}`,
    ]
    const closed = [
      `/state-versions/${earlier}`,
      `/workspaces/${world.id}/state-versions`,
      `/workspaces/${world.id}/runs`,
      `/workspaces/${world.id}/vars`,
      `/workspaces/${world.id}/relationships/tags`,
      `/workspaces/${world.id}/readme`,
    ]
    for (const path of open) expect(await statusOf(path)).toEqual([path, row.status])
    for (const path of closed) expect(await statusOf(path)).toEqual([path, 404])
    expect((await world.unlock({ token })).status).toBe(404)
  })

  test("reads it no longer once that workspace is taken off the list", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({})
    const consumer = await world.workspace("consumer")
    const token = await world.token({ on: { [consumer]: "plan" } })
    const body = { data: [{ type: "workspaces", id: consumer }] }
    const list = `/workspaces/${world.id}/relationships/remote-state-consumers`
    const read = async () =>
      (await world.request("GET", `/workspaces/${world.id}/current-state-version`, { token })).status
    await world.request("POST", list, { body })
    expect(await read()).toBe(200)
    await world.request("DELETE", list, { body })
    expect(await read()).toBe(404)
  })

  test("reads it through a project as well, and never across organizations", async () => {
    await using world = await stateWorld()
    await world.lock()
    await world.put({})
    await world.request("PATCH", `/workspaces/${world.id}`, {
      body: { data: { type: "workspaces", attributes: { "global-remote-state": true } } },
    })
    const project = await world.engine.projects.create("acme", { name: "other" })
    await world.workspace("consumer", { projectId: project.id })
    const team = await world.engine.teams.create("acme", { name: "inside" })
    await world.engine.teamProjects.create({ teamId: team.id, projectId: project.id, access: "write" })
    await world.organization("elsewhere")
    const strangers = await world.engine.teams.create("elsewhere", { name: "outside" })
    const foreign = await world.workspace("foreign", { organization: "elsewhere" })
    await world.engine.teamWorkspaces.create({ teamId: strangers.id, workspaceId: foreign, access: "admin" })
    const statusFor = async (teamId: string) => {
      const token = (await world.engine.tokens.createForTeam(teamId, {})).secret
      return (await world.request("GET", `/workspaces/${world.id}/current-state-version`, { token })).status
    }
    expect([await statusFor(team.id), await statusFor(strangers.id)]).toEqual([200, 404])
  })
})

describe("the list", () => {
  test("is newest first, in pages, by status", async () => {
    await using world = await stateWorld()
    await world.lock()
    for (const serial of [1, 2, 3]) await world.announce({ serial }, { inline: serial !== 2 })
    expect(await world.statuses()).toEqual(["3 finalized", "2 discarded", "1 finalized"])
    const path = `/workspaces/${world.id}/state-versions`
    const finalized = await world.request("GET", `${path}?filter[status]=finalized&page[size]=1`)
    expect(finalized.body.data).toHaveLength(1)
    expect(finalized.body.meta.pagination).toMatchObject({ "total-count": 2, "total-pages": 2 })
    expect(finalized.body.links.next).toContain("filter%5Bstatus%5D=finalized")
  })

  test("needs both names, known statuses and a valid page", async () => {
    await using world = await stateWorld()
    expect(faultsOf(await world.request("GET", "/state-versions"))).toEqual([
      ["filter[organization][name]", "filter[organization][name] is required"],
      ["filter[workspace][name]", "filter[workspace][name] is required"],
    ])
    const path = `/workspaces/${world.id}/state-versions`
    expect((await world.request("GET", `${path}?filter[status]=gone`)).status).toBe(400)
    expect((await world.request("GET", `${path}?page[size]=0`)).status).toBe(400)
  })
})
