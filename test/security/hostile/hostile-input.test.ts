// A sample of the attacks that test/long/hostile-input.test.ts sends in full, and all attacks that are not about one endpoint.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createApp } from "../../../engine/src/server/app.ts"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import { databaseKinds } from "../../../engine/testing/temporary-database.ts"
import { endpoints } from "../permissions/matrix.ts"
import { type Attack, openTarget, type Target } from "./attack.ts"
import {
  complaintsOf,
  mutate,
  sampled,
  validRequest,
  wrongBodies,
  wrongMembers,
  wrongPaths,
  wrongQueries,
} from "./campaign.ts"
import { deeplyNested, wrongPathSegments } from "./hostile-values.ts"

const seed = 8420
let target: Target
beforeAll(async () => {
  const [file] = databaseKinds
  if (file === undefined) throw new Error("there is no kind of database")
  target = await openTarget(file)
})
afterAll(() => target[Symbol.asyncDispose]())

describe.each(endpoints)("%s", (endpoint) => {
  test("[W-7-p1] rejects malformed documents, paths and queries with JSON:API error objects", async () => {
    const valid = await validRequest(target, endpoint)
    const attacks = [
      ...(valid.body === undefined ? [] : wrongBodies(valid)),
      ...sampled(wrongMembers(valid), 15, seed),
      ...sampled(wrongPaths(endpoint, valid), 10, seed),
      ...sampled(wrongQueries(valid), 10, seed),
    ]
    expect(await complaintsOf(target, attacks)).toEqual([])
    await mutate(target, () => validRequest(target, endpoint), { runs: 8, seed })
  })
})

test("the checks detect a rejection that changes data or has no error document", async () => {
  const { app } = target.testUsers.testEngine
  const carriedOut: Attack["fetch"] = async (request, exchange) => {
    await app.fetch(request, exchange)
    return Response.json({ errors: [{ status: 422, title: "invalid attribute", detail: "" }] }, { status: 422 })
  }
  const body = { data: { type: "workspaces", attributes: { name: "noticed" } } }
  const attack = { method: "POST", address: "/organizations/matrix/workspaces", body, fetch: carriedOut }
  expect((await target.attack(attack)).complaints).toEqual([
    'status is 422, not "422"',
    'detail is ""',
    'no source for ""',
    "something has changed",
  ])
})

// The databases differ: PostgreSQL rejects U+0000 in text, SQLite accepts it.
test.each(databaseKinds.filter(({ name, available }) => name === "PostgreSQL" && available))(
  "no character U+0000 reaches $name",
  async (kind) => {
    await using server = await openTarget(kind)
    const complaints: string[] = []
    for (const endpoint of endpoints) {
      const valid = await validRequest(server, endpoint)
      const attacks = [...wrongMembers(valid), ...wrongPaths(endpoint, valid), ...wrongQueries(valid)].filter(
        ({ address, body }) => address.includes("%00") || JSON.stringify(body)?.includes(String.raw`"\u0000"`),
      )
      complaints.push(...(await complaintsOf(server, sampled(attacks, 6, seed))))
    }
    expect(complaints).toEqual([])
  },
)

/** Sends to the endpoint whose document is validated most strictly. */
async function createWorkspace(body: unknown, rest: Omit<Partial<Attack>, "body"> = {}) {
  const attack = { method: "POST", address: "/organizations/matrix/workspaces", body, ...rest }
  const { status, text, complaints } = await target.attack(attack)
  expect(complaints).toEqual([])
  return { status, errors: text === "" ? [] : (JSON.parse(text) as { readonly errors?: unknown[] }).errors }
}
const named = (name: string) => JSON.stringify({ data: { type: "workspaces", attributes: { name } } })

describe("a body", () => {
  test.each([
    { kind: "that is not JSON", body: "{" },
    { kind: "with something behind its end", body: `${named("behind")}x` },
    { kind: "that is not UTF-8", body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) },
    { kind: "whose UTF-8 encodes half a surrogate pair", body: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) },
    { kind: "that ends in the middle of a character", body: Buffer.from(named("é")).subarray(0, -20) },
    { kind: "of nothing but white space", body: " \n" },
    { kind: "nested 200,000 deep", body: deeplyNested },
    { kind: "that is empty", body: "" },
  ])("$kind is a bad request", async ({ body }) => {
    expect((await createWorkspace(body)).status).toBe(400)
  })

  test("nested 100,000 deep inside an attribute is rejected before it is parsed", async () => {
    const nested = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const { status } = await createWorkspace(`{"data":{"type":"workspaces","attributes":{"name":${nested}}}}`)
    expect(status).toBe(400)
  })

  test("nested to the maximum depth inside an attribute is rejected at its pointer", async () => {
    const nested = `${'{"a":'.repeat(297)}1${"}".repeat(297)}`
    const { status, errors } = await createWorkspace(`{"data":{"type":"workspaces","attributes":{"name":${nested}}}}`)
    expect(status).toBe(422)
    expect(errors).toMatchObject([{ source: { pointer: "/data/attributes/name" } }])
  })

  test.each(["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/jsonx", "", null])(
    "of the content type %j is answered 415",
    async (type) => {
      expect((await createWorkspace(named("typed"), { headers: { "content-type": type } })).status).toBe(415)
    },
  )

  test.each(["application/json", "application/vnd.api+json; charset=utf-8", "Application/Vnd.Api+JSON"])(
    "of the content type %s is read",
    async (type) => {
      const { status } = await createWorkspace(named("no name"), { headers: { "content-type": type } })
      expect(status).toBe(422)
    },
  )

  describe("over the limit", () => {
    const limited = () => {
      const { engine } = target.testUsers.testEngine
      return createApp({ engine, runtime: systemRuntime(), bodyLimitBytes: 1_000 }).fetch
    }
    const large = named("x".repeat(1_000))

    test.each(["1000000", null])("is answered 413 when its content length is %s", async (length) => {
      const headers = { "content-length": length }
      expect((await createWorkspace(large, { fetch: limited(), headers })).status).toBe(413)
    })
  })

  test("that repeats a member uses the last value", async () => {
    const body = `{"data":{"type":"workspaces","attributes":{"name":"first","name":"no name"}}}`
    const { status, errors } = await createWorkspace(body)
    expect(status).toBe(422)
    expect(errors).toMatchObject([{ source: { pointer: "/data/attributes/name" } }])
  })

  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "with a member %s is treated like any other with an unknown member",
    async (member) => {
      const name = `m-${member.replaceAll("_", "-")}`
      const inner = `{"name":"${name}","${member}":{"auto-apply":true,"admin":true}}`
      const { status } = await createWorkspace(`{"data":{"type":"workspaces","attributes":${inner},"${member}":[]}}`)
      expect(status).toBe(201)
      expect(({} as Record<string, unknown>)["admin"]).toBeUndefined()
      const { body } = await target.testUsers.testEngine.request("GET", `/organizations/matrix/workspaces/${name}`)
      expect(body.data.attributes["auto-apply"]).toBe(false)
    },
  )

  test("is rejected with all its faults at once, each with its pointer", async () => {
    const attributes = {
      name: 5,
      "auto-apply": "yes",
      description: "\0",
      "execution-mode": "nowhere",
      operations: "no",
    }
    const { status, errors } = await createWorkspace({ data: { type: "other", attributes } })
    expect(status).toBe(422)
    const pointers = (errors as { readonly source: { readonly pointer: string } }[]).map(({ source }) => source.pointer)
    expect(pointers.toSorted()).toEqual([
      "/data/attributes/auto-apply",
      "/data/attributes/description",
      "/data/attributes/execution-mode",
      "/data/attributes/name",
      "/data/attributes/operations",
      "/data/type",
    ])
  })
})

describe("a page", () => {
  test.each(["0", "-1", "1.5", "1e3", "abc", "99999999999999999999", "+1", "%D9%A1"])(
    "with the number or size %s is a bad request that names both",
    async (value) => {
      const address = `/organizations/matrix/workspaces?page%5Bnumber%5D=${value}&page%5Bsize%5D=${value}`
      const { status, text, complaints } = await target.attack({ method: "GET", address })
      expect(complaints).toEqual([])
      expect(status).toBe(400)
      expect(JSON.parse(text).errors).toMatchObject([
        { source: { parameter: "page[number]" } },
        { source: { parameter: "page[size]" } },
      ])
    },
  )

  test.each([
    { query: "page%5Bsize%5D=100000", size: 100, number: 1 },
    { query: "page%5Bnumber%5D=999999999999999", size: 20, number: 999_999_999_999_999 },
  ])("requested as $query is answered", async ({ query, size, number }) => {
    const { body, status } = await target.testUsers.testEngine.request(
      "GET",
      `/organizations/matrix/workspaces?${query}`,
    )
    expect(status).toBe(200)
    expect(body.meta.pagination).toMatchObject({ "page-size": size, "current-page": number })
  })
})

describe("an address", () => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "LINK", "PURGE", "X-ODD"]
  const unknown = [
    "/nowhere",
    "/",
    "/workspaces",
    "/organizations/matrix/nowhere",
    "/workspaces//",
    "/../../etc/passwd",
  ]

  test.each(methods)("that is unknown answers %s with a 404 document", async (method) => {
    for (const address of unknown) {
      const { status, complaints } = await target.attack({ method, address })
      expect(complaints).toEqual([])
      expect(status).toBe(404)
    }
  })

  test.each(["PUT", "OPTIONS", "LINK", "PURGE", "X-ODD"])("that is known rejects %s", async (method) => {
    const { workspaceId } = await target.testUsers.newSubject()
    for (const address of ["/organizations", `/workspaces/${workspaceId}`, `/workspaces/${workspaceId}/actions/lock`]) {
      const { status, complaints } = await target.attack({ method, address })
      expect(complaints).toEqual([])
      expect([404, 405]).toContain(status)
    }
  })

  test("answers HEAD like GET, without the body", async () => {
    const { workspaceId } = await target.testUsers.newSubject()
    for (const [address, expected] of [
      [`/workspaces/${workspaceId}`, 200],
      ["/workspaces/ws-0000000000000000", 404],
    ] as const) {
      const { status, text } = await target.attack({ method: "HEAD", address })
      expect([status, text]).toEqual([expected, ""])
    }
  })
})

describe("an upload", () => {
  const upload = (address: string, body: unknown) =>
    target.attack({
      method: "PUT",
      base: "/uploads/state-versions",
      address,
      body,
      headers: { authorization: null, "content-type": "application/octet-stream" },
    })

  test("changes nothing and reveals nothing without the credential of its own document", async () => {
    const { as, workspaceId } = await target.testUsers.newSubject()
    await as("owner", "POST", `/workspaces/${workspaceId}/actions/lock`)
    const made = await as("owner", "POST", `/workspaces/${workspaceId}/state-versions`, {
      data: { type: "state-versions", attributes: { serial: 1, md5: "0".repeat(32) } },
    })
    const { id, attributes } = made.body.data
    const signedQuery = new URL(attributes["hosted-state-upload-url"]).search
    const credentials = ["", "?credential=", "?credential=x", "?credential=%00", "?credential=%ZZ", `${signedQuery}x`]
    const addresses = [
      ...credentials.map((credential) => `/${id}/state${credential}`),
      ...wrongPathSegments.map((segment) => `/${segment}/state${signedQuery}`),
      ...wrongPathSegments.map((segment) => `/${id}/${segment}${signedQuery}`),
      `/${id}/json-state${signedQuery}`,
    ]
    for (const address of addresses)
      for (const body of ["{}", "", Buffer.from([0, 255, 254])]) {
        const { status, complaints } = await upload(address, body)
        expect(complaints).toEqual([])
        expect([400, 404]).toContain(status)
      }
    for (const body of ["", "{", "null", "[]", "5", '{"version":4}', deeplyNested, Buffer.from([0, 255, 254])]) {
      const { status, complaints } = await upload(`/${id}/state${signedQuery}`, body)
      expect(complaints).toEqual([])
      expect(status).toBe(422)
    }
  })
})

test.each([
  "Bearer",
  "Bearer ",
  "Basic cm9vdDpyb290",
  "Bearer \u00ff",
  `Bearer ${"x".repeat(10_000)}`,
  "Bearer ' or 1=1",
])("the authorization %j is not accepted", async (authorization) => {
  const attack = { method: "GET", address: "/account/details", headers: { authorization } }
  const { status, complaints } = await target.attack(attack)
  expect(complaints).toEqual([])
  expect(status).toBe(401)
})
