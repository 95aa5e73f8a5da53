import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { formatInstant, minuteMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { newUser } from "../../../testing/users.ts"
import { type Answer, openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const started = Date.UTC(2026, 10, 21, 12)
const denied = { status: 403, body: { errors: ["permission denied"] } }

async function opened() {
  const clock = manualClock(started)
  const world = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
  await world.engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
  return Object.assign(world, { clock })
}

async function made(world: TestEngine, body: object = { policies: "web" }, token = world.rootToken): Promise<Answer> {
  const answer = await world.pki("POST", "/auth/token/create", { body, token })
  expect(answer.status).toBe(200)
  return answer
}
const secretOf = ({ body }: Answer): string => body.auth.client_token
const self = (world: TestEngine, token: string) => world.pki("GET", "/auth/token/lookup-self", { token })

describe("a service token", () => {
  test("is created when clients send all members empty", async () => {
    await using world = await opened()
    const body = { policies: ["web"], display_name: "", num_uses: 0, type: "", entity_alias: "" }
    const secret = secretOf(await made(world, body))
    expect((await self(world, secret)).body.data).toMatchObject({ type: "service", display_name: "token", num_uses: 0 })
  })

  test("is in auth of the answer that creates it, as Vault clients expect", async () => {
    await using world = await opened()
    const body = {
      policies: ["web"],
      ttl: "20m",
      explicit_max_ttl: "40m",
      renewable: false,
      display_name: "terraform",
      meta: { run: "7" },
    }
    const answer = await world.pki("POST", "/auth/token/create", { body, headers: { "x-vault-request": "true" } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      request_id: expect.any(String),
      lease_id: "",
      lease_duration: 0,
      renewable: false,
      data: null,
      wrap_info: null,
      warnings: null,
      auth: {
        client_token: expect.stringMatching(/^chy_[A-Za-z0-9_-]{43}$/),
        accessor: expect.stringMatching(/^at-\w{16}$/),
        policies: ["default", "web"],
        token_policies: ["default", "web"],
        metadata: { run: "7" },
        lease_duration: 1_200,
        renewable: false,
        entity_id: "",
        token_type: "service",
        orphan: false,
        mfa_requirement: null,
        num_uses: 0,
      },
    })
    const looked = await self(world, secretOf(answer))
    expect(looked.body.data).toEqual({
      accessor: answer.body.auth.accessor,
      creation_time: started / 1_000,
      creation_ttl: 1_200,
      display_name: "token-terraform",
      entity_id: "",
      expire_time: formatInstant(started + 20 * minuteMs),
      explicit_max_ttl: 2_400,
      id: secretOf(answer),
      issue_time: formatInstant(started),
      last_renewal: null,
      last_renewal_time: 0,
      meta: { run: "7" },
      num_uses: 0,
      orphan: false,
      path: "auth/token/create",
      period: 0,
      policies: ["default", "web"],
      renewable: false,
      ttl: 1_200,
      type: "service",
    })
  })

  test("is created from strings for all members, and the native answer contains its record", async () => {
    await using world = await opened()
    const body = { policies: "web", ttl: "3600", renewable: "false", num_uses: "9", no_parent: "true", meta: ["a=b"] }
    const answer = await made(world, body)
    const { auth, data, warnings } = answer.body
    expect(auth).toMatchObject({
      lease_duration: 3_600,
      renewable: false,
      num_uses: 9,
      orphan: true,
      metadata: { a: "b" },
    })
    expect(data).toMatchObject({ id: auth.client_token, accessor: auth.accessor, ttl: 3_600 })
    expect(warnings).toBe("")
  })

  test("[P-5-n1] is sent as X-Service-Token, and requests without it are denied", async () => {
    await using world = await opened()
    const token = secretOf(await made(world))
    const shown = (headers: Record<string, string>) =>
      world.pki("GET", "/auth/token/lookup-self", { token: null, headers })
    for (const headers of [
      { "x-service-token": token },
      { "x-vault-token": token },
      { authorization: `Bearer ${token}` },
    ])
      expect((await shown(headers)).body.data.id).toBe(token)
    for (const headers of [{}, { "x-service-token": "" }, { "x-service-token": `${token}x` }, { authorization: token }])
      expect(await shown(headers as Record<string, string>)).toMatchObject(denied)
  })

  test("is valid only on the certificate API", async () => {
    await using world = await opened()
    const token = secretOf(await made(world, { policies: ["root"] }))
    expect((await world.pki("GET", "/sys/mounts", { token })).status).toBe(200)
    expect((await world.request("GET", "/organizations", { token })).status).toBe(401)
  })

  test("is renewed up to its maximum ttl, with a warning", async () => {
    await using world = await opened()
    const answer = await made(world, { policies: "web", ttl: "20m", explicit_max_ttl: "1h" })
    const token = secretOf(answer)
    const { accessor } = answer.body.auth
    world.clock.advance(10 * minuteMs)
    const renewed = await world.pki("PUT", "/auth/token/renew-self", { token, body: { increment: "30m" } })
    expect(renewed.body.auth).toMatchObject({ client_token: token, lease_duration: 1_800, renewable: true })
    expect((await self(world, token)).body.data).toMatchObject({
      ttl: 1_800,
      creation_ttl: 1_200,
      last_renewal: formatInstant(started + 10 * minuteMs),
      last_renewal_time: started / 1_000 + 600,
    })
    const byRoot = await world.pki("POST", "/auth/token/renew", { body: { token, increment: 7_200 } })
    expect(byRoot.body).toMatchObject({
      auth: { client_token: token, lease_duration: 3_000 },
      warnings: 'TTL of "7200s" exceeded the effective max_ttl of "3000s"; TTL value is capped accordingly',
    })
    const byAccessor = await world.pki("POST", "/auth/token/renew-accessor", { body: { accessor } })
    expect(byAccessor.body.auth).toMatchObject({ client_token: "", accessor, lease_duration: 1_200 })
    world.clock.advance(20 * minuteMs)
    expect(await self(world, token)).toMatchObject(denied)
  })

  test("is revoked with its children by secret, by accessor and by itself", async () => {
    await using world = await opened()
    const parent = await made(world, { policies: ["root"] })
    const child = await made(world, {}, secretOf(parent))
    expect((await world.pki("PUT", "/auth/token/revoke", { body: { token: secretOf(parent) } })).status).toBe(204)
    expect((await world.pki("PUT", "/auth/token/revoke", { body: { token: secretOf(parent) } })).status).toBe(204)
    for (const answer of [parent, child]) expect(await self(world, secretOf(answer))).toMatchObject(denied)

    const second = await made(world)
    const { accessor } = second.body.auth
    expect((await world.pki("PUT", "/auth/token/revoke-accessor", { body: { accessor } })).status).toBe(204)
    expect(await self(world, secretOf(second))).toMatchObject(denied)

    const third = await made(world)
    expect((await world.pki("PUT", "/auth/token/revoke-self", { token: secretOf(third) })).status).toBe(204)
    expect(await self(world, secretOf(third))).toMatchObject(denied)

    const fourth = await made(world, { policies: ["root"] })
    const orphan = await made(world, {}, secretOf(fourth))
    const body = { token: secretOf(fourth) }
    expect((await world.pki("PUT", "/auth/token/revoke-orphan", { body })).status).toBe(204)
    expect(await self(world, secretOf(fourth))).toMatchObject(denied)
    expect((await self(world, secretOf(orphan))).body.data.orphan).toBe(true)
  })

  test("is rejected once its uses are exhausted", async () => {
    await using world = await opened()
    const token = secretOf(await made(world, { policies: ["default"], num_uses: 2 }))
    expect((await self(world, token)).body.data.num_uses).toBe(1)
    expect((await self(world, token)).status).toBe(200)
    expect(await self(world, token)).toMatchObject(denied)
  })

  test("can be created as an orphan", async () => {
    await using world = await opened()
    const answer = await world.pki("POST", "/auth/token/create-orphan", { body: { policies: ["web"] } })
    expect(answer.body.auth.orphan).toBe(true)
    expect(answer.body.data.path).toBe("auth/token/create-orphan")
  })
})

test("accessors are listed in pages and looked up", async () => {
  await using world = await opened()
  expect(await world.pki("LIST", "/auth/token/accessors")).toMatchObject({ status: 404, body: { errors: [] } })
  const answers = [await made(world), await made(world), await made(world)]
  const accessors = answers.map(({ body }) => body.auth.accessor as string).toSorted()
  const listed = await world.pki("LIST", "/auth/token/accessors/")
  expect(listed.body).toMatchObject({ data: { keys: accessors }, warnings: "" })
  const page = await world.pki("GET", `/auth/token/accessors?list=true&after=${accessors[0]}&limit=1`)
  expect(page.body).toMatchObject({ data: { keys: [accessors[1]] }, warnings: "" })
  const looked = await world.pki("POST", "/auth/token/lookup-accessor", { body: { accessor: accessors[2] } })
  expect(looked.body.data).toMatchObject({ accessor: accessors[2], id: "", policies: ["default", "web"] })
})

test("the token of a user is looked up like any other, and cannot be renewed", async () => {
  await using world = await opened()
  const root = await self(world, world.rootToken)
  expect(root.body.data).toMatchObject({
    display_name: "user-root",
    policies: ["root"],
    ttl: 0,
    expire_time: null,
    meta: null,
  })
  const ada = await newUser(world, "ada")
  expect(await self(world, ada.token)).toMatchObject(denied)
  const looked = await world.pki("POST", "/auth/token/lookup", { body: { token: ada.token } })
  expect(looked.body.data).toMatchObject({ id: ada.token, entity_id: ada.id, policies: [], orphan: true })
  expect(await world.pki("POST", "/auth/token/renew", { body: { token: ada.token } })).toMatchObject({
    status: 400,
    body: { errors: ["lease is not renewable"] },
  })
})

test("capabilities are returned by path, and those of the first path for older clients", async () => {
  await using world = await opened()
  const answer = await made(world)
  const token = secretOf(answer)
  const paths = ["pki/issue/web", "pki/roles/web"]
  const told = { capabilities: ["update"], "pki/issue/web": ["update"], "pki/roles/web": ["deny"] }
  const asked = [
    await world.pki("PUT", "/sys/capabilities-self", { token, body: { paths } }),
    await world.pki("PUT", "/sys/capabilities", { body: { token, path: "pki/issue/web,pki/roles/web" } }),
    await world.pki("PUT", "/sys/capabilities-accessor", { body: { accessor: answer.body.auth.accessor, paths } }),
  ]
  for (const { body } of asked) {
    expect(body.data).toEqual(told)
    expect(body.capabilities).toEqual(["update"])
  }
  const root = await world.pki("PUT", "/sys/capabilities-self", { body: { paths: ["x"] } })
  expect(root.body.data).toEqual({ capabilities: ["root"], x: ["root"] })
})

test.each<{ path: string; body: object; status: number; errors: readonly string[] }>([
  {
    path: "/auth/token/create",
    body: { ttl: "soon", num_uses: -1 },
    status: 400,
    errors: [expect.stringMatching(/^"ttl" must be a duration/)],
  },
  {
    path: "/auth/token/create",
    body: { num_uses: -1, policies: ["x"] },
    status: 400,
    errors: ["num_uses must be an integer from 0 to 1000000000"],
  },
  {
    path: "/auth/token/create",
    body: { ttl: "1ms" },
    status: 400,
    errors: ["ttl must be a whole number of seconds from 1 to 1000000000"],
  },
  {
    path: "/auth/token/create",
    body: { policies: ["x", "web"] },
    status: 400,
    errors: ['policies contains "x", which does not exist'],
  },
  {
    path: "/auth/token/create",
    body: { id: "mine", entity_alias: "x" },
    status: 400,
    errors: ['"id" is not supported: the server generates the token', '"entity_alias" is not supported'],
  },
  { path: "/auth/token/create", body: { type: "batch" }, status: 400, errors: ['"type" must be "service"'] },
  { path: "/auth/token/lookup", body: {}, status: 400, errors: ["token can't be blank"] },
  { path: "/auth/token/lookup", body: { token: "x" }, status: 403, errors: ["bad token"] },
  { path: "/auth/token/lookup-accessor", body: {}, status: 400, errors: ["accessor can't be blank"] },
  { path: "/auth/token/lookup-accessor", body: { accessor: "x" }, status: 403, errors: ["invalid accessor"] },
  {
    path: "/auth/token/renew",
    body: { token: "x", increment: "x" },
    status: 400,
    errors: [expect.stringMatching(/^"increment" must be a duration/)],
  },
  { path: "/auth/token/renew", body: { token: "x" }, status: 403, errors: ["bad token"] },
  { path: "/auth/token/revoke", body: {}, status: 400, errors: ["token can't be blank"] },
  { path: "/auth/token/revoke-accessor", body: { accessor: "x" }, status: 403, errors: ["invalid accessor"] },
  { path: "/sys/capabilities-self", body: {}, status: 400, errors: ["paths can't be blank"] },
])("POST $path with $body is rejected with $status: $errors", async ({ path, body, status, errors }) => {
  await using world = await opened()
  expect(await world.pki("POST", path, { body })).toMatchObject({ status, body: { errors } })
  expect((await world.pki("LIST", "/auth/token/accessors")).status).toBe(404)
})
