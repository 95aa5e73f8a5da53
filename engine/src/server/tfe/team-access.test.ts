import { describe, expect, test } from "vitest"
import {
  document,
  made,
  newMember,
  newOrganization,
  newTeam,
  newUser,
  one,
  type Person,
} from "../../../testing/users.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const workspaces = "/organizations/acme/workspaces"

interface Setting {
  readonly workspace: string
  readonly person: Person
  readonly team: string
}

/** Creates an organization with one workspace, and a member whose team has no access yet. */
async function setting(testEngine: TestEngine): Promise<Setting> {
  await newOrganization(testEngine, "acme")
  const person = await newMember(testEngine, "acme", "person")
  const team = await newTeam(testEngine, "acme", "team", { members: [person] })
  const workspace = (await made(testEngine, "POST", workspaces, document("workspaces", { name: "shop" }))).id
  return { workspace, person, team }
}

const grant = ({ workspace, team }: Setting, attributes: object) =>
  document("team-workspaces", attributes, { team: one("teams", team), workspace: one("workspaces", workspace) })

const custom = (parts: object) => ({ access: "custom", ...parts })

describe("team access to workspaces", () => {
  test("is created, shown, changed and deleted", async () => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    const created = await testEngine.request("POST", "/team-workspaces", { body: grant(at, { access: "write" }) })
    expect(created.status).toBe(201)
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^tws-[a-zA-Z0-9]{16}$/),
      type: "team-workspaces",
      attributes: {
        access: "write",
        runs: "apply",
        variables: "write",
        "state-versions": "write",
        "sentinel-mocks": "read",
        "workspace-locking": true,
        "run-tasks": false,
      },
      relationships: { team: one("teams", at.team), workspace: one("workspaces", at.workspace) },
    })
    const path = `/team-workspaces/${created.body.data.id}`
    const parts = custom({ runs: "plan", "state-versions": "read-outputs" })
    expect((await made(testEngine, "PATCH", path, document("team-workspaces", parts))).attributes).toEqual({
      access: "custom",
      runs: "plan",
      variables: "none",
      "state-versions": "read-outputs",
      "sentinel-mocks": "none",
      "workspace-locking": false,
      "run-tasks": false,
    })
    const locking = document("team-workspaces", { "workspace-locking": true })
    expect((await made(testEngine, "PATCH", path, locking)).attributes).toMatchObject({
      runs: "plan",
      "workspace-locking": true,
    })
    const list = await made(testEngine, "GET", `/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${at.workspace}`)
    expect(list).toEqual([await made(testEngine, "GET", path)])
    expect(await testEngine.request("DELETE", path)).toMatchObject({ status: 204 })
    expect(await testEngine.request("GET", path)).toMatchObject({ status: 404 })
  })

  test("is rejected with a fault for each contradiction", async () => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    await newOrganization(testEngine, "other")
    const foreign = await newTeam(testEngine, "other", "team")
    await made(testEngine, "POST", "/team-workspaces", grant(at, { access: "read" }))
    const faults = async (body: unknown) => {
      const answer = await testEngine.request("POST", "/team-workspaces", { body })
      expect(answer.status).toBe(422)
      return answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
        error.source.pointer,
        error.detail,
      ])
    }
    expect(await faults(document("team-workspaces", { access: "all", "run-tasks": 1 }))).toEqual(
      expect.arrayContaining([
        ["/data/attributes/access", 'access must be one of "read", "plan", "write", "admin", "custom"'],
        ["/data/attributes/run-tasks", "run-tasks must be a boolean"],
        ["/data/relationships/team", "team can't be blank"],
        ["/data/relationships/workspace", "workspace can't be blank"],
      ]),
    )
    expect(await faults(grant(at, { access: "read" }))).toEqual([
      ["/data/relationships/team/data/id", "Team has already been given access to the workspace"],
    ])
    expect(
      await faults(
        grant({ ...at, team: await newTeam(testEngine, "acme", "late") }, { access: "read", runs: "apply" }),
      ),
    ).toEqual([
      [
        "/data/attributes/runs",
        "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
      ],
    ])
    expect(await faults(grant({ ...at, team: foreign }, { access: "read" }))).toEqual([
      ["/data/relationships/team/data/id", "Team does not exist in this organization"],
    ])
    expect(await testEngine.request("GET", "/team-workspaces")).toMatchObject({
      status: 400,
      body: { errors: [{ status: "400", source: { parameter: "filter[workspace][id]" } }] },
    })
  })

  test("is created by administrators, seen by readers, and hidden from strangers", async () => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    const { id } = await made(testEngine, "POST", "/team-workspaces", grant(at, { access: "read" }))
    const stranger = await newUser(testEngine, "stranger")
    const second = await newTeam(testEngine, "acme", "second", { visibility: "organization" })
    const statuses = async ({ token }: Person) => {
      const asked = [
        await testEngine.request("GET", `/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${at.workspace}`, { token }),
        await testEngine.request("GET", `/team-workspaces/${id}`, { token }),
        await testEngine.request("POST", "/team-workspaces", {
          token,
          body: grant({ ...at, team: second }, { access: "admin" }),
        }),
        await testEngine.request("PATCH", `/team-workspaces/${id}`, {
          token,
          body: document("team-workspaces", { access: "admin" }),
        }),
        await testEngine.request("DELETE", `/team-workspaces/${id}`, { token }),
      ]
      return asked.map(({ status }) => status)
    }
    expect(await statuses(at.person)).toEqual([200, 200, 404, 404, 404])
    expect(await statuses(stranger)).toEqual([404, 404, 404, 404, 404])
    await made(testEngine, "PATCH", `/team-workspaces/${id}`, document("team-workspaces", { access: "admin" }))
    expect(await statuses(at.person)).toEqual([200, 200, 201, 200, 204])
    expect(await statuses(at.person)).toEqual([404, 404, 404, 404, 404])
  })
})

describe("workspace permissions", () => {
  test("[W-5-n2] let owners, members of a team that manages all workspaces and organization tokens create a workspace, but no others", async () => {
    await using testEngine = await openTestEngine()
    const owner = await newUser(testEngine, "owner")
    await newOrganization(testEngine, "acme", owner)
    const manager = await newMember(testEngine, "acme", "manager")
    await newTeam(testEngine, "acme", "managers", { access: { "manage-workspaces": true }, members: [manager] })
    const reader = await newMember(testEngine, "acme", "reader")
    const other = { "read-workspaces": true, "manage-teams": true, "manage-membership": true }
    await newTeam(testEngine, "acme", "readers", { access: other, members: [reader] })
    const stranger = await newUser(testEngine, "stranger")
    const organization = await made(
      testEngine,
      "POST",
      "/organizations/acme/authentication-token",
      undefined,
      owner.token,
    )
    const create = async (name: string, token: string) =>
      (await testEngine.request("POST", workspaces, { token, body: document("workspaces", { name }) })).status
    expect({
      owner: await create("a", owner.token),
      manager: await create("b", manager.token),
      organization: await create("c", organization.attributes.token),
      reader: await create("d", reader.token),
      stranger: await create("e", stranger.token),
    }).toEqual({ owner: 201, manager: 201, organization: 201, reader: 404, stranger: 404 })
  })

  test.each([
    { access: undefined, view: 404 },
    { access: { access: "read" }, view: 200 },
    { access: { access: "plan" }, view: 200 },
    { access: custom({ runs: "read" }), view: 200 },
  ])("[W-5-n3] answer $view to a read with the access $access", async ({ access, view }) => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    if (access !== undefined) await made(testEngine, "POST", "/team-workspaces", grant(at, access))
    const { token } = at.person
    const shown = await testEngine.request("GET", `/workspaces/${at.workspace}`, { token })
    const named = await testEngine.request("GET", `${workspaces}/shop`, { token })
    const listed = await testEngine.request("GET", workspaces, { token })
    expect([shown.status, named.status]).toEqual([view, view])
    expect(listed.body.data).toHaveLength(view === 200 ? 1 : 0)
  })

  test.each([
    { access: { access: "read" }, settings: 404, unlocking: 404 },
    { access: { access: "write" }, settings: 404, unlocking: 404 },
    { access: custom({ runs: "apply", "workspace-locking": true }), settings: 404, unlocking: 404 },
    { access: { access: "admin" }, settings: 200, unlocking: 200 },
  ])(
    "[W-5-n4] answer $settings to a change of settings and $unlocking to force-unlock with the access $access",
    async (row) => {
      await using testEngine = await openTestEngine()
      const at = await setting(testEngine)
      await made(testEngine, "POST", "/team-workspaces", grant(at, row.access))
      await made(testEngine, "POST", `/workspaces/${at.workspace}/actions/lock`)
      const { token } = at.person
      const body = document("workspaces", { description: "changed" })
      const settings = await testEngine.request("PATCH", `/workspaces/${at.workspace}`, { token, body })
      const unlocking = await testEngine.request("POST", `/workspaces/${at.workspace}/actions/force-unlock`, { token })
      expect({ settings: settings.status, unlocking: unlocking.status }).toEqual({
        settings: row.settings,
        unlocking: row.unlocking,
      })
    },
  )

  test.each([
    { access: { access: "read" }, expected: 404 },
    { access: { access: "plan" }, expected: 404 },
    { access: custom({ runs: "apply" }), expected: 404 },
    { access: custom({ runs: "read", "workspace-locking": true }), expected: 200 },
    { access: { access: "write" }, expected: 200 },
    { access: { access: "admin" }, expected: 200 },
  ])("[W-5-n5] answer $expected to lock and unlock with the access $access", async ({ access, expected }) => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    await made(testEngine, "POST", "/team-workspaces", grant(at, access))
    const { token } = at.person
    const act = async (action: string) =>
      (await testEngine.request("POST", `/workspaces/${at.workspace}/actions/${action}`, { token })).status
    expect([await act("lock"), await act("unlock")]).toEqual([expected, expected])
  })

  test("[W-5-n6] [W-5-n7] let owners force delete; workspace administrators where the organization allows it, else 403; 404 for others", async () => {
    await using testEngine = await openTestEngine()
    const at = await setting(testEngine)
    const { id } = await made(testEngine, "POST", "/team-workspaces", grant(at, { access: "admin" }))
    const stranger = await newUser(testEngine, "stranger")
    const outsider = await newMember(testEngine, "acme", "outsider")
    const forceDelete = async (token: string) =>
      (await testEngine.request("DELETE", `/workspaces/${at.workspace}`, { token })).status
    expect(await forceDelete(at.person.token)).toBe(403)
    expect(await forceDelete(outsider.token)).toBe(404)
    expect(await forceDelete(stranger.token)).toBe(404)
    await made(testEngine, "PATCH", `/team-workspaces/${id}`, document("team-workspaces", { access: "read" }))
    expect(await forceDelete(at.person.token)).toBe(403)
    await made(
      testEngine,
      "PATCH",
      "/organizations/acme",
      document("organizations", { "allow-force-delete-workspaces": true }),
    )
    expect(await forceDelete(at.person.token)).toBe(403)
    await made(testEngine, "PATCH", `/team-workspaces/${id}`, document("team-workspaces", { access: "admin" }))
    expect(await forceDelete(at.person.token)).toBe(204)
    expect(await forceDelete(at.person.token)).toBe(404)

    await made(
      testEngine,
      "PATCH",
      "/organizations/acme",
      document("organizations", { "allow-force-delete-workspaces": false }),
    )
    const second = (await made(testEngine, "POST", workspaces, document("workspaces", { name: "second" }))).id
    const [owners] = await made(testEngine, "GET", "/organizations/acme/teams?q=owners")
    const members = { data: [{ type: "users", id: outsider.username }] }
    await made(testEngine, "POST", `/teams/${owners.id}/relationships/users`, members)
    expect(await testEngine.request("DELETE", `/workspaces/${second}`, { token: outsider.token })).toMatchObject({
      status: 204,
    })
  })
})
