// Creating, changing, reading and deleting workspaces over HTTP (W-4.2, W-4.3, W-4.5 and W-4.6 of docs/conformance.md).
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { document, made, newOrganization, one } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { knownReleases, latestRelease } from "../../workspaces/workspace/terraform-version.ts"

/** Loosely typed, because tests read members at any depth. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const collection = "/organizations/acme/workspaces"
const workspaces = (attributes: object, relationships?: object) => document("workspaces", attributes, relationships)
const bindings = (pairs: Readonly<Record<string, string>>) => ({
  "tag-bindings": {
    data: Object.entries(pairs).map(([key, value]) => ({ type: "tag-bindings", attributes: { key, value } })),
  },
})
const pointersOf = (body: Loose): string[] => body.errors.map(({ source }: Loose) => source?.pointer ?? "")

/** Ids of resources that workspace settings refer to, of `acme` or of another organization. */
interface Things {
  readonly agentPool: string
  readonly oauthToken: string
  readonly installation: string
  readonly project: string
  readonly tag: string
}

async function thingsOf(testEngine: PopulatedEngine, organization: string): Promise<Things> {
  const post = (path: string, body: unknown) => made(testEngine, "POST", `/organizations/${organization}${path}`, body)
  const client = await post(
    "/oauth-clients",
    document("oauth-clients", {
      "service-provider": "github",
      "http-url": "https://github.com",
      "api-url": "https://api.github.com",
      "oauth-token-string": "secret",
    }),
  )
  const tags = await post("/tags", { data: [{ type: "tags", attributes: { name: `of-${organization}` } }] })
  return {
    agentPool: (await post("/agent-pools", document("agent-pools", { name: "pool" }))).id,
    oauthToken: client.relationships["oauth-tokens"].data[0].id,
    installation: (
      await post(
        "/github-app/installations",
        document("github-app-installations", { name: "app", "installation-id": 1 }),
      )
    ).id,
    project: (await post("/projects", document("projects", { name: "Other project" }))).id,
    tag: (Array.isArray(tags) ? tags[0] : tags).id,
  }
}

let testEngine: PopulatedEngine
let ours: Things
let theirs: Things
let count = 0
const freshName = () => `ws-${(count += 1)}`

beforeAll(async () => {
  testEngine = await populatedEngine()
  await newOrganization(testEngine, "rival")
  ours = await thingsOf(testEngine, "acme")
  theirs = await thingsOf(testEngine, "rival")
})
afterAll(() => testEngine[Symbol.asyncDispose]())

/** Replaces `$agentPool` with the id in our organization, and `$$agentPool` with the id in the other one. */
function withIds<T>(value: T): T {
  const text = JSON.stringify(value)
    .replaceAll(/\$\$(\w+)/g, (_match, name: keyof Things) => theirs[name])
    .replaceAll(/\$(\w+)/g, (_match, name: keyof Things) => ours[name])
  return JSON.parse(text) as T
}

const create = async (attributes: object, relationships?: object): Promise<Loose> =>
  made(testEngine, "POST", collection, withIds(workspaces({ name: freshName(), ...attributes }, relationships)))
const change = async (id: string, attributes: object, relationships?: object): Promise<Loose> =>
  made(testEngine, "PATCH", `/workspaces/${id}`, withIds(workspaces(attributes, relationships)))

describe("create", () => {
  test("[W-4.2-p1] [W-1-n1] answers 201 with the workspace, in its organization; showing it by id and by name returns the same", async () => {
    const answer = await testEngine.request("POST", collection, { body: workspaces({ name: "first" }) })
    expect(answer.status).toBe(201)
    const { data } = answer.body
    expect(data).toMatchObject({ type: "workspaces", attributes: { name: "first" } })
    expect((await testEngine.request("GET", `/workspaces/${data.id}`)).body).toEqual(answer.body)
    expect((await testEngine.request("GET", `${collection}/first`)).body).toEqual(answer.body)
  })

  test("[W-4.5-p1] [W-4-b2] returns the same document at both paths; any case of the name finds the workspace", async () => {
    const { id } = await create({ name: "Both-Forms_1" })
    const byId = await testEngine.request("GET", `/workspaces/${id}`)
    expect(byId.status).toBe(200)
    for (const name of ["Both-Forms_1", "both-forms_1"])
      expect((await testEngine.request("GET", `${collection}/${name}`)).body).toEqual(byId.body)
    expect((await testEngine.request("GET", `${collection}/no-such`)).status).toBe(404)
    expect((await testEngine.request("GET", "/workspaces/ws-1111111111111111")).status).toBe(404)
    expect((await testEngine.request("GET", "/organizations/nobody/workspaces/Both-Forms_1")).status).toBe(404)
  })

  test.each<[title: string, member: string, expected: unknown]>([
    ["[W-4.2-r3] allow-destroy-plan", "allow-destroy-plan", true],
    ["[W-4.2-r5] auto-apply", "auto-apply", false],
    ["[W-4.2-r6] auto-apply-run-trigger", "auto-apply-run-trigger", false],
    ["[W-4.2-r7] auto-destroy-at", "auto-destroy-at", null],
    ["[W-4.2-r8] auto-destroy-activity-duration", "auto-destroy-activity-duration", null],
    ["[W-4.2-r9] description", "description", null],
    ["[W-4.2-r10] execution-mode, inherited from the organization", "execution-mode", "remote"],
    ["[W-4.2-r11] file-triggers-enabled", "file-triggers-enabled", true],
    ["[W-4.2-r12] global-remote-state", "global-remote-state", false],
    ["[W-4.2-r13] operations", "operations", true],
    ["[W-4.2-r14] queue-all-runs", "queue-all-runs", false],
    ["[W-4.2-r15] source-name", "source-name", null],
    ["[W-4.2-r16] source-url", "source-url", null],
    ["[W-4.2-r17] speculative-enabled", "speculative-enabled", true],
    ["[W-4.2-r18] engine-version, the latest release", "engine-version", latestRelease(knownReleases())],
    ["[W-4.2-r19] trigger-patterns", "trigger-patterns", []],
    ["[W-4.2-r20] trigger-prefixes", "trigger-prefixes", []],
    ["[W-4.2-r21] vcs-repo", "vcs-repo", null],
    ["[W-4.2-r27] working-directory, the repository root", "working-directory", null],
    [
      "[W-4.2-r28] setting-overwrites, both inherited",
      "setting-overwrites",
      { "execution-mode": false, "agent-pool": false },
    ],
  ])("%s has its default", async (_title, member, expected) => {
    expect((await create({})).attributes[member]).toEqual(expected)
  })

  const repo = { identifier: "acme/web", "oauth-token-id": "$oauthToken" }
  const accepted: [title: string, attributes: object, expected: object][] = [
    ["[W-4.2-r1] [W-8-r5] names of letters, numbers, - and _", { name: "Az-09_" }, { name: "Az-09_" }],
    [
      "[W-4.2-r2] agent mode with a pool of the organization",
      { "execution-mode": "agent", "agent-pool-id": "$agentPool" },
      { "execution-mode": "agent", "setting-overwrites": { "execution-mode": true, "agent-pool": true } },
    ],
    ["[W-4.2-r2] an empty pool id means none", { "execution-mode": "local", "agent-pool-id": "" }, {}],
    ["[W-4.2-r3] allow-destroy-plan", { "allow-destroy-plan": false }, { "allow-destroy-plan": false }],
    ["[W-4.2-r5] auto-apply", { "auto-apply": true }, { "auto-apply": true }],
    ["[W-4.2-r6] auto-apply-run-trigger", { "auto-apply-run-trigger": true }, { "auto-apply-run-trigger": true }],
    [
      "[W-4.2-r7] auto-destroy-at, in the past as well, in any zone",
      { "auto-destroy-at": "2025-01-01T02:00:00+02:00" },
      { "auto-destroy-at": "2025-01-01T00:00:00.000Z", "inherits-project-auto-destroy": false },
    ],
    [
      "[W-4.2-r8] [W-8-r3] auto-destroy-activity-duration of up to four digits in days or hours",
      { "auto-destroy-activity-duration": "9999h" },
      { "auto-destroy-activity-duration": "9999h", "auto-destroy-at": expect.stringMatching(/Z$/) },
    ],
    ["[W-4.2-r9] description", { description: "Ünïcode 🛒" }, { description: "Ünïcode 🛒" }],
    ["[W-4.2-r10] local mode", { "execution-mode": "local" }, { "execution-mode": "local", operations: false }],
    ["[W-4.2-r11] file-triggers-enabled", { "file-triggers-enabled": false }, { "file-triggers-enabled": false }],
    ["[W-4.2-r12] global-remote-state", { "global-remote-state": true }, { "global-remote-state": true }],
    ["[W-4.2-r13] [W-9-n2] operations false is local mode", { operations: false }, { "execution-mode": "local" }],
    ["[W-4.2-r13] operations true is remote mode", { operations: true }, { "execution-mode": "remote" }],
    ["[W-4.2-r14] queue-all-runs", { "queue-all-runs": true }, { "queue-all-runs": true }],
    ["[W-4.2-r15] source-name", { "source-name": "Our client" }, { "source-name": "Our client" }],
    ["[W-4.2-r16] source-url", { "source-url": "https://x.example" }, { "source-url": "https://x.example" }],
    ["[W-4.2-r17] speculative-enabled", { "speculative-enabled": false }, { "speculative-enabled": false }],
    ["[W-4.2-r18] an exact version", { "engine-version": "1.11.4" }, { "engine-version": "1.11.4" }],
    [
      "[W-4.2-r18] a constraint, stored unchanged",
      { "engine-version": ">= 1.2, < 2" },
      { "engine-version": ">= 1.2, < 2" },
    ],
    [
      "[W-4.2-r18] terraform-version, as HCP Terraform clients send it",
      { "terraform-version": "1.5.7" },
      { "engine-version": "1.5.7" },
    ],
    ["[W-4.2-r19] trigger-patterns", { "trigger-patterns": ["/a/**/*"] }, { "trigger-patterns": ["/a/**/*"] }],
    ["[W-4.2-r20] trigger-prefixes", { "trigger-prefixes": ["/a", "/b"] }, { "trigger-prefixes": ["/a", "/b"] }],
    ["[W-4.2-r21] a repository", { "vcs-repo": repo }, { "vcs-repo-identifier": "acme/web" }],
    [
      "[W-4.2-r22] the identifier of the other provider variant",
      { "vcs-repo": { ...repo, identifier: "acme/shop/_git/web" } },
      { "vcs-repo-identifier": "acme/shop/_git/web" },
    ],
    [
      "[W-4.2-r24] [W-4.2-r25] an empty branch, and no submodules, by default",
      { "vcs-repo": repo },
      { "vcs-repo": expect.objectContaining({ branch: "", "ingress-submodules": false }) },
    ],
    [
      "[W-4.2-r24] [W-4.2-r25] a branch and submodules",
      { "vcs-repo": { ...repo, branch: "release/1", "ingress-submodules": true } },
      { "vcs-repo": expect.objectContaining({ branch: "release/1", "ingress-submodules": true }) },
    ],
    [
      "[W-4.2-r26] a tags regex, which turns file triggers off",
      { "vcs-repo": { ...repo, "tags-regex": "v\\d+" } },
      { "vcs-repo": expect.objectContaining({ "tags-regex": "v\\d+" }), "file-triggers-enabled": false },
    ],
    [
      "[W-4.2-r26] an empty tags regex means none",
      { "vcs-repo": { ...repo, "tags-regex": "" }, "trigger-patterns": ["/a"] },
      { "vcs-repo": expect.objectContaining({ "tags-regex": "" }), "trigger-patterns": ["/a"] },
    ],
    ["[W-4.2-r27] a relative working-directory", { "working-directory": "a/b/" }, { "working-directory": "a/b/" }],
    ["[F-W11] a leading slash in working-directory", { "working-directory": "/db" }, { "working-directory": "/db" }],
    [
      "[W-4.2-r28] setting-overwrites false inherits, whatever mode is sent",
      { "execution-mode": "local", "setting-overwrites": { "execution-mode": false, "agent-pool": false } },
      { "execution-mode": "remote", "setting-overwrites": { "execution-mode": false, "agent-pool": false } },
    ],
    [
      "[W-4.2-r28] an absent member of setting-overwrites is true",
      { "execution-mode": "local", "setting-overwrites": {} },
      { "execution-mode": "local", "setting-overwrites": { "execution-mode": true, "agent-pool": true } },
    ],
    ["unknown attributes are ignored", { "no-such-attribute": { a: 1 } }, {}],
    ["null equals an absent attribute", { "auto-apply": null, "trigger-patterns": null, "vcs-repo": null }, {}],
  ]
  test.each(accepted)("%s is accepted", async (_title, attributes, expected) => {
    const { id, attributes: returned } = await create(attributes)
    expect(returned).toMatchObject(expected)
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes).toEqual(returned)
  })

  test("[W-4.2-r2] returns the pool of an agent workspace as its relationship", async () => {
    const created = await create({ "execution-mode": "agent", "agent-pool-id": "$agentPool" })
    expect(created.relationships["agent-pool"]).toEqual({ data: { type: "agent-pools", id: ours.agentPool } })
    const none = await create({})
    expect(none.relationships["agent-pool"]).toEqual({ data: null })
  })

  test("[W-2.5-r1] returns as agent-pool the pool in use: own, or the organization's default", async () => {
    await using other = await populatedEngine()
    const pool = await made(other, "POST", "/organizations/acme/agent-pools", document("agent-pools", { name: "p" }))
    await made(
      other,
      "PATCH",
      "/organizations/acme",
      document(
        "organizations",
        { "default-execution-mode": "agent" },
        { "default-agent-pool": one("agent-pools", pool.id) },
      ),
    )
    const inherits = await made(other, "POST", collection, workspaces({ name: "inherits" }))
    expect(inherits.attributes["execution-mode"]).toBe("agent")
    expect(inherits.relationships["agent-pool"]).toEqual({ data: { type: "agent-pools", id: pool.id } })
    const own = await made(other, "POST", collection, workspaces({ name: "own", "execution-mode": "local" }))
    expect(own.attributes["execution-mode"]).toBe("local")
    expect(own.relationships["agent-pool"]).toEqual({ data: null })
  })

  test("[W-4.2-r12] uses the administrators' default when global-remote-state is absent", async () => {
    await using other = await populatedEngine()
    const settings = document("general-settings", { "default-remote-state-access": true })
    await made(other, "PATCH", "/admin/general-settings", settings)
    const left = await made(other, "POST", collection, workspaces({ name: "left-out" }))
    expect(left.attributes["global-remote-state"]).toBe(true)
    const said = await made(other, "POST", collection, workspaces({ name: "said", "global-remote-state": false }))
    expect(said.attributes["global-remote-state"]).toBe(false)
  })

  test("[W-4.2-r18] uses a release that an administrator added as the latest one", async () => {
    await using other = await populatedEngine()
    await made(
      other,
      "PATCH",
      "/admin/general-settings",
      document("general-settings", { "engine-releases": ["99.1.0"] }),
    )
    const latest = await made(other, "POST", collection, workspaces({ name: "latest" }))
    expect(latest.attributes["engine-version"]).toBe("99.1.0")
    const constrained = await made(other, "POST", collection, workspaces({ name: "c", "engine-version": "~> 99.0" }))
    expect(constrained.attributes["engine-version"]).toBe("~> 99.0")
  })

  test("[W-4.2-r29] uses the requested project, else the default one", async () => {
    const asked = await create({}, { project: one("projects", "$project") })
    expect(asked.relationships.project.data.id).toBe(ours.project)
    const blank = await create({}, { project: one("projects", "") })
    const { relationships } = await made(testEngine, "GET", "/organizations/acme")
    expect(blank.relationships.project.data).toEqual(relationships["default-project"].data)
  })

  test.each([["$$project"], ["prj-1111111111111111"], ["nonsense"]])(
    "[W-4.2-r29] answers 404 for a project that is not in the organization: %s",
    async (id) => {
      const body = withIds(workspaces({ name: "elsewhere" }, { project: one("projects", id) }))
      expect((await testEngine.request("POST", collection, { body })).status).toBe(404)
      expect((await testEngine.request("GET", `${collection}/elsewhere`)).status).toBe(404)
    },
  )

  test("[W-4.2-r29] needs the right to create workspaces in the project", async () => {
    const team = await made(testEngine, "POST", "/organizations/acme/teams", document("teams", { name: "makers" }))
    await made(
      testEngine,
      "POST",
      "/team-projects",
      document(
        "team-projects",
        { access: "maintain" },
        { team: one("teams", team.id), project: one("projects", ours.project) },
      ),
    )
    const { attributes } = await made(testEngine, "POST", `/teams/${team.id}/authentication-token`)
    const post = (name: string, relationships?: object) =>
      testEngine.request("POST", collection, {
        token: attributes.token,
        body: withIds(workspaces({ name }, relationships)),
      })
    expect((await post("makers-1", { project: one("projects", "$project") })).status).toBe(201)
    expect((await post("makers-2")).status).toBe(404)
  })

  test("[W-4.2-r30] [W-4.2-r31] [W-4.2-r32] [W-4.2-r33] adds key-value tags and flat tags", async () => {
    const { id } = await create(
      {},
      {
        ...bindings({ env: "prod", tier: "" }),
        tags: {
          data: [
            { type: "tags", attributes: { name: "red" } },
            { type: "tags", id: ours.tag },
          ],
        },
      },
    )
    const bound = await made(testEngine, "GET", `/workspaces/${id}/tag-bindings`)
    expect(Object.fromEntries(bound.map(({ attributes }: Loose) => [attributes.key, attributes.value]))).toEqual({
      env: "prod",
      tier: "",
    })
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes["tag-names"]).toEqual(["of-acme", "red"])
  })

  test("[W-4.2-p1] answers 404 to callers who may not create workspaces in the organization, and 201 to others", async () => {
    const post = async (token: string | null) =>
      (await testEngine.request("POST", collection, { token, body: workspaces({ name: freshName() }) })).status
    expect(await post(null)).toBe(401)
    expect(await post(await testEngine.token())).toBe(404)
    expect(await post(await testEngine.token({ organization: { readWorkspaces: true } }))).toBe(404)
    expect(await post(await testEngine.token({ organization: { manageWorkspaces: true } }))).toBe(201)
    const missing = await testEngine.request("POST", "/organizations/nobody/workspaces", {
      body: workspaces({ name: "x" }),
    })
    expect(missing.status).toBe(404)
  })

  test("[W-4.2-r4] [W-9-n2] accepts drift-detection as former name of assessments-enabled, which the organization may enforce", async () => {
    await using hosted = await populatedEngine({ edition: "hosted" })
    const former = await made(hosted, "POST", collection, workspaces({ name: "former", "drift-detection": true }))
    expect(former.attributes["assessments-enabled"]).toBe(true)
    const plain = await made(hosted, "POST", collection, workspaces({ name: "plain" }))
    const local = await made(hosted, "POST", collection, workspaces({ name: "local", "execution-mode": "local" }))
    expect(plain.attributes["assessments-enabled"]).toBe(false)
    await made(hosted, "PATCH", "/organizations/acme", document("organizations", { "assessments-enforced": true }))
    const enforced = await made(hosted, "GET", `/workspaces/${plain.id}`)
    expect(enforced.attributes["assessments-enabled"]).toBe(true)
    const impossible = await made(hosted, "GET", `/workspaces/${local.id}`)
    expect(impossible.attributes["assessments-enabled"]).toBe(false)
  })

  test.each<[why: string, attributes: object]>([
    ["another mode", { "execution-mode": "local" }],
    ["an older version", { "engine-version": "0.15.3" }],
    ["an older version by constraint", { "engine-version": "~> 0.14.0" }],
  ])("[W-4.2-r4] rejects assessments with %s", async (_why, attributes) => {
    await using hosted = await populatedEngine({ edition: "hosted" })
    const body = workspaces({ name: "web", "assessments-enabled": true, ...attributes })
    const answer = await hosted.request("POST", collection, { body })
    expect([answer.status, pointersOf(answer.body)]).toEqual([422, ["/data/attributes/assessments-enabled"]])
  })
})

const at = (member: string) => `/data/attributes/${member}`
const repo = { identifier: "acme/web", "oauth-token-id": "$oauthToken" }
const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`key-${index}`, "v"]))

/** Each case is refused at create and at update, names the faulty members, and changes nothing. */
const refused: [title: string, attributes: object, pointers: readonly string[], relationships?: object][] = [
  ["[W-4.2-r1] [W-4.3-r1] an empty name", { name: "" }, [at("name")]],
  ["[W-4.2-r1] [W-4.3-r1] [W-8-r5] a name with a space", { name: "a b" }, [at("name")]],
  ["[W-8-r5] a name with a dot", { name: "a.b" }, [at("name")]],
  ["[W-8-r5] a name with a slash", { name: "a/b" }, [at("name")]],
  ["a name of 91 characters", { name: "a".repeat(91) }, [at("name")]],
  ["a name that is a number", { name: 7 }, [at("name")]],
  ["[W-4.2-r1] [W-4.3-r1] a name that is taken, in any case", { name: "TAKEN" }, [at("name")]],
  ["[W-4.2-r2] agent mode without a pool", { "execution-mode": "agent" }, [at("agent-pool-id")]],
  [
    "[W-4.2-r2] a pool in remote mode",
    { "execution-mode": "remote", "agent-pool-id": "$agentPool" },
    [at("agent-pool-id")],
  ],
  [
    "[W-4.2-r2] a pool in local mode",
    { "execution-mode": "local", "agent-pool-id": "$agentPool" },
    [at("agent-pool-id")],
  ],
  ["[W-4.2-r2] a pool with operations", { operations: true, "agent-pool-id": "$agentPool" }, [at("agent-pool-id")]],
  [
    "[W-4.2-r2] a pool of another organization",
    { "execution-mode": "agent", "agent-pool-id": "$$agentPool" },
    [at("agent-pool-id")],
  ],
  [
    "[W-4.2-r8] [W-8-r3] a duration of zero",
    { "auto-destroy-activity-duration": "0h" },
    [at("auto-destroy-activity-duration")],
  ],
  [
    "[W-4.2-r8] [W-8-r3] a duration of five digits",
    { "auto-destroy-activity-duration": "12345h" },
    [at("auto-destroy-activity-duration")],
  ],
  [
    "[W-4.2-r8] [W-8-r3] a duration in weeks",
    { "auto-destroy-activity-duration": "2w" },
    [at("auto-destroy-activity-duration")],
  ],
  ["[W-4.2-r7] an invalid timestamp", { "auto-destroy-at": "tomorrow" }, [at("auto-destroy-at")]],
  ["[W-4.2-r10] an unknown execution mode", { "execution-mode": "cloud" }, [at("execution-mode")]],
  [
    "[W-4.2-r10] [W-4.2-r13] execution mode together with operations",
    { "execution-mode": "remote", operations: true },
    [at("operations")],
  ],
  [
    "[W-4.2-r10] [W-4.3-r6] overwriting the mode without a mode",
    { "setting-overwrites": { "execution-mode": true, "agent-pool": false } },
    [at("execution-mode")],
  ],
  ["[W-4.2-r16] an invalid URL", { "source-url": "client" }, [at("source-url")]],
  ["[W-4.2-r18] an invalid version", { "engine-version": "nonexisting" }, [at("engine-version")]],
  ["[W-4.2-r18] a constraint that no release matches", { "engine-version": "> 99" }, [at("engine-version")]],
  [
    "different values of engine-version and terraform-version",
    { "engine-version": "1.5.0", "terraform-version": "1.6.0" },
    [at("terraform-version")],
  ],
  [
    "[W-4.2-r19] [W-4.2-r20] patterns together with prefixes",
    { "trigger-patterns": ["/a/*"], "trigger-prefixes": ["/b"] },
    [at("trigger-patterns")],
  ],
  ["[W-4.2-r19] a pattern that is not a string", { "trigger-patterns": ["/a", 7] }, [at("trigger-patterns/1")]],
  [
    "[W-4.2-r21] [W-4.3-r3] a repository without identifier and connection",
    { "vcs-repo": { branch: "main" } },
    [at("vcs-repo/identifier"), at("vcs-repo/oauth-token-id")],
  ],
  [
    "[W-4.2-r22] an identifier without a slash",
    { "vcs-repo": { ...repo, identifier: "web" } },
    [at("vcs-repo/identifier")],
  ],
  [
    "[W-4.2-r23] a token of another organization",
    { "vcs-repo": { ...repo, "oauth-token-id": "$$oauthToken" } },
    [at("vcs-repo/oauth-token-id")],
  ],
  [
    "[W-4.3-r4] [W-4.3-r5] a token together with an installation",
    { "vcs-repo": { ...repo, "github-app-installation-id": "$installation" } },
    [at("vcs-repo/github-app-installation-id")],
  ],
  [
    "[W-4.3-r4] an installation of another organization",
    { "vcs-repo": { identifier: "acme/web", "github-app-installation-id": "$$installation" } },
    [at("vcs-repo/github-app-installation-id")],
  ],
  ["[W-4.2-r26] an invalid regex", { "vcs-repo": { ...repo, "tags-regex": "v(" } }, [at("vcs-repo/tags-regex")]],
  [
    "[W-4.2-r26] a tags regex together with trigger patterns",
    { "vcs-repo": { ...repo, "tags-regex": "v.*" }, "trigger-patterns": ["/a"] },
    [at("trigger-patterns")],
  ],
  ["[W-4.2-r27] a directory above the root", { "working-directory": "/../x" }, [at("working-directory")]],
  ["[W-4.2-r27] a directory outside the repository", { "working-directory": "../x" }, [at("working-directory")]],
  ["[W-4.2-r30] too many bindings", {}, ["/data/relationships/tag-bindings/data"], bindings(tooMany)],
  [
    "[W-4.2-r32] a key with a space",
    {},
    ["/data/relationships/tag-bindings/data/0/attributes/key"],
    bindings({ "e nv": "prod" }),
  ],
  [
    "[W-4.2-r33] a value with a space",
    {},
    ["/data/relationships/tag-bindings/data/0/attributes/value"],
    bindings({ env: "pr od" }),
  ],
  [
    "[W-4.2-r31] bindings of another type",
    {},
    ["/data/relationships/tag-bindings/data/0/type"],
    { "tag-bindings": { data: [{ type: "tags", attributes: { key: "a", value: "b" } }] } },
  ],
  [
    "a tag of another organization",
    {},
    ["/data/relationships/tags/data/0/id"],
    { tags: { data: [{ type: "tags", id: "$$tag" }] } },
  ],
  [
    "all faults at once",
    { name: "a b", "auto-apply": "yes", "engine-version": "soon", "vcs-repo": {}, "working-directory": ".." },
    [
      at("auto-apply"),
      at("name"),
      at("engine-version"),
      at("vcs-repo/identifier"),
      at("vcs-repo/oauth-token-id"),
      at("working-directory"),
    ],
  ],
]

describe("invalid input answers 422 with all faults and their pointers, and changes nothing", () => {
  beforeAll(async () => {
    await create({ name: "taken" })
  })

  test.each(refused)("at create: %s", async (_title, attributes, pointers, relationships) => {
    const before = (await testEngine.request("GET", collection)).body.meta.pagination["total-count"]
    const body = withIds(workspaces({ name: "refused", ...attributes }, relationships))
    const answer = await testEngine.request("POST", collection, { body })
    expect([answer.status, pointersOf(answer.body)]).toEqual([422, pointers])
    for (const error of answer.body.errors)
      expect(error).toMatchObject({ status: "422", title: "invalid attribute", detail: expect.stringMatching(/\w/) })
    expect((await testEngine.request("GET", collection)).body.meta.pagination["total-count"]).toBe(before)
  })

  test.each(refused)("at update: %s", async (_title, attributes, pointers, relationships) => {
    const before = await create({})
    const body = withIds(workspaces({ description: "changed", ...attributes }, relationships))
    const answer = await testEngine.request("PATCH", `/workspaces/${before.id}`, { body })
    expect([answer.status, pointersOf(answer.body)]).toEqual([422, pointers])
    expect(await made(testEngine, "GET", `/workspaces/${before.id}`)).toEqual(before)
  })

  test("[W-4.2-r1] at create without a name", async () => {
    const answer = await testEngine.request("POST", collection, { body: workspaces({}) })
    expect([answer.status, pointersOf(answer.body)]).toEqual([422, [at("name")]])
  })

  test.each<[why: string, type: string]>([
    ["boolean", "auto-apply"],
    ["boolean", "allow-destroy-plan"],
    ["boolean", "auto-apply-run-trigger"],
    ["boolean", "file-triggers-enabled"],
    ["boolean", "global-remote-state"],
    ["boolean", "queue-all-runs"],
    ["boolean", "speculative-enabled"],
    ["boolean", "operations"],
    ["string", "description"],
    ["string", "agent-pool-id"],
    ["string", "engine-version"],
    ["string", "working-directory"],
    ["string", "source-name"],
    ["string", "auto-destroy-at"],
    ["list", "trigger-patterns"],
    ["object", "vcs-repo"],
    ["object", "setting-overwrites"],
  ])("when an attribute that must be a %s is a number: %s", async (_type, member) => {
    const answer = await testEngine.request("POST", collection, {
      body: workspaces({ name: freshName(), [member]: 7 }),
    })
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toEqual([
      {
        status: "422",
        title: "invalid attribute",
        detail: expect.stringMatching(/must be/),
        source: { pointer: at(member) },
      },
    ])
  })

  test.each<[why: string, status: number, body: string, headers?: Record<string, string>]>([
    ["malformed JSON", 400, "{"],
    ["no document", 400, "[]"],
    ["a document without data", 400, "{}"],
    ["data that is an array", 400, '{"data":[]}'],
    ["a document without a type", 422, '{"data":{"attributes":{"name":"x"}}}'],
    ["another type", 422, '{"data":{"type":"tags","attributes":{"name":"x"}}}'],
    ["attributes that are an array", 422, '{"data":{"type":"workspaces","attributes":[]}}'],
    ["another content type", 415, "{}", { "content-type": "text/plain" }],
    ["text that is not UTF-8 cut short", 400, '{"data":{"type":"workspaces","attributes":{"name":"x"}'],
    ["U+0000 in a name", 422, '{"data":{"type":"workspaces","attributes":{"name":"a\\u0000"}}}'],
  ])("[W-4-b3] but %s gets %i and an error document", async (_why, status, body, headers = {}) => {
    const answer = await testEngine.request("POST", collection, { body, headers })
    expect(answer.status).toBe(status)
    expect(answer.body.errors[0]).toMatchObject({ status: String(status), title: expect.any(String) })
    expect(answer.headers.get("content-type")).toContain("application/vnd.api+json")
  })

  test.each(["description", "source-name", "working-directory", "agent-pool-id"])(
    "with U+0000, each with its pointer: %s",
    async (member) => {
      const body = workspaces({ name: freshName(), [member]: "a\0b" })
      const answer = await testEngine.request("POST", collection, { body })
      expect([answer.status, new Set(pointersOf(answer.body))]).toEqual([422, new Set([at(member)])])
    },
  )

  test("except a body above the limit, which gets 413", async () => {
    const body = workspaces({ name: "large", description: "x".repeat(70 * 1024 * 1024) })
    expect((await testEngine.request("POST", collection, { body })).status).toBe(413)
  })
})

describe("update", () => {
  test("[W-4.3-p1] answers 200 at both paths; absent members keep their values", async () => {
    const before = await create({
      description: "old",
      "auto-apply": true,
      "vcs-repo": repo,
      "trigger-prefixes": ["/a"],
    })
    const byId = await testEngine.request("PATCH", `/workspaces/${before.id}`, {
      body: workspaces({ description: "new" }),
    })
    expect(byId.status).toBe(200)
    const { "updated-at": _then, description: _old, ...kept } = before.attributes
    expect(byId.body.data.attributes).toMatchObject({ ...kept, description: "new" })
    const byName = await testEngine.request("PATCH", `${collection}/${before.attributes.name}`, {
      body: workspaces({ "auto-apply": false }),
    })
    expect(byName.status).toBe(200)
    expect(byName.body.data.attributes).toMatchObject({ ...kept, description: "new", "auto-apply": false })
  })

  test("[W-4.3-r1] changes both paths with a new name", async () => {
    const { id } = await create({ name: "old-name" })
    const renamed = await change(id, { name: "new-name" })
    expect(renamed.links).toEqual({
      self: "/api/v2/organizations/acme/workspaces/new-name",
      "self-html": "/app/acme/workspaces/new-name",
    })
    expect((await testEngine.request("GET", `${collection}/old-name`)).status).toBe(404)
    expect((await made(testEngine, "GET", `${collection}/new-name`)).id).toBe(id)
    expect(
      (await made(testEngine, "GET", `${collection}?search[name]=new-nam`)).map(({ id: found }: Loose) => found),
    ).toEqual([id])
    expect(await made(testEngine, "GET", `${collection}?search[name]=old-name`)).toEqual([])
    expect((await change(id, { name: "NEW-name" })).attributes.name).toBe("NEW-name")
  })

  test.each<[title: string, from: object, to: object, expected: object]>([
    [
      "[W-4.3-r3] null removes the repository",
      { "vcs-repo": repo },
      { "vcs-repo": null },
      { "vcs-repo": null, "vcs-repo-identifier": null },
    ],
    [
      "[W-4.3-r3] an object changes only the keys it has",
      { "vcs-repo": { ...repo, branch: "main", "ingress-submodules": true } },
      { "vcs-repo": { branch: "next" } },
      { "vcs-repo": expect.objectContaining({ identifier: "acme/web", branch: "next", "ingress-submodules": true }) },
    ],
    ["[W-4.3-r3] a repository is added", {}, { "vcs-repo": repo }, { "vcs-repo-identifier": "acme/web" }],
    [
      "[W-4.3-r4] an installed app replaces the token",
      { "vcs-repo": repo },
      { "vcs-repo": { "github-app-installation-id": "$installation" } },
      { "vcs-repo": expect.objectContaining({ "oauth-token-id": "", "service-provider": "github_app" }) },
    ],
    [
      "[W-4.3-r5] a token replaces the installed app",
      { "vcs-repo": { identifier: "acme/web", "github-app-installation-id": "$installation" } },
      { "vcs-repo": { "oauth-token-id": "$oauthToken" } },
      { "vcs-repo": expect.objectContaining({ "github-app-installation-id": "", "service-provider": "github" }) },
    ],
    [
      "[W-4.3-r6] setting-overwrites false inherits again",
      { "execution-mode": "local" },
      { "setting-overwrites": { "execution-mode": false, "agent-pool": false } },
      { "execution-mode": "remote", "setting-overwrites": { "execution-mode": false, "agent-pool": false } },
    ],
    [
      "[W-4.3-r6] a literal mode overwrites by itself",
      {},
      { "execution-mode": "local" },
      { "execution-mode": "local", "setting-overwrites": { "execution-mode": true, "agent-pool": true } },
    ],
    [
      "trigger patterns clear prefixes",
      { "trigger-prefixes": ["/a"] },
      { "trigger-patterns": ["/b"] },
      { "trigger-prefixes": [], "trigger-patterns": ["/b"] },
    ],
    [
      "null clears auto-destroy-at",
      { "auto-destroy-at": "2030-01-01T00:00:00Z" },
      { "auto-destroy-at": null },
      { "auto-destroy-at": null },
    ],
    [
      "absent auto-destroy-at keeps its value",
      { "auto-destroy-at": "2030-01-01T00:00:00Z" },
      {},
      { "auto-destroy-at": "2030-01-01T00:00:00.000Z" },
    ],
    [
      "null for the duration clears auto-destroy-at too",
      { "auto-destroy-activity-duration": "14d" },
      { "auto-destroy-activity-duration": null },
      { "auto-destroy-activity-duration": null, "auto-destroy-at": null },
    ],
  ])("%s", async (_title, from, to, expected) => {
    const { id } = await create(from)
    expect((await change(id, to)).attributes).toMatchObject(expected)
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes).toMatchObject(expected)
  })

  test("[W-4.3-r2] enables and disables assessments-enabled", async () => {
    await using hosted = await populatedEngine({ edition: "hosted" })
    const id = await hosted.workspace("web")
    const patch = async (value: boolean) =>
      (await made(hosted, "PATCH", `/workspaces/${id}`, workspaces({ "assessments-enabled": value }))).attributes
    expect((await patch(true))["assessments-enabled"]).toBe(true)
    expect((await patch(false))["assessments-enabled"]).toBe(false)
  })

  test("[W-4.3-r7] moves the workspace to another project; blank and unchanged do not move it", async () => {
    const before = await create({})
    const home = before.relationships.project.data.id
    for (const id of ["", home])
      expect((await change(before.id, {}, { project: one("projects", id) })).relationships.project.data.id).toBe(home)
    expect((await change(before.id, {}, { project: { data: null } })).relationships.project.data.id).toBe(home)
    const moved = await change(before.id, {}, { project: one("projects", "$project") })
    expect(moved.relationships.project.data.id).toBe(ours.project)
    expect(moved.attributes["updated-at"] >= before.attributes["updated-at"]).toBe(true)
  })

  test.each([["$$project"], ["prj-1111111111111111"]])(
    "[W-4.3-r7] answers 404 for a project that is not in the organization: %s",
    async (id) => {
      const before = await create({})
      const body = withIds(workspaces({ description: "moved" }, { project: one("projects", id) }))
      expect((await testEngine.request("PATCH", `/workspaces/${before.id}`, { body })).status).toBe(404)
      expect(await made(testEngine, "GET", `/workspaces/${before.id}`)).toEqual(before)
    },
  )

  test("[W-4.3-r7] needs administrator rights on both projects for a move", async () => {
    const before = await create({})
    const { id } = before
    const home = before.relationships.project.data.id
    const team = await made(testEngine, "POST", "/organizations/acme/teams", document("teams", { name: "movers" }))
    const { attributes } = await made(testEngine, "POST", `/teams/${team.id}/authentication-token`)
    const give = (project: string, access: string) =>
      made(
        testEngine,
        "POST",
        "/team-projects",
        document("team-projects", { access }, { team: one("teams", team.id), project: one("projects", project) }),
      )
    const move = async () =>
      (
        await testEngine.request("PATCH", `/workspaces/${id}`, {
          token: attributes.token,
          body: withIds(workspaces({}, { project: one("projects", "$project") })),
        })
      ).status
    await give(home, "admin")
    expect(await move()).toBe(404)
    await give(ours.project, "admin")
    expect(await move()).toBe(200)
  })

  test("[W-4.3-r8] replaces the bindings with those of the request; flat tags stay", async () => {
    const { id } = await create(
      {},
      { ...bindings({ env: "prod", tier: "gold" }), tags: { data: [{ type: "tags", attributes: { name: "red" } }] } },
    )
    const boundOf = async () =>
      Object.fromEntries(
        (await made(testEngine, "GET", `/workspaces/${id}/tag-bindings`)).map(({ attributes }: Loose) => [
          attributes.key,
          attributes.value,
        ]),
      )
    await change(id, {}, bindings({ env: "test", owner: "us" }))
    expect(await boundOf()).toEqual({ env: "test", owner: "us" })
    await change(id, { description: "no bindings given" })
    expect(await boundOf()).toEqual({ env: "test", owner: "us" })
    await change(id, {}, bindings({ empty: "" }))
    expect(await boundOf()).toEqual({ empty: "" })
    await change(id, {}, bindings({}))
    expect(await boundOf()).toEqual({})
    expect((await made(testEngine, "GET", `/workspaces/${id}`)).attributes["tag-names"]).toEqual(["red"])
  })

  test("[W-5-n4] needs administrator rights on the workspace; for others it is not found", async () => {
    const { id } = await create({})
    const patch = async (access: "read" | "plan" | "write" | "admin") =>
      (
        await testEngine.request("PATCH", `/workspaces/${id}`, {
          token: await testEngine.token({ on: { [id]: access } }),
          body: workspaces({ description: access }),
        })
      ).status
    expect(await patch("read")).toBe(404)
    expect(await patch("plan")).toBe(404)
    expect(await patch("write")).toBe(404)
    expect(await patch("admin")).toBe(200)
    const stranger = await testEngine.token()
    expect(
      (await testEngine.request("PATCH", `/workspaces/${id}`, { token: stranger, body: workspaces({}) })).status,
    ).toBe(404)
  })
})

describe("deletion of a workspace", () => {
  const state = JSON.stringify({
    version: 4,
    serial: 1,
    lineage: "line",
    outputs: {},
    resources: [
      {
        mode: "managed",
        type: "t",
        name: "a",
        provider: 'provider["example.com/a/b"]',
        instances: [{ attributes: {} }],
      },
    ],
  })
  /** Creates a workspace that manages a resource. */
  async function managing() {
    const workspace = await create({})
    await made(testEngine, "POST", `/workspaces/${workspace.id}/actions/lock`)
    await made(
      testEngine,
      "POST",
      `/workspaces/${workspace.id}/state-versions`,
      document("state-versions", {
        serial: 1,
        md5: createHash("md5").update(state).digest("hex"),
        lineage: "line",
        state: Buffer.from(state).toString("base64"),
      }),
    )
    await made(testEngine, "POST", `/workspaces/${workspace.id}/actions/unlock`)
    return workspace
  }
  const forms = [
    { form: "by id", pathOf: ({ id }: Loose) => `/workspaces/${id}` },
    { form: "by name", pathOf: ({ attributes }: Loose) => `${collection}/${attributes.name}` },
  ]

  test.each(forms)(
    "[W-4.6-r1] [W-4.6-r2] [W-4.6-p1] [W-3-r9] safe delete $form removes a workspace that manages nothing: 204 without a body",
    async ({ pathOf }) => {
      const workspace = await create({})
      const answer = await testEngine.request("POST", `${pathOf(workspace)}/actions/safe-delete`)
      expect([answer.status, answer.body]).toEqual([204, undefined])
      expect((await testEngine.request("GET", pathOf(workspace))).status).toBe(404)
      expect((await testEngine.request("POST", `${pathOf(workspace)}/actions/safe-delete`)).status).toBe(404)
    },
  )

  test.each(forms)(
    "[W-4.6-r1] [W-4.6-r2] [W-3-r10] [W-7-r3] safe delete $form of one that manages resources answers 409",
    async ({ pathOf }) => {
      const workspace = await managing()
      const answer = await testEngine.request("POST", `${pathOf(workspace)}/actions/safe-delete`)
      expect(answer.status).toBe(409)
      expect(answer.body.errors[0].detail).toBe(
        "Workspace cannot be safely deleted because it is still managing resources",
      )
      expect((await testEngine.request("GET", pathOf(workspace))).status).toBe(200)
    },
  )

  test.each(forms)(
    "[W-4.6-r3] [W-4.6-r4] [W-4.6-p1] [W-3-r11] force delete $form ignores resources: 204 without a body",
    async ({ pathOf }) => {
      const workspace = await managing()
      const answer = await testEngine.request("DELETE", pathOf(workspace))
      expect([answer.status, answer.body]).toEqual([204, undefined])
      expect((await testEngine.request("GET", pathOf(workspace))).status).toBe(404)
    },
  )

  test("safe delete of a workspace that is locked or has a pending state answers 409 with the reason", async () => {
    const { id } = await create({})
    const refusal = async () =>
      (await testEngine.request("POST", `/workspaces/${id}/actions/safe-delete`)).body.errors[0].detail
    await made(testEngine, "POST", `/workspaces/${id}/actions/lock`)
    expect(await refusal()).toContain("currently locked")
    await made(
      testEngine,
      "POST",
      `/workspaces/${id}/state-versions`,
      document("state-versions", { serial: 1, md5: "0".repeat(32), lineage: "line" }),
    )
    await testEngine.request("POST", `/workspaces/${id}/actions/unlock`)
    expect(await refusal()).toContain("locked")
    expect((await testEngine.request("DELETE", `/workspaces/${id}`)).status).toBe(204)
  })

  test("[W-4.6-r3] [W-4.6-r4] [W-4.6-p1] [W-5-n6] [W-5-n7] [W-7-r1] force delete is for owners, and for workspace administrators where the organization allows it; others who see the workspace get 403, strangers 404", async () => {
    await using other = await populatedEngine()
    const id = await other.workspace("web")
    const admin = await other.token({ on: { [id]: "admin" } })
    const reader = await other.token({ on: { [id]: "read" } })
    const stranger = await other.token()
    const paths = [`/workspaces/${id}`, "/organizations/acme/workspaces/web"]
    for (const path of paths) {
      expect((await other.request("DELETE", path, { token: admin })).status).toBe(403)
      expect((await other.request("DELETE", path, { token: reader })).status).toBe(403)
      expect((await other.request("DELETE", path, { token: stranger })).status).toBe(404)
    }
    await made(
      other,
      "PATCH",
      "/organizations/acme",
      document("organizations", { "allow-force-delete-workspaces": true }),
    )
    expect((await other.request("DELETE", `/workspaces/${id}`, { token: reader })).status).toBe(403)
    expect((await other.request("DELETE", `/workspaces/${id}`, { token: admin })).status).toBe(204)
  })

  test("safe delete is for workspace administrators; for others the workspace is not found", async () => {
    const { id } = await create({})
    const remove = async (access: "write" | "admin") =>
      (
        await testEngine.request("POST", `/workspaces/${id}/actions/safe-delete`, {
          token: await testEngine.token({ on: { [id]: access } }),
        })
      ).status
    expect(await remove("write")).toBe(404)
    expect(await remove("admin")).toBe(204)
  })

  test("a deleted workspace also removes its tag and frees its name", async () => {
    const { id } = await create(
      { name: "gone" },
      { tags: { data: [{ type: "tags", attributes: { name: "only-here" } }] } },
    )
    expect(await made(testEngine, "GET", "/organizations/acme/tags?q=only-here")).toHaveLength(1)
    await testEngine.request("DELETE", `/workspaces/${id}`)
    expect(await made(testEngine, "GET", "/organizations/acme/tags?q=only-here")).toHaveLength(0)
    expect((await create({ name: "gone" })).id).not.toBe(id)
  })
})

describe("a misspelled member", () => {
  const named = (attributes: object) => ({ data: { type: "workspaces", attributes } })
  test.each([
    { body: named({ nme: "x" }), near: 'did you mean "name" instead of "nme"?' },
    { body: { data: { type: "workspaces", atributes: { name: "x" } } }, near: '"attributes" instead of "atributes"?' },
    { body: { dta: {} }, near: '"data" instead of "dta"?' },
  ])("[F-W20] is named in the fault of the missing member: $near", async ({ body, near }) => {
    await using testEngine = await populatedEngine()
    const answer = await testEngine.request("POST", "/organizations/acme/workspaces", { body })
    expect([400, 422]).toContain(answer.status)
    expect(answer.body.errors[0].detail).toContain(near)
  })

  test("[F-W20] is ignored when no member is missing, and not named when the member exists", async () => {
    await using testEngine = await populatedEngine()
    const path = "/organizations/acme/workspaces"
    const ignored = await testEngine.request("POST", path, { body: named({ name: "web", nme: "x", descriptoin: "y" }) })
    expect([ignored.status, ignored.body.data.attributes.description]).toEqual([201, null])
    const wrong = await testEngine.request("POST", path, { body: named({ name: "", nme: "x" }) })
    expect([wrong.status, wrong.body.errors[0].detail]).toEqual([422, "Name can't be blank"])
  })
})
