import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { minuteMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { type Answer, openTestEngine, origin, type TestEngineOptions } from "../../../testing/test-engine.ts"

const started = Date.UTC(2026, 10, 23, 7)
const vault = { "x-vault-request": "true" }
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const wrong = { status: 400, body: { errors: ["invalid role or secret ID"] } }

async function opened(options: TestEngineOptions = {}) {
  const clock = manualClock(started)
  const world = await openTestEngine({ ...options, runtime: { ...systemRuntime(), clock } })
  onTestFinished(() => world[Symbol.asyncDispose]())
  await world.engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
  await world.engine.authMethods.enable({ path: "approle", type: "approle" })
  const send = (method: string, path: string, body?: object, token?: string | null) =>
    world.pki(method, `/auth/approle${path}`, {
      headers: vault,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
    })
  const made = async (role: object = {}, secretId: object = {}) => {
    expect((await send("POST", "/role/web", { token_policies: "web", ...role })).status).toBe(204)
    const { role_id } = (await send("GET", "/role/web/role-id")).body.data
    return { role_id, ...(await send("POST", "/role/web/secret-id", secretId)).body.data }
  }
  const logIn = (body: object) => send("POST", "/login", body, null)
  return { ...world, clock, send, made, logIn }
}

const dataOf = ({ status, body }: Answer): unknown => {
  expect(status).toBe(200)
  return body.data
}

describe("an AppRole role", () => {
  test("is written and read as Vault clients expect", async () => {
    const { send } = await opened()
    const answer = await send("POST", "/role/Web", {
      token_policies: ["web", "default", "web"],
      token_ttl: "20m",
      token_max_ttl: 1_800,
      secret_id_ttl: "10m",
      secret_id_num_uses: "40",
      secret_id_bound_cidrs: "10.0.0.0/8,127.0.0.1/32",
      token_type: "default-service",
    })
    expect([answer.status, answer.body]).toEqual([204, undefined])
    expect(dataOf(await send("GET", "/role/web"))).toEqual({
      bind_secret_id: true,
      local_secret_ids: false,
      secret_id_bound_cidrs: ["10.0.0.0/8", "127.0.0.1/32"],
      secret_id_num_uses: 40,
      secret_id_ttl: 600,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 1_800,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ["default", "web"],
      token_ttl: 1_200,
      token_type: "default-service",
    })
    expect(dataOf(await send("GET", "/role/web/role-id"))).toEqual({ role_id: uuid })
    expect(dataOf(await send("LIST", "/role"))).toEqual({ keys: ["web"] })
    expect(dataOf(await send("GET", "/role?list=true"))).toEqual({ keys: ["web"] })
    expect((await send("DELETE", "/role/web")).status).toBe(204)
    expect((await send("DELETE", "/role/web")).status).toBe(204)
    expect((await send("GET", "/role/web")).status).toBe(404)
    expect((await send("LIST", "/role")).status).toBe(404)
  })

  test("accepts the parameter names of older clients", async () => {
    const { send } = await opened()
    await send("POST", "/role/web", { policies: "web", period: "1h", bound_cidr_list: ["10.0.0.0/8"], role_id: "own" })
    const role = { token_policies: ["web"], token_period: 3_600, secret_id_bound_cidrs: ["10.0.0.0/8"] }
    expect(dataOf(await send("GET", "/role/web"))).toMatchObject(role)
    expect(dataOf(await send("GET", "/role/web/role-id"))).toEqual({ role_id: "own" })
    await send("POST", "/role/web/policies", { policies: "default", token_policies: "web" })
    await send("POST", "/role/web/period", { period: 60 })
    expect(dataOf(await send("GET", "/role/web"))).toMatchObject({ ...role, token_period: 60 })
  })

  test.each([
    ["policies", { token_policies: ["web"] }, { token_policies: [] }],
    ["secret-id-num-uses", { secret_id_num_uses: 3 }, { secret_id_num_uses: 0 }],
    ["secret-id-ttl", { secret_id_ttl: 60 }, { secret_id_ttl: 0 }],
    ["token-ttl", { token_ttl: 60 }, { token_ttl: 0 }],
    ["token-max-ttl", { token_max_ttl: 60 }, { token_max_ttl: 0 }],
    ["token-num-uses", { token_num_uses: 3 }, { token_num_uses: 0 }],
    ["bind-secret-id", { bind_secret_id: false }, { bind_secret_id: true }],
    ["secret-id-bound-cidrs", { secret_id_bound_cidrs: ["10.0.0.0/8"] }, { secret_id_bound_cidrs: [] }],
    ["token-bound-cidrs", { token_bound_cidrs: ["10.0.0.0/8"] }, { token_bound_cidrs: [] }],
    ["period", { token_period: 60 }, { token_period: 0 }],
  ])("has %s at a separate path", async (part, changed, initial) => {
    const { send } = await opened()
    // A role needs at least one constraint, whichever parameter is removed.
    const kept = part === "secret-id-bound-cidrs" ? {} : { secret_id_bound_cidrs: "192.0.2.0/24" }
    await send("POST", "/role/web", kept)
    expect(dataOf(await send("GET", `/role/web/${part}`))).toEqual(initial)
    expect((await send("POST", `/role/web/${part}`, changed)).status).toBe(204)
    expect(dataOf(await send("GET", `/role/web/${part}`))).toEqual(changed)
    expect(dataOf(await send("GET", "/role/web"))).toMatchObject(changed)
    expect((await send("DELETE", `/role/web/${part}`)).status).toBe(204)
    expect(dataOf(await send("GET", `/role/web/${part}`))).toEqual(initial)
    const missing = await send("POST", `/role/web/${part}`, {})
    expect(missing).toMatchObject({ status: 400, body: { errors: [`${Object.keys(changed)[0]} is required`] } })
    expect((await send("GET", `/role/none/${part}`)).status).toBe(404)
  })

  test("is rejected with the names of invalid parameters", async () => {
    const { send } = await opened()
    const answer = await send("POST", "/role/web", {
      token_ttl: "soon",
      token_bound_cidrs: "nowhere",
      secret_id_num_uses: -1,
      token_type: "batch",
    })
    expect(answer.status).toBe(400)
    expect(answer.body.errors).toEqual([
      expect.stringMatching(/^"token_ttl" must be a duration/),
      expect.stringMatching(/^"token_type" must not be "batch"/),
      expect.stringMatching(/^secret_id_num_uses must be an integer/),
      expect.stringMatching(/^token_bound_cidrs contains "nowhere"/),
    ])
    expect((await send("POST", "/role/web", { bind_secret_id: false })).body.errors).toEqual([
      "at least one constraint should be enabled on the role",
    ])
    expect((await send("LIST", "/role")).status).toBe(404)
  })

  test("requires rights for each path, regardless of the case of its name", async () => {
    const { engine, send, made } = await opened()
    await made()
    await engine.policies.put(
      "deployer",
      'path "auth/approle/role/web/secret-id" { capabilities = ["update"] }\npath "auth/approle/role/*" { capabilities = ["read"] }\npath "auth/approle/role/web/role-id" { capabilities = ["deny"] }',
    )
    const { secret } = await engine.serviceTokens.create({ policies: ["deployer"] })
    expect((await send("POST", "/role/web/secret-id", {}, secret)).status).toBe(200)
    expect((await send("POST", "/role/WEB/secret-id", {}, secret)).status).toBe(200)
    expect((await send("GET", "/role/web", undefined, secret)).status).toBe(200)
    for (const name of ["web", "WEB"])
      expect((await send("GET", `/role/${name}/role-id`, undefined, secret)).status).toBe(403)
    expect((await send("POST", "/role/web/custom-secret-id", { secret_id: "x" }, secret)).status).toBe(403)
    expect((await send("POST", "/role/web", {}, secret)).status).toBe(403)
    expect((await send("GET", "/role/web", undefined, null)).status).toBe(403)
  })
})

describe("a secret id", () => {
  test("is created, looked up by value and by accessor, and destroyed", async () => {
    const { send, clock } = await opened()
    await send("POST", "/role/web", { secret_id_num_uses: 10 })
    const metadata = '{ "tag1": "production" }'
    const answer = await send("POST", "/role/web/secret-id", { metadata, ttl: 600, num_uses: 5, cidr_list: "10.0.0.1" })
    const made = dataOf(answer) as { secret_id: string; secret_id_accessor: string }
    expect(made).toEqual({ secret_id: uuid, secret_id_accessor: uuid, secret_id_ttl: 600, secret_id_num_uses: 5 })
    const { secret_id, secret_id_accessor } = made
    const told = {
      secret_id_accessor,
      secret_id_num_uses: 5,
      secret_id_ttl: 600,
      creation_time: "2026-11-23T07:00:00.000Z",
      last_updated_time: "2026-11-23T07:00:00.000Z",
      expiration_time: "2026-11-23T07:10:00.000Z",
      metadata: { tag1: "production" },
      cidr_list: ["10.0.0.1"],
      token_bound_cidrs: [],
    }
    expect(dataOf(await send("POST", "/role/web/secret-id/lookup", { secret_id }))).toEqual(told)
    expect(dataOf(await send("POST", "/role/web/secret-id-accessor/lookup", { secret_id_accessor }))).toEqual(told)
    expect(dataOf(await send("LIST", "/role/web/secret-id"))).toEqual({ keys: [secret_id_accessor] })

    const custom = await send("PUT", "/role/web/custom-secret-id", { secret_id: "testsecretid", num_uses: 0 })
    expect(custom.body.errors).toEqual(["num_uses cannot be higher than the role's secret_id_num_uses"])
    const chosen = await send("PUT", "/role/web/custom-secret-id", { secret_id: "testsecretid" })
    expect(dataOf(chosen)).toMatchObject({ secret_id: "testsecretid", secret_id_ttl: 0, secret_id_num_uses: 10 })
    const looked = dataOf(await send("POST", "/role/web/secret-id/lookup", { secret_id: "testsecretid" }))
    expect(looked).toMatchObject({ expiration_time: "0001-01-01T00:00:00Z", secret_id_ttl: 0 })
    const again = await send("PUT", "/role/web/custom-secret-id", { secret_id: "testsecretid" })
    expect(again).toMatchObject({ status: 400, body: { errors: ["secret_id is already registered"] } })
    expect((await send("PUT", "/role/web/custom-secret-id", {})).body.errors).toEqual(["secret_id can't be blank"])

    expect((await send("POST", "/role/web/secret-id/destroy", { secret_id: "testsecretid" })).status).toBe(204)
    expect((await send("DELETE", "/role/web/secret-id/destroy?secret_id=testsecretid")).status).toBe(204)
    clock.advance(10 * minuteMs)
    expect((await send("POST", "/role/web/secret-id/lookup", { secret_id })).status).toBe(404)
    const swept = await send("POST", "/tidy/secret-id")
    expect([swept.status, swept.body.warnings]).toEqual([202, ["Tidy operation successfully started."]])
    const destroyed = await send(
      "DELETE",
      `/role/web/secret-id-accessor/destroy?secret_id_accessor=${secret_id_accessor}`,
    )
    expect(destroyed.status).toBe(404)
    expect((await send("POST", "/role/web/secret-id-accessor/lookup", { secret_id_accessor })).body.errors).toEqual([
      `failed to find accessor entry for secret_id_accessor: "${secret_id_accessor}"`,
    ])
    for (const [path, member] of [
      ["secret-id", "secret_id"],
      ["secret-id-accessor", "secret_id_accessor"],
    ] as const)
      expect((await send("POST", `/role/web/${path}/lookup`, {})).body.errors).toEqual([`missing ${member}`])
  })

  test.each([
    ['{"a":"b","c":"1"}', { a: "b", c: "1" }],
    [{ a: "b" }, { a: "b" }],
    ["a=b,c=d", { a: "b", c: "d" }],
    ["", {}],
  ])("accepts %j as its metadata", async (metadata, told) => {
    const { send, made } = await opened()
    const { secret_id } = await made({}, { metadata })
    expect(dataOf(await send("POST", "/role/web/secret-id/lookup", { secret_id }))).toMatchObject({ metadata: told })
  })

  test.each(["[1]", '{"a":{}}', "nothing", 7])("takes no metadata of %j", async (metadata) => {
    const { send } = await opened()
    await send("POST", "/role/web", {})
    const { status, body } = await send("POST", "/role/web/secret-id", { metadata })
    expect([status, body.errors]).toEqual([
      400,
      ['"metadata" must be an object of strings, or a string with that object in JSON'],
    ])
  })
})

describe("a login", () => {
  test("returns an answer as Vault clients expect, without a token", async () => {
    const { made, logIn, pki } = await opened()
    const { role_id, secret_id } = await made({ token_ttl: "20m", token_max_ttl: "30m" }, { metadata: '{"job":"7"}' })
    const answer = await logIn({ role_id, secret_id })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      request_id: expect.any(String),
      lease_id: "",
      lease_duration: 0,
      renewable: false,
      data: null,
      wrap_info: null,
      warnings: null,
      mount_type: "approle",
      auth: {
        client_token: expect.stringMatching(/^chy_[A-Za-z0-9_-]{43}$/),
        accessor: expect.stringMatching(/^at-\w{16}$/),
        policies: ["default", "web"],
        token_policies: ["default", "web"],
        metadata: { job: "7", role_name: "web" },
        lease_duration: 1_200,
        renewable: true,
        entity_id: "",
        token_type: "service",
        orphan: true,
        mfa_requirement: null,
        num_uses: 0,
      },
    })
    const token = answer.body.auth.client_token
    expect(dataOf(await pki("GET", "/auth/token/lookup-self", { token }))).toMatchObject({
      display_name: "approle",
      meta: { job: "7", role_name: "web" },
      path: "auth/approle/login",
      orphan: true,
      ttl: 1_200,
    })
    const renewed = await pki("POST", "/auth/token/renew-self", { token, body: { increment: "2h" }, headers: vault })
    expect(renewed.body.auth).toMatchObject({ lease_duration: 1_800, metadata: { job: "7", role_name: "web" } })
  })

  test("fails with the same error for every cause, even with a token", async () => {
    const { made, logIn, send, rootToken } = await opened()
    const { role_id, secret_id, secret_id_accessor } = await made({}, { num_uses: 1 })
    for (const body of [
      { role_id: "none", secret_id },
      { role_id, secret_id: "none" },
      { role_id, secret_id: secret_id_accessor },
      { role_id },
      { role_id, secret_id: "" },
    ]) {
      expect(await logIn(body)).toMatchObject(wrong)
      expect(await send("POST", "/login", body, rootToken)).toMatchObject(wrong)
    }
    expect(await logIn({ secret_id })).toMatchObject({ status: 400, body: { errors: ["missing role_id"] } })
    expect((await logIn({ role_id, secret_id })).status).toBe(200)
    expect(await logIn({ role_id, secret_id })).toMatchObject(wrong)
    expect((await send("GET", "/login")).status).toBe(405)
  })

  test("is checked against the client address", async () => {
    const { app, made, rootToken } = await opened()
    const { role_id, secret_id } = await made({ secret_id_bound_cidrs: "10.0.0.0/8", token_bound_cidrs: "192.0.2.7" })
    const send = (path: string, remoteAddress: string, init: RequestInit) =>
      app.fetch(new Request(`${origin}/v1${path}`, init), { requestId: "test", route: undefined, remoteAddress })
    const logIn = (remoteAddress: string) =>
      send("/auth/approle/login", remoteAddress, {
        method: "POST",
        headers: { ...vault, "content-type": "application/json" },
        body: JSON.stringify({ role_id, secret_id }),
      })
    expect((await logIn("11.0.0.1")).status).toBe(400)
    const answer = await logIn("10.0.0.1")
    expect(answer.status).toBe(200)
    const { auth } = (await answer.json()) as { auth: { client_token: string } }
    const look = async (remoteAddress: string, token: string) =>
      (await send("/auth/token/lookup-self", remoteAddress, { headers: { "x-vault-token": token } })).status
    expect(await look("192.0.2.7", auth.client_token)).toBe(200)
    expect(await look("10.0.0.1", auth.client_token)).toBe(403)
    expect(await look("10.0.0.1", rootToken)).toBe(200)
  })

  test("is in the audit log with its result and without secrets", async () => {
    const folder = mkdtempSync(join(tmpdir(), "chancery-approle-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const auditFile = join(folder, "audit.log")
    const { made, logIn, send, ...world } = await opened({ auditFile })
    const { role_id, secret_id } = await made({}, { metadata: '{"job":"7"}' })
    await send("POST", "/role/web/custom-secret-id", { secret_id: "chosen by somebody" })
    await send("POST", "/role/web/secret-id/lookup", { secret_id })
    const answer = await logIn({ role_id, secret_id })
    await logIn({ role_id, secret_id: "guessed by somebody" })
    // Refused requests are written to the audit log after the answer; closing the engine flushes them.
    await world[Symbol.asyncDispose]()
    const text = readFileSync(auditFile, "utf8")
    for (const secret of [secret_id, "chosen by somebody", "guessed by somebody", answer.body.auth.client_token])
      expect(text).not.toContain(secret)
    const entries = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const hashed = expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/)
    const request = { type: "request", method: "POST", path: "/v1/auth/approle/login" }
    const data = { role_id: hashed, secret_id: hashed }
    const logins = entries.slice(entries.findIndex(({ path }) => path === request.path))
    expect(logins.filter(({ type }) => type === "request")).toEqual([
      expect.objectContaining({ ...request, data }),
      expect.objectContaining({ ...request, data }),
    ])
    expect(logins.filter(({ type }) => type === "response").map(({ status }) => status)).toEqual([200, 400])
  })
})
