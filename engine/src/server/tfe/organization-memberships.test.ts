import { describe, expect, test } from "vitest"
import {
  document,
  made,
  many,
  newMember,
  newOrganization,
  newTeam,
  newUser,
  newUserToken,
} from "../../../testing/users.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const memberships = "/organizations/acme/organization-memberships"
const usernames = (data: readonly { attributes: { username: string } }[]) =>
  data.map(({ attributes }) => attributes.username)

describe("memberships", () => {
  test("[F-W15] created by email create a missing user, invited and without a name, in the given teams", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const team = await newTeam(testEngine, "acme", "devs")
    const created = await testEngine.request("POST", memberships, {
      body: document("organization-memberships", { email: "ada.b@example.com" }, { teams: many("teams", [team]) }),
    })
    expect(created.status).toBe(201)
    const userId = created.body.data.relationships.user.data.id
    expect(created.body).toMatchObject({
      data: {
        id: expect.stringMatching(/^ou-[a-zA-Z0-9]{16}$/),
        type: "organization-memberships",
        attributes: { status: "invited", email: "ada.b@example.com", username: "" },
        relationships: {
          organization: { data: { type: "organizations", id: "acme" } },
          user: { data: { type: "users" } },
          teams: many("teams", [team]),
        },
      },
      included: [{ type: "users", id: userId, attributes: { username: "", "is-service-account": false } }],
    })
    expect((await made(testEngine, "GET", `/teams/${team}`)).relationships.users).toEqual(many("users", [userId]))
    const shown = await made(testEngine, "GET", `/organization-memberships/${created.body.data.id}`)
    expect(shown).toEqual(created.body.data)
    const path = `/organization-memberships/${created.body.data.id}`
    expect((await testEngine.request("GET", `${path}?include=user,teams`)).body.included).toMatchObject([
      { type: "users", id: userId },
      { type: "teams", id: team },
    ])
    expect((await testEngine.request("GET", path)).body).not.toHaveProperty("included")
    const listed = async (query: string) => (await testEngine.request("GET", `${memberships}${query}`)).body.included
    expect(await listed("?filter[status]=invited")).toBeUndefined()
    expect(await listed("?filter[status]=invited&include=user,teams")).toMatchObject([
      { type: "users", id: userId },
      { type: "teams", id: team },
    ])
    expect((await testEngine.request("GET", `${path}?include=nonsense`)).status).toBe(400)
    expect((await testEngine.request("GET", `${memberships}?include=nonsense`)).status).toBe(400)

    // Creating a token for the user accepts the invitation.
    const token = await newUserToken(testEngine, userId)
    expect((await made(testEngine, "GET", path)).attributes).toMatchObject({ status: "active", username: "ada.b" })
    expect((await made(testEngine, "GET", "/account/details", undefined, token)).attributes.username).toBe("ada.b")
    // The same local part at another domain gets a number.
    const second = await made(
      testEngine,
      "POST",
      memberships,
      document("organization-memberships", { email: "ada.b@elsewhere.example" }),
    )
    expect((await made(testEngine, "GET", `${memberships}?filter[status]=invited`)).length).toBe(1)
    await newUserToken(testEngine, second.relationships.user.data.id)
    const shownSecond = await made(testEngine, "GET", `/organization-memberships/${second.id}`)
    expect(shownSecond.attributes).toMatchObject({ status: "active", username: "ada.b-2" })
    expect((await made(testEngine, "GET", `${memberships}?filter[status]=invited`)).length).toBe(0)
    // A known email address in another case is the same user.
    await newOrganization(testEngine, "other")
    const other = await made(
      testEngine,
      "POST",
      "/organizations/other/organization-memberships",
      document("organization-memberships", { email: "ADA.B@example.com" }),
    )
    expect(other.relationships.user.data.id).toBe(userId)
  })

  test("are listed, searched and filtered, and end with all rights in the organization", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const ada = await newMember(testEngine, "acme", "ada")
    await made(testEngine, "POST", memberships, document("organization-memberships", { email: "bob@example.com" }))
    const team = await newTeam(testEngine, "acme", "devs", { members: [ada] })
    const list = async (query: string) => usernames(await made(testEngine, "GET", `${memberships}${query}`))
    expect(await list("")).toEqual(["ada", "", "root"])
    expect(await list("?q=bob@EXAMPLE")).toEqual([""])
    expect(await list("?filter%5Bemail%5D=BOB@example.com,nobody@example.com")).toEqual([""])
    expect(await list("?filter%5Bstatus%5D=invited")).toEqual([""])
    expect(await list("?filter%5Bstatus%5D=active&page%5Bsize%5D=1&page%5Bnumber%5D=2")).toEqual(["root"])
    const [membership] = await made(testEngine, "GET", `${memberships}?q=ada`)
    expect(await testEngine.request("DELETE", `/organization-memberships/${membership.id}`)).toMatchObject({
      status: 204,
    })
    expect(await list("")).toEqual(["", "root"])
    expect((await made(testEngine, "GET", `/teams/${team}`)).attributes["users-count"]).toBe(0)
    expect(await testEngine.request("GET", `/organization-memberships/${membership.id}`)).toMatchObject({ status: 404 })
  })

  test("are managed with the right to manage members, left by any member, and hidden from strangers; emails are for managers", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newMember(testEngine, "acme", "victim")
    await made(testEngine, "POST", memberships, document("organization-memberships", { email: "bob@example.com" }))
    const manager = await newMember(testEngine, "acme", "manager")
    await newTeam(testEngine, "acme", "managers", { access: { "manage-membership": true }, members: [manager] })
    const plain = await newMember(testEngine, "acme", "plain")
    const stranger = await newUser(testEngine, "stranger")
    const body = document("organization-memberships", { username: "fresh" })
    const idOf = async (username: string) => (await made(testEngine, "GET", `${memberships}?q=${username}`))[0].id
    const victim = await idOf("victim")
    const attempts = async (token: string) => [
      (await testEngine.request("GET", memberships, { token })).status,
      (await testEngine.request("GET", `/organization-memberships/${victim}`, { token })).status,
      (await testEngine.request("POST", memberships, { token, body })).status,
      (await testEngine.request("DELETE", `/organization-memberships/${victim}`, { token })).status,
    ]
    expect(await attempts(plain.token)).toEqual([200, 200, 404, 404])
    expect(await attempts(stranger.token)).toEqual([404, 404, 404, 404])
    const emailAs = async (token: string) =>
      (await testEngine.request("GET", `${memberships}?q=bob`, { token })).body.data[0].attributes.email
    expect(await emailAs(plain.token)).toBeUndefined()
    expect(await emailAs(manager.token)).toBe("bob@example.com")
    expect(await attempts(manager.token)).toEqual([200, 200, 201, 204])
    const { token } = plain
    expect(
      await testEngine.request("DELETE", `/organization-memberships/${await idOf("plain")}`, { token }),
    ).toMatchObject({
      status: 204,
    })
    expect(await testEngine.request("GET", "/organizations/acme", { token })).toMatchObject({ status: 404 })
    // A caller who manages memberships cannot remove an owner.
    const owner = await idOf("root")
    expect(
      await testEngine.request("DELETE", `/organization-memberships/${owner}`, { token: manager.token }),
    ).toMatchObject({ status: 404 })
  })

  test.each([
    { why: "no user", attributes: {}, faults: { username: "Username can't be blank" } },
    { why: "an invalid email address", attributes: { email: "ada" }, faults: { email: "Email is invalid" } },
    {
      why: "both invalid",
      attributes: { email: 7, username: "-a" },
      faults: {
        email: "email must be a string",
        username: "Username can only include letters, numbers, ., -, and _, and must begin with a letter or number.",
      },
    },
    {
      why: "an existing member",
      attributes: { username: "ROOT" },
      faults: { username: "User is already a member of the organization" },
    },
  ])("answer 422 with all faults: $why", async ({ attributes, faults }) => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const answer = await testEngine.request("POST", memberships, {
      body: document("organization-memberships", attributes),
    })
    expect(answer.status).toBe(422)
    const found = answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
      error.source.pointer.replace("/data/attributes/", ""),
      error.detail,
    ])
    expect(Object.fromEntries(found)).toEqual(faults)
  })

  test("a team of another organization is a fault, and no membership or user is created", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "other")
    const [mine, foreign] = [await newTeam(testEngine, "acme", "devs"), await newTeam(testEngine, "other", "devs")]
    const body = document("organization-memberships", { username: "ada" }, { teams: many("teams", [mine, foreign]) })
    expect(await testEngine.request("POST", memberships, { body })).toMatchObject({
      status: 422,
      body: { errors: [{ source: { pointer: "/data/relationships/teams/data/1/id" } }] },
    })
    expect(await made(testEngine, "GET", "/admin/users?q=ada")).toEqual([])
  })
})
