// Malformed bodies, sent to every identity endpoint that reads one.
import { describe, expect, test } from "vitest"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { made, newOrganization, newTeam, newUser } from "../../../testing/users.ts"
import { type Answer, openTestEngine } from "../../../testing/test-engine.ts"

const typed = (type: string, data: object) => ({ data: { type, ...data } })

/** Malformed documents of one type. Each is accepted or refused without a server error. */
const bodies = (type: string): readonly unknown[] => [
  null,
  7,
  "text",
  [],
  {},
  { data: null },
  { data: [] },
  { data: "text" },
  { data: [null, 7, { type }, { type, id: 7 }, { type, id: "" }, { type, id: "\0" }, { type, id: "\ud800" }] },
  typed("nonsense", {}),
  typed(type, { attributes: null }),
  typed(type, { attributes: [] }),
  typed(type, { attributes: "text", relationships: 7 }),
  typed(type, { attributes: { name: null, username: null, email: null, access: null, description: null } }),
  typed(type, { attributes: { name: "\0", username: "\0", email: "a\0@b", description: "\0", access: "\0" } }),
  typed(type, { attributes: { name: "\ud800", username: "\ud800", email: "\ud800@b", description: "\ud800" } }),
  typed(type, {
    attributes: { name: "a".repeat(100_000), username: "a".repeat(100_000), email: `${"a".repeat(100_000)}@b` },
  }),
  typed(type, { attributes: { "expired-at": "+275760-09-13T00:00:00Z" } }),
  typed(type, { attributes: { "expired-at": "9999-99-99T99:99:99Z" } }),
  typed(type, {
    relationships: { team: null, workspace: { data: [] }, project: { data: null }, teams: { data: [7] } },
  }),
  typed(type, {
    relationships: { teams: { data: [{ type: "teams", id: "\0" }] }, "default-agent-pool": { data: { id: 7 } } },
  }),
  typed(type, { relationships: { "default-agent-pool": { data: { id: "\0" } }, "tag-bindings": { data: [{}] } } }),
  JSON.stringify(typed(type, { attributes: {} })).replace(
    "{}",
    '{"__proto__":{"name":"x"},"constructor":1,"toString":2}',
  ),
  '{"data":',
  "\ufeff{}",
]

/** Returns true for a success, and for a client error whose error objects all have text, the same status and at most one source. */
function isSound({ status, body }: Answer): boolean {
  if (status < 400) return true
  if (status >= 500 || !Array.isArray(body?.errors) || body.errors.length === 0) return false
  return body.errors.every((error: Record<string, unknown>) => {
    const source = Object.entries(error["source"] ?? {})
    const isPlaced = source.every(
      ([name, place]) => ["pointer", "parameter"].includes(name) && typeof place === "string",
    )
    const isWorded = [error["title"], error["detail"]].every((text) => typeof text === "string" && text !== "")
    return error["status"] === String(status) && isWorded && isPlaced && source.length <= 1
  })
}

// Databases differ in the text that they accept, such as U+0000 and lone surrogates.
const kinds = databaseKinds.filter(({ name, available }) => available && name !== "SQLite file")

describe.each(kinds)("$name", (kind) => {
  test("is never answered with 5xx, and every error is an error document with a source", async () => {
    await using place = await kind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    await newOrganization(testEngine, "acme")
    const { id: user } = await newUser(testEngine, "ada")
    const team = await newTeam(testEngine, "acme", "devs")
    const [project] = await made(testEngine, "GET", "/organizations/acme/projects")
    const endpoints = [
      ["POST", "/organizations", "organizations"],
      ["PATCH", "/organizations/acme", "organizations"],
      ["POST", "/organizations/acme/projects", "projects"],
      ["PATCH", `/projects/${project.id}`, "projects"],
      ["POST", `/projects/${project.id}/relationships/workspaces`, "workspaces"],
      ["POST", "/organizations/acme/organization-memberships", "organization-memberships"],
      ["POST", "/organizations/acme/teams", "teams"],
      ["PATCH", `/teams/${team}`, "teams"],
      ["POST", `/teams/${team}/relationships/users`, "users"],
      ["DELETE", `/teams/${team}/relationships/users`, "users"],
      ["POST", `/teams/${team}/relationships/organization-memberships`, "organization-memberships"],
      ["POST", "/team-workspaces", "team-workspaces"],
      ["POST", "/team-projects", "team-projects"],
      ["POST", "/admin/users", "users"],
      ["PATCH", "/account/details", "users"],
      ["PATCH", "/admin/general-settings", "general-settings"],
      ["POST", `/users/${user}/authentication-tokens`, "authentication-tokens"],
      ["POST", `/teams/${team}/authentication-tokens`, "authentication-tokens"],
    ] as const
    const broken: string[] = []
    for (const [method, path, type] of endpoints)
      for (const body of bodies(type)) {
        const answer = await testEngine.request(method, path, { body })
        if (!isSound(answer))
          broken.push(
            `${method} ${path} ${JSON.stringify(body).slice(0, 120)} → ${answer.status} ${JSON.stringify(answer.body)}`,
          )
      }
    expect(broken).toEqual([])
    expect((await made(testEngine, "GET", "/account/details")).attributes.username).toBe("root")
  })

  test("no query and no id is answered with 5xx", async () => {
    await using place = await kind.place()
    await using testEngine = await openTestEngine({ url: place.url })
    await newOrganization(testEngine, "acme")
    const values = ["", "%00", "%ED%A0%80", "a".repeat(5_000), "%25_'\"\\", ",,,", "9999999999999999999", "-1", "1e3"]
    const names = [
      "q",
      "filter%5Bnames%5D",
      "filter%5Bemail%5D",
      "filter%5Bstatus%5D",
      "page%5Bnumber%5D",
      "page%5Bsize%5D",
      "include",
    ]
    const paths = [
      "/organizations",
      "/organizations/acme/projects",
      "/organizations/acme/teams",
      "/organizations/acme/organization-memberships",
      "/admin/users",
      "/team-workspaces",
      "/team-projects",
    ]
    const ids = ["%00", "%ED%A0%80", "..", "a".repeat(5_000), "%2F", "__proto__"]
    const subjects = [
      "/organizations",
      "/teams",
      "/projects",
      "/users",
      "/authentication-tokens",
      "/organization-memberships",
      "/team-projects",
      "/team-workspaces",
    ]
    const addresses = [
      ...paths.flatMap((path) => names.flatMap((name) => values.map((value) => `${path}?${name}=${value}`))),
      ...subjects.flatMap((path) => ids.map((id) => `${path}/${id}`)),
    ]
    const broken: string[] = []
    for (const address of addresses) {
      const answer = await testEngine.request("GET", address)
      if (!isSound(answer)) broken.push(`${address.slice(0, 120)} → ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    expect(broken).toEqual([])
  })
})
