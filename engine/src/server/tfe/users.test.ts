import { describe, expect, test } from "vitest"
import { document, made, newMember, newOrganization, newTeam, newUser, rootId } from "../../../testing/users.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

describe("the caller's own account", () => {
  test("is shown with members that only its owner sees, and changed", async () => {
    await using testEngine = await openTestEngine()
    const { id, token } = await newUser(testEngine, "ada")
    const shown = await testEngine.request("GET", "/account/details", { token })
    expect(shown.body.data).toMatchObject({
      id,
      type: "users",
      attributes: {
        username: "ada",
        email: "",
        "is-service-account": false,
        "is-site-admin": false,
        "two-factor": { enabled: false, verified: false },
        "v2-only": true,
        permissions: { "can-create-organizations": true },
      },
    })
    for (const path of ["/account/details", "/account/update"]) {
      const changed = await testEngine.request("PATCH", path, {
        token,
        body: document("users", { username: "ada2", email: "ada@example.com" }),
      })
      expect(changed).toMatchObject({
        status: 200,
        body: { data: { id, attributes: { username: "ada2", email: "ada@example.com" } } },
      })
    }
    expect((await testEngine.request("GET", "/account/details")).body.data.attributes).toMatchObject({
      username: "root",
      "is-site-admin": true,
    })
  })

  test.each([
    { attributes: { username: "ROOT" }, faults: { username: "Username has already been taken" } },
    { attributes: { email: "Bob@example.com" }, faults: { email: "Email has already been taken" } },
    {
      attributes: { username: "", email: "a b@c" },
      faults: { username: "Username can't be blank", email: "Email is invalid" },
    },
  ])("is not changed to $attributes, with all faults", async ({ attributes, faults }) => {
    await using testEngine = await openTestEngine()
    const { token } = await newUser(testEngine, "ada")
    await made(testEngine, "POST", "/admin/users", document("users", { username: "bob", email: "bob@example.com" }))
    const answer = await testEngine.request("PATCH", "/account/details", { token, body: document("users", attributes) })
    expect(answer.status).toBe(422)
    const found = answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
      error.source.pointer.replace("/data/attributes/", ""),
      error.detail,
    ])
    expect(Object.fromEntries(found)).toEqual(faults)
  })

  test("is a service account that cannot be changed when the token is an organization's", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const { token } = (await made(testEngine, "POST", "/organizations/acme/authentication-token")).attributes
    expect((await testEngine.request("GET", "/account/details", { token })).body.data).toMatchObject({
      id: expect.stringMatching(/^org-/),
      attributes: { username: "api-acme", "is-service-account": true, "is-site-admin": false },
    })
    const body = document("users", { username: "x" })
    expect(await testEngine.request("PATCH", "/account/details", { token, body })).toMatchObject({ status: 404 })
  })
})

test("users are visible to members of the same organizations, without email, and to no others", async () => {
  await using testEngine = await openTestEngine()
  await newOrganization(testEngine, "acme")
  const ada = await newMember(testEngine, "acme", "ada")
  const bob = await newMember(testEngine, "acme", "bob")
  const stranger = await newUser(testEngine, "stranger")
  await made(testEngine, "PATCH", "/account/details", document("users", { email: "ada@example.com" }), ada.token)
  const see = (token: string) => testEngine.request("GET", `/users/${ada.id}`, { token })
  const seen = await see(bob.token)
  expect(seen).toMatchObject({ status: 200, body: { data: { id: ada.id, attributes: { username: "ada" } } } })
  expect(seen.body.data.attributes).not.toHaveProperty("email")
  expect((await see(ada.token)).body.data.attributes.email).toBe("ada@example.com")
  expect(await see(stranger.token)).toMatchObject({ status: 404 })
  const { token } = (await made(testEngine, "POST", "/organizations/acme/authentication-token")).attributes
  expect(await see(token)).toMatchObject({ status: 200 })
})

test("accounts of teams and organizations are visible to callers that see the team or are members", async () => {
  await using testEngine = await openTestEngine()
  await newOrganization(testEngine, "acme")
  const ada = await newMember(testEngine, "acme", "ada")
  const bob = await newMember(testEngine, "acme", "bob")
  const stranger = await newUser(testEngine, "stranger")
  const team = await newTeam(testEngine, "acme", "builders", { members: [ada] })
  const { organizations } = testEngine.engine
  const statuses = async (id: string) =>
    Promise.all(
      [ada, bob, stranger].map(
        async ({ token }) => (await testEngine.request("GET", `/users/${id}`, { token })).status,
      ),
    )
  const { body } = await testEngine.request("GET", `/users/${team}`, { token: ada.token })
  expect(body.data).toMatchObject({
    id: team,
    type: "users",
    attributes: { username: "api-acme-builders", "is-service-account": true },
  })
  expect(body.data.attributes).not.toHaveProperty("email")
  // The team is secret: Bob is not one of its members.
  expect(await statuses(team)).toEqual([200, 404, 404])
  expect(await statuses((await organizations.get("acme")).id)).toEqual([200, 200, 404])
  expect(await statuses("team-none")).toEqual([404, 404, 404])
})

describe("administration of users", () => {
  test("creates, finds, lists, promotes, demotes and deletes them", async () => {
    await using testEngine = await openTestEngine()
    const created = await testEngine.request("POST", "/admin/users", {
      body: document("users", { username: "ada", email: "ada@example.com" }),
    })
    expect(created).toMatchObject({
      status: 201,
      body: { data: { type: "users", attributes: { username: "ada", email: "ada@example.com", "is-admin": false } } },
    })
    const { id } = created.body.data
    const list = await made(testEngine, "GET", "/admin/users?q=EXAMPLE.COM")
    expect(list.map((user: { id: string }) => user.id)).toEqual([id])
    const promoted = await made(testEngine, "POST", `/admin/users/${id}/actions/grant_admin`)
    expect(promoted.attributes["is-admin"]).toBe(true)
    await made(testEngine, "POST", `/admin/users/${id}/actions/revoke_admin`)
    expect((await made(testEngine, "GET", `/admin/users/${id}`)).attributes["is-admin"]).toBe(false)
    expect(await testEngine.request("DELETE", `/admin/users/${id}`)).toMatchObject({ status: 204 })
    expect(await testEngine.request("GET", `/admin/users/${id}`)).toMatchObject({ status: 404 })
  })

  test("keeps root an administrator with its name, and cannot delete it", async () => {
    await using testEngine = await openTestEngine()
    const id = await rootId(testEngine)
    const answers = [
      await testEngine.request("POST", `/admin/users/${id}/actions/revoke_admin`),
      await testEngine.request("DELETE", `/admin/users/${id}`),
      await testEngine.request("PATCH", "/account/details", { body: document("users", { username: "boss" }) }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
  })

  test("has effect at once, and is not found by other callers", async () => {
    await using testEngine = await openTestEngine()
    const { id, token } = await newUser(testEngine, "ada")
    const settings = document("general-settings", { "default-remote-state-access": true })
    const attempts = async () => {
      const answers = [
        await testEngine.request("GET", "/admin/users", { token }),
        await testEngine.request("GET", `/admin/users/${id}`, { token }),
        await testEngine.request("POST", "/admin/users", { token, body: document("users", { username: "x" }) }),
        await testEngine.request("GET", "/admin/general-settings", { token }),
        await testEngine.request("PATCH", "/admin/general-settings", { token, body: settings }),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await attempts()).toEqual([404, 404, 404, 404, 404])
    await made(testEngine, "POST", `/admin/users/${id}/actions/grant_admin`)
    expect(await attempts()).toEqual([200, 200, 201, 200, 200])
    await made(testEngine, "POST", `/admin/users/${id}/actions/revoke_admin`)
    expect(await attempts()).toEqual([404, 404, 404, 404, 404])
  })

  test("stores the default for global remote state, and rejects values of wrong types", async () => {
    await using testEngine = await openTestEngine()
    const setting = async () =>
      (await made(testEngine, "GET", "/admin/general-settings")).attributes["default-remote-state-access"]
    expect(await setting()).toBe(false)
    await made(
      testEngine,
      "PATCH",
      "/admin/general-settings",
      document("general-settings", { "default-remote-state-access": true }),
    )
    const wrong = document("general-settings", { "default-remote-state-access": "no" })
    expect(await testEngine.request("PATCH", "/admin/general-settings", { body: wrong })).toMatchObject({
      status: 422,
      body: { errors: [{ source: { pointer: "/data/attributes/default-remote-state-access" } }] },
    })
    expect(await setting()).toBe(true)
  })
})

test("a user's avatar is an image in a data URL", async () => {
  await using testEngine = await openTestEngine()
  const { attributes } = (await testEngine.request("GET", "/account/details")).body.data
  expect(attributes["avatar-url"]).toMatch(/^data:image\/svg\+xml,%3Csvg.*%3ER%3C%2Ftext%3E%3C%2Fsvg%3E$/)
})
