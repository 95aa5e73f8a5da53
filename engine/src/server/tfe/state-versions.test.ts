// Creating, reading and listing state versions, and the rights for that.
import { describe, expect, test } from "vitest"
import { stateFile, type StateOptions, stateVersionDocument } from "../../../testing/state-file.ts"
import { detailOf, faultsOf, stateEngine } from "../../../testing/state-engine.ts"

describe("a state version in one step", () => {
  test("is finalized and current after its creation", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const { status, body } = await testEngine.announce({ instances: 1 }, { inline: true })
    expect([status, body.data.attributes.status]).toEqual([201, "finalized"])
    expect((await testEngine.current()).body.data.id).toBe(body.data.id)
  })

  test("is rejected with all faults of its document at once, and leaves nothing", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const body = { data: { type: "states", attributes: { md5: "x", state: "%%%", force: "yes" } } }
    const answer = await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, { body })
    expect([answer.status, faultsOf(answer)]).toEqual([
      422,
      [
        ["/data/type", 'type must be "state-versions"'],
        ["/data/attributes/serial", "serial can't be blank"],
        ["/data/attributes/md5", "md5 must be 32 lowercase hexadecimal digits"],
        ["/data/attributes/force", "force must be a boolean"],
        ["/data/attributes/state", "state must be base64"],
      ],
    ])
    expect(await testEngine.statuses()).toEqual([])
  })

  test("must match its MD5", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    expect(faultsOf(await testEngine.announce({}, { inline: true, md5: "0".repeat(32), lineage: "another" }))).toEqual([
      ["/data/attributes/md5", "md5 does not match the uploaded state"],
    ])
  })

  test.each([{ inline: true }, { inline: false }])(
    "[F-W4] has the serial and lineage of the request when the file has others (inline: $inline)",
    async ({ inline }) => {
      await using testEngine = await stateEngine()
      await testEngine.lock()
      const state = { serial: 5, lineage: "of-the-file" }
      const requested = { serial: 1, lineage: "of-the-request" }
      const made = await testEngine.announce(state, { inline, ...requested })
      expect(made.status).toBe(201)
      const url = made.body.data.attributes["hosted-state-upload-url"]
      const uploaded = inline ? undefined : (await testEngine.upload(url, stateFile(state).text)).status
      expect(uploaded).toBe(inline ? undefined : 204)
      const current = (await testEngine.current()).body.data.attributes
      expect(current).toMatchObject({ status: "finalized", serial: 1 })
      expect((await testEngine.request("GET", current["hosted-state-download-url"])).body).toMatchObject(state)
      // Conflicts are detected by the serial and lineage of the request, not of the file.
      expect((await testEngine.announce({ serial: 1, instances: 1 }, requested)).status).toBe(409)
      expect((await testEngine.announce({ serial: 9, lineage: "of-the-file" })).status).toBe(409)
      expect((await testEngine.announce({ serial: 9, lineage: "of-the-request" })).status).toBe(201)
    },
  )
})

describe("conflicting state versions", () => {
  test.each<{ what: string; next: StateOptions; attributes?: Record<string, unknown>; text: string }>([
    { what: "the same serial with other bytes", next: { serial: 5, instances: 1 }, text: "different MD5 hash" },
    { what: "another lineage", next: { serial: 6, lineage: "lineage-2" }, text: "does not match the lineage" },
    { what: "a lower serial without lineage", next: { serial: 4 }, attributes: { lineage: null }, text: "not greater" },
  ])("with $what are rejected, and accepted with force", async ({ next, attributes = {}, text }) => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.announce({ serial: 5 }, { inline: true })
    expect(detailOf(await testEngine.announce(next, attributes))).toEqual([409, expect.stringContaining(text)])
    expect((await testEngine.announce(next, { ...attributes, force: true })).status).toBe(201)
  })

  test("with a lower serial of the same lineage are accepted from the holder of the lock", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.announce({ serial: 5 }, { inline: true })
    expect((await testEngine.announce({ serial: 2 }, { inline: true })).status).toBe(201)
    expect((await testEngine.current()).body.data.attributes.serial).toBe(2)
  })

  test("are discarded when a newer pending version is created, and their URL accepts no upload", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const first = (await testEngine.announce({ serial: 1 })).body.data.attributes
    await testEngine.announce({ serial: 2 })
    expect(await testEngine.statuses()).toEqual(["2 pending", "1 discarded"])
    expect(detailOf(await testEngine.upload(first["hosted-state-upload-url"], stateFile({ serial: 1 }).text))).toEqual([
      409,
      "This state version was discarded and does not accept an upload.",
    ])
  })

  test("are accepted only from the holder of the lock", async () => {
    await using testEngine = await stateEngine()
    expect(detailOf(await testEngine.announce())).toEqual([
      409,
      expect.stringContaining("will only accept state uploads when locked"),
    ])
    await testEngine.lock({ token: await testEngine.token({ on: { [testEngine.id]: "write" } }) })
    expect(detailOf(await testEngine.announce())).toEqual([409, expect.stringContaining("is locked by Team team-")])
  })
})

describe("include of a state version", () => {
  test("adds outputs, the creator of any kind, and the run with its creator and configuration", async () => {
    await using testEngine = await stateEngine()
    const configuration = await testEngine.request("POST", `/workspaces/${testEngine.id}/configuration-versions`, {
      body: { data: { type: "configuration-versions", attributes: { readme: "# Web" } } },
    })
    const run = await testEngine.request("POST", "/runs", {
      body: {
        data: { type: "runs", relationships: { workspace: { data: { type: "workspaces", id: testEngine.id } } } },
      },
    })
    await testEngine.lock()
    const outputs = Object.fromEntries(
      Array.from({ length: 101 }, (_, index) => [`output-${index}`, { value: index, type: "number" }]),
    )
    const document = stateVersionDocument(stateFile({ outputs }), { inline: true })
    const relationships = { run: { data: { type: "runs", id: run.body.data.id } } }
    const made = await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, {
      body: { data: { ...document.data, relationships } },
    })
    const path = `/state-versions/${made.body.data.id}`
    const included = async (at: string, parts: string) =>
      (await testEngine.request("GET", `${at}?include=${parts}`)).body.included.map(
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
    const current = `/workspaces/${testEngine.id}/current-state-version`
    expect(await included(current, "outputs")).toEqual(
      made.body.data.relationships.outputs.data.map(({ id }: { readonly id: string }) => `state-version-outputs ${id}`),
    )
  })

  test("is rejected for other values", async () => {
    await using testEngine = await stateEngine()
    const answer = await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version?include=secrets`)
    expect([answer.status, faultsOf(answer)]).toEqual([
      400,
      [["include", expect.stringContaining("include parameter")]],
    ])
  })
})

describe("permissions on state versions", () => {
  test.each<{ who: "stranger" | "read" | "plan" | "write"; read: number; create: number; unlocks: number }>([
    { who: "stranger", read: 404, create: 404, unlocks: 404 },
    { who: "read", read: 200, create: 404, unlocks: 404 },
    { who: "plan", read: 200, create: 404, unlocks: 404 },
    { who: "write", read: 200, create: 201, unlocks: 200 },
  ])("$who: read $read, create $create", async ({ who, read, create, unlocks }) => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const version = await testEngine.put({ outputs: { a: { value: 1, type: "number" } } })
    await testEngine.unlock()
    const output = (await testEngine.show()).relationships.outputs.data[0].id
    const token = await testEngine.token(who === "stranger" ? {} : { on: { [testEngine.id]: who } })
    const paths = [
      `/workspaces/${testEngine.id}/current-state-version`,
      `/workspaces/${testEngine.id}/current-state-version-outputs`,
      `/workspaces/${testEngine.id}/state-versions`,
      "/state-versions?filter[organization][name]=acme&filter[workspace][name]=web",
      `/state-versions/${version}`,
      `/state-versions/${version}/download`,
      `/state-versions/${version}/outputs`,
      `/state-version-outputs/${output}`,
    ]
    for (const path of paths)
      expect([path, (await testEngine.request("GET", path, { token })).status]).toEqual([path, read])
    await testEngine.lock({ token })
    expect((await testEngine.announce({ serial: 2 }, { inline: true }, { token })).status).toBe(create)
    expect((await testEngine.unlock({ token })).status).toBe(unlocks)
  })

  test.each<{ access: "read" | "plan" | "write"; address: unknown }>([
    { access: "read", address: null },
    { access: "plan", address: null },
    { access: "write", address: expect.stringContaining("/uploads/state-versions/") },
  ])("show the upload URL with $access access: $address", async ({ access, address }) => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const version = (await testEngine.announce()).body.data.id
    const token = await testEngine.token({ on: { [testEngine.id]: access } })
    const shown = await testEngine.request("GET", `/state-versions/${version}`, { token })
    const listed = await testEngine.request("GET", `/workspaces/${testEngine.id}/state-versions`, { token })
    for (const { attributes } of [shown.body.data, listed.body.data[0]]) {
      expect(attributes).toMatchObject({ status: "pending", "hosted-state-upload-url": address })
      expect(attributes).toMatchObject({ "hosted-json-state-upload-url": address })
    }
  })

  test("let no organization token create one", async () => {
    await using testEngine = await stateEngine()
    const token = (await testEngine.engine.tokens.createForOrganization("acme", {})).secret
    expect((await testEngine.announce({}, { inline: true }, { token })).status).toBe(404)
  })
})

describe("a caller with access to a consumer workspace", () => {
  test.each<{ access: "read" | "plan" | "write"; consumer: "listed" | "another" | "global"; status: number }>([
    { access: "plan", consumer: "listed", status: 200 },
    { access: "write", consumer: "listed", status: 200 },
    { access: "read", consumer: "listed", status: 404 },
    { access: "plan", consumer: "another", status: 404 },
    { access: "plan", consumer: "global", status: 200 },
    { access: "read", consumer: "global", status: 404 },
  ])("that is $access ($consumer) reads the current state with $status", async (row) => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const earlier = await testEngine.put({ serial: 1 })
    const version = await testEngine.put({ serial: 2, outputs: { a: { value: 1, type: "number" } } })
    const output = (await testEngine.show()).relationships.outputs.data[0].id
    const consumer = await testEngine.workspace("consumer")
    if (row.consumer === "listed")
      await testEngine.request("POST", `/workspaces/${testEngine.id}/relationships/remote-state-consumers`, {
        body: { data: [{ type: "workspaces", id: consumer }] },
      })
    if (row.consumer === "global")
      await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, {
        body: { data: { type: "workspaces", attributes: { "global-remote-state": true } } },
      })
    const token = await testEngine.token({ on: { [consumer]: row.access } })
    const statusOf = async (path: string) => [path, (await testEngine.request("GET", path, { token })).status]
    const open = [
      `/workspaces/${testEngine.id}`,
      "/organizations/acme/workspaces/web",
      `/workspaces/${testEngine.id}/current-state-version`,
      `/workspaces/${testEngine.id}/current-state-version-outputs`,
      `/state-versions/${version}`,
      `/state-versions/${version}/download`,
      `/state-versions/${version}/outputs`,
      `/state-version-outputs/${output}`,
    ]
    const closed = [
      `/state-versions/${earlier}`,
      `/workspaces/${testEngine.id}/state-versions`,
      `/workspaces/${testEngine.id}/runs`,
      `/workspaces/${testEngine.id}/vars`,
      `/workspaces/${testEngine.id}/relationships/tags`,
      `/workspaces/${testEngine.id}/readme`,
    ]
    for (const path of open) expect(await statusOf(path)).toEqual([path, row.status])
    for (const path of closed) expect(await statusOf(path)).toEqual([path, 404])
    expect((await testEngine.unlock({ token })).status).toBe(404)
  })

  test("cannot read the state after the workspace is removed from the list", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({})
    const consumer = await testEngine.workspace("consumer")
    const token = await testEngine.token({ on: { [consumer]: "plan" } })
    const body = { data: [{ type: "workspaces", id: consumer }] }
    const list = `/workspaces/${testEngine.id}/relationships/remote-state-consumers`
    const read = async () =>
      (await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version`, { token })).status
    await testEngine.request("POST", list, { body })
    expect(await read()).toBe(200)
    await testEngine.request("DELETE", list, { body })
    expect(await read()).toBe(404)
  })

  test("can read the state through a project, but not across organizations", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    await testEngine.put({})
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, {
      body: { data: { type: "workspaces", attributes: { "global-remote-state": true } } },
    })
    const project = await testEngine.engine.projects.create("acme", { name: "other" })
    await testEngine.workspace("consumer", { projectId: project.id })
    const team = await testEngine.engine.teams.create("acme", { name: "inside" })
    await testEngine.engine.teamProjects.create({ teamId: team.id, projectId: project.id, access: "write" })
    await testEngine.organization("elsewhere")
    const strangers = await testEngine.engine.teams.create("elsewhere", { name: "outside" })
    const foreign = await testEngine.workspace("foreign", { organization: "elsewhere" })
    await testEngine.engine.teamWorkspaces.create({ teamId: strangers.id, workspaceId: foreign, access: "admin" })
    const statusFor = async (teamId: string) => {
      const token = (await testEngine.engine.tokens.createForTeam(teamId, {})).secret
      return (await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version`, { token })).status
    }
    expect([await statusFor(team.id), await statusFor(strangers.id)]).toEqual([200, 404])
  })
})

describe("the list of state versions", () => {
  test("is newest first, in pages, by status", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    for (const serial of [1, 2, 3]) await testEngine.announce({ serial }, { inline: serial !== 2 })
    expect(await testEngine.statuses()).toEqual(["3 finalized", "2 discarded", "1 finalized"])
    const path = `/workspaces/${testEngine.id}/state-versions`
    const finalized = await testEngine.request("GET", `${path}?filter[status]=finalized&page[size]=1`)
    expect(finalized.body.data).toHaveLength(1)
    expect(finalized.body.meta.pagination).toMatchObject({ "total-count": 2, "total-pages": 2 })
    expect(finalized.body.links.next).toContain("filter%5Bstatus%5D=finalized")
  })

  test("needs both filter names, known statuses and a valid page", async () => {
    await using testEngine = await stateEngine()
    expect(faultsOf(await testEngine.request("GET", "/state-versions"))).toEqual([
      ["filter[organization][name]", "filter[organization][name] is required"],
      ["filter[workspace][name]", "filter[workspace][name] is required"],
    ])
    const path = `/workspaces/${testEngine.id}/state-versions`
    expect((await testEngine.request("GET", `${path}?filter[status]=gone`)).status).toBe(400)
    expect((await testEngine.request("GET", `${path}?page[size]=0`)).status).toBe(400)
  })
})
