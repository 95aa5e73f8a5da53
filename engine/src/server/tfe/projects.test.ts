import { describe, expect, test } from "vitest"
import { document, made, many, newMember, newOrganization, newTeam, newUser, one } from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const projects = "/organizations/acme/projects"
const names = (data: readonly { attributes: { name: string } }[]) => data.map(({ attributes }) => attributes.name)
const newProject = async (testEngine: TestEngine, name: string) =>
  (await made(testEngine, "POST", projects, document("projects", { name }))).id as string
const newWorkspace = async (testEngine: TestEngine, name: string, project?: string) =>
  (
    await made(
      testEngine,
      "POST",
      "/organizations/acme/workspaces",
      document("workspaces", { name }, project === undefined ? {} : { project: one("projects", project) }),
    )
  ).id as string

describe("projects", () => {
  test("are created, shown, changed, listed and deleted", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const created = await testEngine.request("POST", projects, {
      body: document(
        "projects",
        { name: "Web shop", description: "front", "auto-destroy-activity-duration": "14d" },
        { "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "env", value: "prod" } }] } },
      ),
    })
    expect(created.status).toBe(201)
    const { id } = created.body.data
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^prj-[a-zA-Z0-9]{16}$/),
      type: "projects",
      attributes: {
        name: "Web shop",
        description: "front",
        "workspace-count": 0,
        "team-count": 0,
        "auto-destroy-activity-duration": "14d",
        "default-execution-mode": "remote",
        "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
        permissions: { "can-update": true, "can-destroy": true, "can-create-workspace": true },
      },
      relationships: { organization: one("organizations", "acme"), "default-agent-pool": { data: null } },
    })
    const bindings = async () =>
      (await made(testEngine, "GET", `/projects/${id}/tag-bindings`)).map(
        (binding: { attributes: object }) => binding.attributes,
      )
    expect(await bindings()).toMatchObject([{ key: "env", value: "prod" }])
    const patch = document(
      "projects",
      { name: "shop", "auto-destroy-activity-duration": null },
      { "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "region", value: "eu" } }] } },
    )
    expect((await made(testEngine, "PATCH", `/projects/${id}`, patch)).attributes).toMatchObject({
      name: "shop",
      description: "front",
      "auto-destroy-activity-duration": null,
    })
    expect(await bindings()).toMatchObject([{ key: "region", value: "eu" }])
    await made(testEngine, "PATCH", `/projects/${id}`, document("projects", { description: "back" }))
    expect(await bindings()).toHaveLength(1)

    await newProject(testEngine, "api")
    expect(names(await made(testEngine, "GET", projects))).toEqual(["api", "Default Project", "shop"])
    expect(names(await made(testEngine, "GET", `${projects}?filter%5Bnames%5D=SHOP,Default%20Project`))).toEqual([
      "Default Project",
      "shop",
    ])
    expect(names(await made(testEngine, "GET", `${projects}?q=OJE`))).toEqual(["Default Project"])
    const page = await testEngine.request("GET", `${projects}?page%5Bsize%5D=2&page%5Bnumber%5D=2`)
    expect(names(page.body.data)).toEqual(["shop"])
    expect(page.body.meta.pagination).toMatchObject({ "current-page": 2, "total-pages": 2, "total-count": 3 })
    expect(await testEngine.request("DELETE", `/projects/${id}`)).toMatchObject({ status: 204 })
    expect(await testEngine.request("GET", `/projects/${id}`)).toMatchObject({ status: 404 })
  })

  test("cannot be deleted when they are the default or have workspaces", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const [standard] = await made(testEngine, "GET", projects)
    expect(await testEngine.request("DELETE", `/projects/${standard.id}`)).toMatchObject({ status: 409 })
    const project = await newProject(testEngine, "web")
    const workspace = await newWorkspace(testEngine, "shop", project)
    expect((await made(testEngine, "GET", `/projects/${project}`)).attributes["workspace-count"]).toBe(1)
    expect(await testEngine.request("DELETE", `/projects/${project}`)).toMatchObject({
      status: 409,
      body: { errors: [{ status: "409", title: "conflict" }] },
    })
    await made(testEngine, "DELETE", `/workspaces/${workspace}`)
    expect(await testEngine.request("DELETE", `/projects/${project}`)).toMatchObject({ status: 204 })
  })

  test("override the organization's default execution mode until they inherit it again", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const project = await newProject(testEngine, "web")
    const path = `/projects/${project}`
    const mode = async () => {
      const { attributes } = await made(testEngine, "GET", path)
      return [attributes["default-execution-mode"], attributes["setting-overwrites"]["default-execution-mode"]]
    }
    await made(
      testEngine,
      "PATCH",
      "/organizations/acme",
      document("organizations", { "default-execution-mode": "local" }),
    )
    expect(await mode()).toEqual(["local", false])
    await made(testEngine, "PATCH", path, document("projects", { "default-execution-mode": "remote" }))
    expect(await mode()).toEqual(["remote", true])
    const inherit = { "setting-overwrites": { "default-execution-mode": false } }
    await made(testEngine, "PATCH", path, document("projects", inherit))
    expect(await mode()).toEqual(["local", false])
  })

  test("[F-W9] are rejected with HCP Terraform's text for a pool without agent mode if there are no other faults", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const attributes = { name: "web", "default-execution-mode": "remote", "default-agent-pool-id": "apool-1" }
    const { status, body } = await testEngine.request("POST", "/organizations/acme/projects", {
      body: document("projects", attributes),
    })
    expect([status, body.errors]).toEqual([
      422,
      [
        {
          status: "422",
          title: "unprocessable entity",
          detail: "Agent pool must not be specified unless using 'agent' execution mode",
          source: { pointer: "/data/relationships/default-agent-pool/data/id" },
        },
      ],
    ])
  })

  test.each([
    {
      why: "invalid texts",
      attributes: { name: " web", description: "x".repeat(257), "auto-destroy-activity-duration": "0d" },
      faults: [
        [
          "/data/attributes/name",
          "Name may only contain letters, numbers, spaces, -, and _, and can neither begin nor end with a space.",
        ],
        ["/data/attributes/description", "Description is too long (maximum is 256 characters)"],
        [
          "/data/attributes/auto-destroy-activity-duration",
          "Auto destroy activity duration must be a number from 1 to 9999 followed by d or h",
        ],
      ],
    },
    {
      why: "an agent pool without agent mode, and invalid bindings",
      attributes: { name: "web" },
      relationships: {
        "default-agent-pool": one("agent-pools", "apool-1"),
        "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "", value: "a b" } }] },
      },
      faults: [
        ["/data/relationships/tag-bindings/data/0/attributes/key", "Key can't be blank"],
        [
          "/data/relationships/tag-bindings/data/0/attributes/value",
          "Value can only include letters, numbers, and _ . = + - @ :",
        ],
        [
          "/data/relationships/default-agent-pool/data/id",
          "Agent pool must not be specified unless using 'agent' execution mode",
        ],
      ],
    },
    {
      why: "a pool that does not exist",
      attributes: { name: "web", "default-execution-mode": "agent" },
      relationships: { "default-agent-pool": one("agent-pools", "apool-1") },
      faults: [
        ["/data/relationships/default-agent-pool/data/id", "Default agent pool does not exist in this organization"],
      ],
    },
    {
      why: "agent mode without a pool",
      attributes: { name: "web", "default-execution-mode": "agent" },
      faults: [
        [
          "/data/relationships/default-agent-pool/data",
          "Default agent pool must be specified when using 'agent' execution mode",
        ],
      ],
    },
    {
      why: "a name that is taken, in another case",
      attributes: { name: "default project" },
      faults: [["/data/attributes/name", "Name has already been taken"]],
    },
  ])("answer 422 with all faults: $why", async ({ attributes, relationships, faults }) => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const answer = await testEngine.request("POST", projects, { body: document("projects", attributes, relationships) })
    expect(answer.status).toBe(422)
    expect(
      answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
        error.source.pointer,
        error.detail,
      ]),
    ).toEqual(faults)
    expect(names(await made(testEngine, "GET", projects))).toEqual(["Default Project"])
  })
})

describe("team access to projects", () => {
  test("applies to the workspaces of the project, changes at once, and ends with its deletion", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const ada = await newMember(testEngine, "acme", "ada")
    const team = await newTeam(testEngine, "acme", "devs", { members: [ada] })
    const project = await newProject(testEngine, "web")
    const workspace = await newWorkspace(testEngine, "shop", project)
    const { token } = ada
    const can = async () => {
      const shown = await testEngine.request("GET", `/workspaces/${workspace}`, { token })
      const seen = await testEngine.request("GET", `/projects/${project}`, { token })
      const listed = names((await testEngine.request("GET", projects, { token })).body.data)
      const permissions = shown.body?.data?.attributes.permissions
      return {
        project: seen.status,
        listed,
        ...(permissions && { update: permissions["can-update"], lock: permissions["can-lock"] }),
      }
    }
    expect(await can()).toEqual({ project: 404, listed: [] })
    const grant = document(
      "team-projects",
      { access: "read" },
      { team: one("teams", team), project: one("projects", project) },
    )
    const created = await testEngine.request("POST", "/team-projects", { body: grant })
    expect(created.status).toBe(201)
    const path = `/team-projects/${created.body.data.id}`
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^tprj-/),
      attributes: { access: "read" },
      relationships: { team: one("teams", team), project: one("projects", project) },
    })
    expect(await can()).toEqual({ project: 200, listed: ["web"], update: false, lock: false })
    await made(testEngine, "PATCH", path, document("team-projects", { access: "write" }))
    expect(await can()).toEqual({ project: 200, listed: ["web"], update: false, lock: true })
    await made(testEngine, "PATCH", path, document("team-projects", { access: "admin" }))
    expect(await can()).toEqual({ project: 200, listed: ["web"], update: true, lock: true })
    expect(
      (await made(testEngine, "GET", `/team-projects?filter%5Bproject%5D%5Bid%5D=${project}`)).map(
        ({ id }: { id: string }) => id,
      ),
    ).toEqual([created.body.data.id])
    expect(await testEngine.request("POST", "/team-projects", { body: grant })).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            detail: "Team has already been given access to the project",
            source: { pointer: "/data/relationships/team/data/id" },
          },
        ],
      },
    })
    expect(await testEngine.request("GET", "/team-projects")).toMatchObject({
      status: 400,
      body: { errors: [{ source: { parameter: "filter[project][id]" } }] },
    })
    await made(testEngine, "DELETE", path)
    expect(await can()).toEqual({ project: 404, listed: [] })
    expect(await testEngine.request("GET", path)).toMatchObject({ status: 404 })
  })

  test("is rejected for an unknown level with the list of levels, and for a team of another organization", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "other")
    const project = await newProject(testEngine, "web")
    const foreign = await newTeam(testEngine, "other", "devs")
    const grant = (access: string) =>
      document("team-projects", { access }, { team: one("teams", foreign), project: one("projects", project) })
    expect(await testEngine.request("POST", "/team-projects", { body: grant("everything") })).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            detail: 'access must be one of "read", "write", "maintain", "admin", "custom"',
            source: { pointer: "/data/attributes/access" },
          },
        ],
      },
    })
    expect(await testEngine.request("POST", "/team-projects", { body: grant("read") })).toMatchObject({
      status: 422,
      body: { errors: [{ detail: "Team does not exist in this organization" }] },
    })
  })
})

describe("moving workspaces into a project", () => {
  test("needs the right to move in both projects, and moves all or none", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "other")
    const mover = await newMember(testEngine, "acme", "mover")
    const team = await newTeam(testEngine, "acme", "movers", { members: [mover] })
    const [from, to] = [await newProject(testEngine, "from"), await newProject(testEngine, "to")]
    const [one1, one2] = [await newWorkspace(testEngine, "one", from), await newWorkspace(testEngine, "two")]
    const foreign = (
      await made(testEngine, "POST", "/organizations/other/workspaces", document("workspaces", { name: "x" }))
    ).id
    const path = `/projects/${to}/relationships/workspaces`
    const projectOf = async (id: string) =>
      (await made(testEngine, "GET", `/workspaces/${id}`)).relationships.project.data.id
    const move = async (ids: string[], token?: string) =>
      (await testEngine.request("POST", path, { body: many("workspaces", ids), ...(token !== undefined && { token }) }))
        .status

    for (const project of [from, to])
      await made(
        testEngine,
        "POST",
        "/team-projects",
        document(
          "team-projects",
          { access: project === to ? "admin" : "write" },
          { team: one("teams", team), project: one("projects", project) },
        ),
      )
    expect(await move([one1], mover.token)).toBe(404)
    expect(await move([one1, foreign])).toBe(404)
    expect(await projectOf(one1)).toBe(from)
    expect(await move([one1, one2, one1])).toBe(204)
    expect([await projectOf(one1), await projectOf(one2)]).toEqual([to, to])
    expect(
      await testEngine.request("POST", path, { body: { data: [{ type: "tags", id: one1 }, { type: "workspaces" }] } }),
    ).toMatchObject({
      status: 422,
      body: { errors: [{ source: { pointer: "/data/0/type" } }, { source: { pointer: "/data/1/id" } }] },
    })
  })
})

test("projects are hidden from strangers", async () => {
  await using testEngine = await openTestEngine()
  await newOrganization(testEngine, "acme")
  const { token } = await newUser(testEngine, "stranger")
  const project = await newProject(testEngine, "web")
  const answers = [
    await testEngine.request("GET", projects, { token }),
    await testEngine.request("POST", projects, { token, body: document("projects", { name: "x" }) }),
    await testEngine.request("GET", `/projects/${project}`, { token }),
    await testEngine.request("PATCH", `/projects/${project}`, { token, body: document("projects", {}) }),
    await testEngine.request("DELETE", `/projects/${project}`, { token }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
})
