import { describe, expect, test, vi } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, minuteMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { manualTimers } from "../../../testing/manual-timers.ts"
import { document, made } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { tarball, type TarFiles } from "../../../testing/tar-archive.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

const octets = { "content-type": "application/octet-stream" }

async function configurationEngine() {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock }, timers })
  const id = await testEngine.workspace("web")
  const { request } = testEngine
  const addresses = new Map<string, string>()
  /** Returns the upload URL from the answer to the creation of the version. */
  const addressOf = (version: string): string => addresses.get(version) ?? ""
  const shown = async (version: string) => (await request("GET", `/configuration-versions/${version}`)).body.data
  return Object.assign(testEngine, {
    id,
    clock,
    timers,
    shown,
    addressOf,
    /** Uploads to the URL of the version, without a token, as clients do. */
    async upload(version: string, body: Uint8Array<ArrayBuffer>, options: RequestOptions = {}) {
      return request("PUT", addressOf(version), { token: null, body, headers: octets, ...options })
    },
    async create(attributes: Record<string, unknown> = {}): Promise<string> {
      clock.advance(1)
      const body = { data: { type: "configuration-versions", attributes } }
      const answer = await request("POST", `/workspaces/${id}/configuration-versions`, { body })
      expect(answer.status).toBe(201)
      const { id: version, attributes: made } = answer.body.data
      addresses.set(version, made["upload-url"])
      return version
    },
    get: (path: string) => request("GET", path),
    current: async () =>
      (await request("GET", `/workspaces/${id}`)).body.data.relationships["current-configuration-version"],
    async apply(version: string) {
      const relationships = {
        workspace: { data: { type: "workspaces", id } },
        "configuration-version": { data: { type: "configuration-versions", id: version } },
      }
      const run = (await request("POST", "/runs", { body: { data: { type: "runs", relationships } } })).body.data.id
      for (const status of ["planning", "planned", "confirmed", "applying", "applied"])
        await request("POST", `/runs/${run}/actions/transition`, { body: { status } })
      return run as string
    },
  })
}

describe("a configuration version", () => {
  test("shows the attributes it was created with, and its origin as a related resource", async () => {
    await using testEngine = await configurationEngine()
    const ingress = { branch: "main", "commit-sha": "abc", "is-pull-request": true, "pull-request-number": 7 }
    const id = await testEngine.create({ "auto-queue-runs": false, speculative: true, "ingress-attributes": ingress })
    const { data } = (await testEngine.get(`/configuration-versions/${id}`)).body
    expect(data).toMatchObject({
      id: expect.stringMatching(/^cv-\w{16}$/),
      type: "configuration-versions",
      attributes: {
        source: "tfe-api",
        status: "pending",
        speculative: true,
        provisional: false,
        "auto-queue-runs": false,
        "upload-url": null,
      },
    })
    expect(testEngine.addressOf(id)).toMatch(/^http:\/\/chancery\.test\/uploads\/configuration-versions\/cv-/)
    const { "ingress-attributes": related } = data.relationships
    const origin = await testEngine.get(`/configuration-versions/${id}/ingress-attributes`)
    expect(origin.body.data).toMatchObject({
      id: related.data.id,
      type: "ingress-attributes",
      attributes: { ...ingress, tag: null, "on-default-branch": false },
    })
    const plain = await testEngine.create()
    expect((await testEngine.get(`/configuration-versions/${plain}/ingress-attributes`)).status).toBe(404)
  })

  test("is listed newest first, in pages", async () => {
    await using testEngine = await configurationEngine()
    const ids = [await testEngine.create(), await testEngine.create(), await testEngine.create()]
    const { body } = await testEngine.get(`/workspaces/${testEngine.id}/configuration-versions?page[size]=2`)
    expect(body.data.map(({ id }: { readonly id: string }) => id)).toEqual(ids.toReversed().slice(0, 2))
    expect(body.meta.pagination["total-count"]).toBe(3)
  })

  test("[F-W13] is archived unless it is the current one", async () => {
    await using testEngine = await configurationEngine()
    const [old, current] = [await testEngine.create({ "auto-queue-runs": false }), await testEngine.create()]
    for (const id of [old, current]) await testEngine.upload(id, tarball({ "main.tf": id }))
    const archive = (id: string) => testEngine.request("POST", `/configuration-versions/${id}/actions/archive`)
    const refused = await archive(current)
    expect([(await archive(old)).status, refused.status, refused.body.errors[0].detail]).toEqual([
      202,
      409,
      "transition not allowed: configuration could not be archived because it is current",
    ])
    expect((await testEngine.shown(old)).attributes.status).toBe("archived")
    expect((await testEngine.get(`/configuration-versions/${old}/download`)).status).toBe(404)
    expect((await testEngine.get(`/configuration-versions/${current}/download`)).status).toBe(200)
  })

  test.each([
    { what: "archived", method: "POST", path: "/actions/archive", status: 202 },
    { what: "deleted", method: "DELETE", path: "", status: 204 },
  ])("is not $what while a run waits with it", async ({ method, path, status }) => {
    await using testEngine = await configurationEngine()
    const [old, current] = [await testEngine.create(), await testEngine.create({ "auto-queue-runs": false })]
    for (const id of [old, current]) await testEngine.upload(id, tarball({ "main.tf": id }))
    const give = () => testEngine.request(method, `/configuration-versions/${old}${path}`)
    const refused = await give()
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      "The configuration version is used by an unfinished run; wait for the run to end, or cancel it.",
    ])
    const run = (await testEngine.get(`/workspaces/${testEngine.id}/runs`)).body.data[0].id
    expect((await testEngine.get(`/runs/${run}/configuration-version/download`)).status).toBe(200)
    expect((await testEngine.request("POST", `/runs/${run}/actions/discard`)).status).toBe(202)
    expect((await give()).status).toBe(status)
  })

  describe("loses its archive when it is not needed", () => {
    const act = (testEngine: { readonly request: PopulatedEngine["request"] }, id: string, action: string) =>
      testEngine.request("POST", `/configuration-versions/${id}/actions/${action}_backing_data`)

    async function twoVersions(attributes: Readonly<Record<string, unknown>> = { "auto-queue-runs": false }) {
      const testEngine = await configurationEngine()
      const [old, current] = [
        await testEngine.create(attributes),
        await testEngine.create({ "auto-queue-runs": false }),
      ]
      for (const id of [old, current]) await testEngine.upload(id, tarball({ "main.tf": id }))
      const statusOf = async (id: string) => (await testEngine.shown(id)).attributes.status as string
      const downloaded = async (id: string) => (await testEngine.get(`/configuration-versions/${id}/download`)).status
      return Object.assign(testEngine, { old, newest: current, statusOf, downloaded })
    }

    test("softly, restored, and permanently", async () => {
      await using testEngine = await twoVersions()
      const { old } = testEngine
      expect((await act(testEngine, old, "soft_delete")).status).toBe(204)
      expect([await testEngine.statusOf(old), await testEngine.downloaded(old)]).toEqual([
        "backing_data_soft_deleted",
        404,
      ])
      expect((await act(testEngine, old, "restore")).status).toBe(204)
      expect([await testEngine.statusOf(old), await testEngine.downloaded(old)]).toEqual(["uploaded", 200])
      await act(testEngine, old, "soft_delete")
      expect((await act(testEngine, old, "permanently_delete")).status).toBe(204)
      expect([await testEngine.statusOf(old), await testEngine.downloaded(old)]).toEqual([
        "backing_data_permanently_deleted",
        404,
      ])
      const relationships = {
        workspace: { data: { type: "workspaces", id: testEngine.id } },
        "configuration-version": { data: { type: "configuration-versions", id: old } },
      }
      const run = await testEngine.request("POST", "/runs", { body: { data: { type: "runs", relationships } } })
      expect([run.status, run.body.errors[0].detail]).toEqual([
        422,
        "configuration-version has no data; its data was deleted",
      ])
      const again = await testEngine.upload(old, tarball({ "main.tf": old }))
      expect(again.status).toBe(409)
    })

    test.each<{ what: string; before?: readonly string[]; action: string; on?: "newest"; queued?: true }>([
      { what: "that is current", action: "soft_delete", on: "newest" },
      { what: "with an unfinished run", action: "soft_delete", queued: true },
      { what: "that is not deleted", action: "restore" },
      { what: "that is not deleted", action: "permanently_delete" },
      { what: "that is softly deleted", before: ["soft_delete"], action: "soft_delete" },
      { what: "that is permanently deleted", before: ["soft_delete", "permanently_delete"], action: "restore" },
      {
        what: "that is permanently deleted",
        before: ["soft_delete", "permanently_delete"],
        action: "permanently_delete",
      },
    ])(
      "but rejects $action of a version $what",
      async ({ before = [], action, on = "old" as const, queued = false }) => {
        await using testEngine = await twoVersions({ "auto-queue-runs": queued })
        const id = testEngine[on]
        for (const step of before) expect((await act(testEngine, id, step)).status).toBe(204)
        const status = await testEngine.statusOf(id)
        const { status: answered, body } = await act(testEngine, id, action)
        expect([answered, body.errors[0].detail]).toEqual([409, "transition not allowed"])
        expect(await testEngine.statusOf(id)).toBe(status)
      },
    )

    test("and cannot be archived while it is softly deleted", async () => {
      await using testEngine = await twoVersions()
      await act(testEngine, testEngine.old, "soft_delete")
      const answer = await testEngine.request("POST", `/configuration-versions/${testEngine.old}/actions/archive`)
      expect(answer.status).toBe(409)
      expect((await act(testEngine, testEngine.old, "restore")).status).toBe(204)
      expect(await testEngine.downloaded(testEngine.old)).toBe(200)
    })

    test("through workspace administrators, in the self-hosted edition", async () => {
      await using testEngine = await twoVersions()
      const statusFor = async (token: string) =>
        (
          await testEngine.request(
            "POST",
            `/configuration-versions/${testEngine.old}/actions/soft_delete_backing_data`,
            {
              token,
            },
          )
        ).status
      expect(await statusFor(await testEngine.token({ on: { [testEngine.id]: "write" } }))).toBe(404)
      expect(await statusFor(await testEngine.token({ on: { [testEngine.id]: "admin" } }))).toBe(204)
      await using hosted = await populatedEngine({ edition: "hosted" })
      const id = await hosted.workspace("web")
      const body = document("configuration-versions", {})
      const version = (await hosted.request("POST", `/workspaces/${id}/configuration-versions`, { body })).body.data.id
      expect((await act(hosted, version, "soft_delete")).status).toBe(404)
    })

    test.each<{ what: string; days: number | null; status: string }>([
      { what: "at the age of its retention policy", days: 10, status: "backing_data_permanently_deleted" },
      { what: "not before the age of its retention policy", days: 30, status: "uploaded" },
      { what: "not without a retention policy", days: null, status: "uploaded" },
    ])("automatically: $what", async ({ days, status }) => {
      await using testEngine = await twoVersions()
      const waiting = await testEngine.create()
      await testEngine.upload(waiting, tarball({ "main.tf": waiting }))
      const last = await testEngine.create({ "auto-queue-runs": false })
      await testEngine.upload(last, tarball({ "main.tf": last }))
      if (days !== null) {
        const body = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": days })
        const path = `/workspaces/${testEngine.id}/relationships/data-retention-policy`
        await made(testEngine, "POST", path, body)
      }
      testEngine.clock.advance(11 * dayMs)
      await testEngine.timers.advance(10 * minuteMs, () => testEngine.engine.ready())
      const statuses = () => Promise.all([testEngine.old, testEngine.newest, waiting, last].map(testEngine.statusOf))
      // A version that a pending run uses and the current version are kept for as long as they are in use.
      const expected = [status, status, "uploaded", "uploaded"]
      await vi.waitFor(async () => expect(await statuses()).toEqual(expected), { timeout: 10_000 })
      expect(await testEngine.downloaded(last)).toBe(200)
    })
  })

  test("is removed from its workspace and its runs when it is deleted", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create({ readme: "# Web" })
    const run = await testEngine.apply(id)
    expect((await testEngine.request("DELETE", `/configuration-versions/${id}`)).status).toBe(204)
    expect((await testEngine.get(`/configuration-versions/${id}`)).status).toBe(404)
    expect((await testEngine.current()).data).toBeNull()
    const { relationships } = (await testEngine.get(`/runs/${run}`)).body.data
    expect(relationships["configuration-version"].data).toBeNull()
  })

  test.each<{ attributes: Record<string, unknown>; pointer: string }>([
    { attributes: { speculative: "yes" }, pointer: "/data/attributes/speculative" },
    {
      attributes: { "ingress-attributes": { "pull-request-number": "7" } },
      pointer: "/data/attributes/ingress-attributes/pull-request-number",
    },
    { attributes: { readme: "x".repeat(1024 * 1024 + 1) }, pointer: "/data/attributes/readme" },
  ])("is rejected with a fault at $pointer", async ({ attributes, pointer }) => {
    await using testEngine = await configurationEngine()
    const answer = await testEngine.request("POST", `/workspaces/${testEngine.id}/configuration-versions`, {
      body: { data: { type: "configuration-versions", attributes } },
    })
    expect([answer.status, answer.body.errors[0].source]).toEqual([422, { pointer }])
  })

  test.each<{ who: "stranger" | "read" | "plan" | "write"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404] },
    { who: "read", statuses: [200, 404, 404] },
    { who: "plan", statuses: [200, 201, 404] },
    { who: "write", statuses: [200, 201, 204] },
  ])("is shown to, created by and deleted by $who: $statuses", async ({ who, statuses }) => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const token = await testEngine.token(who === "stranger" ? {} : { on: { [testEngine.id]: who } })
    const body = { data: { type: "configuration-versions" } }
    const answers = [
      await testEngine.request("GET", `/configuration-versions/${id}`, { token }),
      await testEngine.request("POST", `/workspaces/${testEngine.id}/configuration-versions`, { body, token }),
      await testEngine.request("DELETE", `/configuration-versions/${id}`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })
})

describe("an upload of a configuration", () => {
  const archive = tarball({ "main.tf": "resource {}", "README.md": "# Web" })

  test("makes it the current one, with its readme, and is downloaded unchanged", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const answer = await testEngine.upload(id, archive)
    expect([answer.status, answer.body]).toEqual([204, undefined])
    const { attributes, links } = await testEngine.shown(id)
    expect(attributes).toMatchObject({ status: "uploaded", "upload-url": null })
    expect(links.download).toBe(`/api/v2/configuration-versions/${id}/download`)
    expect((await testEngine.current()).data.id).toBe(id)
    const download = await testEngine.get(`/configuration-versions/${id}/download`)
    expect(download.headers.get("content-type")).toBe("application/octet-stream")
    expect(Buffer.compare(download.bytes, archive)).toBe(0)
    expect((await testEngine.get(`/workspaces/${testEngine.id}/readme`)).body.data.attributes).toEqual({
      "raw-markdown": "# Web",
    })
    const run = await testEngine.apply(id)
    expect(Buffer.compare((await testEngine.get(`/runs/${run}/configuration-version/download`)).bytes, archive)).toBe(0)
  })

  test("of an older configuration does not replace a newer one", async () => {
    await using testEngine = await configurationEngine()
    const [older, newer] = [await testEngine.create(), await testEngine.create()]
    await testEngine.upload(newer, archive)
    expect((await testEngine.upload(older, archive)).status).toBe(204)
    expect((await testEngine.current()).data.id).toBe(newer)
  })

  test("[F-W13] of another archive replaces the first until a run uses the configuration", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create({ "auto-queue-runs": false })
    const other = tarball({ "main.tf": "other", "README.md": "# Other" })
    expect((await testEngine.upload(id, archive)).status).toBe(204)
    expect((await testEngine.upload(id, other)).status).toBe(204)
    const download = async () => (await testEngine.get(`/configuration-versions/${id}/download`)).bytes
    expect(Buffer.compare(await download(), other)).toBe(0)
    expect((await testEngine.get(`/workspaces/${testEngine.id}/readme`)).body.data.attributes["raw-markdown"]).toBe(
      "# Other",
    )
    expect((await testEngine.current()).data.id).toBe(id)
    await testEngine.apply(id)
    expect([(await testEngine.upload(id, other)).status, (await testEngine.upload(id, archive)).status]).toEqual([
      204, 409,
    ])
    expect(Buffer.compare(await download(), other)).toBe(0)
  })

  test("[F-W13] releases a run that was created before it", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create({ "auto-queue-runs": false })
    const run = await testEngine.request("POST", "/runs", {
      body: {
        data: { type: "runs", relationships: { workspace: { data: { type: "workspaces", id: testEngine.id } } } },
      },
    })
    expect(run.body.data.relationships["configuration-version"].data.id).toBe(id)
    const claim = () =>
      testEngine.request("POST", `/workspaces/${testEngine.id}/run-claims`, { body: document("run-claims", {}) })
    expect((await claim()).status).toBe(204)
    expect((await testEngine.upload(id, archive)).status).toBe(204)
    expect((await claim()).status).toBe(201)
  })

  test("that is repeated changes nothing, and one that differs after a run started is a conflict", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    expect((await testEngine.upload(id, archive)).status).toBe(204)
    expect((await testEngine.upload(id, archive)).status).toBe(204)
    const other = await testEngine.upload(id, tarball({ "main.tf": "other" }))
    expect([other.status, other.body.errors[0].detail]).toEqual([
      409,
      "The configuration version is used by a run and does not accept another upload; create a new version.",
    ])
    expect(Buffer.compare((await testEngine.get(`/configuration-versions/${id}/download`)).bytes, archive)).toBe(0)
  })

  test("of one configuration by several clients at once is stored once", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const archives = Array.from({ length: 8 }, (_, index) => tarball({ "main.tf": String(index) }))
    const address = testEngine.addressOf(id)
    const answers = await Promise.all(
      archives.map((body) => testEngine.request("PUT", address, { token: null, body, headers: octets })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, ...Array(7).fill(409)])
    const kept = archives[answers.findIndex(({ status }) => status === 204)] ?? archive
    expect(Buffer.compare((await testEngine.get(`/configuration-versions/${id}/download`)).bytes, kept)).toBe(0)
  })

  test.each<{ what: string; body: Uint8Array<ArrayBuffer>; status: number }>([
    { what: "without an archive", body: Uint8Array.from(Buffer.from("resource {}")), status: 422 },
    { what: "without content", body: new Uint8Array(), status: 422 },
    { what: "with a truncated archive", body: archive.slice(0, -30), status: 422 },
    { what: "above the limit", body: new Uint8Array(64 * 1024 * 1024 + 1), status: 413 },
  ])("$what is rejected with $status, and the configuration stays pending", async ({ body, status }) => {
    await using testEngine = await configurationEngine()
    const before = await testEngine.create()
    await testEngine.upload(before, archive)
    const id = await testEngine.create()
    expect((await testEngine.upload(id, body)).status).toBe(status)
    expect((await testEngine.shown(id)).attributes.status).toBe("pending")
    expect((await testEngine.current()).data.id).toBe(id)
    expect((await testEngine.get(`/configuration-versions/${id}/download`)).status).toBe(404)
    expect((await testEngine.get(`/configuration-versions/${before}/download`)).status).toBe(200)
    expect((await testEngine.upload(id, archive)).status).toBe(204)
  })

  test.each<{ what: string; change: (address: URL) => void; laterMs?: number }>([
    { what: "whose expiry was changed", change: ({ searchParams }) => moveEnd(searchParams) },
    { what: "of another configuration", change: (url) => (url.pathname = url.pathname.replace(/.$/, "_")) },
    { what: "without its credential", change: (url) => (url.search = "") },
    { what: "after its expiry", change: () => {}, laterMs: 25 * 3_600_000 },
  ])("to a URL $what is not found", async ({ change, laterMs = 0 }) => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const address = new URL(testEngine.addressOf(id))
    change(address)
    testEngine.clock.advance(laterMs)
    const answer = await testEngine.request("PUT", address.href, { token: null, body: archive, headers: octets })
    expect(answer.status).toBe(404)
    expect((await testEngine.shown(id)).attributes.status).toBe("pending")
  })

  test("with a token is accepted from callers who may queue runs", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const put = async (token: string | null) =>
      (
        await testEngine.request("PUT", `/configuration-versions/${id}/upload`, {
          token,
          body: archive,
          headers: octets,
        })
      ).status
    const reader = await testEngine.token({ on: { [testEngine.id]: "read" } })
    const planner = await testEngine.token({ on: { [testEngine.id]: "plan" } })
    expect([await put(null), await put(reader), await put(planner)]).toEqual([401, 404, 204])
  })

  test("[F-W13] has a URL only in the response to the creation, hidden from other callers", async () => {
    await using testEngine = await configurationEngine()
    const id = await testEngine.create()
    const reader = await testEngine.token({ on: { [testEngine.id]: "read" } })
    const stranger = await testEngine.token()
    const path = `/configuration-versions/${id}`
    for (const token of [reader, testEngine.rootToken])
      expect((await testEngine.request("GET", path, { token })).body.data.attributes["upload-url"]).toBeNull()
    const list = await testEngine.get(`/workspaces/${testEngine.id}/configuration-versions`)
    expect(list.body.data[0].attributes["upload-url"]).toBeNull()
    await testEngine.upload(id, archive)
    const statuses = [reader, stranger, null].map(
      async (token) => (await testEngine.request("GET", `${path}/download`, { token })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 404, 401])
  })

  test.each<{ what: string; attributes: Record<string, unknown>; mode?: string; queued: number }>([
    { what: "with defaults", attributes: {}, queued: 1 },
    { what: "without auto-queue-runs", attributes: { "auto-queue-runs": false }, queued: 0 },
    { what: "of a workspace that executes no runs", attributes: {}, mode: "local", queued: 0 },
  ])("of a configuration $what queues $queued runs", async ({ attributes, mode = "remote", queued }) => {
    await using testEngine = await configurationEngine()
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, {
      body: document("workspaces", { "execution-mode": mode }),
    })
    const id = await testEngine.create(attributes)
    const runs = async () => (await testEngine.get(`/workspaces/${testEngine.id}/runs`)).body.data
    expect(await runs()).toEqual([])
    for (let count = 0; count < 2; count += 1) await testEngine.upload(id, archive)
    const found = await runs()
    expect(found).toHaveLength(queued)
    for (const { attributes: run, relationships } of found) {
      expect(run).toMatchObject({ status: "pending", source: "tfe-configuration-version" })
      expect(relationships["configuration-version"].data.id).toBe(id)
      expect(relationships["created-by"].data).toEqual({ type: "users", id: expect.stringMatching(/^user-/) })
    }
  })

  test("takes the readme of the working directory", async () => {
    await using testEngine = await configurationEngine()
    const files: TarFiles = { "README.md": "# All", "envs/prod/README.md": "# Prod" }
    const directory = { body: document("workspaces", { "working-directory": "envs/prod" }) }
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, directory)
    await testEngine.upload(await testEngine.create(), tarball(files))
    expect((await testEngine.get(`/workspaces/${testEngine.id}/readme`)).body.data.attributes["raw-markdown"]).toBe(
      "# Prod",
    )
  })
})

function moveEnd(parameters: URLSearchParams): void {
  parameters.set("credential", (parameters.get("credential") ?? "").replace(/^\d/, "9"))
}

describe("the workspace", () => {
  test("[W-2.5-r2] [F-W13] has as current configuration the newest that is neither speculative nor provisional", async () => {
    await using testEngine = await configurationEngine()
    expect(await testEngine.current()).toEqual({ data: null, links: { related: null } })
    const id = await testEngine.create()
    // [F-W13] The version is current from its creation.
    expect((await testEngine.current()).data.id).toBe(id)
    const speculative = await testEngine.create({ speculative: true })
    const provisional = await testEngine.create({ provisional: true })
    for (const version of [id, speculative, provisional]) await testEngine.upload(version, tarball({ "main.tf": "" }))
    expect(await testEngine.current()).toEqual({
      data: { type: "configuration-versions", id },
      links: { related: `/api/v2/configuration-versions/${id}` },
    })
    await testEngine.apply(provisional)
    expect((await testEngine.current()).data.id).toBe(provisional)
  })

  test("[W-2.5-r12] has the readme of its current configuration", async () => {
    await using testEngine = await configurationEngine()
    const shown = async () => (await testEngine.get(`/workspaces/${testEngine.id}`)).body.data.relationships.readme
    expect([await shown(), (await testEngine.get(`/workspaces/${testEngine.id}/readme`)).status]).toEqual([
      { data: null },
      404,
    ])
    await testEngine.create({ readme: "# Web\n" })
    const { body } = await testEngine.get(`/workspaces/${testEngine.id}/readme`)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^readme-\w{16}$/),
      type: "workspace-readme",
      attributes: { "raw-markdown": "# Web\n" },
    })
    expect(await shown()).toEqual({ data: { type: "workspace-readme", id: body.data.id } })
  })
})
