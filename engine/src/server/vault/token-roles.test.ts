import { expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

async function written(world: TestEngine, name: string, body: object): Promise<void> {
  expect((await world.pki("POST", `/auth/token/roles/${name}`, { body })).status).toBe(204)
}
const read = async (world: TestEngine, name: string) => (await world.pki("GET", `/auth/token/roles/${name}`)).body.data

test("a token role is returned with every member, by its current and its older name", async () => {
  await using world = await openTestEngine()
  await written(world, "web", { allowed_policies: "web,Api", period: "72h", bound_cidrs: "10.0.0.0/8" })
  expect(await read(world, "web")).toEqual({
    name: "web",
    allowed_policies: ["api", "web"],
    allowed_policies_glob: [],
    disallowed_policies: [],
    disallowed_policies_glob: [],
    allowed_entity_aliases: [],
    orphan: false,
    renewable: true,
    path_suffix: "",
    token_type: "default-service",
    token_bound_cidrs: ["10.0.0.0/8"],
    bound_cidrs: ["10.0.0.0/8"],
    token_period: 259_200,
    period: 259_200,
    token_explicit_max_ttl: 0,
    explicit_max_ttl: 0,
    token_no_default_policy: false,
    token_num_uses: 0,
  })
  await written(world, "web", { token_period: "1h", period: "2h", explicit_max_ttl: 7_200, token_type: "" })
  expect(await read(world, "web")).toMatchObject({
    allowed_policies: ["api", "web"],
    token_period: 3_600,
    token_explicit_max_ttl: 7_200,
    token_type: "default-service",
  })
  expect((await world.pki("LIST", "/auth/token/roles")).body.data).toEqual({ keys: ["web"] })
  expect((await world.pki("DELETE", "/auth/token/roles/web")).status).toBe(204)
  expect((await world.pki("DELETE", "/auth/token/roles/web")).status).toBe(204)
  expect((await world.pki("GET", "/auth/token/roles/web")).status).toBe(404)
  expect((await world.pki("LIST", "/auth/token/roles")).status).toBe(404)
})

test("faults have the names of the request, and nothing is stored", async () => {
  await using world = await openTestEngine()
  const body = { token_bound_cidrs: "host", token_num_uses: -1, path_suffix: "a/b" }
  const answer = await world.pki("POST", "/auth/token/roles/web", { body })
  expect([answer.status, answer.body.errors]).toEqual([
    400,
    [
      expect.stringMatching(/^path_suffix must/),
      expect.stringMatching(/^token_bound_cidrs contains "host"/),
      expect.stringMatching(/^token_num_uses must/),
    ],
  ])
  const unread = { token_type: "batch", allowed_entity_aliases: ["x"], orphan: "perhaps" }
  const other = await world.pki("POST", "/auth/token/roles/web", { body: unread })
  expect([other.status, other.body.errors]).toEqual([
    400,
    [
      '"token_type" must not be "batch": all tokens are service tokens',
      '"allowed_entity_aliases" is not supported: there are no entities',
      '"orphan" must be a boolean',
    ],
  ])
  expect((await world.pki("LIST", "/auth/token/roles")).status).toBe(404)
})

test("a token role creates tokens with policies that its caller need not hold, and its tokens are not renewed without it", async () => {
  await using world = await openTestEngine()
  const { engine } = world
  await engine.policies.put("issue", `path "sys/mounts" { capabilities = ["read"] }`)
  await engine.policies.put("maker", `path "auth/token/create/web" { capabilities = ["update"] }`)
  await written(world, "web", { allowed_policies: "issue", orphan: true, token_bound_cidrs: "192.0.2.0/24" })
  const { secret: token } = await engine.serviceTokens.create({ policies: ["maker"] })
  const make = (path: string, body: object = {}) => world.pki("POST", `/auth/token/create${path}`, { token, body })
  const made = await make("/web", { display_name: "ci" })
  expect(made.body.auth).toMatchObject({ policies: ["default", "issue"], orphan: true, renewable: true })
  const own = { token: made.body.auth.client_token, from: "192.0.2.7" }
  expect((await world.pki("GET", "/auth/token/lookup-self", own)).body.data).toMatchObject({
    role: "web",
    path: "auth/token/create/web",
    display_name: "token-ci",
    bound_cidrs: ["192.0.2.0/24"],
  })
  expect((await world.pki("GET", "/sys/mounts", own)).status).toBe(200)
  expect((await world.pki("GET", "/sys/mounts", { ...own, from: "192.0.3.7" })).status).toBe(403)

  const beyond = await make("/web", { policies: ["maker"] })
  expect([beyond.status, beyond.body.errors]).toEqual([
    400,
    ['policies contains "maker", which the role does not allow'],
  ])
  expect((await make("")).status).toBe(403)
  expect((await make("/other")).status).toBe(403)
  expect((await world.pki("POST", "/auth/token/create/other")).status).toBe(404)

  expect((await world.pki("POST", "/auth/token/renew-self", own)).status).toBe(200)
  await engine.tokenRoles.delete("web")
  const ended = await world.pki("POST", "/auth/token/renew-self", own)
  expect([ended.status, ended.body.errors]).toEqual([400, ['role "web" does not exist; its tokens cannot be renewed']])
})

test("replacing a token role needs update, creating one needs create", async () => {
  await using world = await openTestEngine()
  await written(world, "there", {})
  await world.engine.policies.put("maker", `path "auth/token/roles/*" { capabilities = ["create"] }`)
  const { secret: token } = await world.engine.serviceTokens.create({ policies: ["maker"] })
  const write = async (name: string) =>
    (await world.pki("POST", `/auth/token/roles/${name}`, { token, body: { orphan: true } })).status
  expect([await write("there"), await write("new")]).toEqual([403, 204])
  expect((await read(world, "there")).orphan).toBe(false)
})
