import { beforeAll, describe, expect, test } from "vitest"
import type { Exchange } from "../http/exchange.ts"
import { origin, openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  for (const path of ["pki", "team/pki"]) await world.pki("POST", `/sys/mounts/${path}`, { body: { type: "pki" } })
  await world.pki("POST", "/pki/roles/web", { body: { allowed_domains: "example.com", ttl: "72h" } })
  return () => world[Symbol.asyncDispose]()
})

/** Headers of Vault clients. */
const vault = (token = world.rootToken) => ({ token: null, headers: { "x-vault-token": token } })

describe("a token", () => {
  test.each<[how: string, headers: () => Record<string, string>, status: number]>([
    ["[P-5-n1] X-Service-Token", () => ({ "x-service-token": world.rootToken }), 200],
    ["X-Vault-Token", () => ({ "x-vault-token": world.rootToken }), 200],
    ["Bearer", () => ({ authorization: `Bearer ${world.rootToken}` }), 200],
    ["nowhere", () => ({}), 403],
    ["an empty header", () => ({ "x-service-token": "" }), 403],
    ["a header with another token", () => ({ "x-service-token": "s.other" }), 403],
    ["a header with a long one", () => ({ "x-service-token": "x".repeat(600) }), 403],
    ["Basic", () => ({ authorization: "Basic cm9vdDpyb290" }), 403],
    ["a bad header before a good one", () => ({ "x-service-token": "bad", "x-vault-token": world.rootToken }), 403],
  ])("in %s is accepted", async (_how, headers, status) => {
    const answer = await world.pki("GET", "/pki/roles/web", { token: null, headers: headers() })
    const errors = status === 403 ? ["permission denied"] : undefined
    expect([answer.status, answer.body.errors]).toEqual([status, errors])
  })

  test("without rights gets the same error as an invalid one", async () => {
    const { secret } = await world.engine.serviceTokens.create({ policies: ["default"] })
    for (const token of [secret, "bad"])
      expect(await world.pki("GET", "/pki/roles/web", { token })).toMatchObject({
        status: 403,
        body: { errors: ["permission denied"] },
      })
  })

  test("is checked before the existence of a resource", async () => {
    for (const path of ["/pki/roles/web", "/pki/nothing", "/nowhere/x", "/sys/nothing", "", "/"])
      expect((await world.pki("GET", path, { token: null })).status).toBe(403)
  })
})

describe("a path", () => {
  test.each<[method: string, path: string, status: number, errors: string[]]>([
    ["GET", "/nowhere/x", 404, ['no handler for route "nowhere/x". route entry not found.']],
    ["GET", "/team/x", 404, ['no handler for route "team/x". route entry not found.']],
    ["GET", "/pki/nothing", 404, ["unsupported path"]],
    ["GET", "/pki", 404, ["unsupported path"]],
    ["GET", "/sys/nothing", 404, ["unsupported path"]],
    ["GET", "/sys/audit", 404, [expect.stringMatching(/^unsupported path: .*--audit-log/)]],
    ["PUT", "/sys/storage/raft/snapshot", 404, [expect.stringMatching(/^unsupported path: .*"chancery backup"/)]],
    ["PUT", "/sys/init", 405, [expect.stringMatching(/^unsupported operation: the first start/)]],
    ["GET", "/pki/sys/audit", 404, ["unsupported path"]],
    ["GET", "/pki/roles/absent", 404, []],
    ["LIST", "/team/pki/roles", 404, []],
    ["DELETE", "/pki/roles", 405, ["unsupported operation"]],
    ["GET", "/pki/roles", 405, ["unsupported operation"]],
    ["TRACES", "/pki/roles", 405, ["unsupported operation"]],
    ["POST", "/pki/roles/web/", 400, ["cannot write to a path ending in '/'"]],
    ["PUT", "/pki/roles/web/", 400, ["cannot write to a path ending in '/'"]],
    ["PATCH", "/pki/roles/absent", 400, ["Unable to fetch role entry to patch"]],
  ])("[P-7-p1] %s %s answers %i %j", async (method, path, status, errors) => {
    const body = method === "PATCH" ? { body: {} } : {}
    const answer = await world.pki(method, path, body)
    expect([answer.status, answer.body]).toEqual([status, { errors }])
    expect(answer.headers.get("content-type")).toBe("application/json")
  })

  test("answers 405 with the methods of its other operations", async () => {
    expect((await world.pki("GET", "/pki/roles")).headers.get("allow")).toBe("LIST")
    expect((await world.pki("LIST", "/pki/roles/web")).headers.get("allow")).toBe("GET, HEAD, POST, PUT, PATCH, DELETE")
  })

  test.each([
    ["LIST", "/pki/roles"],
    ["LIST", "/pki/roles/"],
    ["GET", "/pki/roles?list=true"],
    ["GET", "/pki/roles/?list=true"],
    ["GET", "/pki/roles?list=1"],
  ])("[P-4-p1] %s %s is a list", async (method, path) => {
    expect((await world.pki(method, path)).body.data).toEqual({ keys: ["web"] })
  })

  test.each<[path: string, helps: string[]]>([
    ["/pki", ["/issue/{name}", "/roles/{name}", "/config/urls"]],
    ["/team/pki/", ["/issue/{name}"]],
    ["/pki/config", ["/config/urls", "/config/crl"]],
    ["/sys", ["/sys/mounts/{path}/tune"]],
    ["/auth/token", ["/auth/token/create"]],
  ])("that is a prefix of others lists those: %s", async (path, below) => {
    const { status, body } = await world.pki("GET", `${path}?help=1`)
    expect(status).toBe(200)
    const lines: string[] = body.help.split("\n").filter((line: string) => line.startsWith("    "))
    const told = lines.map((line) => line.trim().split(/ {4,}/)[0])
    expect(told).toEqual(Object.keys(body.openapi.paths))
    expect(told).toEqual(expect.arrayContaining(below))
    expect((await world.pki("GET", `${path}?help=1`, { token: null })).status).toBe(403)
  })

  test("answers OPTIONS and help with its operations", async () => {
    const { status, body } = await world.pki("GET", "/pki/roles/web?help=1")
    expect(status).toBe(200)
    expect(body.help).toContain("Matching Route: /roles/{name}")
    expect(body.help).toContain("delete, patch, read, write")
    expect(Object.keys(body.openapi.paths["/roles/{name}"])).toEqual([
      "parameters",
      "delete",
      "patch",
      "get",
      "post",
      "put",
    ])
    expect(body.see_also).toEqual([])
  })

  test("is counted in metrics by its pattern", async () => {
    const patternOf = async (path: string) => {
      const exchange: Exchange = { requestId: "1", route: undefined }
      await world.app.fetch(new Request(`${origin}/v1${path}`), exchange)
      return exchange.route
    }
    expect(await patternOf("/pki/roles/web")).toBe("/v1/:mount/roles/:name")
    expect(await patternOf("/team/pki/roles/web")).toBe("/v1/:mount/roles/:name")
    expect(await patternOf("/sys/mounts/pki")).toBe("/v1/sys/mounts/*path")
    expect(await patternOf("/pki/nothing")).toBeUndefined()
    expect(await patternOf("/nowhere")).toBeUndefined()
  })
})

describe("an answer", () => {
  const around = { lease_id: "", renewable: false, lease_duration: 0, wrap_info: null, auth: null, mount_type: "pki" }

  test("[P-4.3-r1] is in an envelope", async () => {
    const { body, headers } = await world.pki("LIST", "/pki/roles")
    expect(body).toEqual({ request_id: "test", ...around, warnings: "", data: { keys: ["web"] } })
    expect(headers.get("cache-control")).toBe("no-store")
  })

  test("has null warnings for Vault clients", async () => {
    expect((await world.pki("LIST", "/pki/roles", vault())).body).toEqual({
      request_id: "test",
      ...around,
      warnings: null,
      data: { keys: ["web"] },
    })
  })

  test("to HEAD is that of GET without a body", async () => {
    const { status, headers, body } = await world.pki("HEAD", "/pki/roles/web")
    expect([status, headers.get("content-type"), body]).toEqual([200, "application/json", undefined])
    expect((await world.pki("HEAD", "/pki/roles/absent")).status).toBe(404)
  })

  test("has warnings as one string, or as an array for Vault clients", async () => {
    const body = { no_store: true, generate_lease: true, key_usage: "Nothing" }
    // The first role with no_store changes how OCSP answers unknown serial numbers, and adds a warning about it.
    await world.pki("POST", "/pki/roles/first", { body })
    const native = await world.pki("POST", "/pki/roles/warned", { body })
    const existing = await world.pki("POST", "/pki/roles/warned", { body, ...vault() })
    expect(existing.body.warnings).toHaveLength(3)
    expect(native.body.warnings).toBe(existing.body.warnings.join("\n"))
  })

  test("[F-W20] without data has a body when it warns of unknown parameters", async () => {
    const quiet = await world.pki("DELETE", "/pki/roles/absent")
    expect([quiet.status, quiet.body]).toEqual([204, undefined])
    const { status, body } = await world.pki("DELETE", "/pki/roles/absent?force=1")
    expect([status, body.data, body.warnings]).toEqual([
      200,
      null,
      "Endpoint ignored these unrecognized parameters: [force]",
    ])
  })

  test.each<[who: string, headers: () => Parameters<TestEngine["pki"]>[2], ttl: unknown]>([
    ["the native dialect", () => ({}), "72h"],
    ["clients that send X-Vault-Token", () => vault(), 259_200],
    ["clients that send X-Vault-Request", () => ({ headers: { "x-vault-request": "true" } }), 259_200],
  ])("[P-2.1-r13] to %s has durations in the form of its dialect", async (_who, headers, ttl) => {
    expect((await world.pki("GET", "/pki/roles/web", headers())).body.data.ttl).toBe(ttl)
  })
})

describe("the body of a request", () => {
  const saved = async (method: string, options: Parameters<TestEngine["pki"]>[2]) => {
    const answer = await world.pki(method, "/pki/roles/said", options)
    return answer.status === 200 ? answer.body.data : [answer.status, ...answer.body.errors]
  }
  const urlencoded = { "content-type": "application/x-www-form-urlencoded" }

  test("may have strings for all types", async () => {
    const body = {
      ttl: "90",
      max_ttl: "1h30m",
      allow_any_name: "true",
      allow_ip_sans: "0",
      key_bits: "4096",
      allowed_domains: "a.example, b.example,,",
      organization: ["Acme, Inc."],
    }
    expect(await saved("POST", { body })).toMatchObject({
      ttl: "1m30s",
      max_ttl: "1h30m",
      allow_any_name: true,
      allow_ip_sans: false,
      key_bits: 4096,
      allowed_domains: ["a.example", "b.example"],
      organization: ["Acme, Inc."],
    })
  })

  test("may be a form, in which repeated members are an array", async () => {
    const body = "ttl=1h&allowed_domains=a.example&allowed_domains=b.example&allow_any_name=true"
    expect(await saved("POST", { body, headers: urlencoded })).toMatchObject({
      ttl: "1h",
      allowed_domains: ["a.example", "b.example"],
      allow_any_name: true,
    })
  })

  test("is read as JSON for any Content-Type if it begins like JSON", async () => {
    for (const type of ["application/x-www-form-urlencoded", "text/plain"])
      expect(await saved("POST", { body: ' {"ttl": 3600}', headers: { "content-type": type } })).toMatchObject({
        ttl: "1h",
      })
  })

  test("has the same effect by PUT as by POST", async () => {
    expect(await saved("PUT", { body: { ttl: "2h" } })).toMatchObject({ ttl: "2h", allowed_domains: [] })
  })

  test("may be empty", async () => {
    expect(await saved("POST", {})).toMatchObject({ ttl: "0s", key_type: "rsa" })
  })

  test("is merged by PATCH, and null removes a member", async () => {
    await saved("POST", { body: { ttl: "2h", allowed_domains: "a.example", key_type: "ec" } })
    expect(await saved("PATCH", { body: { max_ttl: "4h" } })).toMatchObject({
      ttl: "2h",
      max_ttl: "4h",
      allowed_domains: ["a.example"],
    })
    expect(await saved("PATCH", { body: { ttl: null, allowed_domains: null } })).toMatchObject({
      ttl: "0s",
      max_ttl: "4h",
      allowed_domains: [],
      key_type: "ec",
    })
    const type = { "content-type": "application/json" }
    expect(await saved("PATCH", { body: { ttl: "1h" }, headers: type })).toEqual([
      415,
      "Content-Type must be application/merge-patch+json",
    ])
  })

  test("may have unknown parameters, which are ignored with a warning", async () => {
    const { status, body } = await world.pki("POST", "/pki/roles/said", { body: { ttl: "1h", tll: "2h", zzz: [1] } })
    expect([status, body.data.ttl, body.warnings]).toEqual([
      200,
      "1h",
      "Endpoint ignored these unrecognized parameters: [tll zzz]",
    ])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${"x".repeat(500)}${index}`, 1]))
    const warned = await world.pki("POST", "/pki/roles/said", { body: many })
    expect(warned.body.warnings.length).toBeLessThan(1_600)
  })

  test("may repeat path parameters, which are replaced with a warning", async () => {
    const { body } = await world.pki("POST", "/pki/roles/said", { body: { name: "other", ttl: "1h" } })
    expect(body.warnings).toBe(
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    )
    expect((await world.pki("GET", "/pki/roles/other")).status).toBe(404)
  })

  test.each<[why: string, body: unknown, status: number, errors: RegExp[]]>([
    ["no JSON", "{", 400, [/^the body is not valid JSON$/]],
    ["a list", "[]", 400, [/^the body is not a JSON object$/]],
    ["a text", '"null"', 400, [/^the body is not a JSON object$/]],
    ["not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), 400, [/^the body is not valid UTF-8$/]],
    ["deeply nested", `{"ttl":${"[".repeat(299)}${"]".repeat(299)}}`, 400, [/^"ttl" must be a duration/]],
    [
      "nested too deeply",
      `{"ttl":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      400,
      [/^the body nests values deeper than 300 levels/],
    ],
    [
      "wrong in many ways",
      { ttl: "soon", allow_any_name: "perhaps", key_bits: 1.5, allowed_domains: { a: 1 }, country: ["Utopia"] },
      400,
      [/^"ttl" must/, /^"allow_any_name" must be a boolean/, /^"key_bits" must/, /^"allowed_domains" must/, /country/],
    ],
    ["text with U+0000", { issuer_ref: "a\0" }, 400, [/^"issuer_ref" must not contain the character U\+0000$/]],
    [
      "text too long to be read",
      { issuer_ref: "a".repeat(70_000) },
      400,
      [/^"issuer_ref" must not be longer than 64 KiB$/],
    ],
    ["negative", { ttl: -1 }, 400, [/^"ttl" must be a duration/]],
  ])("[P-7-p1] that is %s is rejected with the member", async (_why, body, status, errors) => {
    const answer = await world.pki("POST", "/pki/roles/refused", { body })
    expect([answer.status, answer.body]).toEqual([
      status,
      { errors: errors.map((error) => expect.stringMatching(error)) },
    ])
    expect((await world.pki("GET", "/pki/roles/refused")).status).toBe(404)
  })

  test("with several faults gives Vault clients one line per fault", async () => {
    const body = { ttl: "soon", allow_any_name: "perhaps", key_bits: 1.5 }
    const answer = await world.pki("PUT", "/pki/roles/refused", { body, headers: { "x-vault-request": "true" } })
    expect(answer.body.errors).toEqual([
      expect.stringMatching(/^"ttl" must.*\n$/),
      expect.stringMatching(/^"allow_any_name" must.*\n$/),
      expect.stringMatching(/^"key_bits" must.*[^\n]$/),
    ])
  })

  test("that is null is treated as empty, and rejected by PATCH", async () => {
    const written = await world.pki("PUT", "/pki/roles/empty", { body: "null" })
    expect([written.status, written.body.warnings]).toEqual([200, ""])
    const headers = { "content-type": "application/merge-patch+json" }
    expect((await world.pki("PATCH", "/pki/roles/empty", { body: "null", headers })).status).toBe(400)
  })

  test("[P-7-p1] that is larger than 32 MiB is rejected", async () => {
    const body = " ".repeat(32 * 1024 * 1024 + 1)
    const answer = await world.pki("POST", "/pki/roles/refused", { body })
    expect([answer.status, answer.body]).toEqual([413, { errors: ["The body is larger than 33554432 bytes."] }])
  })

  test.each<[name: string, value: string, status: number]>([
    ["x-vault-namespace", "", 200],
    ["x-vault-namespace", "root", 200],
    ["x-vault-namespace", "root/", 200],
    ["x-vault-namespace", "team", 400],
    ["x-vault-wrap-ttl", "5m", 400],
    ["x-vault-policy-override", "true", 200],
    ["x-vault-index", "abc", 200],
  ])("with the header %s: %s answers %i", async (name, value, status) => {
    expect((await world.pki("GET", "/pki/roles/web", { headers: { [name]: value } })).status).toBe(status)
  })
})
