// Invariants that concurrent requests must not break, on every kind of database.
import { describe, expect, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { document, made, many, newMember, newOrganization, newUser } from "../../../testing/users.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("one of two owners who leave concurrently stays", async () => {
    await using place = await kind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    const first = await newUser(testEngine, "first")
    await newOrganization(testEngine, "acme", first)
    const second = await newMember(testEngine, "acme", "second")
    const [owners] = await made(testEngine, "GET", "/organizations/acme/teams?q=owners")
    await made(testEngine, "POST", `/teams/${owners.id}/relationships/users`, many("users", ["second"]))
    const memberships = await made(testEngine, "GET", "/organizations/acme/organization-memberships")
    const leave = async ({ id, token }: typeof first) => {
      const own = memberships.find(
        (one: { relationships: { user: { data: { id: string } } } }) => one.relationships.user.data.id === id,
      )
      return (await testEngine.request("DELETE", `/organization-memberships/${own.id}`, { token })).status
    }
    const answers = await Promise.all([leave(first), leave(second)])
    expect(answers.toSorted((a, b) => a - b)).toEqual([204, 422])
    expect((await made(testEngine, "GET", `/teams/${owners.id}`)).attributes["users-count"]).toBe(1)
  })

  test("concurrent creations of one organization name create one, and concurrent token replacements leave one token", async () => {
    await using place = await kind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    const body = document("organizations", { name: "acme", email: "a@b" })
    const creations = await Promise.all(
      Array.from({ length: 8 }, async () => (await testEngine.request("POST", "/organizations", { body })).status),
    )
    expect(creations.filter((status) => status === 201)).toHaveLength(1)
    expect(creations.filter((status) => status === 422)).toHaveLength(7)
    const path = "/organizations/acme/authentication-token"
    const tokens = await Promise.all(Array.from({ length: 8 }, () => made(testEngine, "POST", path)))
    const alive = await Promise.all(
      tokens.map(
        async ({ attributes }) =>
          (await testEngine.request("GET", "/organizations/acme", { token: attributes.token })).status,
      ),
    )
    expect(alive.filter((status) => status === 200)).toHaveLength(1)
  })
})
