// Rules of all endpoints: media types, statuses, error objects, the version in the path (W-1, W-4, W-7 and W-9 of docs/conformance.md).
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { document, made } from "../../../testing/users.ts"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { apiPrefix } from "../app.ts"

const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nkey\n-----END OPENSSH PRIVATE KEY-----"

let testEngine: PopulatedEngine
let id: string
beforeAll(async () => {
  testEngine = await populatedEngine()
  id = await testEngine.workspace("subject")
})
afterAll(() => testEngine[Symbol.asyncDispose]())

describe("the wire format", () => {
  test("[W-1-n3] is JSON:API: documents with data, links, relationships and meta under its media type", async () => {
    const { headers, body } = await testEngine.request("GET", "/organizations/acme/workspaces")
    expect(headers.get("content-type")).toBe("application/vnd.api+json")
    expect(Object.keys(body).toSorted()).toEqual(["data", "links", "meta"])
    expect(Object.keys(body.data[0]).toSorted()).toEqual(["attributes", "id", "links", "relationships", "type"])
  })

  test.each([
    { type: "application/vnd.api+json", status: 200 },
    { type: "application/vnd.api+json; charset=utf-8", status: 200 },
    { type: "application/json", status: 200 },
    { type: "text/plain", status: 415 },
    { type: "application/x-www-form-urlencoded", status: 415 },
  ])("[W-1-n3] a body sent as $type answers $status", async ({ type, status }) => {
    const body = JSON.stringify(document("workspaces", { description: "changed" }))
    const answer = await testEngine.request("PATCH", `/workspaces/${id}`, { body, headers: { "content-type": type } })
    expect(answer.status).toBe(status)
  })

  test("[W-9-p1] has one version, in the path; others are not found", async () => {
    expect(apiPrefix).toBe("/api/v2")
    expect((await testEngine.request("GET", "http://chancery.test/api/v2/organizations/acme/workspaces")).status).toBe(
      200,
    )
    for (const prefix of ["/api/v1", "/api/v3", "/api", ""]) {
      const answer = await testEngine.request("GET", `http://chancery.test${prefix}/organizations/acme/workspaces`)
      expect(answer.status).toBe(404)
      expect(answer.body.errors[0].title).toBe("not found")
    }
  })
})

describe("an error object", () => {
  test("[W-7-p1] has a string status, a title, a detail and, for each fault, its source", async () => {
    const { status, body } = await testEngine.request("POST", "/organizations/acme/workspaces", {
      body: document("workspaces", { name: "no spaces", "auto-apply": "yes", "execution-mode": "elsewhere" }),
    })
    expect(status).toBe(422)
    expect(body.errors.map((error: { source: { pointer: string } }) => error.source.pointer).toSorted()).toEqual([
      "/data/attributes/auto-apply",
      "/data/attributes/execution-mode",
      "/data/attributes/name",
    ])
    for (const error of body.errors)
      expect(error).toEqual({
        status: "422",
        title: "invalid attribute",
        detail: expect.stringMatching(/\S/),
        source: { pointer: expect.any(String) },
      })
  })
})

describe("[W-4.12-p2] the status codes of", () => {
  let key: string
  beforeAll(async () => {
    key = (
      await made(
        testEngine,
        "POST",
        "/organizations/acme/ssh-keys",
        document("ssh-keys", { name: "key", value: privateKey }),
      )
    ).id
  })

  const missing = "ws-1234567812345678"
  const assign = (value: string | null) => document("workspaces", { id: value })
  test.each([
    {
      what: "create",
      method: "POST",
      path: "/organizations/acme/workspaces",
      body: () => document("workspaces", { name: "created" }),
      status: 201,
    },
    {
      what: "creation under a name that exists",
      method: "POST",
      path: "/organizations/acme/workspaces",
      body: () => document("workspaces", { name: "subject" }),
      status: 422,
    },
    {
      what: "creation in a missing organization",
      method: "POST",
      path: "/organizations/nowhere/workspaces",
      body: () => document("workspaces", { name: "created" }),
      status: 404,
    },
    {
      what: "update",
      method: "PATCH",
      path: "/workspaces/ID",
      body: () => document("workspaces", { description: "x" }),
      status: 200,
    },
    {
      what: "update by name",
      method: "PATCH",
      path: "/organizations/acme/workspaces/subject",
      body: () => document("workspaces", { description: "y" }),
      status: 200,
    },
    {
      what: "an invalid update",
      method: "PATCH",
      path: "/workspaces/ID",
      body: () => document("workspaces", { name: "a b" }),
      status: 422,
    },
    {
      what: "update of a missing workspace",
      method: "PATCH",
      path: `/workspaces/${missing}`,
      body: () => document("workspaces", {}),
      status: 404,
    },
    { what: "list", method: "GET", path: "/organizations/acme/workspaces", status: 200 },
    { what: "list of a missing organization", method: "GET", path: "/organizations/nowhere/workspaces", status: 404 },
    {
      what: "list of an invalid page",
      method: "GET",
      path: "/organizations/acme/workspaces?page%5Bnumber%5D=0",
      status: 400,
    },
    { what: "show", method: "GET", path: "/workspaces/ID", status: 200 },
    { what: "show of a missing workspace", method: "GET", path: `/workspaces/${missing}`, status: 404 },
    { what: "show with an unknown include", method: "GET", path: "/workspaces/ID?include=nonsense", status: 400 },
    { what: "the flat tags", method: "GET", path: "/workspaces/ID/relationships/tags", status: 200 },
    {
      what: "flat tags of a missing workspace",
      method: "GET",
      path: `/workspaces/${missing}/relationships/tags`,
      status: 404,
    },
    { what: "the bindings", method: "GET", path: "/workspaces/ID/tag-bindings", status: 200 },
    {
      what: "bindings of a missing workspace",
      method: "GET",
      path: `/workspaces/${missing}/tag-bindings`,
      status: 404,
    },
    { what: "the effective bindings", method: "GET", path: "/workspaces/ID/effective-tag-bindings", status: 200 },
    {
      what: "effective bindings of a missing workspace",
      method: "GET",
      path: `/workspaces/${missing}/effective-tag-bindings`,
      status: 404,
    },
    {
      what: "assigning an SSH key",
      method: "PATCH",
      path: "/workspaces/ID/relationships/ssh-key",
      body: () => assign(key),
      status: 200,
    },
    {
      what: "unassigning it",
      method: "PATCH",
      path: "/workspaces/ID/relationships/ssh-key",
      body: () => assign(null),
      status: 200,
    },
    {
      what: "assigning a missing SSH key",
      method: "PATCH",
      path: "/workspaces/ID/relationships/ssh-key",
      body: () => assign("sshkey-1234567812345678"),
      status: 404,
    },
    {
      what: "assigning to a missing workspace",
      method: "PATCH",
      path: `/workspaces/${missing}/relationships/ssh-key`,
      body: () => assign(key),
      status: 404,
    },
  ])("$what: $status", async ({ method, path, body, status }) => {
    const answer = await testEngine.request(method, path.replace("ID", id), { body: body?.() })
    expect(answer.status).toBe(status)
  })

  test("[W-2.5-r14] the document contains the assigned key with its id, type and link", async () => {
    const sshKey = async () => (await made(testEngine, "GET", `/workspaces/${id}`)).relationships["ssh-key"]
    await made(testEngine, "PATCH", `/workspaces/${id}/relationships/ssh-key`, assign(key))
    expect(await sshKey()).toEqual({
      data: { type: "ssh-keys", id: key },
      links: { related: `/api/v2/ssh-keys/${key}` },
    })
    await made(testEngine, "PATCH", `/workspaces/${id}/relationships/ssh-key`, assign(null))
    expect((await sshKey()).data).toBeNull()
  })
})

test("[W-2.5-p2] a data retention policy has an id, its number of days, and its target", async () => {
  const body = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 })
  const policy = await made(testEngine, "POST", `/workspaces/${id}/relationships/data-retention-policy`, body)
  expect(policy).toMatchObject({
    id: expect.stringMatching(/^drp-[a-zA-Z0-9]{16}$/),
    type: "data-retention-policy-delete-olders",
    attributes: { "delete-older-than-n-days": 30 },
    relationships: { target: { data: { type: "workspaces", id } } },
  })
})
