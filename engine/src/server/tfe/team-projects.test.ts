// Custom access to a project: the effect of each permission on the project and on its workspaces.
import { describe, expect, test } from "vitest"
import { document, one } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"

async function projectEngine() {
  const testEngine = await populatedEngine()
  const project = (await testEngine.engine.projects.create("acme", { name: "shop" })).id
  const workspace = await testEngine.workspace("web", { projectId: project })
  const team = (await testEngine.engine.teams.create("acme", { name: "custom" })).id
  const token = (await testEngine.engine.tokens.createForTeam(team, {})).secret
  const grant = (attributes: object) =>
    testEngine.request("POST", "/team-projects", {
      body: document("team-projects", attributes, { team: one("teams", team), project: one("projects", project) }),
    })
  const as = async (method: string, path: string, body?: unknown) =>
    (await testEngine.request(method, path, { token, ...(body === undefined ? {} : { body }) })).status
  return Object.assign(testEngine, { project, web: workspace, team, token, grant, as })
}
type ProjectEngine = Awaited<ReturnType<typeof projectEngine>>

const least = {
  "project-access": { settings: "read", teams: "none", "variable-sets": "none" },
  "workspace-access": {
    runs: "read",
    "sentinel-mocks": "none",
    "state-versions": "none",
    variables: "none",
    create: false,
    locking: false,
    move: false,
    delete: false,
    "run-tasks": false,
  },
}

describe("[F-W10] custom access to a project", () => {
  test("starts with the lowest parts, is changed part by part, and named levels show their parts", async () => {
    await using testEngine = await projectEngine()
    const { status, body } = await testEngine.grant({ access: "custom", "workspace-access": { runs: "plan" } })
    expect(status).toBe(201)
    expect(body.data.attributes).toEqual({
      access: "custom",
      ...least,
      "workspace-access": { ...least["workspace-access"], runs: "plan" },
    })
    const path = `/team-projects/${body.data.id}`
    const patch = async (attributes: object) =>
      (await testEngine.request("PATCH", path, { body: document("team-projects", attributes) })).body
    const changed = (await patch({ "project-access": { teams: "read" } })).data.attributes
    expect(changed).toMatchObject({
      access: "custom",
      "project-access": { settings: "read", teams: "read" },
      "workspace-access": { runs: "plan" },
    })
    expect((await testEngine.request("GET", path)).body.data.attributes).toEqual(changed)
    expect((await patch({ access: "maintain" })).data.attributes).toMatchObject({
      access: "maintain",
      "project-access": { settings: "read" },
      "workspace-access": { create: true, runs: "apply", move: false },
    })
    const { errors } = await patch({ "workspace-access": { runs: "read" } })
    expect(errors).toMatchObject([{ status: "422", source: { pointer: "/data/attributes/workspace-access/runs" } }])
    expect((await patch({ access: "custom" })).data.attributes).toEqual({ access: "custom", ...least })
  })

  test.each([
    { attributes: { "project-access": { settings: "all" } }, pointer: "/data/attributes/project-access/settings" },
    { attributes: { "workspace-access": { move: "yes" } }, pointer: "/data/attributes/workspace-access/move" },
  ])("is rejected with $attributes", async ({ attributes, pointer }) => {
    await using testEngine = await projectEngine()
    const { status, body } = await testEngine.grant({ access: "custom", ...attributes })
    expect([status, body.errors[0].source]).toEqual([422, { pointer }])
  })

  interface Guarded {
    readonly part: object
    /** Request that the permission allows, and that answers 404 without it. */
    readonly request: (testEngine: ProjectEngine) => Promise<number>
    readonly allowed: number
  }
  const variable = document("vars", { key: "k", value: "v", category: "env" })
  const cases: readonly Guarded[] = [
    {
      part: { "project-access": { settings: "update" } },
      request: ({ as, project }) => as("PATCH", `/projects/${project}`, document("projects", { description: "x" })),
      allowed: 200,
    },
    {
      part: { "project-access": { settings: "delete" } },
      // The project has workspaces. Only a caller who may delete it gets 409 instead of 404.
      request: ({ as, project }) => as("DELETE", `/projects/${project}`),
      allowed: 409,
    },
    {
      part: { "project-access": { teams: "read" } },
      request: ({ as, project }) => as("GET", `/team-projects?filter[project][id]=${project}`),
      allowed: 200,
    },
    {
      part: { "project-access": { teams: "manage" } },
      request: async ({ as, project, engine }) => {
        const { id } = await engine.teams.create("acme", { name: "other", visibility: "organization" })
        const relationships = { team: one("teams", id), project: one("projects", project) }
        return as("POST", "/team-projects", document("team-projects", { access: "custom" }, relationships))
      },
      allowed: 201,
    },
    {
      part: { "workspace-access": { create: true } },
      request: ({ as, project }) =>
        as(
          "POST",
          "/organizations/acme/workspaces",
          document("workspaces", { name: "new" }, { project: one("projects", project) }),
        ),
      allowed: 201,
    },
    {
      part: { "workspace-access": { locking: true } },
      request: ({ as, web }) => as("POST", `/workspaces/${web}/actions/lock`, {}),
      allowed: 200,
    },
    {
      part: { "workspace-access": { delete: true } },
      request: ({ as, web }) => as("POST", `/workspaces/${web}/actions/safe-delete`),
      allowed: 204,
    },
    {
      part: { "workspace-access": { variables: "read" } },
      request: ({ as, web }) => as("GET", `/workspaces/${web}/vars`),
      allowed: 200,
    },
    {
      part: { "workspace-access": { variables: "write" } },
      request: ({ as, web }) => as("POST", `/workspaces/${web}/vars`, variable),
      allowed: 201,
    },
    {
      part: { "workspace-access": { runs: "plan" } },
      request: ({ as, web }) =>
        as("POST", "/runs", document("runs", { "plan-only": true }, { workspace: one("workspaces", web) })),
      allowed: 201,
    },
    {
      part: { "workspace-access": { move: true } },
      request: async ({ as, web, team, engine }) => {
        const target = (await engine.projects.create("acme", { name: "target" })).id
        await engine.teamProjects.create({ teamId: team, projectId: target, access: "admin" })
        return as("POST", `/projects/${target}/relationships/workspaces`, {
          data: [{ type: "workspaces", id: web }],
        })
      },
      allowed: 204,
    },
  ]
  test.each(cases)("with $part permits the action", async ({ part, request, allowed }) => {
    await using without = await projectEngine()
    await without.grant({ access: "custom" })
    expect(await request(without)).toBe(404)
    await using testEngine = await projectEngine()
    await testEngine.grant({ access: "custom", ...part })
    expect(await request(testEngine)).toBe(allowed)
  })

  test("applies to every workspace of the project with its runs, but not to other projects", async () => {
    await using testEngine = await projectEngine()
    const other = await testEngine.workspace("other")
    await testEngine.grant({ access: "custom" })
    expect(await testEngine.as("GET", `/workspaces/${testEngine.web}`)).toBe(200)
    expect(await testEngine.as("GET", `/workspaces/${other}`)).toBe(404)
    const { permissions } = (
      await testEngine.request("GET", `/workspaces/${testEngine.web}`, { token: testEngine.token })
    ).body.data.attributes
    expect(
      Object.entries(permissions)
        .filter(([, held]) => held)
        .map(([name]) => name),
    ).toEqual(["can-read-run", "can-read-settings", "can-read-assessment-results"])
    const ofProject = (await testEngine.request("GET", `/projects/${testEngine.project}`, { token: testEngine.token }))
      .body.data
    expect(ofProject.attributes.permissions).toMatchObject({ "can-read": true, "can-update": false })
  })
})

describe("[F-W10] callers who manage the teams of a project grant at most their own access", () => {
  const giving = async (testEngine: PopulatedEngine & ProjectEngine, attributes: object) => {
    const { id } = await testEngine.engine.teams.create("acme", { name: "other", visibility: "organization" })
    const relationships = { team: one("teams", id), project: one("projects", testEngine.project) }
    return testEngine.as("POST", "/team-projects", document("team-projects", attributes, relationships))
  }
  test.each([
    { attributes: { access: "custom", "workspace-access": { runs: "plan" } }, status: 201 },
    { attributes: { access: "custom", "workspace-access": { runs: "apply" } }, status: 404 },
    { attributes: { access: "custom", "project-access": { settings: "update" } }, status: 404 },
    { attributes: { access: "admin" }, status: 404 },
  ])("and get $status for $attributes", async ({ attributes, status }) => {
    await using testEngine = await projectEngine()
    await testEngine.grant({
      access: "custom",
      "project-access": { teams: "manage" },
      "workspace-access": { runs: "plan" },
    })
    expect(await giving(testEngine, attributes)).toBe(status)
  })

  test("and cannot change or delete higher access than theirs", async () => {
    await using testEngine = await projectEngine()
    const granted = await testEngine.grant({ access: "custom", "project-access": { teams: "manage" } })
    const { id } = await testEngine.engine.teams.create("acme", { name: "admins", visibility: "organization" })
    const admins = await testEngine.engine.teamProjects.create({
      teamId: id,
      projectId: testEngine.project,
      access: "admin",
    })
    for (const [method, body] of [["PATCH", document("team-projects", { access: "read" })], ["DELETE"]] as const)
      expect(await testEngine.as(method, `/team-projects/${admins.id}`, body)).toBe(404)
    const rise = document("team-projects", { access: "admin" })
    expect(await testEngine.as("PATCH", `/team-projects/${granted.body.data.id}`, rise)).toBe(404)
  })
})
