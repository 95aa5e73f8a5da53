import { describe, expect, test } from "vitest"
import { openWorld, type World } from "../../testing/world.ts"

const organization = (attributes: object, relationships?: object) => ({
  data: { type: "organizations", attributes, ...(relationships && { relationships }) },
})
const acme = organization({ name: "acme", email: "admin@acme.example" })

/** A user who belongs to nothing, and their token. */
async function newUser(world: World, username: string): Promise<{ readonly id: string; readonly token: string }> {
  const user = await world.request("POST", "/admin/users", {
    body: { data: { type: "users", attributes: { username } } },
  })
  const { id } = user.body.data
  const token = await world.request("POST", `/users/${id}/authentication-tokens`, {
    body: { data: { type: "authentication-token", attributes: { description: "test" } } },
  })
  return { id, token: token.body.data.attributes.token }
}

describe("organizations", () => {
  test("any user creates one and owns it, with a team of owners and a default project", async () => {
    await using world = await openWorld()
    const { token } = await newUser(world, "ada")
    const made = await world.request("POST", "/organizations", { token, body: acme })
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
    const teams = await world.request("GET", "/organizations/acme/teams", { token })
    expect(teams.body.data.map((team: { attributes: object }) => team.attributes)).toMatchObject([
      { name: "owners", "users-count": 1 },
    ])
    const projects = await world.request("GET", "/organizations/acme/projects", { token })
    expect(projects.body.data).toMatchObject([
      { id: made.body.data.relationships["default-project"].data.id, attributes: { name: "Default Project" } },
    ])
    const entitlements = await world.request("GET", "/organizations/acme/entitlement-set", { token })
    expect(entitlements.body.data).toMatchObject({
      type: "entitlement-sets",
      attributes: { operations: false, "state-storage": true, teams: true },
    })
  })

  test.each([
    { why: "nothing is given", attributes: {}, faults: { name: "name can't be blank", email: "email can't be blank" } },
    {
      why: "several members are wrong",
      attributes: { name: "a b", email: "nobody" },
      faults: { name: "Name can only include letters, numbers, -, and _.", email: "Email is invalid" },
    },
    {
      why: "types and texts are wrong",
      attributes: { name: 7, email: "a b", "allow-force-delete-workspaces": "yes", "default-execution-mode": "warp" },
      faults: {
        name: "name must be a string",
        email: "Email is invalid",
        "allow-force-delete-workspaces": "allow-force-delete-workspaces must be a boolean",
        "default-execution-mode": 'default-execution-mode must be one of "remote", "local", "agent"',
      },
    },
    {
      why: "the name is taken, in another case",
      attributes: { name: "ACME", email: "a@b" },
      faults: { name: "Name has already been taken" },
    },
  ])("every fault is named at once: $why", async ({ attributes, faults }) => {
    await using world = await openWorld()
    await world.request("POST", "/organizations", { body: acme })
    const answer = await world.request("POST", "/organizations", { body: organization(attributes) })
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
})
