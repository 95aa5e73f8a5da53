import { describe, expect, test } from "vitest"
import { type Log, systemRuntime } from "../../core/runtime.ts"
import { formatInstant, hourMs, minuteMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
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

const tokenDocument = (attributes: object = {}) => document("authentication-token", attributes)

describe("authentication", () => {
  test.each([
    { why: "no header", headers: {} },
    { why: "an empty header", headers: { authorization: "" } },
    { why: "another scheme", headers: { authorization: "Basic cm9vdDpyb290" } },
    { why: "no token after the scheme", headers: { authorization: "Bearer " } },
    { why: "an unknown token", headers: { authorization: "Bearer chy_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } },
    { why: "a very long token", headers: { authorization: `Bearer ${"a".repeat(10_000)}` } },
  ])("[W-5-n1] 401 for $why", async ({ headers }) => {
    await using testEngine = await openTestEngine()
    const answer = await testEngine.request("GET", "/organizations", { token: null, headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get("www-authenticate")).toBe("Bearer")
    expect(answer.body.errors).toEqual([
      { status: "401", title: "unauthorized", detail: "A valid API token is required." },
    ])
  })

  test("[W-5-n1] accepts a token in an Authorization header with the scheme Bearer, in any case", async () => {
    await using testEngine = await openTestEngine()
    for (const scheme of ["Bearer", "bearer"]) {
      const headers = { authorization: `${scheme} ${testEngine.rootToken}` }
      expect(await testEngine.request("GET", "/organizations", { token: null, headers })).toMatchObject({ status: 200 })
    }
  })

  test("gives a service token no rights", async () => {
    await using place = await defaultSharedKind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    const secret = "chy_service"
    await using database = await openDatabase(place.url)
    await database.transact((session) =>
      session.execute(
        session.db.insertInto("tokens").values({
          id: "at-1",
          hash: systemRuntime().digest(secret),
          kind: "service",
          user_id: null,
          team_id: null,
          organization_id: null,
          description: "",
          created_by: null,
          created_at: 0,
          last_used_at: null,
          expires_at: null,
        }),
      ),
    )
    expect(await testEngine.request("GET", "/organizations", { token: secret })).toMatchObject({ status: 401 })
    expect(await testEngine.request("GET", "/authentication-tokens/at-1")).toMatchObject({ status: 404 })
  })
})

describe("the secret of a token", () => {
  test("is in the response that created it, and in no later response, no row and no log line", async () => {
    const lines: string[] = []
    const record = (event: string, fields?: object) => void lines.push(JSON.stringify({ event, fields }))
    const log: Log = { debug: record, info: record, warn: record, error: record }
    await using place = await defaultSharedKind.place()
    await using testEngine = await openTestEngine({ url: place.url, runtime: systemRuntime(log) })
    const { id } = await newUser(testEngine, "ada")
    const created = await testEngine.request("POST", `/users/${id}/authentication-tokens`, {
      body: tokenDocument({ description: "laptop" }),
    })
    expect(created.status).toBe(201)
    const secret: string = created.body.data.attributes.token
    expect(secret).toMatch(/^chy_[A-Za-z0-9_-]{43}$/)
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^at-[a-zA-Z0-9]{16}$/),
      type: "authentication-tokens",
      attributes: { description: "laptop", "expired-at": null, "last-used-at": null },
    })

    const list = await testEngine.request("GET", `/users/${id}/authentication-tokens`, { token: secret })
    const shown = await testEngine.request("GET", `/authentication-tokens/${created.body.data.id}`, { token: secret })
    expect(list.body.data.map((token: { attributes: { token: unknown } }) => token.attributes.token)).toEqual([
      null,
      null,
    ])
    expect(shown.body.data.attributes).toMatchObject({ description: "laptop", token: null })
    expect(await testEngine.request("GET", "/organizations/nothing", { token: secret })).toMatchObject({ status: 404 })
    expect(await testEngine.request("POST", "/organizations", { token: secret, body: "{" })).toMatchObject({
      status: 400,
    })

    await using database = await openDatabase(place.url)
    const rows = await database.read((session) => session.queryMany(session.db.selectFrom("tokens").selectAll()))
    expect(rows.map(({ hash }) => hash)).toContain(systemRuntime().digest(secret))
    for (const text of [JSON.stringify(rows), JSON.stringify([list.body, shown.body]), lines.join("\n")]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.slice(4))
    }
  })

  test("differs each time", async () => {
    await using testEngine = await openTestEngine()
    const { id, token } = await newUser(testEngine, "ada")
    const others = await Promise.all([newUserToken(testEngine, id), newUserToken(testEngine, id)])
    expect(new Set([token, ...others]).size).toBe(3)
  })
})

describe("the end of a token", () => {
  test("an expired token is rejected from that instant on, even if its caller was cached", async () => {
    const clock = manualClock()
    await using testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
    const { id } = await newUser(testEngine, "ada")
    const token = await newUserToken(testEngine, id, { "expired-at": formatInstant(clock.now() + hourMs) })
    expect(await testEngine.request("GET", "/account/details", { token })).toMatchObject({ status: 200 })
    clock.advance(hourMs - 1)
    expect(await testEngine.request("GET", "/account/details", { token })).toMatchObject({ status: 200 })
    clock.advance(1)
    expect(await testEngine.request("GET", "/account/details", { token })).toMatchObject({ status: 401 })
  })

  test("a revoked token is rejected at once by every server", async () => {
    await using place = await defaultSharedKind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    await using other = await openTestEngine({ url: place.url })
    const { id, token } = await newUser(testEngine, "ada")
    for (const at of [testEngine, other])
      expect(await at.request("GET", "/account/details", { token })).toMatchObject({ status: 200 })
    const [listed] = await made(testEngine, "GET", `/users/${id}/authentication-tokens`)
    await made(testEngine, "DELETE", `/authentication-tokens/${listed.id}`)
    for (const at of [testEngine, other])
      expect(await at.request("GET", "/account/details", { token })).toMatchObject({ status: 401 })
    expect(await testEngine.request("GET", `/authentication-tokens/${listed.id}`)).toMatchObject({ status: 404 })
  })

  test("the tokens of a deleted user are rejected", async () => {
    await using testEngine = await openTestEngine()
    const { id, token } = await newUser(testEngine, "ada")
    expect(await testEngine.request("GET", "/account/details", { token })).toMatchObject({ status: 200 })
    await made(testEngine, "DELETE", `/admin/users/${id}`)
    expect(await testEngine.request("GET", "/account/details", { token })).toMatchObject({ status: 401 })
  })
})

test("the last use of a token is stored after the response, at most once an hour", async () => {
  const clock = manualClock()
  await using testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
  const { id, token } = await newUser(testEngine, "ada")
  const lastUse = async () => {
    const [listed] = await made(testEngine, "GET", `/users/${id}/authentication-tokens`)
    return listed.attributes["last-used-at"]
  }
  const first = clock.now()
  expect(await lastUse()).toBeNull()
  await testEngine.request("GET", "/account/details", { token })
  await expect.poll(lastUse).toBe(formatInstant(first))
  clock.advance(59 * minuteMs)
  await testEngine.request("GET", "/account/details", { token })
  expect(await lastUse()).toBe(formatInstant(first))
  clock.advance(minuteMs)
  await testEngine.request("GET", "/account/details", { token })
  await expect.poll(lastUse).toBe(formatInstant(first + hourMs))
})

describe("permission to create, list and revoke tokens", () => {
  test("covers a user's own tokens; administrators manage those of any user, owners and organization tokens no others", async () => {
    await using testEngine = await openTestEngine()
    const owner = await newUser(testEngine, "owner")
    await newOrganization(testEngine, "acme", owner)
    const ada = await newMember(testEngine, "acme", "ada")
    const organizationToken = (
      await made(testEngine, "POST", "/organizations/acme/authentication-token", undefined, owner.token)
    ).attributes.token
    const [adasToken] = await made(testEngine, "GET", `/users/${ada.id}/authentication-tokens`, undefined, ada.token)
    const path = `/users/${ada.id}/authentication-tokens`
    for (const token of [owner.token, organizationToken]) {
      expect(await testEngine.request("GET", path, { token })).toMatchObject({ status: 404 })
      expect(await testEngine.request("POST", path, { token, body: tokenDocument() })).toMatchObject({ status: 404 })
      for (const method of ["GET", "DELETE"])
        expect(await testEngine.request(method, `/authentication-tokens/${adasToken.id}`, { token })).toMatchObject({
          status: 404,
        })
    }
    expect(await testEngine.request("POST", path, { token: ada.token, body: tokenDocument() })).toMatchObject({
      status: 201,
    })
    expect(await testEngine.request("POST", path, { body: tokenDocument() })).toMatchObject({ status: 201 })
  })

  test("covers the one token of an organization for owners; creating it again revokes the previous one", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const manager = await newUser(testEngine, "manager")
    await newTeam(testEngine, "acme", "managers", {
      access: { "manage-teams": true, "manage-workspaces": true, "manage-projects": true },
      members: [manager],
    })
    const path = "/organizations/acme/authentication-token"
    expect(await testEngine.request("POST", path, { token: manager.token })).toMatchObject({ status: 404 })
    expect(await testEngine.request("GET", path)).toMatchObject({ status: 404 })
    for (const method of ["POST", "GET", "DELETE"])
      expect(await testEngine.request(method, `${path}?token=something-else`)).toMatchObject({
        status: 400,
        body: { errors: [{ source: { parameter: "token" } }] },
      })
    const first = await made(testEngine, "POST", path)
    const second = await made(testEngine, "POST", path, tokenDocument({ "expired-at": "2999-01-01T00:00:00.000Z" }))
    expect(second.attributes["expired-at"]).toBe("2999-01-01T00:00:00.000Z")
    expect((await made(testEngine, "GET", path)).id).toBe(second.id)
    // [F-W15] The audit-trails token is a separate token of the organization, and no API accepts it.
    const audit = `${path}?token=audit-trails`
    expect(await testEngine.request("GET", audit)).toMatchObject({ status: 404 })
    const trails = await made(testEngine, "POST", audit)
    expect((await made(testEngine, "GET", audit)).id).toBe(trails.id)
    expect((await made(testEngine, "GET", path)).id).toBe(second.id)
    const asTrails = { token: trails.attributes.token }
    for (const place of ["/organizations", "/organizations/acme", "/account/details", path])
      expect([place, (await testEngine.request("GET", place, asTrails)).status]).toEqual([place, 401])
    expect((await testEngine.pki("GET", "/auth/token/lookup-self", asTrails)).status).toBeLessThan(500)
    expect((await testEngine.request("DELETE", audit)).status).toBe(204)
    expect(await testEngine.request("GET", audit)).toMatchObject({ status: 404 })
    const as = (token: { attributes: { token: string } }) =>
      testEngine.request("GET", "/organizations/acme", { token: token.attributes.token })
    expect(await as(first)).toMatchObject({ status: 401 })
    expect(await as(second)).toMatchObject({ status: 200 })
    // The organization token can neither replace itself nor delete the organization.
    const token = second.attributes.token
    expect(await testEngine.request("POST", path, { token })).toMatchObject({ status: 404 })
    expect(await testEngine.request("DELETE", "/organizations/acme", { token })).toMatchObject({ status: 404 })
    expect(
      await testEngine.request("POST", "/organizations", {
        token,
        body: document("organizations", { name: "x", email: "a@b" }),
      }),
    ).toMatchObject({ status: 404 })
    expect(
      await testEngine.request("POST", "/organizations/acme/projects", {
        token,
        body: document("projects", { name: "web" }),
      }),
    ).toMatchObject({ status: 201 })
    await made(testEngine, "DELETE", path)
    expect(await as(second)).toMatchObject({ status: 401 })
  })

  test("covers the tokens of an organization's teams, searched and sorted, for callers who manage teams", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "other")
    const [devs, ops] = [await newTeam(testEngine, "acme", "devs"), await newTeam(testEngine, "acme", "ops")]
    const create = async (team: string, end?: string) =>
      (
        await made(
          testEngine,
          "POST",
          `/teams/${team}/authentication-token`,
          tokenDocument(end === undefined ? {} : { "expired-at": end }),
        )
      ).id
    const late = await create(devs, "2099-01-02T00:00:00Z")
    const early = await create(ops, "2099-01-01T00:00:00Z")
    await create(await newTeam(testEngine, "other", "devs"))
    const path = "/organizations/acme/team-tokens"
    const ids = async (query = "", token = testEngine.rootToken) =>
      (await testEngine.request("GET", `${path}${query}`, { token })).body.data.map(({ id }: { id: string }) => id)
    expect(await ids()).toEqual([late, early])
    expect([await ids("?q=OP"), await ids("?sort=expired-at"), await ids("?sort=-expired-at")]).toEqual([
      [early],
      [early, late],
      [late, early],
    ])
    const managers = await newTeam(testEngine, "acme", "managers", { access: { "manage-teams": true } })
    const manager = (await made(testEngine, "POST", `/teams/${managers}/authentication-token`)).attributes.token
    const teams = await made(testEngine, "GET", "/organizations/acme/teams")
    const owners = teams.find(({ attributes }: { attributes: { name: string } }) => attributes.name === "owners").id
    const ofOwners = await create(owners)
    expect([await ids("?sort=last-used-at"), (await ids("", manager)).includes(ofOwners)]).toEqual([
      expect.arrayContaining([early, late, ofOwners]),
      false,
    ])
    const member = (
      await made(testEngine, "POST", `/teams/${devs}/authentication-tokens`, tokenDocument({ description: "x" }))
    ).attributes.token
    expect((await testEngine.request("GET", path, { token: member })).status).toBe(404)
    const refused = await testEngine.request("GET", `${path}?sort=name`)
    expect([refused.status, refused.body.errors[0].source]).toEqual([400, { parameter: "sort" }])
  })

  test("covers one token without a description and any number with one for each team", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const team = await newTeam(testEngine, "acme", "devs", { access: { "manage-projects": true } })
    const first = await made(testEngine, "POST", `/teams/${team}/authentication-token`)
    const second = await made(testEngine, "POST", `/teams/${team}/authentication-token`)
    const named = await made(
      testEngine,
      "POST",
      `/teams/${team}/authentication-tokens`,
      tokenDocument({ description: "ci" }),
    )
    const reads = async (token: { attributes: { token: string } }) =>
      (await testEngine.request("GET", `/teams/${team}`, { token: token.attributes.token })).status
    expect([await reads(first), await reads(second), await reads(named)]).toEqual([401, 200, 200])
    expect((await made(testEngine, "GET", `/teams/${team}/authentication-token`)).id).toBe(second.id)
    const list = await made(testEngine, "GET", `/teams/${team}/authentication-tokens`)
    expect(
      list.map((token: { attributes: { description: string } }) => token.attributes.description).toSorted(),
    ).toEqual(["ci", null])
    for (const [attributes, detail] of [
      [{ description: "ci" }, "Description has already been taken"],
      [{}, "Description can't be blank"],
    ] as const) {
      const refused = await testEngine.request("POST", `/teams/${team}/authentication-tokens`, {
        body: tokenDocument(attributes),
      })
      expect(refused).toMatchObject({
        status: 422,
        body: { errors: [{ detail, source: { pointer: "/data/attributes/description" } }] },
      })
    }
    await made(testEngine, "DELETE", `/teams/${team}/authentication-token`)
    expect([await reads(second), await reads(named)]).toEqual([401, 200])
    // The team token has the team's rights, and is deleted with the team.
    const token = named.attributes.token
    expect(
      await testEngine.request("POST", "/organizations/acme/projects", {
        token,
        body: document("projects", { name: "web" }),
      }),
    ).toMatchObject({ status: 201 })
    expect((await testEngine.request("GET", "/account/details", { token })).body.data.attributes).toMatchObject({
      username: "api-acme-devs",
      "is-service-account": true,
    })
    await made(testEngine, "DELETE", `/teams/${team}`)
    expect(await reads(named)).toBe(401)
  })

  test.each([
    {
      why: "it expires before it is created",
      attributes: { "expired-at": "2001-01-01T00:00:00Z" },
      faults: { "expired-at": "Expired at must be in the future" },
    },
    {
      why: "its expiry is not a timestamp",
      attributes: { "expired-at": "tomorrow", description: 5 },
      faults: {
        "expired-at": "expired-at must be an ISO 8601 timestamp with a time zone",
        description: "description must be a string",
      },
    },
  ])("answers 422 with all faults for an invalid token: $why", async ({ attributes, faults }) => {
    await using testEngine = await openTestEngine()
    const { id } = await newUser(testEngine, "ada")
    const answer = await testEngine.request("POST", `/users/${id}/authentication-tokens`, {
      body: tokenDocument(attributes),
    })
    expect(answer.status).toBe(422)
    const found = answer.body.errors.map((error: { detail: string; source: { pointer: string } }) => [
      error.source.pointer.replace("/data/attributes/", ""),
      error.detail,
    ])
    expect(Object.fromEntries(found)).toEqual(faults)
  })
})

describe("cached callers follow changes of their teams at once", () => {
  test("when they join, lose a right or leave a team, from the next request on", async () => {
    await using place = await defaultSharedKind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    await using other = await openTestEngine({ url: place.url })
    await newOrganization(testEngine, "acme")
    const ada = await newMember(testEngine, "acme", "ada")
    const team = await newTeam(testEngine, "acme", "builders", { access: { "manage-projects": true } })
    let number = 0
    const build = async (at: typeof testEngine) => {
      number += 1
      const body = document("projects", { name: `p${number}` })
      return (await at.request("POST", "/organizations/acme/projects", { token: ada.token, body })).status
    }
    const everywhere = async () => [await build(testEngine), await build(other)]
    expect(await everywhere()).toEqual([404, 404])
    await made(testEngine, "POST", `/teams/${team}/relationships/users`, many("users", ["ada"]))
    expect(await everywhere()).toEqual([201, 201])
    await made(
      other,
      "PATCH",
      `/teams/${team}`,
      document("teams", { "organization-access": { "manage-projects": false } }),
    )
    expect(await everywhere()).toEqual([404, 404])
    await made(
      testEngine,
      "PATCH",
      `/teams/${team}`,
      document("teams", { "organization-access": { "manage-projects": true } }),
    )
    expect(await everywhere()).toEqual([201, 201])
    await made(other, "DELETE", `/teams/${team}/relationships/users`, many("users", ["ada"]))
    expect(await everywhere()).toEqual([404, 404])
    const [owners] = await made(testEngine, "GET", "/organizations/acme/teams?q=owners")
    await made(testEngine, "POST", `/teams/${owners.id}/relationships/users`, many("users", ["ada"]))
    expect(await everywhere()).toEqual([201, 201])
    const memberships = await made(other, "GET", "/organizations/acme/organization-memberships?q=ada")
    await made(other, "DELETE", `/organization-memberships/${memberships[0].id}`)
    expect(await everywhere()).toEqual([404, 404])
    expect(await testEngine.request("GET", "/organizations/acme", { token: ada.token })).toMatchObject({ status: 404 })
  })
})
