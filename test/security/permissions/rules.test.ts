// Rules W-5 of docs/conformance.md, one at a time. The matrix shows fixed users; these tests grant and revoke rights.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type CallerName, type Users, document, openUsers, type Subject } from "./users.ts"
import { saveState } from "./state-requests.ts"

let testUsers: Users
let subject: Subject
beforeAll(async () => {
  testUsers = await openUsers()
})
afterAll(() => testUsers[Symbol.asyncDispose]())

const fresh = async () => (subject = await testUsers.newSubject())
const workspace = () => `/workspaces/${subject.workspaceId}`
const statusAs = async (caller: CallerName, method: string, path: string, body?: unknown) =>
  (await subject.as(caller, method, path, body)).status

/** Returns the token of a new team with this access to the subject's workspace. */
async function teamWith(access?: Readonly<Record<string, unknown>>) {
  const { root, organization, workspaceId } = subject
  const name = `${subject.unique}-${Object.values(access ?? { access: "none" }).join("-")}`
  const team = (await root("POST", `/organizations/${organization}/teams`, document("teams", { name }))).body.data.id
  const token: string = (await root("POST", `/teams/${team}/authentication-token`)).body.data.attributes.token
  const relationships = {
    team: { data: { type: "teams", id: team } },
    workspace: { data: { type: "workspaces", id: workspaceId } },
  }
  const grant =
    access && (await root("POST", "/team-workspaces", document("team-workspaces", access, relationships))).body.data.id
  return {
    grant: `/team-workspaces/${grant}`,
    request: (method: string, path: string, body?: unknown) =>
      testUsers.testEngine.request(method, path, { token, ...(body === undefined ? {} : { body }) }),
  }
}
const custom = (parts: Readonly<Record<string, unknown>>) => ({ access: "custom", runs: "read", ...parts })

describe("[W-5-n2] creating a workspace", () => {
  const create = (caller: CallerName) => {
    const input = document("workspaces", { name: `${subject.unique}-by-${caller.replaceAll(" ", "-")}` })
    return statusAs(caller, "POST", `/organizations/${subject.organization}/workspaces`, input)
  }

  test.each([
    { caller: "owner", why: "on the owners team" },
    { caller: "manager", why: "on a team that manages all workspaces" },
    { caller: "organization token", why: "with the organization's own token" },
  ] as const)("is allowed to callers $why", async ({ caller }) => {
    await fresh()
    expect(await create(caller)).toBe(201)
  })

  test.each(["stranger", "reader", "locker", "workspace admin"] as const)("is rejected for a %s", async (caller) => {
    await fresh()
    expect(await create(caller)).toBe(404)
    const { body } = await subject.root("GET", `/workspaces/${subject.workspaceId}`)
    expect(body.data.attributes.name).toBe(subject.workspaceName)
  })
})

describe("[W-5-n3] viewing a workspace", () => {
  test("needs a team that may read its runs, from the first request to the last", async () => {
    await fresh()
    const without = await teamWith()
    const team = await teamWith({ access: "read" })
    const names = async ({ request }: Awaited<ReturnType<typeof teamWith>>) => {
      const path = `/organizations/${subject.organization}/workspaces?page%5Bsize%5D=100`
      const listed = (await request("GET", path)).body.data
      return listed.map((item: { attributes: { name: string } }) => item.attributes.name)
    }
    expect((await without.request("GET", workspace())).status).toBe(404)
    expect(await names(without)).toEqual([])
    expect((await team.request("GET", workspace())).status).toBe(200)
    expect(await names(team)).toEqual([subject.workspaceName])
    await subject.root("DELETE", team.grant)
    expect((await team.request("GET", workspace())).status).toBe(404)
    expect(await names(team)).toEqual([])
  })
})

describe("[W-5-n4] changing settings and force-unlocking", () => {
  test.each([
    { access: { access: "read" }, allowed: false },
    { access: { access: "plan" }, allowed: false },
    { access: { access: "write" }, allowed: false },
    { access: custom({ "workspace-locking": true, "run-tasks": true }), allowed: false },
    { access: { access: "admin" }, allowed: true },
  ])("[W-4.7-p1] with $access.access is allowed: $allowed", async ({ access, allowed }) => {
    await fresh()
    const { request } = await teamWith(access)
    await subject.root("POST", `${workspace()}/actions/lock`)
    const described = document("workspaces", { description: "theirs" })
    const expected = allowed ? 200 : 404
    expect((await request("PATCH", workspace(), described)).status).toBe(expected)
    expect((await request("POST", `${workspace()}/actions/force-unlock`)).status).toBe(expected)
    const { attributes } = (await subject.root("GET", workspace())).body.data
    expect(attributes).toMatchObject({ locked: !allowed, description: allowed ? "theirs" : null })
  })
})

describe("[W-5-n5] locking and unlocking", () => {
  test.each([
    { access: { access: "read" }, allowed: false },
    { access: { access: "plan" }, allowed: false },
    { access: custom({ "state-versions": "write", variables: "write" }), allowed: false },
    { access: custom({ "workspace-locking": true }), allowed: true },
    { access: { access: "write" }, allowed: true },
    { access: { access: "admin" }, allowed: true },
  ])("with $access is allowed: $allowed", async ({ access, allowed }) => {
    await fresh()
    const { request } = await teamWith(access)
    const locked = async () => (await subject.root("GET", workspace())).body.data.attributes.locked
    const expected = allowed ? 200 : 404
    expect((await request("POST", `${workspace()}/actions/lock`)).status).toBe(expected)
    expect(await locked()).toBe(allowed)
    expect((await request("POST", `${workspace()}/actions/unlock`)).status).toBe(expected)
    expect(await locked()).toBe(false)
  })
})

describe("[W-5-n6] force delete", () => {
  const forms = [
    { item: "W-4.6-r3", form: "by id", path: workspace },
    {
      item: "W-4.6-r4",
      form: "by name",
      path: () => `/organizations/${subject.organization}/workspaces/${subject.workspaceName}`,
    },
  ]
  const allow = (allowed: boolean) => {
    const input = document("organizations", { "allow-force-delete-workspaces": allowed })
    return subject.root("PATCH", `/organizations/${subject.organization}`, input)
  }
  const cases = [
    { caller: "owner", usually: 204, switched: 204 },
    { caller: "workspace admin", usually: 403, switched: 204 },
    { caller: "manager", usually: 403, switched: 204 },
    { caller: "organization token", usually: 403, switched: 204 },
    { caller: "locker", usually: 403, switched: 403 },
    { caller: "reader", usually: 403, switched: 403 },
    { caller: "stranger", usually: 404, switched: 404 },
    { caller: "no token", usually: 401, switched: 401 },
  ] as const

  describe.each(forms)("$item $form", ({ path }) => {
    test.each(cases)(
      "answers the $caller $usually, and $switched where workspace admins may force-delete",
      async (row) => {
        for (const allowed of [false, true]) {
          await fresh()
          await allow(allowed)
          const expected = allowed ? row.switched : row.usually
          const address = path()
          expect(await statusAs(row.caller, "DELETE", address)).toBe(expected)
          await allow(false)
          const left = await statusAs("site administrator", "GET", address)
          expect(left).toBe(expected === 204 ? 404 : 200)
        }
      },
    )
  })

  test("[W-7-r1] answers 403 with an error document to callers who may see the workspace", async () => {
    await fresh()
    const { status, body } = await subject.as("reader", "DELETE", workspace())
    expect(status).toBe(403)
    expect(body.errors).toEqual([
      { status: "403", title: "forbidden", detail: "You are not authorized to force delete this workspace." },
    ])
  })
})

describe("safe delete", () => {
  const resources = [
    {
      mode: "managed",
      type: "null_resource",
      name: "kept",
      provider: 'provider["registry.example.com/a/null"]',
      instances: [{ schema_version: 0, attributes: { id: "1" } }],
    },
  ]
  const forms = [
    { item: "W-4.6-r1", form: "by id", path: workspace },
    {
      item: "W-4.6-r2",
      form: "by name",
      path: () => `/organizations/${subject.organization}/workspaces/${subject.workspaceName}`,
    },
  ]

  test.each(forms)("[$item] $form answers 204, 404 or 409", async ({ path }) => {
    await fresh()
    const address = path()
    const safely = `${address}/actions/safe-delete`
    await saveState(subject, resources)
    expect(await statusAs("reader", "POST", safely)).toBe(404)
    expect(await statusAs("workspace admin", "POST", safely)).toBe(409)
    expect(await statusAs("workspace admin", "GET", address)).toBe(200)
    await saveState(subject, [])
    expect(await statusAs("workspace admin", "POST", safely)).toBe(204)
    expect(await statusAs("workspace admin", "POST", safely)).toBe(404)
    expect(await statusAs("owner", "GET", address)).toBe(404)
  })

  test("[W-4.6-p1] checks the managed resources of the workspace, which force delete by an owner does not", async () => {
    await fresh()
    await saveState(subject, resources)
    expect(await statusAs("owner", "POST", `${workspace()}/actions/safe-delete`)).toBe(409)
    expect(await statusAs("workspace admin", "DELETE", workspace())).toBe(403)
    expect(await statusAs("owner", "DELETE", workspace())).toBe(204)
    expect(await statusAs("owner", "GET", workspace())).toBe(404)
  })
})

describe("[W-5-n7] a missing permission", () => {
  test("[W-7-r2] looks like a missing workspace, organization or tag", async () => {
    await fresh()
    const tag = document("tags", { name: `${subject.unique}-tag` })
    const { id } = (await subject.root("POST", `/organizations/${subject.organization}/tags`, tag)).body.data
    const consumers = { data: [{ type: "workspaces", id: subject.workspaceId }] }
    const pairs = [
      ["reader", "PATCH", workspace(), "/workspaces/ws-0000000000000000", document("workspaces", {})],
      ["stranger", "GET", workspace(), "/workspaces/ws-0000000000000000", undefined],
      ["stranger", "GET", `/organizations/${subject.organization}`, "/organizations/nobody", undefined],
      [
        "reader",
        "POST",
        `/tags/${id}/relationships/workspaces`,
        "/tags/tag-0000000000000000/relationships/workspaces",
        consumers,
      ],
    ] as const
    for (const [caller, method, hidden, missing, body] of pairs) {
      const refused = await subject.as(caller, method, hidden, body)
      const absent = await subject.as(caller, method, missing, body)
      expect(refused.status).toBe(404)
      expect(refused.body).toEqual(absent.body)
    }
  })
})

describe("moving a workspace", () => {
  const move = async (access: string | undefined) => {
    const { root, organization, unique } = await fresh()
    const { request } = await teamWith({ access: "admin" })
    const input = document("projects", { name: `${unique}-project` })
    const project = (await root("POST", `/organizations/${organization}/projects`, input)).body.data.id
    const team = (await request("GET", "/account/details")).body.data.id
    for (const id of access === undefined ? [project] : [project, subject.projectId]) {
      const relationships = { team: { data: { type: "teams", id: team } }, project: { data: { type: "projects", id } } }
      await root(
        "POST",
        "/team-projects",
        document("team-projects", { access: id === project ? "admin" : access }, relationships),
      )
    }
    const target = { project: { data: { type: "projects", id: project } } }
    return (await request("PATCH", workspace(), document("workspaces", {}, target))).status
  }

  test("needs admin on the source and the target project", async () => {
    expect(await move("admin")).toBe(200)
    expect(await move("maintain")).not.toBe(200)
    expect(await move(undefined)).not.toBe(200)
  })

  test("is not permitted to managers of all workspaces, who administer no project", async () => {
    const { root, organization, unique } = await fresh()
    const input = document("projects", { name: `${unique}-project` })
    const project = (await root("POST", `/organizations/${organization}/projects`, input)).body.data.id
    const target = { data: [{ type: "workspaces", id: subject.workspaceId }] }
    expect(await statusAs("manager", "POST", `/projects/${project}/relationships/workspaces`, target)).toBe(404)
    expect(await statusAs("owner", "POST", `/projects/${project}/relationships/workspaces`, target)).toBe(204)
  })
})

describe("[F-W10] custom access to a project", () => {
  test.each([
    { part: { "workspace-access": { move: true } }, moves: 204, locks: 404, creates: 404 },
    { part: { "workspace-access": { locking: true } }, moves: 404, locks: 200, creates: 404 },
    { part: { "workspace-access": { create: true } }, moves: 404, locks: 404, creates: 201 },
    { part: {}, moves: 404, locks: 404, creates: 404 },
  ])("$part", async ({ part, moves, locks, creates }) => {
    const { root, organization, unique, workspaceId, projectId } = await fresh()
    const { request } = await teamWith()
    const team = (await request("GET", "/account/details")).body.data.id
    const target = (
      await root("POST", `/organizations/${organization}/projects`, document("projects", { name: unique }))
    ).body.data.id
    for (const [id, attributes] of [
      [projectId, { access: "custom", ...part }],
      [target, { access: "admin" }],
    ] as const) {
      const relationships = { team: { data: { type: "teams", id: team } }, project: { data: { type: "projects", id } } }
      await root("POST", "/team-projects", document("team-projects", attributes, relationships))
    }
    const made = document(
      "workspaces",
      { name: `${unique}-made` },
      { project: { data: { type: "projects", id: projectId } } },
    )
    expect((await request("POST", `/organizations/${organization}/workspaces`, made)).status).toBe(creates)
    expect((await request("POST", `${workspace()}/actions/lock`, {})).status).toBe(locks)
    const moved = { data: [{ type: "workspaces", id: workspaceId }] }
    expect((await request("POST", `/projects/${target}/relationships/workspaces`, moved)).status).toBe(moves)
  })
})

describe("[F-W8] organization access of a team", () => {
  const access = (names: readonly string[]) => ({
    "organization-access": Object.fromEntries(names.map((name) => [name, true])),
  })

  test.each([
    { permissions: ["manage-teams"], sees: 404 },
    { permissions: ["access-secret-teams"], sees: 200 },
    { permissions: ["manage-policies", "manage-modules", "manage-providers", "manage-run-tasks"], sees: 404 },
  ])("$permissions: a secret team answers $sees", async ({ permissions, sees }) => {
    const { root, organization, unique } = await fresh()
    const teams = `/organizations/${organization}/teams`
    const secret = (await root("POST", teams, document("teams", { name: `${unique}-secret` }))).body.data.id
    const { request } = await teamWith()
    const own = (await request("GET", "/account/details")).body.data.id
    await root("PATCH", `/teams/${own}`, document("teams", access(permissions)))
    expect((await request("GET", `/teams/${secret}`)).status).toBe(sees)
  })

  test("is granted by managers of access up to their own access, the stored permissions too", async () => {
    const { root, organization, unique } = await fresh()
    const { request } = await teamWith()
    const own = (await request("GET", "/account/details")).body.data.id
    await root("PATCH", `/teams/${own}`, document("teams", access(["manage-organization-access", "manage-modules"])))
    const other = document("teams", { name: `${unique}-other`, visibility: "organization" })
    const { id } = (await root("POST", `/organizations/${organization}/teams`, other)).body.data
    const give = async (name: string) =>
      (await request("PATCH", `/teams/${id}`, document("teams", access([name])))).status
    expect(await give("manage-modules")).toBe(200)
    expect(await give("manage-policies")).toBe(404)
  })
})

describe("[F-W6] the token of a team", () => {
  test("is created by its members where the team permits it, and never by the token itself", async () => {
    const { root, organization, unique, users } = await fresh()
    const body = document("teams", { name: `${unique}-team` })
    const team = (await root("POST", `/organizations/${organization}/teams`, body)).body.data.id
    const path = `/teams/${team}/authentication-token`
    await root("POST", `/teams/${team}/relationships/users`, {
      data: [{ type: "users", id: users.reader.username }],
    })
    expect(await statusAs("locker", "POST", path)).toBe(404)
    const made = await subject.as("reader", "POST", path)
    expect(made.status).toBe(201)
    const { token } = made.body.data.attributes
    expect((await testUsers.testEngine.request("POST", path, { token })).status).toBe(404)
    await root("PATCH", `/teams/${team}`, document("teams", { "allow-member-token-management": false }))
    expect(await statusAs("reader", "POST", path)).toBe(404)
    expect(await statusAs("owner", "POST", path)).toBe(201)
  })
})
