import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { minuteMs, secondMs } from "../../core/time.ts"
import { cheapPasswordHash as cheap } from "../../../testing/cheap-password.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"
import { type Answer, openTestEngine, type TestEngineOptions } from "../../../testing/test-engine.ts"

const started = Date.UTC(2026, 10, 27, 7)
const vault = { "x-vault-request": "true" }
const wrong = { status: 400, body: { errors: ["invalid username or password"] } }
const denied = { status: 403, body: { errors: ["permission denied"] } }

async function opened(options: TestEngineOptions = {}) {
  const clock = manualClock(started)
  const world = await openTestEngine({ ...options, runtime: { ...(options.runtime ?? systemRuntime()), clock } })
  onTestFinished(() => world[Symbol.asyncDispose]())
  if (!(await world.engine.authMethods.list()).some(({ path }) => path === "userpass")) {
    await world.engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
    await world.engine.authMethods.enable({ path: "userpass", type: "userpass" })
  }
  const send = (method: string, path: string, body?: object, token?: string | null) =>
    world.pki(method, `/auth/userpass${path}`, {
      headers: vault,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
    })
  const system = (method: string, path: string, body?: object) =>
    world.pki(method, `/sys/${path}`, { headers: vault, ...(body === undefined ? {} : { body }) })
  const create = async (name: string, user: object = {}) => {
    const answer = await send("POST", `/users/${name}`, { password_hash: cheap, ...user })
    expect(answer).toMatchObject({ status: 204, body: undefined })
  }
  const logIn = (name: string, password = "password", from?: string) =>
    world.pki("POST", `/auth/userpass/login/${name}`, {
      headers: vault,
      token: null,
      body: { password },
      ...(from === undefined ? {} : { from }),
    })
  const fail = async (name: string, times: number) => {
    for (let time = 0; time < times; time += 1) expect(await logIn(name, "wrong")).toMatchObject(wrong)
  }
  const accessor = async () => (await world.engine.authMethods.get("userpass")).accessor
  return { ...world, clock, send, system, create, logIn, fail, accessor }
}

const dataOf = ({ status, body }: Answer): unknown => {
  expect(status).toBe(200)
  return body.data
}

describe("a user", () => {
  test("is written and read as Vault clients expect, without the password", async () => {
    const { send } = await opened()
    const created = await send("POST", "/users/Mitchell", {
      password: "superSecretPassword",
      token_policies: ["web", "admin"],
      token_bound_cidrs: "127.0.0.1/32,128.252.0.0/16",
      token_ttl: "20m",
    })
    expect([created.status, created.body]).toEqual([204, undefined])
    const user = {
      token_bound_cidrs: ["127.0.0.1/32", "128.252.0.0/16"],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ["admin", "web"],
      token_ttl: 1_200,
      token_type: "default",
    }
    expect(dataOf(await send("GET", "/users/MITCHELL"))).toEqual(user)
    expect((await send("POST", "/users/mitchell", { token_num_uses: 2 })).status).toBe(204)
    expect(dataOf(await send("GET", "/users/mitchell"))).toEqual({ ...user, token_num_uses: 2 })
    expect(dataOf(await send("LIST", "/users"))).toEqual({ keys: ["mitchell"] })
    expect((await send("DELETE", "/users/Mitchell")).status).toBe(204)
    expect((await send("DELETE", "/users/mitchell")).status).toBe(204)
    expect((await send("GET", "/users/mitchell")).status).toBe(404)
    expect((await send("LIST", "/users")).status).toBe(404)
  })

  test("accepts the parameter names of older clients", async () => {
    const { send, create } = await opened()
    await create("web", { policies: "web", ttl: "1h", max_ttl: 7_200, bound_cidrs: ["10.0.0.0/8"] })
    expect(dataOf(await send("GET", "/users/web"))).toMatchObject({
      token_policies: ["web"],
      token_ttl: 3_600,
      token_max_ttl: 7_200,
      token_bound_cidrs: ["10.0.0.0/8"],
    })
  })

  test("has a policy list and a password at separate paths", async () => {
    const { send, create, logIn } = await opened()
    await create("web")
    for (const policies of [{ token_policies: "web,Other" }, { policies: ["other", "web"] }]) {
      expect((await send("POST", "/users/web/policies", policies)).status).toBe(204)
      expect(dataOf(await send("GET", "/users/web"))).toMatchObject({ token_policies: ["other", "web"] })
    }
    expect(await send("POST", "/users/web/policies", {})).toMatchObject({
      status: 400,
      body: { errors: ["token_policies is required"] },
    })
    expect((await send("POST", "/users/WEB/password", { password: "new one" })).status).toBe(204)
    expect(await logIn("web")).toMatchObject(wrong)
    expect((await logIn("web", "new one")).status).toBe(200)
    expect((await send("POST", "/users/web/password", { password_hash: cheap })).status).toBe(204)
    expect((await logIn("web")).status).toBe(200)
    for (const part of ["password", "policies"])
      expect(await send("POST", `/users/none/${part}`, { password: "x", policies: [] })).toMatchObject({
        status: 404,
        body: { errors: ['user "none" does not exist'] },
      })
  })

  test.each([
    ["the password is missing", "web", {}, "missing password"],
    ["the password is empty", "web", { password: "" }, '"password" must not be empty'],
    ["the password is too long", "web", { password: "x".repeat(1_025) }, "must not be longer than 1024 bytes"],
    ["the password has a NUL", "web", { password: "a\0b" }, '"password" must not contain the character U+0000'],
    ["the hash is no hash", "web", { password_hash: "secret" }, '"password_hash" must be a hash of bcrypt'],
    [
      "the hash costs too much",
      "web",
      { password_hash: cheap.replace("$04$", "$31$") },
      "must have a cost from 4 to 13",
    ],
    ["password and hash are given", "web", { password: "x", password_hash: cheap }, "are mutually exclusive"],
    ["the name ends with a period", "web.", { password: "x" }, '"name" may contain letters'],
    ["the tokens are batch tokens", "web", { password: "x", token_type: "batch" }, '"token_type" must not be "batch"'],
    ["the policies contain root", "web", { password: "x", token_policies: "root" }, 'must not contain "root"'],
  ])("is rejected when %s", async (_, name, body, detail) => {
    const { send } = await opened()
    const answer = await send("POST", `/users/${name}`, body)
    expect(answer).toMatchObject({ status: 400, body: { errors: [expect.stringContaining(detail)] } })
    expect((await send("LIST", "/users")).status).toBe(404)
  })

  test("gets a warning about unknown parameters", async () => {
    const { send } = await opened()
    const answer = await send("POST", "/users/web", { password_hash: cheap, token_polices: "web" })
    expect(answer.body.warnings).toEqual([expect.stringContaining("token_polices")])
  })

  test("requires rights for each path, regardless of the case of its name", async () => {
    const { engine, send, create } = await opened()
    await create("web")
    const rules: readonly (readonly [string, string])[] = [
      ["auth/userpass/users/web", '"read"'],
      ["auth/userpass/users/web/password", '"update"'],
    ]
    await engine.policies.put(
      "some",
      rules.map(([path, may]) => `path "${path}" { capabilities = [${may}] }`).join("\n"),
    )
    const { secret } = await engine.serviceTokens.create({ policies: ["some"] })
    const statuses: [string, string, object | undefined, number][] = [
      ["GET", "/users/WEB", undefined, 200],
      ["POST", "/users/Web/password", { password_hash: cheap }, 204],
      ["POST", "/users/web/policies", { policies: [] }, 403],
      ["POST", "/users/web", { password_hash: cheap }, 403],
      ["DELETE", "/users/web", undefined, 403],
      ["LIST", "/users", undefined, 403],
    ]
    for (const [method, path, body, status] of statuses)
      expect([method, path, (await send(method, path, body, secret)).status]).toEqual([method, path, status])
  })
})

describe("a login", () => {
  test("answers a token as Vault does, whatever the case of the name", async () => {
    const { create, logIn, pki } = await opened()
    await create("Web", { token_policies: ["web", "missing"], token_ttl: "20m" })
    const { status, body } = await logIn("WEB")
    expect(status).toBe(200)
    expect(body.warnings).toEqual(['policy "missing" does not exist and is omitted'])
    expect(body.auth).toMatchObject({
      policies: ["default", "web"],
      token_policies: ["default", "web"],
      metadata: { username: "web" },
      lease_duration: 1_200,
      renewable: true,
      token_type: "service",
      orphan: true,
      num_uses: 0,
    })
    const token = body.auth.client_token
    const { body: found } = await pki("GET", "/auth/token/lookup-self", { headers: vault, token })
    expect(found.data).toMatchObject({ display_name: "userpass-web", path: "auth/userpass/login" })
  })

  test.each([
    ["the user is unknown", "other", "password", wrong],
    ["the password is wrong", "web", "Password", wrong],
    ["the password is longer than bcrypt reads", "web", `password${"x".repeat(100)}`, wrong],
    ["the name is none of a user", "-.", "password", wrong],
    ["the password is empty", "web", "", { status: 400, body: { errors: ["missing password"] } }],
    ["the password has a NUL", "web", "password\0", { status: 400 }],
    ["the password is too long", "web", "x".repeat(1_025), { status: 400 }],
  ])("is refused when %s", async (_, name, password, answer) => {
    const { create, logIn } = await opened()
    await create("web")
    expect(await logIn(name, password)).toMatchObject(answer)
  })

  test("is refused in a method without users", async () => {
    const { logIn } = await opened()
    expect(await logIn("web")).toMatchObject(wrong)
  })

  test("is bound to addresses", async () => {
    const { create, logIn } = await opened()
    await create("web", { token_bound_cidrs: "10.0.0.0/8" })
    expect((await logIn("web", "password", "10.1.2.3")).status).toBe(200)
    expect(await logIn("web", "password", "192.0.2.1")).toMatchObject(denied)
    expect(await logIn("web")).toMatchObject(denied)
    expect(await logIn("web", "wrong", "192.0.2.1")).toMatchObject(wrong)
  })

  test("ends with its method, and cannot be renewed after its user is deleted or has fewer policies", async () => {
    const { engine, send, create, logIn, pki } = await opened()
    await create("web", { token_policies: "web" })
    const token = (await logIn("web")).body.auth.client_token
    const renew = () => pki("POST", "/auth/token/renew-self", { headers: vault, token })
    expect((await renew()).status).toBe(200)
    await send("POST", "/users/web/policies", { policies: "other" })
    expect(await renew()).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining("policies have changed")] },
    })
    await send("DELETE", "/users/web")
    expect(await renew()).toMatchObject({ status: 400, body: { errors: [expect.stringContaining('user "web"')] } })
    await engine.authMethods.disable("userpass")
    expect((await pki("GET", "/auth/token/lookup-self", { token })).status).toBe(403)
    expect((await logIn("web")).status).toBe(403)
  })

  test("of too many from one address is rejected until some failures are forgotten", async () => {
    const { create, logIn, clock } = await opened()
    await create("web")
    for (let user = 0; user < 100; user += 1)
      expect(await logIn(`user-${user}`, "password", "192.0.2.1")).toMatchObject(wrong)
    const limited = await logIn("web", "password", "192.0.2.1")
    expect(limited).toMatchObject({ status: 429, body: { errors: ["too many failed logins from this address"] } })
    expect(limited.headers.get("retry-after")).toBe("6")
    expect((await logIn("web", "password", "192.0.2.2")).status).toBe(200)
    clock.advance(6 * secondMs)
    expect((await logIn("web", "password", "192.0.2.1")).status).toBe(200)
  })
})

describe("the lockout", () => {
  test("locks a user after five failures for 15 minutes, even with the right password", async () => {
    const { create, logIn, fail, clock, system, accessor } = await opened()
    await create("web")
    await create("other")
    await fail("Web", 5)
    expect(await logIn("web", "wrong")).toMatchObject(denied)
    expect(await logIn("WEB")).toMatchObject(denied)
    expect((await logIn("other")).status).toBe(200)
    const mount_accessor = await accessor()
    expect(dataOf(await system("GET", "locked-users"))).toEqual({
      by_namespace: [
        {
          namespace_id: "root",
          namespace_path: "",
          counts: 1,
          mount_accessors: [{ mount_accessor, counts: 1, alias_identifiers: ["web"] }],
        },
      ],
      total: 1,
    })
    clock.advance(15 * minuteMs - 1)
    expect(await logIn("web")).toMatchObject(denied)
    clock.advance(1)
    await fail("web", 1)
    expect((await logIn("web")).status).toBe(200)
    expect(dataOf(await system("GET", "locked-users"))).toEqual({ by_namespace: [], total: 0 })
  })

  test("counts again after a success, and after 15 minutes without a failure", async () => {
    const { create, logIn, fail, clock } = await opened()
    await create("web")
    await fail("web", 4)
    expect((await logIn("web")).status).toBe(200)
    await fail("web", 4)
    clock.advance(15 * minuteMs)
    await fail("web", 4)
    expect((await logIn("web")).status).toBe(200)
  })

  test("ends when an administrator unlocks the user", async () => {
    const { create, logIn, fail, system, accessor } = await opened()
    await create("web")
    await fail("web", 5)
    const address = `locked-users/${await accessor()}`
    expect(dataOf(await system("GET", `locked-users?mount_accessor=${await accessor()}`))).toMatchObject({ total: 1 })
    expect((await system("POST", `${address}/unlock/WEB`)).status).toBe(204)
    expect((await system("POST", `${address}/unlock/web`)).status).toBe(204)
    expect((await system("POST", `${address}/unlock/unknown`)).status).toBe(204)
    await fail("web", 4)
    expect((await logIn("web")).status).toBe(200)
    for (const answer of [
      await system("POST", "locked-users/auth_userpass_0/unlock/web"),
      await system("GET", "locked-users?mount_accessor=auth_userpass_0"),
    ])
      expect(answer).toMatchObject({ status: 404, body: { errors: [expect.stringContaining("auth_userpass_0")] } })
  })

  test("is tuned, and reads as it was tuned", async () => {
    const { create, logIn, fail, system, clock } = await opened()
    await create("web")
    const tuned = async () => dataOf(await system("GET", "auth/userpass/tune"))
    expect(await tuned()).toMatchObject({
      user_lockout_threshold: 5,
      user_lockout_duration: 900,
      user_lockout_counter_reset_duration: 900,
      user_lockout_disable: false,
    })
    const first = { user_lockout_config: { lockout_threshold: "2", lockout_duration: "1m" } }
    expect((await system("POST", "auth/userpass/tune", first)).status).toBe(204)
    await fail("web", 2)
    expect(await logIn("web")).toMatchObject(denied)
    clock.advance(minuteMs)
    expect((await logIn("web")).status).toBe(200)
    const second = { user_lockout_config: { lockout_counter_reset_duration: "10s", lockout_threshold: 3 } }
    expect((await system("POST", "auth/userpass/tune", second)).status).toBe(204)
    const config = { lockout_threshold: 3, lockout_duration: 60, lockout_counter_reset: 10 }
    expect(dataOf(await system("GET", "auth/userpass"))).toMatchObject({ config: { user_lockout_config: config } })
    expect(await tuned()).toMatchObject({
      user_lockout_config: config,
      user_lockout_threshold: 3,
      user_lockout_duration: 60,
      user_lockout_counter_reset_duration: 10,
    })
    await system("POST", "auth/userpass/tune", { user_lockout_config: { lockout_disable: true } })
    await fail("web", 6)
    expect((await logIn("web")).status).toBe(200)
  })

  test.each([
    ["is no object", "userpass", 5, '"user_lockout_config" must be an object'],
    ["has an unknown member", "userpass", { threshold: 3 }, '"threshold" is not a setting of the lockout'],
    [
      "has a value of another type",
      "userpass",
      { lockout_threshold: "many" },
      '"lockout_threshold" must be an integer',
    ],
    ["has a threshold of zero", "userpass", { lockout_threshold: 0 }, 'must have a "lockout_threshold" from 1'],
    ["is of a method without users", "approle", { lockout_threshold: 3 }, "only by auth methods of type userpass"],
  ])("is rejected when it %s", async (_, type, lockout, detail) => {
    const { engine, system } = await opened()
    if (type === "approle") await engine.authMethods.enable({ path: "approle", type })
    for (const answer of [
      await system("POST", `auth/${type}/tune`, { user_lockout_config: lockout }),
      await system("POST", "auth/new", { type, config: { user_lockout_config: lockout } }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { errors: [expect.stringContaining(detail)] } })
  })

  test("answers guesses that are sent at once like guesses one after another", async () => {
    const { create, logIn } = await opened()
    await create("web")
    const answers = await Promise.all(Array.from({ length: 13 }, () => logIn("web", "wrong")))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(8)
  })

  test("is not avoided by guesses that are sent with the right password", async () => {
    const { create, logIn } = await opened()
    await create("web")
    const guesses = [...Array.from({ length: 12 }, () => "wrong"), "password"]
    const answers = await Promise.all(guesses.map((guess) => logIn("web", guess)))
    const count = (expected: number) => answers.filter(({ status }) => status === expected).length
    // Verifications end in any order. The right password resets the count if it is verified before the fifth wrong one.
    expect(count(200)).toBeLessThanOrEqual(1)
    expect(count(400)).toBeLessThanOrEqual(count(200) === 1 ? 9 : 5)
    expect(count(200) + count(400) + count(403)).toBe(13)
    expect(await logIn("web")).toMatchObject(denied)
  })
})

describe.each(databaseKinds.filter(({ name, available }) => available && name !== "SQLite memory"))(
  "on $name,",
  (kind) => {
    test("failures at two replicas are all counted, and both refuse the user", async () => {
      await using place = await kind.place()
      const [one, other] = [await opened({ url: place.url }), await opened({ url: place.url })]
      await one.create("web")
      const guesses = [one, other, one, other, one].map(({ logIn }) => logIn("web", "wrong"))
      for (const answer of await Promise.all(guesses)) expect(answer).toMatchObject(wrong)
      for (const { logIn } of [one, other]) expect(await logIn("web")).toMatchObject(denied)
    })
  },
)

test("the audit log has no password and no hash", async () => {
  const folder = mkdtempSync(join(tmpdir(), "userpass-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const auditFile = join(folder, "audit.log")
  const { send, create, logIn } = await opened({ auditFile })
  await create("web")
  await send("POST", "/users/web/password", { password: "secret-of-web" })
  await logIn("web", "secret-of-web")
  await logIn("web", "guess-of-another")
  const log = readFileSync(auditFile, "utf8")
  expect(log).toContain("/v1/auth/userpass/login/web")
  for (const secret of ["secret-of-web", "guess-of-another", cheap]) expect(log).not.toContain(secret)
})

test("a login that is under way when the engine closes is answered 503, without an error in the log", async () => {
  const errors: unknown[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (...line: unknown[]) => void errors.push(line) }
  const metrics = recordedMetrics()
  const { logIn, send, ...world } = await opened({ metrics, runtime: systemRuntime(log) })
  expect((await send("POST", "/users/web", { password: "password" })).status).toBe(204)
  const answers = Array.from({ length: 4 }, () => logIn("web"))
  // The others are being verified then.
  await expect.poll(() => metrics.value("chancery_passwords_waiting"), { interval: 1 }).toBe(2)
  await world[Symbol.asyncDispose]()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([503, 503, 503, 503])
  expect(errors).toEqual([])
  expect(metrics.value("chancery_passwords_waiting")).toBe(0)
  expect(metrics.value("chancery_logins_total", { method: "userpass", outcome: "failed" })).toBe(4)
})

test("logins are counted by outcome, also of users that are locked", async () => {
  const metrics = recordedMetrics()
  const { create, logIn, fail } = await opened({ metrics })
  await create("web")
  await fail("web", 5)
  expect(await logIn("web")).toMatchObject(denied)
  await create("other")
  expect((await logIn("other")).status).toBe(200)
  const counted = metrics.series("chancery_logins_total").filter(({ value }) => value > 0)
  expect(counted).toEqual(
    [
      { outcome: "success", value: 1 },
      { outcome: "wrong_credentials", value: 5 },
      { outcome: "denied", value: 1 },
    ].map(({ outcome, value }) => ({ labels: { method: "userpass", outcome }, value })),
  )
})
