// The owner of one organization has no rights in another, whether its ids are in a path, a query or a body.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Users, document, openUsers, type Subject } from "./users.ts"
import { request, endpoints, prepare } from "./matrix.ts"

let testUsers: Users
/** Belongs to the organization that the stranger is not a member of. */
let subject: Subject
let own: { readonly name: string; readonly workspaceId: string; readonly projectId: string; readonly tagId: string }
let foreign: Readonly<Record<string, string>>

const asStranger = (method: string, path: string, body?: unknown) => subject.as("stranger", method, path, body)
const identifiers = (type: string, id: string) => ({ data: [{ type, id }] })
const related = (type: string, id: string) => ({ data: { type, id } })

beforeAll(async () => {
  testUsers = await openUsers()
  subject = await testUsers.newSubject()
  const name = "abroad"
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await asStranger("POST", path, body)
    expect(answer.status).toBe(201)
    return answer.body.data.id
  }
  await made("/organizations", document("organizations", { name, email: "abroad@example.com" }))
  // An executor asks for a run there too, so that only the foreign resource can be the reason of a refusal.
  expect((await asStranger("POST", `/organizations/${name}/run-claims`)).status).toBe(204)
  own = {
    name,
    workspaceId: await made(`/organizations/${name}/workspaces`, document("workspaces", { name: "own" })),
    projectId: await made(`/organizations/${name}/projects`, document("projects", { name: "own" })),
    tagId: await made(`/organizations/${name}/tags`, document("tags", { name: "own" })),
  }
  const { root, organization, unique } = subject
  const team = document("teams", { name: `${unique}-team`, visibility: "organization" })
  const client = document("oauth-clients", {
    "service-provider": "github",
    "http-url": "https://git.example.com",
    "api-url": "https://git.example.com/api",
    "oauth-token-string": "secret",
  })
  const membership = await root("GET", `/organizations/${organization}/organization-memberships`)
  const connection = await root("POST", `/organizations/${organization}/oauth-clients`, client)
  const tag = await root("POST", `/organizations/${organization}/tags`, document("tags", { name: `${unique}-tag` }))
  const configuration = document("configuration-versions", {})
  const version = await root("POST", `/workspaces/${subject.workspaceId}/configuration-versions`, configuration)
  foreign = {
    workspace: subject.workspaceId,
    project: subject.projectId,
    team: (await root("POST", `/organizations/${organization}/teams`, team)).body.data.id,
    membership: membership.body.data[0].id,
    "oauth token": connection.body.data.relationships["oauth-tokens"].data[0].id,
    tag: tag.body.data.id,
    "configuration version": version.body.data.id,
  }
})
afterAll(() => testUsers[Symbol.asyncDispose]())

describe("the owner of another organization", () => {
  test.each(endpoints.filter((endpoint) => endpoint.includes("/:")))(
    "finds no foreign resource by %s",
    async (endpoint) => {
      const ready = await prepare(endpoint, await testUsers.newSubject(), "stranger")
      expect((await request(testUsers, ready, "stranger")).status).toBe(404)
    },
  )

  interface ForeignReference {
    readonly kind: string
    readonly into: string
    readonly send: (id: string) => Promise<{ readonly status: number; readonly body: unknown }>
  }
  const ownTeam = async () => {
    const listed = await asStranger("GET", `/organizations/${own.name}/teams`)
    return listed.body.data[0].id as string
  }
  const smuggled: readonly ForeignReference[] = [
    {
      kind: "workspace",
      into: "the workspaces of a tag",
      send: (id) => asStranger("POST", `/tags/${own.tagId}/relationships/workspaces`, identifiers("workspaces", id)),
    },
    ...["POST", "PATCH", "DELETE"].map((method) => ({
      kind: "workspace",
      into: `the consumers by ${method}`,
      send: (id: string) =>
        asStranger(
          method,
          `/workspaces/${own.workspaceId}/relationships/remote-state-consumers`,
          identifiers("workspaces", id),
        ),
    })),
    {
      kind: "workspace",
      into: "a project",
      send: (id) =>
        asStranger("POST", `/projects/${own.projectId}/relationships/workspaces`, identifiers("workspaces", id)),
    },
    {
      kind: "workspace",
      into: "a run",
      send: (id) => asStranger("POST", "/runs", document("runs", {}, { workspace: related("workspaces", id) })),
    },
    {
      kind: "workspace",
      into: "the access of a team",
      send: async (id) =>
        asStranger(
          "POST",
          "/team-workspaces",
          document(
            "team-workspaces",
            { access: "read" },
            { team: related("teams", await ownTeam()), workspace: related("workspaces", id) },
          ),
        ),
    },
    {
      kind: "team",
      into: "the access to a workspace",
      send: (id) =>
        asStranger(
          "POST",
          "/team-workspaces",
          document(
            "team-workspaces",
            { access: "read" },
            { team: related("teams", id), workspace: related("workspaces", own.workspaceId) },
          ),
        ),
    },
    {
      kind: "project",
      into: "the access of a team",
      send: async (id) =>
        asStranger(
          "POST",
          "/team-projects",
          document(
            "team-projects",
            { access: "read" },
            { team: related("teams", await ownTeam()), project: related("projects", id) },
          ),
        ),
    },
    {
      kind: "team",
      into: "the access to a project",
      send: (id) =>
        asStranger(
          "POST",
          "/team-projects",
          document(
            "team-projects",
            { access: "read" },
            { team: related("teams", id), project: related("projects", own.projectId) },
          ),
        ),
    },
    {
      kind: "team",
      into: "a new membership",
      send: (id) =>
        asStranger(
          "POST",
          `/organizations/${own.name}/organization-memberships`,
          document(
            "organization-memberships",
            { email: "guest@example.com" },
            { teams: { data: [{ type: "teams", id }] } },
          ),
        ),
    },
    {
      kind: "membership",
      into: "a team",
      send: async (id) =>
        asStranger(
          "POST",
          `/teams/${await ownTeam()}/relationships/organization-memberships`,
          identifiers("organization-memberships", id),
        ),
    },
    {
      kind: "project",
      into: "a new workspace",
      send: (id) =>
        asStranger(
          "POST",
          `/organizations/${own.name}/workspaces`,
          document("workspaces", { name: "smuggled" }, { project: related("projects", id) }),
        ),
    },
    {
      kind: "project",
      into: "a workspace that moves",
      send: (id) =>
        asStranger(
          "PATCH",
          `/workspaces/${own.workspaceId}`,
          document("workspaces", {}, { project: related("projects", id) }),
        ),
    },
    {
      kind: "oauth token",
      into: "a workspace's repository",
      send: (id) =>
        asStranger(
          "PATCH",
          `/workspaces/${own.workspaceId}`,
          document("workspaces", { "vcs-repo": { identifier: "a/b", "oauth-token-id": id } }),
        ),
    },
    {
      kind: "tag",
      into: "the tags to delete",
      send: (id) => asStranger("DELETE", `/organizations/${own.name}/tags`, identifiers("tags", id)),
    },
    {
      kind: "tag",
      into: "the tags of a workspace",
      send: (id) => asStranger("POST", `/workspaces/${own.workspaceId}/relationships/tags`, identifiers("tags", id)),
    },
    {
      kind: "configuration version",
      into: "a run",
      send: (id) =>
        asStranger(
          "POST",
          "/runs",
          document(
            "runs",
            {},
            {
              workspace: related("workspaces", own.workspaceId),
              "configuration-version": related("configuration-versions", id),
            },
          ),
        ),
    },
  ]

  test.each(smuggled)(
    "cannot move $kind from here into $into, nor tell it from a missing one",
    async ({ kind, send }) => {
      const id = foreign[kind]
      if (id === undefined) throw new Error(`there is no ${kind}`)
      const invented = `${id.slice(0, -16)}${"1".repeat(16)}`
      const refused = await send(id)
      const absent = await send(invented)
      expect([404, 422]).toContain(refused.status)
      expect(JSON.parse(JSON.stringify(refused.body).replaceAll(id, invented))).toEqual(absent.body)
      expect(refused.status).toBe(absent.status)
    },
  )

  test.each(["filter%5Bexclude%5D%5Btaggable%5D%5Bid%5D"])(
    "learns nothing by naming a foreign workspace in %s",
    async (parameter) => {
      const path = `/organizations/${own.name}/tags`
      const plain = await asStranger("GET", path)
      const filtered = await asStranger("GET", `${path}?${parameter}=${subject.workspaceId}`)
      expect(filtered.body.data).toEqual(plain.body.data)
    },
  )
})
