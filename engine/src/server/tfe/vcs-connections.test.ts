import { describe, expect, test } from "vitest"
import type { OrganizationAccess } from "../../core/caller.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { document, many, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { RequestOptions, TestEngineOptions } from "../../../testing/test-engine.ts"

const github = {
  name: "GitHub of acme",
  "service-provider": "github",
  "http-url": "https://github.com",
  "api-url": "https://api.github.com",
  "oauth-token-string": "ghp-very-secret",
}

async function vcsEngine(options: TestEngineOptions = {}) {
  const testEngine = await populatedEngine(options)
  const { request } = testEngine
  const post = (path: string, type: string, attributes: Record<string, unknown>, more: RequestOptions = {}) =>
    request("POST", `/organizations/acme/${path}`, { body: { data: { type, attributes } }, ...more })
  return Object.assign(testEngine, {
    client: (attributes: Record<string, unknown> = github, more: RequestOptions = {}) =>
      post("oauth-clients", "oauth-clients", attributes, more),
    installation: (attributes: Record<string, unknown> = { name: "acme", "installation-id": 42 }, more = {}) =>
      post("github-app/installations", "github-app-installations", attributes, more),
    /** Creates a workspace that is bound to a repository through this connection, and returns its id. */
    async bound(connection: Record<string, string>): Promise<string> {
      const attributes = { name: "web", "vcs-repo": { identifier: "acme/web", ...connection } }
      const answer = await post("workspaces", "workspaces", attributes)
      expect(answer.status).toBe(201)
      return answer.body.data.id
    },
    repo: async (workspace: string) =>
      (await request("GET", `/workspaces/${workspace}`)).body.data.attributes["vcs-repo"],
  })
}

const pointersOf = (body: { readonly errors: readonly { readonly source: { readonly pointer: string } }[] }) =>
  body.errors.map(({ source }) => source.pointer)

describe("an OAuth client", () => {
  test("is created with a token, whose secret is not shown", async () => {
    await using testEngine = await vcsEngine()
    const { status, body } = await testEngine.client()
    expect(status).toBe(201)
    const { "oauth-token-string": _secret, ...shown } = github
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^oc-\w{16}$/),
      type: "oauth-clients",
      attributes: { ...shown, "service-provider-display-name": "GitHub" },
      relationships: {
        organization: { data: { type: "organizations", id: "acme" } },
        "oauth-tokens": { data: [{ type: "oauth-tokens", id: expect.stringMatching(/^ot-\w{16}$/) }] },
      },
    })
    const tokenId = body.data.relationships["oauth-tokens"].data[0].id
    const answers = [
      body,
      (await testEngine.request("GET", `/oauth-clients/${body.data.id}`)).body,
      (await testEngine.request("GET", "/organizations/acme/oauth-clients")).body,
      (await testEngine.request("GET", "/organizations/acme/oauth-tokens")).body,
      (await testEngine.request("GET", `/oauth-tokens/${tokenId}`)).body,
    ]
    expect(JSON.stringify(answers)).not.toContain("very-secret")
    expect(answers[1]).toEqual(body)
    expect(answers[2].data).toEqual([body.data])
    expect(answers[3].data).toEqual([answers[4].data])
    expect(answers[4].data.relationships["oauth-client"].data.id).toBe(body.data.id)
  })

  test("[F-W15] is created with only a key pair, whose private key is not shown", async () => {
    await using testEngine = await vcsEngine()
    const link = { key: "consumer", "rsa-public-key": "public-part" }
    const attributes = {
      ...link,
      "service-provider": "bitbucket_data_center",
      "http-url": "https://git.example.com",
      "api-url": "https://git.example.com",
      secret: "private-part",
    }
    const path = "/organizations/acme/oauth-clients"
    const post = (changes: object) =>
      testEngine.request("POST", path, {
        body: { data: { type: "oauth-clients", attributes: { ...attributes, ...changes } } },
      })
    const { status, body } = await post({})
    expect(status).toBe(201)
    expect(body.data.attributes).toMatchObject({ ...link, secret: null })
    expect(body.data.relationships["oauth-tokens"].data).toEqual([])
    expect(JSON.stringify(body)).not.toContain("private-part")
    expect((await testEngine.request("GET", `/oauth-clients/${body.data.id}`)).body).toEqual(body)
    const unlinked = await testEngine.request("PATCH", `/oauth-clients/${body.data.id}`, {
      body: { data: { type: "oauth-clients", attributes: { key: "", "rsa-public-key": "" } } },
    })
    expect([unlinked.status, pointersOf(unlinked.body)]).toEqual([
      422,
      ["/data/attributes/key", "/data/attributes/rsa-public-key"],
    ])
    expect((await testEngine.request("GET", `/oauth-clients/${body.data.id}`)).body).toEqual(body)
    const without = await post({ "rsa-public-key": "" })
    expect([without.status, pointersOf(without.body)]).toEqual([422, ["/data/attributes/oauth-token-string"]])
  })

  test("is renamed and gets another secret, which is not shown", async () => {
    await using testEngine = await vcsEngine()
    const { id, attributes } = (await testEngine.client()).body.data
    const patch = (attributes: Record<string, unknown>) =>
      testEngine.request("PATCH", `/oauth-clients/${id}`, { body: { data: { type: "oauth-clients", attributes } } })
    const { status, body } = await patch({ name: "Forge", "oauth-token-string": "ghp-other-secret" })
    expect([status, body.data.attributes]).toEqual([200, { ...attributes, name: "Forge" }])
    expect(JSON.stringify(body)).not.toContain("ghp-other-secret")
    expect((await patch({})).body).toEqual(body)
    const wrong = await patch({ name: "x".repeat(256), "oauth-token-string": "" })
    expect([wrong.status, pointersOf(wrong.body)]).toEqual([
      422,
      ["/data/attributes/name", "/data/attributes/oauth-token-string"],
    ])
    const token = await testEngine.token({ organization: { manageWorkspaces: true } })
    const refused = await testEngine.request("PATCH", `/oauth-clients/${id}`, {
      token,
      body: { data: { type: "oauth-clients", attributes: { name: "mine" } } },
    })
    expect(refused.status).toBe(404)
    expect((await testEngine.request("GET", `/oauth-clients/${id}`)).body).toEqual(body)
  })

  test("[F-W5] has a token that accepts any value as its SSH key", async () => {
    await using testEngine = await vcsEngine()
    const id = (await testEngine.client()).body.data.relationships["oauth-tokens"].data[0].id as string
    const body = { data: { type: "oauth-tokens", attributes: { "ssh-key": "no key" } } }
    const made = await testEngine.request("PATCH", `/oauth-tokens/${id}`, { body })
    expect([made.status, made.body.data.attributes["has-ssh-key"]]).toEqual([200, true])
    expect(JSON.stringify(made.body)).not.toContain("no key")
  })

  test("has a token that accepts an SSH key, and shows only that it has one", async () => {
    await using testEngine = await vcsEngine()
    const id = (await testEngine.client()).body.data.relationships["oauth-tokens"].data[0].id as string
    const patch = (attributes: Record<string, unknown>, token = testEngine.rootToken) =>
      testEngine.request("PATCH", `/oauth-tokens/${id}`, {
        token,
        body: { data: { type: "oauth-tokens", attributes } },
      })
    const has = async () => (await testEngine.request("GET", `/oauth-tokens/${id}`)).body.data.attributes["has-ssh-key"]
    expect(await has()).toBe(false)
    const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"
    const made = await patch({ "ssh-key": key })
    expect([made.status, made.body.data.attributes["has-ssh-key"], await has()]).toEqual([200, true, true])
    expect(JSON.stringify(made.body)).not.toContain("c2VjcmV0")
    const blank = await patch({ "ssh-key": " " })
    expect([blank.status, pointersOf(blank.body)]).toEqual([422, ["/data/attributes/ssh-key"]])
    const tooLong = await patch({ "ssh-key": "secret".repeat(20_000) })
    expect([tooLong.status, pointersOf(tooLong.body)]).toEqual([422, ["/data/attributes/ssh-key"]])
    expect(JSON.stringify(tooLong.body)).not.toContain("secret")
    expect((await patch({})).status).toBe(200)
    expect(await has()).toBe(true)
    const manager = await testEngine.token({ organization: { manageWorkspaces: true } })
    expect((await patch({ "ssh-key": null }, manager)).status).toBe(404)
    expect((await patch({ "ssh-key": "" })).status).toBe(200)
    expect(await has()).toBe(false)
  })

  test("is rejected with all faults at once", async () => {
    await using testEngine = await vcsEngine()
    const { status, body } = await testEngine.client({ "service-provider": "cvs", name: 3 })
    expect([status, pointersOf(body)]).toEqual([
      422,
      [
        "/data/attributes/name",
        "/data/attributes/service-provider",
        "/data/attributes/http-url",
        "/data/attributes/api-url",
        "/data/attributes/oauth-token-string",
      ],
    ])
    const wrong = await testEngine.client({
      ...github,
      "http-url": "ftp://x",
      "api-url": "x",
      "oauth-token-string": "",
    })
    expect([wrong.status, pointersOf(wrong.body)]).toEqual([
      422,
      ["/data/attributes/http-url", "/data/attributes/api-url", "/data/attributes/oauth-token-string"],
    ])
  })

  test.each(["client", "token"])("disconnects its workspaces when the %s is deleted", async (what) => {
    await using testEngine = await vcsEngine()
    const client = (await testEngine.client()).body.data
    const tokenId = client.relationships["oauth-tokens"].data[0].id
    const workspace = await testEngine.bound({ "oauth-token-id": tokenId })
    expect(await testEngine.repo(workspace)).toMatchObject({ identifier: "acme/web", "oauth-token-id": tokenId })
    const path = what === "client" ? `/oauth-clients/${client.id}` : `/oauth-tokens/${tokenId}`
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect(await testEngine.repo(workspace)).toBeNull()
    expect((await testEngine.request("GET", path)).status).toBe(404)
    expect((await testEngine.request("GET", `/oauth-tokens/${tokenId}`)).status).toBe(404)
  })
})

describe("[F-W15] an OAuth client with a scope of projects", () => {
  async function scopedEngine() {
    const testEngine = await vcsEngine()
    const { request } = testEngine
    const create = async (type: string, name: string) =>
      (await request("POST", `/organizations/acme/${type}`, { body: document(type, { name }) })).body.data.id as string
    const [first, second] = [await create("projects", "first"), await create("projects", "second")]
    const pool = await create("agent-pools", "pool")
    const post = (more: object, related: object) =>
      request("POST", "/organizations/acme/oauth-clients", {
        body: document("oauth-clients", { ...github, ...more }, related),
      })
    const client = (await post({}, { projects: many("projects", [first]) })).body.data
    const tokenId = client.relationships["oauth-tokens"].data[0].id as string
    const path = `/oauth-clients/${client.id}`
    const repo = { identifier: "acme/web", "oauth-token-id": tokenId }
    return Object.assign(testEngine, {
      first,
      second,
      pool,
      post,
      client,
      path,
      repo,
      patch: (more: object, related?: object) =>
        request("PATCH", path, { body: document("oauth-clients", more, related) }),
      projects: (method: string, ids: readonly string[], options: RequestOptions = {}) =>
        request(method, `${path}/relationships/projects`, { body: many("projects", ids), ...options }),
      shown: async () => {
        const { attributes: own, relationships } = (await request("GET", path)).body.data
        const ids = relationships.projects.data.map(({ id }: { readonly id: string }) => id)
        return [own["organization-scoped"], ids, relationships["agent-pool"].data?.id ?? null]
      },
      workspace: (name: string, project: string, more: object = { "vcs-repo": repo }) =>
        request("POST", "/organizations/acme/workspaces", {
          body: document("workspaces", { name, ...more }, { project: one("projects", project) }),
        }),
    })
  }

  test("covers the whole organization unless it sets another scope or names projects", async () => {
    await using testEngine = await scopedEngine()
    expect(await testEngine.shown()).toEqual([false, [testEngine.first], null])
    const named = await testEngine.post(
      { "organization-scoped": true },
      { projects: many("projects", [testEngine.first]) },
    )
    expect([named.status, named.body.data.attributes["organization-scoped"]]).toEqual([201, true])
    const usual = await testEngine.post({}, {})
    expect(usual.body.data).toMatchObject({
      attributes: { "organization-scoped": true },
      relationships: { projects: { data: [] }, "agent-pool": { data: null } },
    })
    expect((await testEngine.request("GET", "/organizations/acme/oauth-clients")).body.data).toHaveLength(3)
  })

  test("accepts other projects, another scope and an agent pool of the organization", async () => {
    await using testEngine = await scopedEngine()
    const { first, second, pool } = testEngine
    expect((await testEngine.projects("POST", [first, second])).status).toBe(204)
    expect(await testEngine.shown()).toEqual([false, [first, second], null])
    expect((await testEngine.projects("DELETE", [first])).status).toBe(204)
    expect((await testEngine.projects("DELETE", [first])).status).toBe(204)
    expect(await testEngine.shown()).toEqual([false, [second], null])
    const related = { projects: many("projects", [first]), "agent-pool": one("agent-pools", pool) }
    const changed = await testEngine.patch({ "organization-scoped": true }, related)
    expect([changed.status, await testEngine.shown()]).toEqual([200, [true, [first], pool]])
    expect((await testEngine.request("DELETE", `/agent-pools/${pool}`)).status).toBe(409)
    expect((await testEngine.patch({}, { "agent-pool": { data: null } })).status).toBe(200)
    expect(await testEngine.shown()).toEqual([true, [first], null])
    expect((await testEngine.request("DELETE", `/agent-pools/${pool}`)).status).toBe(204)
    expect((await testEngine.request("DELETE", `/projects/${first}`)).status).toBe(204)
    expect(await testEngine.shown()).toEqual([true, [], null])
  })

  test("is rejected with missing projects and agent pools, and nothing changes", async () => {
    await using testEngine = await scopedEngine()
    await testEngine.engine.organizations.create({ name: "other", email: "a@example.com" })
    const foreign = (
      await testEngine.request("POST", "/organizations/other/projects", {
        body: document("projects", { name: "foreign" }),
      })
    ).body.data.id as string
    const before = await testEngine.shown()
    const related = {
      projects: many("projects", [testEngine.first, foreign]),
      "agent-pool": one("agent-pools", "apool-x"),
    }
    for (const answer of [
      await testEngine.post({}, related),
      await testEngine.patch({ "organization-scoped": true }, related),
    ])
      expect([answer.status, pointersOf(answer.body)]).toEqual([
        422,
        ["/data/relationships/projects/data/1/id", "/data/relationships/agent-pool/data"],
      ])
    for (const method of ["POST", "DELETE"])
      expect((await testEngine.projects(method, [testEngine.second, foreign])).status).toBe(404)
    const member = await testEngine.token({ organization: { manageWorkspaces: true } })
    expect((await testEngine.projects("POST", [testEngine.second], { token: member })).status).toBe(404)
    expect(await testEngine.shown()).toEqual(before)
  })

  test("has tokens only for workspaces of its projects", async () => {
    await using testEngine = await scopedEngine()
    const { first, second, repo } = testEngine
    const inside = await testEngine.workspace("inside", first)
    expect(inside.status).toBe(201)
    const refusal = [422, ["/data/attributes/vcs-repo/oauth-token-id"]]
    const outside = await testEngine.workspace("outside", second)
    expect([outside.status, pointersOf(outside.body)]).toEqual(refusal)
    const bare = (await testEngine.workspace("bare", second, {})).body.data.id as string
    const update = (id: string, attributes: object, related?: object) =>
      testEngine.request("PATCH", `/workspaces/${id}`, { body: document("workspaces", attributes, related) })
    const bound = await update(bare, { "vcs-repo": repo })
    expect([bound.status, pointersOf(bound.body)]).toEqual(refusal)
    const [id, toSecond] = [inside.body.data.id as string, { project: one("projects", second) }]
    const moves = [
      await update(id, {}, toSecond),
      await testEngine.request("POST", `/projects/${second}/relationships/workspaces`, {
        body: many("workspaces", [id]),
      }),
    ]
    expect(moves.map(({ status }) => status)).toEqual([422, 422])
    expect((await testEngine.request("GET", `/workspaces/${id}`)).body.data.relationships.project.data.id).toBe(first)
    const { results } = await testEngine.engine.bulkActions.run("acme", {
      action: { kind: "move", projectId: second },
      query: { name: "inside" },
    })
    const outcomes: unknown[] = []
    for await (const part of results) outcomes.push(...part.map(({ outcome, refusal }) => [outcome, refusal?.code]))
    expect(outcomes).toEqual([["refused", "unprocessable"]])
    await testEngine.projects("POST", [second])
    expect([(await update(bare, { "vcs-repo": repo })).status, (await update(id, {}, toSecond)).status]).toEqual([
      200, 200,
    ])
    // An existing binding stays valid when its project loses access to the connection.
    await testEngine.projects("DELETE", [second])
    expect((await update(id, { "vcs-repo": { branch: "next" } })).status).toBe(200)
    await testEngine.patch({ "organization-scoped": true })
    expect((await testEngine.workspace("outside", second)).status).toBe(201)
  })

  test("waits for the application link of its provider when it has neither token nor key pair", async () => {
    await using testEngine = await vcsEngine()
    const attributes = { "http-url": "https://git.example.com", "api-url": "https://git.example.com" }
    const made = await testEngine.client({ ...attributes, "service-provider": "bitbucket_data_center" })
    const refused = await testEngine.client({ ...attributes, "service-provider": "gitlab_hosted" })
    expect([made.status, made.body.data.relationships["oauth-tokens"].data]).toEqual([201, []])
    expect([refused.status, pointersOf(refused.body)]).toEqual([422, ["/data/attributes/oauth-token-string"]])
  })
})

describe("an app installation", () => {
  test("is created, shown, listed and deleted, and disconnects its workspaces", async () => {
    await using testEngine = await vcsEngine()
    const { status, body } = await testEngine.installation()
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^ghain-\w{16}$/),
      type: "github-app-installations",
      attributes: { name: "acme", "installation-id": 42 },
    })
    const path = `/github-app/installations/${body.data.id}`
    expect((await testEngine.request("GET", path)).body).toEqual(body)
    expect((await testEngine.request("GET", "/organizations/acme/github-app/installations")).body.data).toEqual([
      body.data,
    ])
    const workspace = await testEngine.bound({ "github-app-installation-id": body.data.id })
    expect((await testEngine.request("DELETE", path)).status).toBe(204)
    expect([await testEngine.repo(workspace), (await testEngine.request("GET", path)).status]).toEqual([null, 404])
  })

  test("is listed by name and number for callers who manage the VCS settings of its organization", async () => {
    // Lists are ordered by creation time, so each creation gets a different millisecond.
    let now = systemRuntime().clock.now()
    await using testEngine = await vcsEngine({ runtime: { ...systemRuntime(), clock: { now: () => (now += 1) } } })
    const first = (await testEngine.installation()).body.data
    const second = (await testEngine.installation({ name: "other", "installation-id": 43 })).body.data
    const listed = async (query: string, token?: string) => {
      const { status, body } = await testEngine.request(
        "GET",
        `/github-app/installations${query}`,
        token ? { token } : {},
      )
      return [
        status,
        ...(body.data ?? body.errors).map(
          (one: { readonly id?: string; readonly detail?: string }) => one.id ?? one.detail,
        ),
      ]
    }
    expect(await listed("")).toEqual([200, first.id, second.id])
    expect(await listed("?filter[name]=OTHER")).toEqual([200, second.id])
    expect(await listed("?filter[installation_id]=42")).toEqual([200, first.id])
    expect(await listed("?filter[name]=other&filter[installation_id]=42")).toEqual([200])
    expect(await listed("?filter[installation_id]=x")).toEqual([
      400,
      "filter[installation_id] must be a positive integer",
    ])
    expect(await listed("", await testEngine.token({ organization: { manageVcsSettings: true } }))).toEqual([
      200,
      first.id,
      second.id,
    ])
    expect(await listed("", await testEngine.token({ organization: { manageWorkspaces: true } }))).toEqual([200])
  })

  test("is rejected with all faults at once", async () => {
    await using testEngine = await vcsEngine()
    const { status, body } = await testEngine.installation({ name: " ", "installation-id": 0 })
    expect([status, pointersOf(body)]).toEqual([422, ["/data/attributes/name", "/data/attributes/installation-id"]])
  })
})

test.each<{ who: string; organization: Partial<OrganizationAccess>; statuses: readonly number[] }>([
  { who: "a member", organization: {}, statuses: [404, 404, 404, 404, 404, 404] },
  {
    who: "a manager of workspaces",
    organization: { manageWorkspaces: true },
    statuses: [404, 404, 404, 404, 404, 404],
  },
  {
    who: "a manager of VCS settings",
    organization: { manageVcsSettings: true },
    statuses: [201, 200, 200, 201, 200, 204],
  },
])("$who creates, lists, shows and deletes VCS connections: $statuses", async ({ organization, statuses }) => {
  await using testEngine = await vcsEngine()
  const { id } = (await testEngine.client()).body.data
  const token = await testEngine.token({ organization })
  const answers = [
    await testEngine.client(github, { token }),
    await testEngine.request("GET", "/organizations/acme/oauth-clients", { token }),
    await testEngine.request("GET", `/oauth-clients/${id}`, { token }),
    await testEngine.installation(undefined, { token }),
    await testEngine.request("GET", "/organizations/acme/github-app/installations", { token }),
    await testEngine.request("DELETE", `/oauth-clients/${id}`, { token }),
  ]
  expect(answers.map(({ status }) => status)).toEqual(statuses)
})
