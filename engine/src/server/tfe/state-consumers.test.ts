// Reading the state of another workspace (docs/compatibility.md, "Remote state") by callers who may run in a
// workspace that consumes it. States are uploaded under real locks.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { document, made, many, newMember, newTeam, newUser } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"

let testEngine: PopulatedEngine
let elsewhere: string
let count = 0

beforeAll(async () => {
  testEngine = await populatedEngine()
  elsewhere = (await testEngine.engine.projects.create("acme", { name: "elsewhere" })).id
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const sensitive = { value: "s3cret", type: "string", sensitive: true }

/** Creates a workspace with two states, the newer one current, and returns the addresses of each readable part. */
async function producer() {
  const name = `producer-${(count += 1)}`
  const id = await testEngine.workspace(name)
  await made(testEngine, "POST", `/workspaces/${id}/actions/lock`)
  const put = async (serial: number): Promise<string> => {
    const state = stateFile({ serial, instances: 1, outputs: { password: sensitive } })
    const path = `/workspaces/${id}/state-versions`
    const { id: version, attributes } = await made(testEngine, "POST", path, stateVersionDocument(state))
    const answer = await testEngine.request("PUT", attributes["hosted-state-upload-url"], {
      token: null,
      body: state.text,
    })
    expect(answer.status).toBe(204)
    return version
  }
  const earlier = await put(1)
  const current = await put(2)
  await made(testEngine, "POST", `/workspaces/${id}/actions/unlock`)
  const [output] = await made(testEngine, "GET", `/state-versions/${current}/outputs`)
  return {
    id,
    open: [
      `/workspaces/${id}`,
      `/organizations/acme/workspaces/${name}`,
      `/workspaces/${id}/current-state-version`,
      `/workspaces/${id}/current-state-version-outputs`,
      `/state-versions/${current}`,
      `/state-versions/${current}/download`,
      `/state-versions/${current}/outputs`,
      `/state-version-outputs/${output.id}`,
    ],
    closed: [
      `/state-versions/${earlier}`,
      `/state-versions/${earlier}/download`,
      `/workspaces/${id}/state-versions`,
      `/workspaces/${id}/runs`,
      `/workspaces/${id}/vars`,
      `/workspaces/${id}/configuration-versions`,
      `/workspaces/${id}/readme`,
      `/workspaces/${id}/relationships/tags`,
      `/workspaces/${id}/tag-bindings`,
      `/workspaces/${id}/relationships/remote-state-consumers`,
    ],
  }
}

const patch = (id: string, attributes: object) =>
  testEngine.request("PATCH", `/workspaces/${id}`, { body: document("workspaces", attributes) })

/** Ways in which a workspace becomes, or does not become, a consumer of `subject`. Each returns the id of the workspace. */
const relations = {
  listed: async (subject: string) => {
    const id = await testEngine.workspace(`consumer-${(count += 1)}`, { projectId: elsewhere })
    await made(
      testEngine,
      "POST",
      `/workspaces/${subject}/relationships/remote-state-consumers`,
      many("workspaces", [id]),
    )
    return id
  },
  "listed, beside a project that shares": async (subject: string) => {
    await patch(subject, { "project-remote-state": true })
    return relations.listed(subject)
  },
  "in the project": async (subject: string) => {
    await patch(subject, { "project-remote-state": true })
    return testEngine.workspace(`consumer-${(count += 1)}`)
  },
  "in the organization": async (subject: string) => {
    await patch(subject, { "global-remote-state": true })
    return testEngine.workspace(`consumer-${(count += 1)}`, { projectId: elsewhere })
  },
  "in another project, of a project that shares": async (subject: string) => {
    await patch(subject, { "project-remote-state": true })
    return testEngine.workspace(`consumer-${(count += 1)}`, { projectId: elsewhere })
  },
  "in the project, which does not share": () => testEngine.workspace(`consumer-${(count += 1)}`),
  "in the project, which shares no longer": async (subject: string) => {
    await patch(subject, { "project-remote-state": true })
    await patch(subject, { "project-remote-state": false })
    return testEngine.workspace(`consumer-${(count += 1)}`)
  },
}
type Relation = keyof typeof relations

/** Callers by their relation to the consumer. Each returns a token. */
const callers = {
  "a team that plans there": (consumer: string) => testEngine.token({ on: { [consumer]: "plan" } }),
  "a team that writes there": (consumer: string) => testEngine.token({ on: { [consumer]: "write" } }),
  "a team that reads there": (consumer: string) => testEngine.token({ on: { [consumer]: "read" } }),
  "a user in a team that plans there": async (consumer: string) => {
    const member = await newMember(testEngine, "acme", `member-${(count += 1)}`)
    const team = await newTeam(testEngine, "acme", `runners-${(count += 1)}`, { members: [member] })
    await testEngine.engine.teamWorkspaces.create({ teamId: team, workspaceId: consumer, access: "plan" })
    return member.token
  },
  "a user of the organization in no team": async () =>
    (await newMember(testEngine, "acme", `member-${(count += 1)}`)).token,
  "a user of no organization": async () => (await newUser(testEngine, `stranger-${(count += 1)}`)).token,
}
type CallerName = keyof typeof callers

describe("a shared state", () => {
  const runners: readonly CallerName[] = [
    "a team that plans there",
    "a team that writes there",
    "a user in a team that plans there",
  ]
  const bystanders: readonly CallerName[] = [
    "a team that reads there",
    "a user of the organization in no team",
    "a user of no organization",
  ]
  const sharing: readonly Relation[] = [
    "listed",
    "listed, beside a project that shares",
    "in the project",
    "in the organization",
  ]
  const unshared: readonly Relation[] = [
    "in another project, of a project that shares",
    "in the project, which does not share",
    "in the project, which shares no longer",
  ]
  const rows = [
    ...sharing.flatMap((relation) => runners.map((caller) => ({ relation, caller, status: 200 }))),
    ...sharing.flatMap((relation) => bystanders.map((caller) => ({ relation, caller, status: 404 }))),
    ...unshared.flatMap((relation) => runners.map((caller) => ({ relation, caller, status: 404 }))),
  ]

  test.each(rows)("answers $status to $caller of a workspace $relation", async ({ relation, caller, status }) => {
    const { id, open, closed } = await producer()
    const token = await callers[caller](await relations[relation](id))
    const statusOf = async (path: string) => [path, (await testEngine.request("GET", path, { token })).status]
    expect(await Promise.all(open.map(statusOf))).toEqual(open.map((path) => [path, status]))
    expect(await Promise.all(closed.map(statusOf))).toEqual(closed.map((path) => [path, 404]))
  })

  test("grants its reader only the permission to read the state", async () => {
    const { id } = await producer()
    const token = await callers["a team that plans there"](await relations.listed(id))
    const { permissions } = (await made(testEngine, "GET", `/workspaces/${id}`, undefined, token)).attributes
    const held = Object.keys(permissions).filter((name) => permissions[name] === true)
    expect(held).toEqual(["can-read-state-versions", "can-read-state-outputs"])
  })

  test.each([
    { method: "POST", path: "actions/lock" },
    { method: "POST", path: "actions/unlock" },
    { method: "POST", path: "actions/force-unlock" },
    { method: "POST", path: "actions/safe-delete" },
    { method: "DELETE", path: "" },
    { method: "PATCH", path: "", body: document("workspaces", { description: "mine" }) },
    { method: "POST", path: "state-versions", body: stateVersionDocument(stateFile({ serial: 3 })) },
    { method: "POST", path: "vars", body: document("vars", { key: "k", category: "env" }) },
    { method: "POST", path: "configuration-versions", body: document("configuration-versions", {}) },
    { method: "POST", path: "relationships/tags", body: { data: [{ type: "tags", attributes: { name: "mine" } }] } },
  ])("lets its reader change nothing: $method $path", async ({ method, path, body }) => {
    const { id } = await producer()
    const token = await callers["a team that writes there"](await relations.listed(id))
    const answer = await testEngine.request(method, `/workspaces/${id}/${path}`.replace(/\/$/, ""), { token, body })
    expect(answer.status).toBe(404)
  })

  test("shows a secret output only when it is read by id, to consumers as to others", async () => {
    const { open } = await producer()
    const [, , , list = "", , , , single = ""] = open
    expect((await made(testEngine, "GET", list))[0].attributes).toMatchObject({ name: "password", value: null })
    expect((await made(testEngine, "GET", single)).attributes).toMatchObject({ name: "password", value: "s3cret" })
  })

  test("is not found from other organizations, whatever its settings", async () => {
    const { id, open } = await producer()
    await patch(id, { "global-remote-state": true })
    const name = `other-${(count += 1)}`
    await testEngine.organization(name)
    const foreign = await testEngine.workspace("foreign", { organization: name })
    const team = await testEngine.engine.teams.create(name, { name: "outside" })
    await testEngine.engine.teamWorkspaces.create({ teamId: team.id, workspaceId: foreign, access: "admin" })
    const { secret: token } = await testEngine.engine.tokens.createForTeam(team.id, {})
    for (const path of open) expect((await testEngine.request("GET", path, { token })).status).toBe(404)
  })

  test("follows the workspace to another project: the old project cannot read it, the new one can", async () => {
    const { id, open } = await producer()
    await patch(id, { "project-remote-state": true })
    const [here, there] = [
      await testEngine.workspace(`consumer-${(count += 1)}`),
      await testEngine.workspace(`consumer-${(count += 1)}`, { projectId: elsewhere }),
    ]
    const tokens = [
      await testEngine.token({ on: { [here]: "plan" } }),
      await testEngine.token({ on: { [there]: "plan" } }),
    ]
    const statuses = () =>
      Promise.all(tokens.map(async (token) => (await testEngine.request("GET", open[2] ?? "", { token })).status))
    expect(await statuses()).toEqual([200, 404])
    await testEngine.engine.workspaces.update({ id }, { projectId: elsewhere })
    expect(await statuses()).toEqual([404, 200])
  })
})

describe("the sharing settings", () => {
  test("show whether project and organization share the state, but never both", async () => {
    const { id } = await producer()
    const shown = async () => {
      const { attributes } = await made(testEngine, "GET", `/workspaces/${id}`)
      return [attributes["global-remote-state"], attributes["project-remote-state"]]
    }
    expect(await shown()).toEqual([false, false])
    expect((await patch(id, { "project-remote-state": true })).status).toBe(200)
    expect(await shown()).toEqual([false, true])
    const refused = await patch(id, { "global-remote-state": true })
    expect([refused.status, refused.body.errors[0]]).toMatchObject([
      422,
      {
        detail: "global-remote-state and project-remote-state cannot both be true",
        source: { pointer: "/data/attributes/global-remote-state" },
      },
    ])
    expect((await patch(id, { "global-remote-state": true, "project-remote-state": false })).status).toBe(200)
    expect(await shown()).toEqual([true, false])
    const both = await patch(id, { "project-remote-state": true })
    expect(both.body.errors[0].source).toEqual({ pointer: "/data/attributes/project-remote-state" })
    expect(await shown()).toEqual([true, false])
  })
})
