// Bulk actions over HTTP: docs/bulk.md.
import { describe, expect, test } from "vitest"
import { dayMs, hourMs, secondMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, newMember, newTeam } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { origin, type RequestOptions } from "../../../testing/test-engine.ts"
import { workspacesPerPart } from "../../workspaces/bulk/bulk-service.ts"

const path = "/organizations/acme/workspaces/actions/bulk"

interface Result {
  readonly id: string
  readonly name: string | null
  readonly outcome: string
  readonly error?: { readonly status: string; readonly code: string; readonly detail: string; readonly meta?: object }
}

async function bulkEngine() {
  const clock = manualClock()
  const place = await defaultSharedKind.place()
  const testEngine = await populatedEngine({ url: place.url, runtime: { ...systemRuntime(), clock }, jobs: false })
  const bulk = (attributes: object, query = "", options: Omit<RequestOptions, "body"> = {}) =>
    testEngine.request("POST", `${path}${query}`, { ...options, body: document("bulk-actions", attributes) })
  return Object.assign(testEngine, {
    clock,
    bulk,
    /** Sends a request, expects status 200, and returns the outcomes by workspace name. */
    async outcomes(attributes: object, query = "", options: Omit<RequestOptions, "body"> = {}) {
      const { status, body } = await bulk(attributes, query, options)
      expect([status, body?.errors]).toEqual([200, undefined])
      const { results, ...told } = body.data.attributes as { readonly results: readonly Result[] }
      const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length
      expect(told).toEqual({
        action: (attributes as { readonly action: string }).action,
        "dry-run": (attributes as { readonly "dry-run"?: boolean })["dry-run"] ?? false,
        "total-count": results.length,
        "done-count": count("done"),
        "unchanged-count": count("unchanged"),
        "refused-count": count("refused"),
      })
      return Object.fromEntries(results.map(({ name, outcome, error }) => [name, error?.status ?? outcome]))
    },
    shown: async (name: string) => made(testEngine, "GET", `/organizations/acme/workspaces/${name}`),
    names: async (query = "") =>
      (await made(testEngine, "GET", `/organizations/acme/workspaces${query}`)).map(
        ({ attributes }: { attributes: { name: string } }) => attributes.name,
      ),
    async [Symbol.asyncDispose]() {
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  })
}

describe("a bulk action", () => {
  test("locks and unlocks the workspaces that match the filter, with the rules of the single action", async () => {
    await using testEngine = await bulkEngine()
    const tags = [{ name: "net" }]
    const held = await testEngine.workspace("held", { tags })
    for (const name of ["a", "b"]) await testEngine.workspace(name, { tags })
    await testEngine.workspace("other")
    await made(testEngine, "POST", `/workspaces/${held}/actions/lock`, { reason: "mine" })
    const lock = { action: "lock", reason: "freeze", ttl: "1h" }
    expect(await testEngine.outcomes(lock, "?search[tags]=net")).toEqual({ a: "done", b: "done", held: "409" })
    expect((await testEngine.shown("a")).attributes).toMatchObject({ "locked-reason": "freeze", "lock-ttl": 3_600 })
    expect((await testEngine.shown("held")).attributes).toMatchObject({ "locked-reason": "mine" })
    expect((await testEngine.shown("other")).attributes).toMatchObject({ locked: false })
    const unlocked = { a: "done", b: "done", held: "done", other: "unchanged" }
    expect(await testEngine.outcomes({ action: "unlock", all: true })).toEqual(unlocked)
    expect(await testEngine.names("?search[tags]=net")).toEqual(["a", "b", "held"])
    expect((await testEngine.shown("a")).attributes.locked).toBe(false)
  })

  test("promotes states like a single unlock, and is refused for a pending state", async () => {
    await using testEngine = await bulkEngine()
    const [whole, pending] = [await testEngine.workspace("whole"), await testEngine.workspace("pending")]
    const save = (id: string, options: object) =>
      made(
        testEngine,
        "POST",
        `/workspaces/${id}/state-versions`,
        stateVersionDocument(stateFile(), { intermediate: true, ...options }),
      )
    for (const id of [whole, pending]) await made(testEngine, "POST", `/workspaces/${id}/actions/lock`)
    const { id: state } = await save(whole, { inline: true })
    await save(pending, {})
    expect(await testEngine.outcomes({ action: "unlock", all: true })).toEqual({ whole: "done", pending: "503" })
    const shown = await testEngine.shown("whole")
    expect(shown.relationships["current-state-version"].data.id).toBe(state)
  })

  test("tags, untags and binds, with and without an owner", async () => {
    await using testEngine = await bulkEngine()
    for (const name of ["a", "b", "c"]) await testEngine.workspace(name)
    await testEngine.workspace("valued", { tagBindings: [{ key: "team", value: "net" }] })
    const tag = { action: "tag", tags: ["team", "blue"] }
    expect(await testEngine.outcomes({ ...tag, all: true })).toEqual({ a: "done", b: "done", c: "done", valued: "422" })
    expect((await testEngine.shown("b")).attributes["tag-names"]).toEqual(["blue", "team"])
    expect(await testEngine.outcomes(tag, "?search[name]=a")).toEqual({ a: "unchanged", valued: "422" })
    const bound = { action: "bind", bindings: [{ key: "env", value: "prod" }] }
    expect(await testEngine.outcomes(bound, "?search[tags]=blue")).toEqual({ a: "done", b: "done", c: "done" })
    const asOps = { headers: { "x-chancery-owner": "ops" } }
    const owned = { action: "tag", tags: ["owned"] }
    expect(await testEngine.outcomes(owned, "?search[wildcard-name]=a*", asOps)).toEqual({ a: "done" })
    const untag = { action: "untag", tags: ["owned", "blue"] }
    const asOther = { headers: { "x-chancery-owner": "other" } }
    expect(
      await testEngine.outcomes({ action: "untag", tags: ["owned"] }, "?search[wildcard-name]=a*", asOther),
    ).toEqual({
      a: "unchanged",
    })
    expect(await testEngine.outcomes(untag, "?filter[tagged][0][key]=env")).toEqual({ a: "done", b: "done", c: "done" })
    expect((await testEngine.shown("a")).attributes["tag-names"]).toEqual(["team"])
    expect(await made(testEngine, "GET", "/organizations/acme/tags")).toHaveLength(1)
  })

  test("moves workspaces to a project, and safely deletes workspaces", async () => {
    await using testEngine = await bulkEngine()
    const project = await made(
      testEngine,
      "POST",
      "/organizations/acme/projects",
      document("projects", { name: "next" }),
    )
    for (const name of ["a", "b"]) await testEngine.workspace(name)
    await testEngine.workspace("there", { projectId: project.id })
    const move = { action: "move", project: project.id, all: true }
    expect(await testEngine.outcomes(move)).toEqual({ a: "done", b: "done", there: "unchanged" })
    const locked = await testEngine.workspace("locked", { projectId: project.id })
    await made(testEngine, "POST", `/workspaces/${locked}/actions/lock`)
    await testEngine.workspace("elsewhere")
    const within = `?filter[project][id]=${project.id}`
    const deletion = { action: "safe-delete" }
    const outcomes = { a: "done", b: "done", there: "done", locked: "409" }
    expect(await testEngine.outcomes({ ...deletion, "dry-run": true }, within)).toEqual(outcomes)
    expect(await testEngine.names()).toEqual(["a", "b", "elsewhere", "locked", "there"])
    expect(await testEngine.outcomes(deletion, within)).toEqual(outcomes)
    expect(await testEngine.names()).toEqual(["elsewhere", "locked"])
  })

  test("with an idempotency key is executed once, for any number of requests and servers", async () => {
    await using testEngine = await bulkEngine()
    for (const name of ["a", "b", "c"]) await testEngine.workspace(name)
    const lock = { action: "lock", reason: "once", all: true }
    const key = { headers: { "idempotency-key": "deploy-7" } }
    const answers = await Promise.all(Array.from({ length: 6 }, () => testEngine.bulk(lock, "", key)))
    for (const { status, body } of answers) {
      expect([status, body.data.attributes["done-count"]]).toEqual([200, 3])
      expect(body).toEqual(answers[0]?.body)
    }
    // Later requests with the same key do not repeat the action, although the workspaces have changed.
    for (const name of ["a", "d"])
      await (name === "d" ? testEngine.workspace(name) : testEngine.bulk({ action: "unlock", all: true }))
    expect(await testEngine.outcomes(lock, "", key)).toEqual({ a: "done", b: "done", c: "done" })
    expect((await testEngine.shown("a")).attributes.locked).toBe(false)
    const other = await testEngine.bulk({ ...lock, reason: "another" }, "", key)
    expect([other.status, other.body.errors[0].detail]).toEqual([
      422,
      "The Idempotency-Key has been used for another request.",
    ])
    expect((await testEngine.bulk({ action: "lock", reason: "once" }, "?search[name]=a", key)).status).toBe(422)
    testEngine.clock.advance(dayMs)
    expect(await testEngine.outcomes(lock, "", key)).toEqual({ a: "done", b: "done", c: "done", d: "done" })
  })
})

describe("the rights of a bulk action", () => {
  test("are those of the single action on each workspace that the caller sees", async () => {
    await using testEngine = await bulkEngine()
    const [mine, seen] = [await testEngine.workspace("mine"), await testEngine.workspace("seen")]
    await testEngine.workspace("hidden")
    const token = await testEngine.token({ on: { [mine]: "write", [seen]: "read" } })
    const asTeam = { token }
    const lock = { action: "lock", all: true }
    expect(await testEngine.outcomes(lock, "", asTeam)).toEqual({ mine: "done", seen: "404" })
    for (const action of [
      { action: "tag", tags: ["x"] },
      { action: "bind", bindings: [{ key: "k", value: "v" }] },
      { action: "safe-delete" },
    ])
      expect(await testEngine.outcomes({ ...action, all: true }, "", asTeam)).toEqual({ mine: "404", seen: "404" })
    const project = await made(testEngine, "POST", "/organizations/acme/projects", document("projects", { name: "p" }))
    expect((await testEngine.bulk({ action: "move", project: project.id, all: true }, "", asTeam)).status).toBe(404)
    expect((await testEngine.bulk(lock, "", { token: null })).status).toBe(401)
    const stranger = await newMember(testEngine, "acme", "stranger")
    await newTeam(testEngine, "acme", "nothing", { members: [stranger] })
    expect(await testEngine.outcomes(lock, "", { token: stranger.token })).toEqual({})
  })

  test("limit an idempotency key to its caller", async () => {
    await using testEngine = await bulkEngine()
    const id = await testEngine.workspace("web")
    const key = { "idempotency-key": "k" }
    const tokens = [
      await testEngine.token({ on: { [id]: "write" } }),
      await testEngine.token({ on: { [id]: "write" } }),
    ]
    const lock = { action: "lock", all: true }
    expect(await testEngine.outcomes(lock, "", { token: tokens[0] ?? "", headers: key })).toEqual({ web: "done" })
    expect(await testEngine.outcomes(lock, "", { token: tokens[1] ?? "", headers: key })).toEqual({ web: "409" })
  })
})

describe("a bulk error", () => {
  test("of one workspace is that of the single action", async () => {
    await using testEngine = await bulkEngine()
    const id = await testEngine.workspace("web")
    const single = () => testEngine.request("POST", `/workspaces/${id}/actions/lock`, { body: { reason: "", ttl: 60 } })
    await single()
    testEngine.clock.advance(10 * secondMs)
    const { body } = await testEngine.bulk({ action: "lock", all: true })
    const [error] = (await single()).body.errors
    expect(body.data.attributes.results).toEqual([
      { id, type: "workspaces", name: "web", outcome: "refused", error: { ...error, code: "conflict" } },
    ])
  })

  test.each([
    { what: "no filter", sent: { action: "unlock" }, pointer: "/data/attributes/all" },
    {
      what: "both all and a filter",
      sent: { action: "unlock", all: true },
      query: "?search[name]=a",
      pointer: "/data/attributes/all",
    },
    { what: "only a sort", sent: { action: "unlock" }, query: "?sort=name", pointer: "/data/attributes/all" },
    { what: "no action", sent: { all: true }, pointer: "/data/attributes/action" },
    { what: "an unknown action", sent: { action: "burn", all: true }, pointer: "/data/attributes/action" },
    { what: "no tags", sent: { action: "tag", tags: [], all: true }, pointer: "/data/attributes/tags" },
    {
      what: "an invalid tag",
      sent: { action: "untag", tags: ["x", "hc:y"], all: true },
      pointer: "/data/attributes/tags/1",
    },
    {
      what: "a tag that is not a string",
      sent: { action: "tag", tags: [7], all: true },
      pointer: "/data/attributes/tags/0",
    },
    {
      what: "an invalid binding",
      sent: { action: "bind", bindings: [{ key: "a b", value: "v" }], all: true },
      pointer: "/data/attributes/bindings/0/key",
    },
    { what: "a ttl below the minimum", sent: { action: "lock", ttl: 0, all: true }, pointer: "/data/attributes/ttl" },
    { what: "no project", sent: { action: "move", all: true }, pointer: "/data/attributes/project" },
  ])("of a request with $what changes nothing and has a pointer", async ({ sent, query = "", pointer }) => {
    await using testEngine = await bulkEngine()
    await testEngine.workspace("a")
    const { status, body } = await testEngine.bulk(sent, query)
    expect([status, body.errors.map((error: { source: unknown }) => error.source)]).toEqual([422, [{ pointer }]])
  })

  test("of a request names an invalid key, an invalid filter, and missing resources", async () => {
    await using testEngine = await bulkEngine()
    const unlock = { action: "unlock", all: true }
    for (const key of ["a b", "x".repeat(129)])
      expect(
        (await testEngine.bulk(unlock, "", { headers: { "idempotency-key": key } })).body.errors[0].source,
      ).toEqual({
        header: "Idempotency-Key",
      })
    expect((await testEngine.bulk({ action: "unlock" }, "?search[name]=a&sort=size")).status).toBe(400)
    expect((await testEngine.bulk({ action: "move", project: "prj-none", all: true })).status).toBe(404)
    const elsewhere = await testEngine.request("POST", path.replace("acme", "nobody"), {
      body: document("bulk-actions", unlock),
    })
    expect(elsewhere.status).toBe(404)
  })
})

describe("the progress of a bulk action", () => {
  const lines = { accept: "application/x-ndjson" }

  test("is sent line by line, one part at a time", async () => {
    await using testEngine = await bulkEngine()
    const count = workspacesPerPart + 7
    for (let index = 0; index < count; index += 1) await testEngine.workspace(`w-${String(index).padStart(4, "0")}`)
    const { headers, bytes } = await testEngine.bulk({ action: "tag", tags: ["x"], all: true }, "", { headers: lines })
    expect(headers.get("content-type")).toBe("application/x-ndjson")
    const told = Buffer.from(bytes)
      .toString()
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text))
    expect(told).toMatchObject([
      { "total-count": count },
      { "completed-count": workspacesPerPart },
      { "completed-count": count },
      { "total-count": count, "done-count": count, "unchanged-count": 0, "refused-count": 0 },
    ])
    expect(told[1].results).toHaveLength(workspacesPerPart)
    expect(told[2].results).toHaveLength(7)
  })

  test("stops when the client disconnects, and resumes with the key", async () => {
    await using testEngine = await bulkEngine()
    const count = 2 * workspacesPerPart + 1
    for (let index = 0; index < count; index += 1) await testEngine.workspace(`w-${String(index).padStart(4, "0")}`)
    const tagged = async () =>
      (await testEngine.request("GET", "/organizations/acme/workspaces?search[tags]=x&page[size]=1")).body.meta
        .pagination["total-count"]
    const response = await testEngine.app.fetch(
      new Request(`${origin}/api/v2${path}`, {
        method: "POST",
        headers: {
          ...lines,
          authorization: `Bearer ${testEngine.rootToken}`,
          "content-type": "application/vnd.api+json",
          "idempotency-key": "go-on",
        },
        body: JSON.stringify(document("bulk-actions", { action: "tag", tags: ["x"], all: true })),
      }),
    )
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const head = JSON.parse(Buffer.from((await reader.read()).value ?? []).toString())
    expect(await tagged()).toBe(0)
    await reader.read()
    await reader.cancel()
    // The second part runs concurrently with the first, so it may be done before or after this read. The third is not started.
    expect([workspacesPerPart, 2 * workspacesPerPart]).toContain(await tagged())
    testEngine.clock.advance(hourMs)
    await testEngine.workspace("later")
    const action = { kind: "tag", tags: ["x"] } as const
    const again = await testEngine.engine.bulkActions.run("acme", { action, all: true, idempotencyKey: "go-on" })
    expect([again.id, again.totalCount]).toEqual([head.id, count])
    const outcomes: string[] = []
    for await (const part of again.results) outcomes.push(...part.map(({ outcome }) => outcome))
    expect(outcomes).toEqual(Array.from({ length: count }, () => "done"))
    expect(await tagged()).toBe(count)
  })
})
