import { describe, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

async function mounted(world: TestEngine, path: string, body: object = { type: "pki" }): Promise<void> {
  expect((await world.pki("POST", `/sys/mounts/${path}`, { body })).status).toBe(204)
}

const hours = (count: number) => count * 3_600

test("[P-1-n2] [P-9-n1] a mount is created at any path and serves all paths below it", async () => {
  await using world = await openTestEngine()
  for (const path of ["pki", "team/web/pki"]) {
    expect((await world.pki("GET", `/${path}/nothing`)).body).toEqual({
      errors: [`no handler for route "${path}/nothing". route entry not found.`],
    })
    await mounted(world, path)
    expect((await world.pki("GET", `/${path}/nothing`)).body).toEqual({ errors: ["unsupported path"] })
  }
})

test("the list of mounts has trailing slashes, in the data and beside it", async () => {
  await using world = await openTestEngine()
  await mounted(world, "pki", { type: "pki", description: "Leaves", config: { max_lease_ttl: "8760h" } })
  await mounted(world, "team/pki")
  const { status, body } = await world.pki("GET", "/sys/mounts")
  expect(status).toBe(200)
  expect(Object.keys(body.data)).toEqual(["pki/", "team/pki/"])
  expect(body.data["pki/"]).toEqual({
    accessor: expect.stringMatching(/^pki_[0-9a-f]{8}$/),
    config: {
      default_lease_ttl: 0,
      max_lease_ttl: hours(8_760),
      force_no_cache: false,
      listing_visibility: "",
      allowed_response_headers: [],
      passthrough_request_headers: [],
      audit_non_hmac_request_keys: [],
      audit_non_hmac_response_keys: [],
      delegated_auth_accessors: [],
    },
    deprecation_status: "supported",
    description: "Leaves",
    external_entropy_access: false,
    local: false,
    options: null,
    plugin_version: "",
    running_plugin_version: "",
    running_sha256: "",
    seal_wrap: false,
    type: "pki",
    uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(body["pki/"]).toEqual(body.data["pki/"])
  expect((await world.pki("GET", "/sys/mounts/team/pki")).body.data).toEqual(body.data["team/pki/"])
})

test("[P-4.1-n3] a mount is tuned and returns its configuration in force", async () => {
  await using world = await openTestEngine()
  await mounted(world, "pki")
  const tuned = async () => (await world.pki("GET", "/sys/mounts/pki/tune")).body.data
  expect(await tuned()).toMatchObject({ default_lease_ttl: 2_764_800, max_lease_ttl: 2_764_800, description: "" })
  const body = {
    default_lease_ttl: "24h",
    max_lease_ttl: "87600h",
    description: "Web",
    allowed_response_headers: ["Location", "Replay-Nonce", "Link"],
    passthrough_request_headers: "If-Modified-Since, X-Trace",
    audit_non_hmac_request_keys: ["common_name"],
    listing_visibility: "unauth",
  }
  expect((await world.pki("POST", "/sys/mounts/pki/tune", { body })).status).toBe(204)
  expect(await tuned()).toEqual({
    default_lease_ttl: hours(24),
    max_lease_ttl: hours(87_600),
    description: "Web",
    force_no_cache: false,
    listing_visibility: "unauth",
    allowed_response_headers: ["Location", "Replay-Nonce", "Link"],
    passthrough_request_headers: ["If-Modified-Since", "X-Trace"],
    audit_non_hmac_request_keys: ["common_name"],
    audit_non_hmac_response_keys: [],
    delegated_auth_accessors: [],
    options: null,
    plugin_version: "",
  })
  expect((await world.pki("PUT", "/sys/mounts/pki/tune", { body: { default_lease_ttl: "0" } })).status).toBe(204)
  expect(await tuned()).toMatchObject({ default_lease_ttl: 2_764_800, max_lease_ttl: hours(87_600) })
})

test("tuning with an empty lease ttl keeps the value, and with system restores the default", async () => {
  await using world = await openTestEngine()
  await mounted(world, "pki", { type: "pki", config: { default_lease_ttl: "24h", max_lease_ttl: "48h" } })
  const tune = async (body: object) => {
    expect((await world.pki("POST", "/sys/mounts/pki/tune", { body })).status).toBe(204)
    const { config } = (await world.pki("GET", "/sys/mounts/pki")).body.data
    return [config.default_lease_ttl, config.max_lease_ttl]
  }
  expect(await tune({ options: null, default_lease_ttl: "", max_lease_ttl: "" })).toEqual([hours(24), hours(48)])
  expect(await tune({ default_lease_ttl: "", max_lease_ttl: "72h" })).toEqual([hours(24), hours(72)])
  expect(await tune({ default_lease_ttl: "system", max_lease_ttl: "" })).toEqual([0, hours(72)])
})

test.each([
  ["/sys/mounts/pki", { type: "pki" }],
  ["/sys/auth/approle", { type: "approle" }],
])("an empty entry clears the list, as Vault clients send it: %s", async (address, made) => {
  await using world = await openTestEngine()
  const names = ["allowed_response_headers", "passthrough_request_headers", "audit_non_hmac_request_keys"]
  const all = (value: readonly string[]) => Object.fromEntries(names.map((name) => [name, value]))
  expect((await world.pki("POST", address, { body: { ...made, config: all(["Link", ""]) } })).status).toBe(204)
  const tuned = async () => (await world.pki("GET", `${address}/tune`)).body.data
  expect(await tuned()).toMatchObject(all(["Link"]))
  expect((await world.pki("POST", `${address}/tune`, { body: all([""]) })).status).toBe(204)
  expect(await tuned()).toMatchObject(all([]))
})

test("listing_visibility is an empty string until it is set and after it is cleared", async () => {
  await using world = await openTestEngine()
  await mounted(world, "pki")
  const told = async () => {
    const [mount, tuned] = await Promise.all(["", "/tune"].map((end) => world.pki("GET", `/sys/mounts/pki${end}`)))
    return [mount?.body.data.config.listing_visibility, tuned?.body.data.listing_visibility]
  }
  expect(await told()).toEqual(["", ""])
  for (const listing_visibility of ["hidden", "unauth", ""]) {
    expect((await world.pki("POST", "/sys/mounts/pki/tune", { body: { listing_visibility } })).status).toBe(204)
    expect(await told()).toEqual([listing_visibility, listing_visibility])
  }
  const { status, body } = await world.pki("POST", "/sys/mounts/pki/tune", { body: { listing_visibility: "all" } })
  expect([status, body.errors]).toEqual([400, ['"listing_visibility" must be "hidden" or "unauth"']])
})

test("a mount is moved and deleted", async () => {
  await using world = await openTestEngine()
  await mounted(world, "pki")
  const move = await world.pki("POST", "/sys/remount", { body: { from: "pki/", to: "/old/pki" } })
  const { migration_id: id } = move.body.data
  expect([move.status, move.body.migration_id]).toEqual([200, id])
  const status = await world.pki("GET", `/sys/remount/status/${id}`)
  const info = { source_mount: "pki/", target_mount: "old/pki/", status: "success" }
  expect([status.status, status.body.data]).toEqual([200, { migration_id: id, migration_info: info }])
  expect((await world.pki("GET", `/sys/remount/status/${id}x`)).status).toBe(404)
  expect((await world.pki("GET", "/sys/mounts/pki")).status).toBe(404)
  expect((await world.pki("DELETE", "/sys/mounts/old/pki")).status).toBe(204)
  expect(Object.keys((await world.pki("GET", "/sys/mounts")).body.data)).toEqual([])
  expect((await world.pki("GET", `/sys/remount/status/${id}`)).status).toBe(404)
  expect((await world.pki("DELETE", "/sys/mounts/old/pki")).status).toBe(404)
})

test("deleting a missing mount succeeds for Vault clients that have the right to delete it", async () => {
  await using world = await openTestEngine()
  const { secret } = await world.engine.serviceTokens.create({ policies: ["default"] })
  const deleted = async (token: string) =>
    (await world.pki("DELETE", "/sys/mounts/pki", { token, headers: { "x-vault-request": "true" } })).status
  expect([await deleted(world.rootToken), await deleted(secret)]).toEqual([204, 403])
})

test.each<[why: string, path: string, body: object, status: number, errors: readonly RegExp[]]>([
  ["another type", "kv", { type: "kv" }, 400, [/^"type" must be "pki"/]],
  ["no type", "kv", {}, 400, [/^"type" must be "pki"/]],
  ["a path in use", "pki", { type: "pki" }, 409, [/^path is already in use at pki\/$/]],
  ["a path below one in use", "pki/web", { type: "pki" }, 409, [/^path is already in use at pki\/$/]],
  ["a reserved path", "sys/pki", { type: "pki" }, 400, [/^path must not begin with "sys\/"/]],
  [
    "several faults of the document",
    "web",
    { type: 7, config: { max_lease_ttl: "long", force_no_cache: "maybe", allowed_response_headers: 1 } },
    400,
    [/^"type"/, /^"max_lease_ttl" must be a duration/, /^"force_no_cache" must be a boolean$/, /^"allowed_resp/],
  ],
  [
    "several broken rules",
    "web",
    { type: "pki", description: "a\nb", config: { max_lease_ttl: 60, default_lease_ttl: 120 } },
    400,
    [/^description must not contain/, /^"default_lease_ttl" must not be longer than the maximum of 60 seconds$/],
  ],
  ["a config that is not an object", "web", { type: "pki", config: [] }, 400, [/^"config" must be an object$/]],
])("mounting %s is rejected and mounts nothing", async (_why, path, body, status, errors) => {
  await using world = await openTestEngine()
  await mounted(world, "pki")
  const answer = await world.pki("POST", `/sys/mounts/${path}`, { body })
  expect(answer.status).toBe(status)
  expect(answer.body).toEqual({ errors: errors.map((error) => expect.stringMatching(error)) })
  expect(Object.keys((await world.pki("GET", "/sys/mounts")).body.data)).toEqual(["pki/"])
})

test("mounting warns of settings that a mount cannot have", async () => {
  await using world = await openTestEngine()
  const quiet = { type: "pki", local: false, seal_wrap: false, external_entropy_access: false, options: null }
  await mounted(world, "quiet", quiet)
  const { status, body } = await world.pki("POST", "/sys/mounts/loud", { body: { ...quiet, seal_wrap: true } })
  expect([status, body.data, body.warnings]).toEqual([200, null, '"seal_wrap" has no effect on this server'])
})

test.each(["local", "seal_wrap", "external_entropy_access"])(
  "a setting without effect is returned as set, so that Terraform does not replace the mount: %s",
  async (name) => {
    await using world = await openTestEngine()
    expect((await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki", [name]: true } })).status).toBe(200)
    const said = { local: false, seal_wrap: false, external_entropy_access: false, [name]: true }
    expect((await world.pki("POST", "/sys/mounts/pki/tune", { body: { description: "tuned" } })).status).toBe(204)
    expect((await world.pki("GET", "/sys/mounts")).body.data["pki/"]).toMatchObject({ ...said, description: "tuned" })
  },
)

test("options of a mount are returned, changed one by one, and removed by an empty string", async () => {
  await using world = await openTestEngine()
  const told = async () => {
    const { body } = await world.pki("GET", "/sys/mounts")
    const tuned = await world.pki("GET", "/sys/mounts/pki/tune")
    expect(tuned.body.data.options).toEqual(body.data["pki/"].options)
    return body.data["pki/"].options
  }
  const tune = async (options: unknown) => {
    expect((await world.pki("POST", "/sys/mounts/pki/tune", { body: { options } })).status).toBe(204)
    return told()
  }
  await mounted(world, "pki", { type: "pki", options: { team: "web", tier: 1 } })
  expect(await told()).toEqual({ team: "web", tier: "1" })
  expect(await tune({ zone: "a" })).toEqual({ team: "web", tier: "1", zone: "a" })
  expect(await tune(null)).toEqual({ team: "web", tier: "1", zone: "a" })
  expect(await tune({ team: "", tier: "", zone: "" })).toBeNull()
})

test.each([
  ["text", '"options" must be an object of strings'],
  [{ team: ["web"] }, '"options" must be an object of strings'],
  [{ ["x".repeat(257)]: "web" }, '"options" must contain names of 1 to 256 characters'],
  [{ team: "x".repeat(1_025) }, '"options" must contain values of at most 1024 characters without control characters'],
  [{ team: "a\nb" }, '"options" must contain values of at most 1024 characters without control characters'],
])("options of a mount that are %j are rejected and change nothing", async (options, error) => {
  await using world = await openTestEngine()
  const made = await world.pki("POST", "/sys/mounts/new", { body: { type: "pki", options } })
  expect([made.status, made.body]).toEqual([400, { errors: [error] }])
  await mounted(world, "pki")
  const tuned = await world.pki("POST", "/sys/mounts/pki/tune", { body: { options, description: "changed" } })
  expect([tuned.status, tuned.body]).toEqual([400, { errors: [error] }])
  const { data } = (await world.pki("GET", "/sys/mounts")).body
  expect(data).toEqual({
    "pki/": expect.objectContaining({ description: expect.not.stringMatching("changed"), options: null }),
  })
})

describe("sys/internal/ui/mounts", () => {
  async function worldWithMounts() {
    const world = await openTestEngine()
    await mounted(world, "open", { type: "pki", config: { listing_visibility: "unauth" } })
    await mounted(world, "pki")
    await mounted(world, "team/pki")
    return world
  }
  const tokenWith = async ({ engine }: TestEngine, path: string) => {
    await engine.policies.put("test", JSON.stringify({ path: { [path]: { capabilities: ["update"] } } }))
    return (await engine.serviceTokens.create({ policies: ["test"], noDefaultPolicy: true })).secret
  }
  const listed = async (world: TestEngine, token: string | null) =>
    Object.keys((await world.pki("GET", "/sys/internal/ui/mounts", { token })).body.data.secret)

  test("returns unauth mounts without a token", async () => {
    await using world = await worldWithMounts()
    expect(await listed(world, null)).toEqual(["open/"])
  })

  test("also returns mounts that a caller has rules for", async () => {
    await using world = await worldWithMounts()
    expect(await listed(world, world.rootToken)).toEqual(["open/", "pki/", "team/pki/"])
    expect(await listed(world, await tokenWith(world, "team/pki/issue/web"))).toEqual(["open/", "team/pki/"])
  })

  test("returns nothing for an invalid token", async () => {
    await using world = await worldWithMounts()
    expect((await world.pki("GET", "/sys/internal/ui/mounts", { token: "bad" })).status).toBe(403)
  })

  test("returns the whole mount of a path to a caller with a rule for it", async () => {
    await using world = await worldWithMounts()
    const token = await tokenWith(world, "team/pki/issue/web")
    const around = (path: string) => world.pki("GET", `/sys/internal/ui/mounts/${path}`, { token })
    for (const path of ["team/pki", "team/pki/", "team/pki/issue/web"])
      expect((await around(path)).body.data).toMatchObject({
        path: "team/pki/",
        type: "pki",
        config: { default_lease_ttl: 2_764_800, max_lease_ttl: 2_764_800 },
      })
    const refused = await around("pki")
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        errors: [
          `preflight capability check returned 403, please ensure client's policies grant access to path "pki/"`,
        ],
      },
    ])
    expect((await around("nowhere")).status).toBe(403)
  })
})
