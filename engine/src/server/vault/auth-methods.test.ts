import { describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

async function enabled(world: TestEngine, path: string, body: object = { type: "approle" }): Promise<void> {
  expect((await world.pki("POST", `/sys/auth/${path}`, { body })).status).toBe(204)
}

test("the list of auth methods contains token/, with a trailing slash, in the data and beside it", async () => {
  await using world = await openTestEngine()
  await enabled(world, "approle", { type: "approle", description: "Machines", config: { max_lease_ttl: "24h" } })
  await enabled(world, "team/approle")
  const { status, body } = await world.pki("GET", "/sys/auth")
  expect(status).toBe(200)
  expect(Object.keys(body.data)).toEqual(["approle/", "team/approle/", "token/"])
  expect(body.data["approle/"]).toEqual({
    accessor: expect.stringMatching(/^auth_approle_[0-9a-f]{8}$/),
    config: {
      default_lease_ttl: 0,
      max_lease_ttl: 86_400,
      force_no_cache: false,
      listing_visibility: "",
      allowed_response_headers: [],
      passthrough_request_headers: [],
      audit_non_hmac_request_keys: [],
      audit_non_hmac_response_keys: [],
      delegated_auth_accessors: [],
      token_type: "default-service",
    },
    deprecation_status: "supported",
    description: "Machines",
    external_entropy_access: false,
    local: false,
    options: null,
    plugin_version: "",
    running_plugin_version: "",
    running_sha256: "",
    seal_wrap: false,
    type: "approle",
    uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(body.data["token/"]).toMatchObject({ type: "token", description: "token based credentials" })
  expect(body["approle/"]).toEqual(body.data["approle/"])
  for (const address of ["/sys/auth", "/sys/mounts/auth"])
    expect((await world.pki("GET", `${address}/team/approle`)).body.data).toEqual(body.data["team/approle/"])
  expect((await world.pki("GET", "/sys/mounts/auth/none")).status).toBe(404)
})

test.each(["/sys/auth", "/sys/mounts/auth"])("a method is tuned at %s, and tells what holds", async (place) => {
  await using world = await openTestEngine()
  await enabled(world, "team/approle")
  const tune = `${place}/team/approle/tune`
  const tuned = async () => (await world.pki("GET", tune)).body.data
  expect(await tuned()).toMatchObject({
    default_lease_ttl: 2_764_800,
    max_lease_ttl: 2_764_800,
    description: "",
    token_type: "default-service",
  })
  const body = { max_lease_ttl: "1h", description: "Machines", token_type: "service", listing_visibility: "unauth" }
  expect((await world.pki("POST", tune, { body })).status).toBe(204)
  expect(await tuned()).toMatchObject({ ...body, default_lease_ttl: 3_600, max_lease_ttl: 3_600 })
  // Vault clients send every duration, empty if unset.
  expect((await world.pki("POST", tune, { body: { default_lease_ttl: "", max_lease_ttl: "" } })).status).toBe(204)
  expect(await tuned()).toMatchObject({ max_lease_ttl: 3_600 })
  const refused = await world.pki("POST", tune, { body: { default_lease_ttl: "2h" } })
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    ['"default_lease_ttl" must not be longer than the maximum of 3600 seconds'],
  ])
})

test("disabling an auth method succeeds for Vault clients even if it does not exist", async () => {
  await using world = await openTestEngine()
  await enabled(world, "approle")
  const headers = { "x-vault-request": "true" }
  expect((await world.pki("DELETE", "/sys/auth/approle")).status).toBe(204)
  expect(Object.keys((await world.pki("GET", "/sys/auth")).body.data)).toEqual(["token/"])
  expect((await world.pki("DELETE", "/sys/auth/approle")).status).toBe(404)
  expect((await world.pki("DELETE", "/sys/auth/approle", { headers })).status).toBe(204)
  const own = await world.pki("DELETE", "/sys/auth/token", { headers })
  expect([own.status, own.body.errors]).toEqual([400, ['the auth method "token" is built in and cannot be disabled']])
})

test.each<[why: string, path: string, body: object, status: number, errors: readonly RegExp[]]>([
  ["another type", "ldap", { type: "ldap" }, 400, [/^"type" must be "approle".*, and not "ldap"$/]],
  ["no type", "ldap", {}, 400, [/^"type" must be .*, and not ""$/]],
  ["a path in use", "approle", { type: "approle" }, 409, [/^path is already in use at approle\/$/]],
  ["a path below one in use", "approle/web", { type: "approle" }, 409, [/^path is already in use at approle\/$/]],
  ["the server's own path", "token", { type: "approle" }, 400, [/^path must not begin with "token\/"/]],
  [
    "several faults of the document",
    "web",
    { type: "approle", config: { max_lease_ttl: "long", token_type: "batch", force_no_cache: "maybe" } },
    400,
    [/^"max_lease_ttl" must be a duration/, /^"token_type" must not be "batch": all tokens/, /^"force_no_cache" must/],
  ],
  ["a config that is not an object", "web", { type: "approle", config: [] }, 400, [/^"config" must be an object$/]],
])("enabling %s is rejected and enables nothing", async (_why, path, body, status, errors) => {
  await using world = await openTestEngine()
  await enabled(world, "approle")
  const answer = await world.pki("POST", `/sys/auth/${path}`, { body })
  expect(answer.status).toBe(status)
  expect(answer.body).toEqual({ errors: errors.map((error) => expect.stringMatching(error)) })
  expect(Object.keys((await world.pki("GET", "/sys/auth")).body.data)).toEqual(["approle/", "token/"])
})

test("enabling an auth method warns of settings that it cannot have", async () => {
  await using world = await openTestEngine()
  const body = { type: "approle", local: true, seal_wrap: false }
  const answer = await world.pki("POST", "/sys/auth/approle", { body })
  expect([answer.status, answer.body.warnings]).toEqual([200, '"local" has no effect on this server'])
})

test("a path below auth/ belongs to its method on every replica as long as it is enabled", async () => {
  await using world = await openTestEngine()
  const answered = async (path: string) => {
    const { status, body } = await world.pki("GET", path)
    return [status, body.errors]
  }
  const unknown = (path: string) => [404, [`no handler for route "${path}". route entry not found.`]]
  expect(await answered("/auth/team/approle/nothing")).toEqual(unknown("auth/team/approle/nothing"))
  await enabled(world, "team/approle")
  expect(await answered("/auth/team/approle/nothing")).toEqual([404, ["unsupported path"]])
  expect(await answered("/auth/team/other/nothing")).toEqual(unknown("auth/team/other/nothing"))
  await enabled(world, "team/other")
  expect(await answered("/auth/team/other/nothing")).toEqual([404, ["unsupported path"]])
  expect(await answered("/auth/token/nothing")).toEqual([404, ["unsupported path"]])
  expect((await world.pki("DELETE", "/sys/auth/team/approle")).status).toBe(204)
  expect(await answered("/auth/team/approle/nothing")).toEqual(unknown("auth/team/approle/nothing"))
})

test("a request without a valid token does not reveal which auth methods exist", async () => {
  await using world = await openTestEngine()
  await enabled(world, "approle")
  const refused = { status: 403, body: { errors: ["permission denied"] } }
  for (const token of [null, "bad"])
    for (const path of ["/auth/approle/nothing", "/auth/absent/nothing"])
      expect(await world.pki("GET", path, { token })).toMatchObject(refused)
})

describe("rights on auth methods", () => {
  const tokenWith = async ({ engine }: TestEngine, rules: Readonly<Record<string, readonly string[]>>) => {
    const path = Object.fromEntries(Object.entries(rules).map(([at, capabilities]) => [at, { capabilities }]))
    await engine.policies.put("test", JSON.stringify({ path }))
    return (await engine.serviceTokens.create({ policies: ["test"], noDefaultPolicy: true })).secret
  }

  test("require sudo to enable, tune, read and disable a method", async () => {
    await using world = await openTestEngine()
    await enabled(world, "approle")
    const all = ["create", "read", "update", "delete"]
    const asked = async (token: string) => [
      (await world.pki("GET", "/sys/auth/approle", { token })).status,
      (await world.pki("POST", "/sys/auth/new", { token, body: { type: "approle" } })).status,
      (await world.pki("POST", "/sys/auth/approle/tune", { token, body: { description: "x" } })).status,
      (await world.pki("DELETE", "/sys/auth/approle", { token })).status,
    ]
    expect(await asked(await tokenWith(world, { "sys/auth/*": all }))).toEqual([403, 403, 403, 403])
    expect(await asked(await tokenWith(world, { "sys/auth/*": [...all, "sudo"] }))).toEqual([200, 204, 204, 204])
  })

  test("do not require sudo to tune a method below sys/mounts", async () => {
    await using world = await openTestEngine()
    await enabled(world, "approle")
    const token = await tokenWith(world, { "sys/mounts/auth/approle/tune": ["read", "update"] })
    const tune = "/sys/mounts/auth/approle/tune"
    expect((await world.pki("POST", tune, { token, body: { description: "x" } })).status).toBe(204)
    expect((await world.pki("GET", tune, { token })).body.data.description).toBe("x")
    expect((await world.pki("DELETE", "/sys/auth/approle", { token })).status).toBe(403)
  })

  test("require a rule to read a method below sys/mounts", async () => {
    await using world = await openTestEngine()
    for (const path of ["approle", "other"]) await enabled(world, path)
    const token = await tokenWith(world, { "sys/mounts/auth/approle": ["read"] })
    expect((await world.pki("GET", "/sys/mounts/auth/approle", { token })).status).toBe(200)
    expect((await world.pki("GET", "/sys/mounts/auth/other", { token })).status).toBe(403)
  })

  test("show a method in sys/internal/ui/mounts to callers with a rule for it, and unauth methods to all", async () => {
    await using world = await openTestEngine()
    await enabled(world, "open", { type: "approle", config: { listing_visibility: "unauth" } })
    await enabled(world, "approle")
    await enabled(world, "team/approle")
    const listed = async (token: string | null) =>
      Object.keys((await world.pki("GET", "/sys/internal/ui/mounts", { token })).body.data.auth)
    const own = await tokenWith(world, { "auth/team/approle/role/web": ["read"] })
    expect(await listed(null)).toEqual(["open/", "token/"])
    expect(await listed(own)).toEqual(["open/", "team/approle/", "token/"])
    expect(await listed(world.rootToken)).toEqual(["approle/", "open/", "team/approle/", "token/"])
    const around = (path: string) => world.pki("GET", `/sys/internal/ui/mounts/${path}`, { token: own })
    expect((await around("auth/team/approle/role/web")).body.data).toMatchObject({
      path: "auth/team/approle/",
      type: "approle",
    })
    for (const path of ["auth/approle", "auth/none", "auth"]) expect((await around(path)).status).toBe(403)
  })
})
