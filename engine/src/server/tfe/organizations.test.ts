import { describe, expect, test } from "vitest"
import { document, made, newMember, newOrganization, newTeam, newUser, one } from "../../../testing/users.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const organization = (attributes: object, relationships?: object) => ({
  data: { type: "organizations", attributes, ...(relationships && { relationships }) },
})
const acme = organization({ name: "acme", email: "admin@acme.example" })

describe("organizations", () => {
  test("are created by any user, who owns them, with a team of owners and a default project", async () => {
    await using testEngine = await openTestEngine()
    const { token } = await newUser(testEngine, "ada")
    const made = await testEngine.request("POST", "/organizations", { token, body: acme })
    expect(made.status).toBe(201)
    expect(made.body.data).toMatchObject({
      id: "acme",
      type: "organizations",
      attributes: {
        name: "acme",
        email: "admin@acme.example",
        "external-id": expect.stringMatching(/^org-[a-zA-Z0-9]{16}$/),
        "default-execution-mode": "remote",
        "allow-force-delete-workspaces": false,
        "assessments-enforced": false,
        "collaborator-auth-policy": "password",
        "cost-estimation-enabled": false,
        permissions: { "can-update": true, "can-destroy": true, "can-create-workspace": true, "can-traverse": true },
      },
      relationships: {
        "default-project": { data: { type: "projects", id: expect.stringMatching(/^prj-/) } },
        "default-agent-pool": { data: null },
      },
    })
    const teams = await testEngine.request("GET", "/organizations/acme/teams", { token })
    expect(teams.body.data.map((team: { attributes: object }) => team.attributes)).toMatchObject([
      { name: "owners", "users-count": 1 },
    ])
    const projects = await testEngine.request("GET", "/organizations/acme/projects", { token })
    expect(projects.body.data).toMatchObject([
      { id: made.body.data.relationships["default-project"].data.id, attributes: { name: "Default Project" } },
    ])
    const entitlements = await testEngine.request("GET", "/organizations/acme/entitlement-set", { token })
    expect(entitlements.body.data).toMatchObject({
      type: "entitlement-sets",
      attributes: { operations: true, "state-storage": true, teams: true },
    })
  })

  test.each([
    { why: "no members", attributes: {}, faults: { name: "name can't be blank", email: "email can't be blank" } },
    {
      why: "several invalid members",
      attributes: { name: "a b", email: "nobody" },
      faults: { name: "Name can only include letters, numbers, -, and _.", email: "Email is invalid" },
    },
    {
      why: "invalid types and texts",
      attributes: { name: 7, email: "a b", "allow-force-delete-workspaces": "yes", "default-execution-mode": "warp" },
      faults: {
        name: "name must be a string",
        email: "Email is invalid",
        "allow-force-delete-workspaces": "allow-force-delete-workspaces must be a boolean",
        "default-execution-mode": 'default-execution-mode must be one of "remote", "local", "agent"',
      },
    },
    {
      why: "a name that is taken, in another case",
      attributes: { name: "ACME", email: "a@b" },
      faults: { name: "Name has already been taken" },
    },
  ])("are rejected with all faults at once: $why", async ({ attributes, faults }) => {
    await using testEngine = await openTestEngine()
    await testEngine.request("POST", "/organizations", { body: acme })
    const answer = await testEngine.request("POST", "/organizations", { body: organization(attributes) })
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toHaveLength(Object.keys(faults).length)
    expect(answer.body.errors).toEqual(
      expect.arrayContaining(
        Object.entries(faults).map(([name, detail]) => ({
          status: "422",
          title: "invalid attribute",
          detail,
          source: { pointer: `/data/attributes/${name}` },
        })),
      ),
    )
  })

  test("are searched by name and by email, as go-tfe does", async () => {
    await using testEngine = await openTestEngine()
    const create = (name: string, email: string) =>
      made(testEngine, "POST", "/organizations", document("organizations", { name, email }))
    await create("acme", "ops@one.example")
    await create("beta", "Ops@two.example")
    const names = async (query: string) =>
      (await made(testEngine, "GET", `/organizations?q=${query}`)).map(({ id }: { id: string }) => id)
    expect([await names("TWO.example"), await names("ops@"), await names("acm"), await names("none")]).toEqual([
      ["beta"],
      ["acme", "beta"],
      ["acme"],
      [],
    ])
  })

  test("are created only by users and seen only by their members", async () => {
    await using testEngine = await openTestEngine()
    const ada = await newUser(testEngine, "ada")
    await newOrganization(testEngine, "acme", ada)
    await newOrganization(testEngine, "beta")
    const names = async (token: string, query = "") =>
      (await made(testEngine, "GET", `/organizations${query}`, undefined, token)).map(({ id }: { id: string }) => id)
    const organizationToken = (await made(testEngine, "POST", "/organizations/acme/authentication-token")).attributes
      .token
    expect(await names(ada.token)).toEqual(["acme"])
    expect(await names(organizationToken)).toEqual(["acme"])
    expect(await names(testEngine.rootToken)).toEqual(["acme", "beta"])
    expect(await names(testEngine.rootToken, "?q=ET")).toEqual(["beta"])
    const page = await testEngine.request("GET", "/organizations?page%5Bsize%5D=1&page%5Bnumber%5D=9")
    expect(page.body).toMatchObject({ data: [], meta: { pagination: { "current-page": 9, "total-count": 2 } } })
    const strangers = [
      await testEngine.request("GET", "/organizations/beta", { token: ada.token }),
      await testEngine.request("GET", "/organizations/beta/entitlement-set", { token: ada.token }),
      await testEngine.request("PATCH", "/organizations/beta", { token: ada.token, body: organization({}) }),
      await testEngine.request("DELETE", "/organizations/beta", { token: ada.token }),
      await testEngine.request("GET", "/organizations/nothing", { token: ada.token }),
    ]
    expect(strangers.map(({ status, body }) => [status, body.errors[0].title])).toEqual(
      Array.from({ length: 5 }, () => [404, "not found"]),
    )
  })

  test("are changed by owners and organization tokens, except the plan, which only site administrators change", async () => {
    await using testEngine = await openTestEngine()
    const ada = await newUser(testEngine, "ada")
    await newOrganization(testEngine, "acme", ada)
    const manager = await newMember(testEngine, "acme", "manager")
    await newTeam(testEngine, "acme", "managers", { access: { "manage-workspaces": true }, members: [manager] })
    const token = (await made(testEngine, "POST", "/organizations/acme/authentication-token")).attributes.token
    const patch = async (attributes: object, as: string) =>
      testEngine.request("PATCH", "/organizations/acme", { token: as, body: organization(attributes) })
    expect(await patch({ email: "x@y" }, manager.token)).toMatchObject({ status: 404 })
    expect((await patch({ email: "x@y", "assessments-enforced": true }, ada.token)).body.data.attributes).toMatchObject(
      {
        email: "x@y",
        "assessments-enforced": true,
        "cost-estimation-enabled": false,
      },
    )
    expect(await patch({ "allow-force-delete-workspaces": true }, token)).toMatchObject({ status: 200 })
    expect(await patch({ "plan-identifier": "free" }, ada.token)).toMatchObject({
      status: 422,
      body: { errors: [{ source: { pointer: "/data/attributes/plan-identifier" } }] },
    })
    expect(
      (await patch({ "plan-identifier": "free" }, testEngine.rootToken)).body.data.attributes["plan-identifier"],
    ).toBe("free")
  })

  test("have a default agent pool while their execution mode is agent", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    await newOrganization(testEngine, "beta")
    const newPool = async (of: string) =>
      (await made(testEngine, "POST", `/organizations/${of}/agent-pools`, document("agent-pools", { name: "pool" }))).id
    const [own, foreign] = [await newPool("acme"), await newPool("beta")]
    const patch = (attributes: object, pool?: string) =>
      testEngine.request("PATCH", "/organizations/acme", {
        body: organization(attributes, pool === undefined ? {} : { "default-agent-pool": one("agent-pools", pool) }),
      })
    const pointer = "/data/relationships/default-agent-pool/data/id"
    expect(await patch({}, own)).toMatchObject({ status: 422, body: { errors: [{ source: { pointer } }] } })
    expect(await patch({ "default-execution-mode": "agent" }, foreign)).toMatchObject({
      status: 422,
      body: { errors: [{ detail: "Default agent pool does not exist in this organization", source: { pointer } }] },
    })
    const changed = await patch({ "default-execution-mode": "agent" }, own)
    expect(changed.body.data.relationships["default-agent-pool"]).toEqual(one("agent-pools", own))
    const projects = await made(testEngine, "GET", "/organizations/acme/projects")
    expect(projects[0].relationships["default-agent-pool"]).toEqual(one("agent-pools", own))
    const local = await patch({ "default-execution-mode": "local" })
    expect(local.body.data.relationships["default-agent-pool"]).toEqual({ data: null })
  })

  test("are renamed and deleted with all their resources", async () => {
    await using testEngine = await openTestEngine()
    await newOrganization(testEngine, "acme")
    const workspace = await made(
      testEngine,
      "POST",
      "/organizations/acme/workspaces",
      document("workspaces", { name: "shop" }),
    )
    await made(testEngine, "PATCH", "/organizations/acme", organization({ name: "apex" }))
    expect(await testEngine.request("GET", "/organizations/acme")).toMatchObject({ status: 404 })
    expect(await testEngine.request("GET", "/organizations/APEX/workspaces/shop")).toMatchObject({ status: 200 })
    expect(await testEngine.request("DELETE", "/organizations/apex")).toMatchObject({ status: 204 })
    expect(await testEngine.request("GET", `/workspaces/${workspace.id}`)).toMatchObject({ status: 404 })
    // The name is free again, and the new organization has no workspaces of the old one.
    await newOrganization(testEngine, "apex")
    expect(await made(testEngine, "GET", "/organizations/apex/workspaces?search%5Bname%5D=shop")).toEqual([])
  })
})
