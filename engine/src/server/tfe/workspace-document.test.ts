// The workspace document, member by member, of a workspace with default settings and of one with every member set.
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { type ManualClock, manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { workspacePermissionNames } from "../../workspaces/access/workspace-permissions.ts"

const start = Date.UTC(2026, 2, 1)
const at = (milliseconds: number) => new Date(start + milliseconds).toISOString()
const newest = "1.13.3"

/** Loosely typed, because tests read members at any depth. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

interface Shown {
  readonly testEngine: PopulatedEngine
  readonly bare: Loose
  readonly full: Loose
  readonly ids: Readonly<Record<string, string>>
}

const state = JSON.stringify({
  version: 4,
  terraform_version: "1.11.4",
  serial: 1,
  lineage: "line",
  outputs: { url: { value: "https://shop.example", type: "string" } },
  resources: [
    {
      mode: "managed",
      type: "null_resource",
      name: "a",
      provider: 'provider["registry.terraform.io/hashicorp/null"]',
      instances: [{ attributes: {} }, { attributes: {} }],
    },
  ],
})

/** Creates a finished run and then a locked workspace with a state, all over HTTP. */
async function fill(testEngine: PopulatedEngine, clock: ManualClock): Promise<Shown> {
  const post = (path: string, body: unknown) => made(testEngine, "POST", path, body)
  const client = await post(
    "/organizations/acme/oauth-clients",
    document("oauth-clients", {
      name: "Our hub",
      "service-provider": "github",
      "http-url": "https://hub.example/",
      "api-url": "https://api.hub.example",
      "oauth-token-string": "secret",
    }),
  )
  const oauthToken = client.relationships["oauth-tokens"].data[0].id
  const bare = await post("/organizations/acme/workspaces", document("workspaces", { name: "bare" }))
  clock.advance(1_000)
  const { id } = await post(
    "/organizations/acme/workspaces",
    document(
      "workspaces",
      {
        name: "full",
        "allow-destroy-plan": false,
        "assessments-enabled": true,
        "auto-apply": true,
        "auto-apply-run-trigger": true,
        "auto-destroy-at": "2026-06-01T12:00:00Z",
        "auto-destroy-activity-duration": "14d",
        description: "The shop",
        "execution-mode": "remote",
        "file-triggers-enabled": true,
        "global-remote-state": true,
        "queue-all-runs": true,
        "source-name": "Our client",
        "source-url": "https://client.example/1",
        "speculative-enabled": false,
        "structured-run-output-enabled": false,
        "engine-version": "~> 1.5",
        "trigger-prefixes": ["/modules"],
        "vcs-repo": {
          identifier: "acme/shop",
          "oauth-token-id": oauthToken,
          branch: "main",
          "ingress-submodules": true,
        },
        "working-directory": "envs/prod",
      },
      { tags: { data: [{ type: "tags", attributes: { name: "red" } }] } },
    ),
  )
  const configuration = await post(
    `/workspaces/${id}/configuration-versions`,
    document("configuration-versions", { readme: "# Shop", "ingress-attributes": { branch: "main" } }),
  )
  const run = await post(
    "/runs",
    document(
      "runs",
      { message: "go" },
      {
        workspace: one("workspaces", id),
        "configuration-version": one("configuration-versions", configuration.id),
      },
    ),
  )
  // The workspace applies automatically, so no confirmation is needed.
  const steps = [
    ["planning", 100],
    ["planned", 2_000],
    ["applying", 200],
    ["applied", 4_000],
  ] as const
  for (const [status, after] of steps) {
    clock.advance(after)
    await post(`/runs/${run.id}/actions/transition`, { status })
  }
  const variable = await post(
    `/workspaces/${id}/vars`,
    document("vars", { key: "region", value: "eu", category: "terraform" }),
  )
  clock.advance(10_000)
  const assessment = await post(
    `/workspaces/${id}/assessment-results`,
    document("assessment-results", { drifted: true, succeeded: true }),
  )
  const assessedAt = clock.now() - start
  await post(`/workspaces/${id}/actions/lock`, { reason: "maintenance" })
  clock.advance(10_000)
  const version = await post(
    `/workspaces/${id}/state-versions`,
    document("state-versions", {
      serial: 1,
      md5: createHash("md5").update(state).digest("hex"),
      lineage: "line",
      state: Buffer.from(state).toString("base64"),
    }),
  )
  const stateAt = clock.now() - start
  const full = await made(testEngine, "GET", `/workspaces/${id}`)
  const organization = await made(testEngine, "GET", "/organizations/acme")
  const user = await made(testEngine, "GET", "/account/details")
  return {
    testEngine,
    bare: await made(testEngine, "GET", `/workspaces/${bare.id}`),
    full,
    ids: {
      oauthToken,
      configuration: configuration.id,
      run: run.id,
      variable: variable.id,
      assessment: assessment.id,
      stateVersion: version.id,
      project: organization.relationships["default-project"].data.id,
      user: user.id,
      assessedAt: at(assessedAt),
      stateAt: at(stateAt),
    },
  }
}

let shown: Shown
beforeAll(async () => {
  const clock = manualClock(start)
  const testEngine = await populatedEngine({ edition: "hosted", runtime: { ...systemRuntime(), clock } })
  shown = await fill(testEngine, clock)
})
afterAll(() => shown.testEngine[Symbol.asyncDispose]())

describe("the workspace attribute", () => {
  test.each<[title: string, member: string, bare: unknown, full: unknown]>([
    ["[W-2.3-r1] actions.is-destroyable", "actions", { "is-destroyable": true }, { "is-destroyable": false }],
    ["[W-2.3-r2] allow-destroy-plan", "allow-destroy-plan", true, false],
    ["[W-2.3-r3] assessments-enabled", "assessments-enabled", false, true],
    ["[W-2.3-r4] auto-apply", "auto-apply", false, true],
    ["[W-2.3-r5] auto-apply-run-trigger", "auto-apply-run-trigger", false, true],
    ["[W-2.3-r6] auto-destroy-at", "auto-destroy-at", null, "2026-06-01T12:00:00.000Z"],
    ["[W-2.3-r7] auto-destroy-status", "auto-destroy-status", null, null],
    ["[W-2.3-r8] auto-destroy-activity-duration", "auto-destroy-activity-duration", null, "14d"],
    ["[W-2.3-r9] inherits-project-auto-destroy", "inherits-project-auto-destroy", true, false],
    ["[W-2.3-r10] created-at", "created-at", at(0), at(1_000)],
    ["[W-2.3-r11] description", "description", null, "The shop"],
    ["[W-2.3-r12] environment", "environment", "default", "default"],
    ["[W-2.3-r13] execution-mode", "execution-mode", "remote", "remote"],
    ["[W-2.3-r14] file-triggers-enabled", "file-triggers-enabled", true, true],
    ["[W-2.3-r15] global-remote-state", "global-remote-state", false, true],
    ["[W-2.3-r18] locked", "locked", false, true],
    ["[W-2.3-r19] locked-reason", "locked-reason", null, "maintenance"],
    ["[W-2.3-r20] name", "name", "bare", "full"],
    ["[W-2.3-r21] oauth-client-name", "oauth-client-name", null, "Our hub"],
    ["[W-2.3-r22] operations", "operations", true, true],
    ["[W-2.3-r24] apply-duration-average in milliseconds", "apply-duration-average", null, 4_000],
    ["[W-2.3-r25] plan-duration-average in milliseconds", "plan-duration-average", null, 2_000],
    ["[W-2.3-r26] policy-check-failures", "policy-check-failures", null, 0],
    ["[W-2.3-r27] run-failures", "run-failures", null, 0],
    ["[W-2.3-r28] workspace-kpis-runs-count", "workspace-kpis-runs-count", null, 1],
    ["[W-2.3-r28] the other spelling, workspace-kpis-run-count", "workspace-kpis-run-count", null, 1],
    ["[W-2.3-r29] queue-all-runs", "queue-all-runs", false, true],
    ["[W-2.3-r30] resource-count", "resource-count", 0, 2],
    ["[W-2.3-r31] source", "source", "tfe-api", "tfe-api"],
    ["[W-2.3-r32] source-name", "source-name", null, "Our client"],
    ["[W-2.3-r33] source-url", "source-url", null, "https://client.example/1"],
    ["[W-2.3-r34] speculative-enabled", "speculative-enabled", true, false],
    ["[W-2.3-r35] structured-run-output-enabled", "structured-run-output-enabled", true, false],
    ["[W-2.3-r36] tag-names", "tag-names", [], ["red"]],
    ["[W-2.3-r37] engine-version", "engine-version", newest, "~> 1.5"],
    ["[W-2.3-r37] terraform-version, as HCP Terraform clients read it", "terraform-version", newest, "~> 1.5"],
    ["[W-2.3-r38] trigger-prefixes", "trigger-prefixes", [], ["/modules"]],
    ["[W-2.3-r39] trigger-patterns", "trigger-patterns", [], []],
    ["[W-2.3-r42] vcs-repo-identifier", "vcs-repo-identifier", null, "acme/shop"],
    ["[W-2.3-r43] working-directory", "working-directory", null, "envs/prod"],
    [
      "[W-2.3-r44] setting-overwrites",
      "setting-overwrites",
      { "execution-mode": false, "agent-pool": false },
      { "execution-mode": true, "agent-pool": true },
    ],
  ])("%s", (_title, member, bare, full) => {
    expect(shown.bare.attributes[member]).toEqual(bare)
    expect(shown.full.attributes[member]).toEqual(full)
  })

  test("[W-2.3-r16] latest-change-at is the creation time of the newest state version, else of the workspace", () => {
    expect(shown.bare.attributes["latest-change-at"]).toBe(shown.bare.attributes["created-at"])
    expect(shown.full.attributes["latest-change-at"]).toBe(shown.ids["stateAt"])
  })

  test("[W-2.3-r17] last-assessment-result-at is the time of the last assessment", () => {
    expect(shown.bare.attributes["last-assessment-result-at"]).toBeNull()
    expect(shown.full.attributes["last-assessment-result-at"]).toBe(shown.ids["assessedAt"])
  })

  test("[W-2.3-r40] updated-at is a timestamp that changes with the settings", async () => {
    await using testEngine = await populatedEngine()
    const id = await testEngine.workspace("web")
    const before = await made(testEngine, "GET", `/workspaces/${id}`)
    expect(before.attributes["updated-at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const same = await made(testEngine, "PATCH", `/workspaces/${id}`, document("workspaces", { name: "web" }))
    expect(same.attributes["updated-at"]).toBe(before.attributes["updated-at"])
    const after = await made(testEngine, "PATCH", `/workspaces/${id}`, document("workspaces", { "auto-apply": true }))
    expect(after.attributes["updated-at"] > before.attributes["updated-at"]).toBe(true)
  })

  test("[W-2.3-r23] permissions has one boolean for each right", () => {
    const { permissions } = shown.full.attributes
    expect(Object.keys(permissions)).toHaveLength(workspacePermissionNames.length)
    expect(Object.values(permissions).every((held) => held === true)).toBe(true)
  })

  test("[W-2.3-r41] [W-2.3-p4] vcs-repo has strings and one boolean, or is null", () => {
    expect(shown.bare.attributes["vcs-repo"]).toBeNull()
    expect(shown.full.attributes["vcs-repo"]).toEqual({
      branch: "main",
      "display-identifier": "acme/shop",
      identifier: "acme/shop",
      "ingress-submodules": true,
      "oauth-token-id": shown.ids["oauthToken"],
      "github-app-installation-id": "",
      "repository-http-url": "https://hub.example/acme/shop",
      "service-provider": "github",
      "tags-regex": "",
      "webhook-url": "",
    })
  })

  test("[W-2.3-r3] [W-1-n5] assessments-enabled is neither accepted nor returned by the self-hosted edition", async () => {
    await using testEngine = await populatedEngine({ edition: "self-hosted" })
    const post = (enabled: boolean) =>
      testEngine.request("POST", "/organizations/acme/workspaces", {
        body: document("workspaces", { name: "web", "assessments-enabled": enabled }),
      })
    const refused = await post(true)
    expect([refused.status, refused.body.errors[0].source]).toEqual([
      422,
      { pointer: "/data/attributes/assessments-enabled" },
    ])
    // Clients send false along with their other attributes.
    const { status, body } = await post(false)
    expect(status).toBe(201)
    expect(body.data.attributes).not.toHaveProperty("assessments-enabled")
  })

  test("[W-2.3-r22] operations follows the execution mode: false is local", async () => {
    await using testEngine = await populatedEngine()
    const id = await testEngine.workspace("web", { executionMode: "local" })
    const { attributes } = await made(testEngine, "GET", `/workspaces/${id}`)
    expect(attributes).toMatchObject({ "execution-mode": "local", operations: false })
  })
})

describe("a workspace resource", () => {
  test("[W-2.3-p1] has id, type, attributes, links and relationships at the top level", () => {
    expect(Object.keys(shown.full).toSorted()).toEqual(["attributes", "id", "links", "relationships", "type"])
    expect(shown.full.id).toMatch(/^ws-[a-zA-Z0-9]{16}$/)
    expect(shown.full.type).toBe("workspaces")
  })

  test("[W-2.3-p2] has links to itself and to its page", () => {
    expect(shown.full.links).toEqual({
      self: "/api/v2/organizations/acme/workspaces/full",
      "self-html": "/app/acme/workspaces/full",
    })
  })
})

describe("the workspace relationship", () => {
  const identified = (type: string, id: string | undefined) => ({ data: { id, type } })

  test.each<[title: string, member: string, type: string, id: string, path: string | undefined]>([
    [
      "[W-2.5-r2] current-configuration-version",
      "current-configuration-version",
      "configuration-versions",
      "configuration",
      "configuration-versions/",
    ],
    ["[W-2.5-r3] current-run", "current-run", "runs", "run", "runs/"],
    ["[W-2.5-r4] [W-9-n2] latest-run, the same as current-run", "latest-run", "runs", "run", "runs/"],
    [
      "[W-2.5-r6] current-assessment-result",
      "current-assessment-result",
      "assessment-results",
      "assessment",
      undefined,
    ],
  ])("%s names its resource, or null", (_title, member, type, id, path) => {
    expect(shown.bare.relationships[member].data).toBeNull()
    expect(shown.full.relationships[member]).toMatchObject(identified(type, shown.ids[id]))
    const related = path === undefined ? undefined : `/api/v2/${path}${shown.ids[id]}`
    expect(shown.full.relationships[member].links?.related).toBe(related)
  })

  test("[W-2.5-r5] current-state-version has the id and the link of the state version", () => {
    expect(shown.full.relationships["current-state-version"]).toEqual({
      ...identified("state-versions", shown.ids["stateVersion"]),
      links: { related: `/api/v2/workspaces/${shown.full.id}/current-state-version` },
    })
    expect(shown.bare.relationships["current-state-version"].data).toBeNull()
  })

  test.each([
    ["[W-2.5-r7] effective-tag-bindings", "effective-tag-bindings", "effective-tag-bindings"],
    ["[W-2.5-r8] tag-bindings", "tag-bindings", "tag-bindings"],
    ["[W-2.5-r13] remote-state-consumers", "remote-state-consumers", "relationships/remote-state-consumers"],
  ])("%s is a link only", (_title, member, path) => {
    expect(shown.full.relationships[member]).toEqual({
      links: { related: `/api/v2/workspaces/${shown.full.id}/${path}` },
    })
  })

  test("[W-2.5-r9] organization has the name as id", () => {
    expect(shown.full.relationships.organization).toEqual(identified("organizations", "acme"))
  })

  test("[W-2.5-r10] outputs lists the outputs of the current state", async () => {
    const { outputs } = shown.full.relationships
    expect(outputs).toEqual({
      data: [{ type: "workspace-outputs", id: expect.stringMatching(/^wsout-/) }],
      links: { related: `/api/v2/workspaces/${shown.full.id}/current-state-version-outputs` },
    })
    expect(shown.bare.relationships.outputs.data).toEqual([])
    const listed = await made(shown.testEngine, "GET", `/workspaces/${shown.full.id}/current-state-version-outputs`)
    expect(listed.map(({ id }: Loose) => id)).toEqual(outputs.data.map(({ id }: Loose) => id))
  })

  test("[W-2.5-r11] project is the organization's default project unless the request names another", () => {
    expect(shown.full.relationships.project).toEqual(identified("projects", shown.ids["project"]))
  })

  test("[W-2.5-r12] readme has the id of the readme of the current configuration, or is null", () => {
    expect(shown.bare.relationships.readme).toEqual({ data: null })
    expect(shown.full.relationships.readme).toEqual({
      data: { type: "workspace-readme", id: expect.stringMatching(/^readme-/) },
    })
  })

  test("[W-2.5-r15] locked-by has the id and the link of the holder, or is null", () => {
    expect(shown.bare.relationships["locked-by"].data).toBeNull()
    expect(shown.full.relationships["locked-by"]).toEqual({
      ...identified("users", shown.ids["user"]),
      links: { related: `/api/v2/users/${shown.ids["user"]}` },
    })
  })

  test("[W-2.5-r15] locked-by has the type of the holder: a team, or a run", async () => {
    await using testEngine = await populatedEngine()
    const byTeam = await testEngine.workspace("by-team")
    const token = await testEngine.token({ on: { [byTeam]: "write" } })
    await made(testEngine, "POST", `/workspaces/${byTeam}/actions/lock`, { reason: "" }, token)
    const byRun = await testEngine.workspace("by-run")
    const run = await made(testEngine, "POST", "/runs", document("runs", {}, { workspace: one("workspaces", byRun) }))
    await made(testEngine, "POST", `/runs/${run.id}/actions/transition`, { status: "planning" })
    const holderOf = async (id: string) =>
      (await made(testEngine, "GET", `/workspaces/${id}`)).relationships["locked-by"].data
    expect(await holderOf(byTeam)).toEqual({ type: "teams", id: expect.stringMatching(/^team-/) })
    expect(await holderOf(byRun)).toEqual({ type: "runs", id: run.id })
  })

  test("[W-2.5-r16] vars lists the workspace's variables", () => {
    expect(shown.bare.relationships.vars).toEqual({ data: [] })
    expect(shown.full.relationships.vars).toEqual({ data: [{ type: "vars", id: shown.ids["variable"] }] })
  })

  test("[W-2.5-p1] data of every related resource has id and type", () => {
    const identifiers = Object.values<Loose>(shown.full.relationships).flatMap(({ data }) => data ?? [])
    expect(identifiers.length).toBeGreaterThan(8)
    for (const identifier of identifiers) expect(Object.keys(identifier).toSorted()).toEqual(["id", "type"])
  })
})

test("[W-9-n1] [W-1-n4] the version is in the path: /api/v2, and nothing is served without it", async () => {
  const { testEngine, full } = shown
  expect((await testEngine.request("GET", `/api/v2/workspaces/${full.id}`)).status).toBe(200)
  expect((await testEngine.request("GET", `http://chancery.test/workspaces/${full.id}`)).status).toBe(404)
  expect((await testEngine.request("GET", `http://chancery.test/api/v1/workspaces/${full.id}`)).status).toBe(404)
})

describe("include", () => {
  const including = (parts: string) =>
    shown.testEngine.request("GET", `/organizations/acme/workspaces/full?include=${parts}`)

  test.each<[part: string, brings: readonly string[]]>([
    ["current_configuration_version", ["configuration-versions"]],
    ["current_configuration_version.ingress_attributes", ["configuration-versions", "ingress-attributes"]],
    ["current_run", ["runs"]],
    ["current_run.configuration_version", ["configuration-versions", "runs"]],
    ["current_run.configuration_version.ingress_attributes", ["configuration-versions", "ingress-attributes", "runs"]],
    ["current_run.plan", ["plans", "runs"]],
    ["locked_by", ["users"]],
    ["organization", ["organizations"]],
    ["outputs", ["workspace-outputs"]],
    ["project", ["projects"]],
    ["readme", ["workspace-readme"]],
    ["current_run.apply", ["applies", "runs"]],
    ["current_state_version", ["state-versions"]],
    ["latest_run", ["runs"]],
    ["vars", ["vars"]],
  ])("[W-4.12-p1] %s adds %j, on show and on list", async (part, brings) => {
    const show = await including(part)
    expect(show.status).toBe(200)
    expect(show.body.included.map(({ type }: Loose) => type).toSorted()).toEqual(brings)
    for (const resource of show.body.included) expect(resource.attributes).toBeTypeOf("object")
    const list = await shown.testEngine.request(
      "GET",
      `/organizations/acme/workspaces?include=${part}&search[name]=full`,
    )
    expect(list.body.included).toEqual(show.body.included)
  })

  test("[W-4.12-p1] several parts are included together, each resource once", async () => {
    const { body } = await including(
      "current_run,current_run.plan,latest_run,current_configuration_version,current_run.configuration_version",
    )
    expect(body.included.map(({ type }: Loose) => type).toSorted()).toEqual(["configuration-versions", "plans", "runs"])
  })

  test("[W-4.12-p1] included outputs have their values, and the readme its text", async () => {
    const { body } = await including("outputs,readme")
    expect(body.included.map(({ attributes }: Loose) => attributes)).toEqual([
      expect.objectContaining({
        name: "url",
        "output-type": "string",
        value: "https://shop.example",
        sensitive: false,
      }),
      { "raw-markdown": "# Shop" },
    ])
  })

  test("included effective tag bindings have ids that the workspace names, and a link to where they are inherited from", async () => {
    const { testEngine } = shown
    const project = await testEngine.engine.projects.create("acme", {
      name: "inheriting",
      tagBindings: [{ key: "region", value: "eu" }],
    })
    const tagBindings = [{ key: "team", value: "core" }]
    for (const name of ["heir-1", "heir-2"]) await testEngine.workspace(name, { projectId: project.id, tagBindings })
    const { body } = await testEngine.request(
      "GET",
      `/organizations/acme/workspaces?include=effective_tag_bindings&filter[project][id]=${project.id}`,
    )
    const inherited = { "inherited-from": `/api/v2/projects/${project.id}` }
    const bindings = new Map<string, Loose>(body.included.map((binding: Loose) => [binding.id, binding]))
    expect(bindings.size).toBe(body.included.length)
    expect(body.data).toHaveLength(2)
    for (const { relationships } of body.data)
      expect(relationships["effective-tag-bindings"].data.map(({ id }: Loose) => bindings.get(id))).toMatchObject([
        { type: "effective-tag-bindings", attributes: { key: "team", value: "core" } },
        { attributes: { key: "region", value: "eu" }, links: inherited },
      ])
  })

  test("an included organization and project do not include each other endlessly", async () => {
    const { body } = await including("organization,project")
    const [organization, project] = body.included
    expect(organization.relationships).not.toHaveProperty("default-project")
    expect(project.relationships.organization.data).toEqual({ type: "organizations", id: "acme" })
    const alone = await including("organization")
    expect(alone.body.included[0].relationships["default-project"].data).toEqual({ type: "projects", id: project.id })
  })

  test("nothing is included when the parameter is absent", async () => {
    expect((await shown.testEngine.request("GET", "/organizations/acme/workspaces/full")).body).not.toHaveProperty(
      "included",
    )
  })

  test.each(["/workspaces/ID", "/organizations/acme/workspaces/full", "/organizations/acme/workspaces"])(
    "[W-4.12-p1] %s rejects an unknown value with 400 and the text that clients match",
    async (path) => {
      const answer = await shown.testEngine.request(
        "GET",
        `${path.replace("ID", shown.full.id)}?include=organization,bogus`,
      )
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0]).toMatchObject({
        detail: expect.stringContaining("include parameter"),
        source: { parameter: "include" },
      })
    },
  )

  test("resources of a workspace that the caller may not read are not included", async () => {
    const token = await shown.testEngine.token({ on: { [shown.full.id]: "read" } })
    const asReader = await shown.testEngine.request(
      "GET",
      `/workspaces/${shown.full.id}?include=outputs,vars,locked_by`,
      {
        token,
      },
    )
    expect(asReader.body.included.map(({ type }: Loose) => type).toSorted()).toEqual([
      "users",
      "vars",
      "workspace-outputs",
    ])
    expect(JSON.stringify(asReader.body.included)).not.toContain("@")
  })
})

describe("the wire format", () => {
  test("[W-1-n3] is JSON:API: documents are sent and received as application/vnd.api+json", async () => {
    const { testEngine } = shown
    const answer = await testEngine.request("POST", "/organizations/acme/workspaces", {
      body: document("workspaces", { name: "typed" }),
      headers: { "content-type": "application/vnd.api+json; charset=utf-8" },
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get("content-type")).toBe("application/vnd.api+json")
    expect(Object.keys(answer.body)).toEqual(["data"])
    const list = await testEngine.request("GET", "/organizations/acme/workspaces")
    expect(Object.keys(list.body).toSorted()).toEqual(["data", "links", "meta"])
    const refused = await testEngine.request("POST", "/organizations/acme/workspaces", {
      body: "name=typed",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    })
    expect(refused.status).toBe(415)
  })

  test("[W-7-p1] has error documents with status, title and detail as strings, and the source of the fault", async () => {
    const refused = await shown.testEngine.request("POST", "/organizations/acme/workspaces", {
      body: document("workspaces", { name: "full" }),
    })
    expect(refused.body).toEqual({
      errors: [
        {
          status: "422",
          title: "invalid attribute",
          detail: "Name has already been taken",
          source: { pointer: "/data/attributes/name" },
        },
      ],
    })
    const missing = await shown.testEngine.request("GET", "/workspaces/ws-1111111111111111")
    expect(missing.body).toEqual({ errors: [{ status: "404", title: "not found", detail: expect.any(String) }] })
  })

  test("[W-9-p1] still returns deprecated members next to their replacements", () => {
    const { attributes, relationships } = shown.full
    expect(attributes["operations"]).toBe(attributes["execution-mode"] !== "local")
    expect(relationships["latest-run"]).toEqual(relationships["current-run"])
  })

  test("[W-4.12-p2] answers 201 to create, 200 to update, list, show, tag lists and SSH key, 404 for missing and 422 for invalid", async () => {
    await using testEngine = await populatedEngine()
    const base = "/organizations/acme/workspaces"
    const created = await testEngine.request("POST", base, { body: document("workspaces", { name: "web" }) })
    expect(created.status).toBe(201)
    const one = `/workspaces/${created.body.data.id}`
    const key = await made(
      testEngine,
      "POST",
      "/organizations/acme/ssh-keys",
      document("ssh-keys", {
        name: "deploy",
        value: "-----BEGIN OPENSSH PRIVATE KEY-----\nkey\n-----END OPENSSH PRIVATE KEY-----",
      }),
    )
    const sshKey = (id: string | null) => ({ body: document("workspaces", { id }) })
    const statusOf = async (method: string, path: string, options = {}) =>
      (await testEngine.request(method, path, options)).status
    expect(await statusOf("PATCH", one, { body: document("workspaces", { description: "x" }) })).toBe(200)
    expect(await statusOf("GET", base)).toBe(200)
    expect(await statusOf("GET", one)).toBe(200)
    for (const list of ["relationships/tags", "tag-bindings", "effective-tag-bindings"]) {
      expect(await statusOf("GET", `${one}/${list}`)).toBe(200)
      expect(await statusOf("GET", `/workspaces/ws-1111111111111111/${list}`)).toBe(404)
    }
    expect(await statusOf("PATCH", `${one}/relationships/ssh-key`, sshKey(key.id))).toBe(200)
    expect(await statusOf("PATCH", `${one}/relationships/ssh-key`, sshKey("sshkey-1111111111111111"))).toBe(404)
    const assigned = await made(testEngine, "GET", one)
    expect(assigned.relationships["ssh-key"].data).toEqual({ type: "ssh-keys", id: key.id })
    expect(await statusOf("PATCH", `${one}/relationships/ssh-key`, sshKey(null))).toBe(200)
    expect(await statusOf("POST", base, { body: document("workspaces", { name: "a b" }) })).toBe(422)
    expect(await statusOf("PATCH", one, { body: document("workspaces", { name: "a b" }) })).toBe(422)
    expect(await statusOf("GET", "/organizations/nobody/workspaces")).toBe(404)
  })

  test("[W-2.5-r14] ssh-key has the id and the link of the key, or is null", async () => {
    await using testEngine = await populatedEngine()
    const id = await testEngine.workspace("web")
    const key = await made(
      testEngine,
      "POST",
      "/organizations/acme/ssh-keys",
      document("ssh-keys", {
        name: "deploy",
        value: "-----BEGIN OPENSSH PRIVATE KEY-----\nkey\n-----END OPENSSH PRIVATE KEY-----",
      }),
    )
    const relationship = async () => (await made(testEngine, "GET", `/workspaces/${id}`)).relationships["ssh-key"]
    expect(await relationship()).toEqual({ data: null, links: { related: null } })
    await made(testEngine, "PATCH", `/workspaces/${id}/relationships/ssh-key`, document("workspaces", { id: key.id }))
    expect(await relationship()).toEqual({
      data: { type: "ssh-keys", id: key.id },
      links: { related: `/api/v2/ssh-keys/${key.id}` },
    })
  })

  test("[W-2.5-p2] the retention policy is a relationship with its concrete type, only while one is set on the workspace", async () => {
    await using testEngine = await populatedEngine()
    const id = await testEngine.workspace("web")
    const policyOf = async () =>
      (await made(testEngine, "GET", `/workspaces/${id}`)).relationships["data-retention-policy"]
    expect(await policyOf()).toBeUndefined()
    const path = `/workspaces/${id}/relationships/data-retention-policy`
    const older = await made(
      testEngine,
      "POST",
      path,
      document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 }),
    )
    expect(await policyOf()).toEqual({ data: { type: "data-retention-policy-delete-olders", id: older.id } })
    const never = await made(testEngine, "POST", path, document("data-retention-policy-dont-deletes", {}))
    expect(await policyOf()).toEqual({ data: { type: "data-retention-policy-dont-deletes", id: never.id } })
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect(await policyOf()).toBeUndefined()
  })
})
