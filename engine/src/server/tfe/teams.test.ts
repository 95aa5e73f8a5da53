import { describe, expect, test } from "vitest"
import { document, made, many, newMember, newOrganization, newTeam, newUser, one } from "../../../testing/users.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const teams = "/organizations/acme/teams"
const names = (data: readonly { attributes: { name: string } }[]) => data.map(({ attributes }) => attributes.name)

describe("teams", () => {
  test("have visibility, members and rights, each changed separately", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const created = await testEngine.request("POST", teams, { body: document("teams", { name: "devs" }) })
    expect(created.status).toBe(201)
    const { id } = created.body.data
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^team-[a-zA-Z0-9]{16}$/),
      type: "teams",
      attributes: {
        name: "devs",
        visibility: "secret",
        "users-count": 0,
        "organization-access": { "manage-workspaces": false, "read-projects": false, "manage-membership": false },
        permissions: { "can-destroy": true, "can-update-membership": true, "can-update-api-token": true },
      },
      relationships: { organization: { data: { type: "organizations", id: "acme" } }, users: { data: [] } },
    })
    const access = { "organization-access": { "manage-workspaces": true, "manage-everything": true } }
    await made(testEngine, "PATCH", `/teams/${id}`, document("teams", access))
    const changed = await made(
      testEngine,
      "PATCH",
      `/teams/${id}`,
      document("teams", { name: "builders", visibility: "organization" }),
    )
    expect(changed.attributes).toMatchObject({
      name: "builders",
      visibility: "organization",
      "organization-access": { "manage-workspaces": true, "manage-teams": false },
    })
    expect(changed.attributes["organization-access"]).not.toHaveProperty("manage-everything")
    expect(names(await made(testEngine, "GET", `${teams}?filter%5Bnames%5D=BUILDERS,nobody`))).toEqual(["builders"])
    expect(names(await made(testEngine, "GET", `${teams}?q=own`))).toEqual(["owners"])
    await made(testEngine, "DELETE", `/teams/${id}`)
    expect(await testEngine.request("GET", `/teams/${id}`)).toMatchObject({ status: 404 })
  })

  test("[F-W8] are visible to their members and to callers with access to secret teams if they are secret; others see only visible teams", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const [insider, outsider, manager, stranger] = [
      await newMember(testEngine, "acme", "insider"),
      await newMember(testEngine, "acme", "outsider"),
      await newMember(testEngine, "acme", "manager"),
      await newUser(testEngine, "stranger"),
    ]
    const secret = await newTeam(testEngine, "acme", "secret", { members: [insider] })
    await newTeam(testEngine, "acme", "open", { visibility: "organization" })
    const managers = await newTeam(testEngine, "acme", "managers", {
      access: { "manage-teams": true },
      members: [manager],
    })
    const seen = async (token: string) => {
      const list = await testEngine.request("GET", teams, { token })
      const show = await testEngine.request("GET", `/teams/${secret}`, { token })
      return { list: list.status === 200 ? names(list.body.data) : list.status, show: show.status }
    }
    expect(await seen(insider.token)).toEqual({ list: ["open", "owners", "secret"], show: 200 })
    expect(await seen(outsider.token)).toEqual({ list: ["open", "owners"], show: 404 })
    expect(await seen(manager.token)).toEqual({ list: ["managers", "open", "owners"], show: 404 })
    const secrets = document("teams", { "organization-access": { "manage-teams": true, "access-secret-teams": true } })
    await made(testEngine, "PATCH", `/teams/${managers}`, secrets)
    expect(await seen(manager.token)).toEqual({ list: ["managers", "open", "owners", "secret"], show: 200 })
    expect(await seen(stranger.token)).toEqual({ list: 404, show: 404 })
  })

  test.each([
    { why: "no name", attributes: {}, faults: { name: "name can't be blank" } },
    {
      why: "invalid types and an invalid name",
      attributes: { name: "a!b", visibility: "hidden", "organization-access": { "manage-teams": "yes" } },
      faults: {
        name: "Name can only include letters, numbers, spaces, -, _, and /, and can neither begin nor end with a space.",
        visibility: 'visibility must be one of "secret", "organization"',
        "organization-access/manage-teams": "manage-teams must be a boolean",
      },
    },
    { why: "a name that is taken", attributes: { name: "Owners" }, faults: { name: "Name has already been taken" } },
  ])("answer 422 with all faults: $why", async ({ attributes, faults }) => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const answer = await testEngine.request("POST", teams, { body: document("teams", attributes) })
    expect(answer.status).toBe(422)
    const found = answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
      error.source.pointer.replace("/data/attributes/", ""),
      error.detail,
    ])
    expect(Object.fromEntries(found)).toEqual(faults)
  })
})

describe("team members", () => {
  test("are added and removed by username or membership; present or absent ones are ignored", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const ada = await newMember(testEngine, "acme", "ada")
    await newMember(testEngine, "acme", "bob")
    const team = await newTeam(testEngine, "acme", "devs")
    const memberships = await made(testEngine, "GET", "/organizations/acme/organization-memberships?q=bob")
    const members = async () => {
      const answer = await testEngine.request("GET", `/teams/${team}?include=users,organization-memberships`)
      const users = answer.body.included.filter((resource: { type: string }) => resource.type === "users")
      return users.map((user: { attributes: { username: string } }) => user.attributes.username)
    }
    const users = `/teams/${team}/relationships/users`
    const byMembership = `/teams/${team}/relationships/organization-memberships`
    expect(await testEngine.request("POST", users, { body: many("users", ["ada", "ADA"]) })).toMatchObject({
      status: 204,
    })
    await made(testEngine, "POST", users, many("users", ["ada"]))
    await made(testEngine, "POST", byMembership, many("organization-memberships", [memberships[0].id]))
    expect(await members()).toEqual(["ada", "bob"])
    expect((await made(testEngine, "GET", `/teams/${team}`)).attributes["users-count"]).toBe(2)
    await made(testEngine, "DELETE", users, many("users", ["bob", "root"]))
    expect(await members()).toEqual(["ada"])
    const [membership] = await made(testEngine, "GET", "/organizations/acme/organization-memberships?q=ada")
    expect(membership.relationships).toMatchObject({ teams: many("teams", [team]), user: one("users", ada.id) })
    await made(testEngine, "DELETE", byMembership, many("organization-memberships", [membership.id]))
    expect(await members()).toEqual([])
    expect(await testEngine.request("GET", `/teams/${team}?include=everything`)).toMatchObject({
      status: 400,
      body: { errors: [{ source: { parameter: "include" } }] },
    })
  })

  test("are unchanged when some names are unknown, each with its fault", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "other")
    const stranger = await newMember(testEngine, "other", "stranger")
    const [foreign] = await made(testEngine, "GET", "/organizations/other/organization-memberships?q=stranger")
    await newMember(testEngine, "acme", "ada")
    const manager = await newMember(testEngine, "acme", "manager")
    const access = { "manage-teams": true, "access-secret-teams": true }
    await newTeam(testEngine, "acme", "managers", { access, members: [manager] })
    const team = await newTeam(testEngine, "acme", "devs")
    const pointers = (answer: { body: { errors: { source: { pointer: string } }[] } }) =>
      answer.body.errors.map(({ source }) => source.pointer)

    const byName = await testEngine.request("POST", `/teams/${team}/relationships/users`, {
      // A caller with manage-teams but not manage-membership can neither invite users nor learn which accounts exist.
      token: manager.token,
      body: many("users", ["ada", stranger.username]),
    })
    expect(byName.status).toBe(422)
    expect(pointers(byName)).toEqual(["/data/1/id"])
    const unknown = await testEngine.request("POST", `/teams/${team}/relationships/users`, {
      body: many("users", ["nobody", "ada", "nothing"]),
    })
    expect(pointers(unknown)).toEqual(["/data/0/id", "/data/2/id"])
    const byMembership = await testEngine.request("POST", `/teams/${team}/relationships/organization-memberships`, {
      body: many("organization-memberships", [foreign.id]),
    })
    expect(pointers(byMembership)).toEqual(["/data/0/id"])
    expect((await made(testEngine, "GET", `/teams/${team}`)).attributes["users-count"]).toBe(0)
  })
})

describe("the team of owners", () => {
  test("cannot be deleted, renamed or restricted, and always has a member", async () => {
    await using testEngine = await openTestEngine()
    const owner = await newUser(testEngine, "owner")
    await newOrganization(testEngine, "acme", owner)
    const second = await newMember(testEngine, "acme", "second")
    const { token } = owner
    const [owners] = await made(testEngine, "GET", `${teams}?filter%5Bnames%5D=owners`, undefined, token)
    const path = `/teams/${owners.id}`
    expect(owners.attributes["organization-access"]["manage-workspaces"]).toBe(true)
    const refusals = [
      await testEngine.request("DELETE", path, { token }),
      await testEngine.request("PATCH", path, { token, body: document("teams", { name: "bosses" }) }),
      await testEngine.request("PATCH", path, {
        token,
        body: document("teams", { "organization-access": { "manage-teams": false } }),
      }),
      await testEngine.request("DELETE", `${path}/relationships/users`, { token, body: many("users", ["owner"]) }),
      await testEngine.request("DELETE", `/admin/users/${owner.id}`),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
    const [membership] = await made(
      testEngine,
      "GET",
      "/organizations/acme/organization-memberships?q=owner",
      undefined,
      token,
    )
    expect(await testEngine.request("DELETE", `/organization-memberships/${membership.id}`, { token })).toMatchObject({
      status: 422,
    })

    await made(testEngine, "POST", `${path}/relationships/users`, many("users", [second.username]), token)
    expect(await testEngine.request("DELETE", `/organization-memberships/${membership.id}`, { token })).toMatchObject({
      status: 204,
    })
    expect(await testEngine.request("GET", "/organizations/acme", { token })).toMatchObject({ status: 404 })
    expect(await testEngine.request("GET", "/organizations/acme", { token: second.token })).toMatchObject({
      status: 200,
    })
  })

  test("gets new members only from owners, not from managers and organization tokens", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const manager = await newMember(testEngine, "acme", "manager")
    const everything = Object.fromEntries(
      ["manage-teams", "manage-membership", "manage-organization-access", "manage-workspaces", "manage-projects"].map(
        (name) => [name, true],
      ),
    )
    await newTeam(testEngine, "acme", "managers", { access: everything, members: [manager] })
    const [owners] = await made(testEngine, "GET", `${teams}?filter%5Bnames%5D=owners`)
    const organization = (await made(testEngine, "POST", "/organizations/acme/authentication-token")).attributes.token
    for (const token of [manager.token, organization]) {
      const body = many("users", ["manager"])
      expect(
        await testEngine.request("POST", `/teams/${owners.id}/relationships/users`, { token, body }),
      ).toMatchObject({
        status: 404,
      })
      expect(await testEngine.request("POST", `/teams/${owners.id}/authentication-token`, { token })).toMatchObject({
        status: 404,
      })
      expect(await testEngine.request("DELETE", `/teams/${owners.id}`, { token })).toMatchObject({ status: 404 })
      const invitation = document(
        "organization-memberships",
        { username: "mole" },
        { teams: many("teams", [owners.id]) },
      )
      expect(
        await testEngine.request("POST", "/organizations/acme/organization-memberships", { token, body: invitation }),
      ).toMatchObject({
        status: 422,
        body: { errors: [{ source: { pointer: "/data/relationships/teams/data/0/id" } }] },
      })
    }
  })
})

describe("callers cannot grant more rights than they have", () => {
  test.each([
    {
      who: "a manager of teams",
      access: { "manage-teams": true },
      plain: 201,
      granting: 404,
      joining: 404,
      token: 404,
    },
    {
      who: "a manager of teams and of access",
      access: { "manage-teams": true, "manage-organization-access": true },
      plain: 201,
      granting: 404,
      joining: 404,
      token: 404,
    },
    {
      who: "a manager of both with the right",
      access: { "manage-teams": true, "manage-organization-access": true, "manage-projects": true },
      plain: 201,
      granting: 201,
      joining: 204,
      token: 201,
    },
    { who: "a member without rights", access: {}, plain: 404, granting: 404, joining: 404, token: 404 },
  ])("$who", async ({ access, plain, granting, joining, token }) => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const person = await newMember(testEngine, "acme", "person")
    await newTeam(testEngine, "acme", "theirs", { access, members: [person] })
    const strong = await newTeam(testEngine, "acme", "strong", {
      access: { "manage-projects": true },
      visibility: "organization",
    })
    const as = async (path: string, body?: unknown) =>
      (await testEngine.request("POST", path, { token: person.token, body })).status
    const withAccess = { name: "b", "organization-access": { "manage-projects": true } }
    expect({
      plain: await as(teams, document("teams", { name: "a" })),
      granting: await as(teams, document("teams", withAccess)),
      joining: await as(`/teams/${strong}/relationships/users`, many("users", ["person"])),
      token: await as(`/teams/${strong}/authentication-token`),
    }).toEqual({ plain, granting, joining, token })
  })
})
