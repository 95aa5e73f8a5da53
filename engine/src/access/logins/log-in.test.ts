// Login tokens over the database, on every kind that two servers can open: their rights, bound CIDRs, uses and expiry.
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import type { Engine } from "../../engine.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { databaseKinds, type DatabaseKind } from "../../../testing/temporary-database.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { AuthMethodDirectory } from "./auth-method-directory.ts"
import { logIn } from "./login.ts"
import { initialTokenTerms, type TokenTerms } from "./token-terms.ts"

async function open(kind: DatabaseKind) {
  const clock = manualClock()
  const runtime = { ...systemRuntime(), clock }
  const closing = new AsyncDisposableStack()
  onTestFinished(() => closing.disposeAsync())
  const { url } = closing.use(await kind.place())
  const testEngine = closing.use(await openTestEngine({ url, runtime, jobs: false }))
  const database = closing.use(await openDatabase(url))
  const refused = (): never => {
    throw new Error("nothing is sealed")
  }
  const storage = repositoriesOver(database, { seal: refused, open: refused }, clock)
  const methodAt = (path: string) =>
    storage.read(async (repositories) =>
      (await new AuthMethodDirectory(storage, { mounts: refused }).within(repositories)).at(path),
    )
  const { engine } = testEngine
  await engine.authMethods.enable({ path: "approle", type: "approle", config: { maxLeaseTtlMs: 4 * hourMs } })
  // The AppRole role that the tokens are issued for.
  await engine.appRoles("approle").roles.save("web", {})
  const method = await methodAt("approle")
  return {
    ...testEngine,
    clock,
    login: (terms: Partial<TokenTerms> = {}) =>
      storage.transact((repositories) =>
        logIn(repositories, runtime, method, {
          terms: { ...initialTokenTerms, ...terms },
          displayName: "web",
          meta: { role_name: "web" },
        }),
      ),
    caller: (token: string, from?: string) =>
      testEngine.pki("GET", "/auth/token/lookup-self", { token, ...(from === undefined ? {} : { from }) }),
  }
}

describe.each(databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory"))(
  "on $name",
  (kind) => {
    test("a login creates a token with those policies of the role that exist", async () => {
      const { engine, login, caller } = await open(kind)
      await engine.policies.put("web", `path "sys/mounts" { capabilities = ["read"] }`)
      const { secret, token, warnings } = await login({ policies: ["absent", "web"], ttlMs: hourMs })
      expect(warnings).toEqual(['policy "absent" does not exist and is omitted'])
      expect(token).toMatchObject({
        displayName: "approle-web",
        policies: ["default", "web"],
        meta: { role_name: "web" },
        orphan: true,
        path: "auth/approle/login",
        remainingMs: hourMs,
        renewable: true,
      })
      expect((await caller(secret)).body.data).toMatchObject({
        accessor: token.accessor,
        display_name: "approle-web",
        policies: ["default", "web"],
        meta: { role_name: "web" },
        orphan: true,
        path: "auth/approle/login",
        type: "service",
        ttl: 3_600,
      })
      expect(await engine.as(await engine.authenticate(secret)).mounts.list()).toEqual([])
    })

    test("renewals end at the maximum of the login", async () => {
      const { engine, clock, login } = await open(kind)
      const { token } = await login({ ttlMs: hourMs })
      clock.advance(59 * minuteMs)
      const renewed = await engine.serviceTokens.renew({ accessor: token.accessor }, 10 * hourMs)
      expect(renewed.token.expiresAt).toBe(token.createdAt + 4 * hourMs)
      expect(renewed.warnings).toEqual([expect.stringMatching(/^TTL of "36000s" exceeded the effective max_ttl/)])
    })

    test("a token with bound addresses is rejected from other addresses, and no use is counted", async () => {
      const { engine, login, caller } = await open(kind)
      const { secret, token } = await login({ boundCidrs: ["10.0.0.0/8", "2001:db8::7"], numUses: 3 })
      const refused = { status: 403, body: { errors: ["permission denied"] } }
      for (const from of ["11.0.0.1", "2001:db8::8", undefined])
        expect(await caller(secret, from)).toMatchObject(refused)
      const answer = await caller(secret, "10.1.2.3")
      expect([answer.status, answer.body.data.bound_cidrs]).toEqual([200, ["10.0.0.0/8", "2001:db8::7"]])
      // A cached token is still refused from another address.
      expect(await caller(secret, "11.0.0.1")).toMatchObject(refused)
      expect((await caller(secret, "2001:db8::7")).status).toBe(200)
      const looked = await engine.serviceTokens.lookup({ accessor: token.accessor })
      expect([looked.usesLeft, looked.boundCidrs]).toEqual([1, ["10.0.0.0/8", "2001:db8::7"]])
      await expect(engine.authenticate(secret)).rejects.toMatchObject({ code: "unauthenticated" })
    })

    test("a child token inherits the bound addresses unless it is an orphan", async () => {
      const { engine, login, pki } = await open(kind)
      await engine.policies.put("maker", `path "auth/token/create" { capabilities = ["update", "sudo"] }`)
      const { secret } = await login({ policies: ["maker"], boundCidrs: ["10.0.0.0/8"] })
      const made = async (body: object) => {
        const answer = await pki("POST", "/auth/token/create", { token: secret, from: "10.0.0.1", body })
        return (await engine.serviceTokens.lookup({ accessor: answer.body.auth.accessor })).boundCidrs
      }
      expect(await made({})).toEqual(["10.0.0.0/8"])
      expect(await made({ no_parent: true })).toEqual([])
    })

    test("disabling a method revokes its tokens and their children only", async () => {
      const { engine, login, caller, pki } = await open(kind)
      await engine.policies.put("maker", `path "auth/token/create" { capabilities = ["update"] }`)
      const { secret } = await login({ policies: ["maker"] })
      const child = (await pki("POST", "/auth/token/create", { token: secret })).body.auth.client_token
      const other = (await engine.serviceTokens.create({ policies: ["default"] })).secret
      for (const token of [secret, child, other]) expect((await caller(token)).status).toBe(200)
      await engine.authMethods.disable("approle")
      expect((await caller(secret)).status).toBe(403)
      expect((await caller(child)).status).toBe(403)
      expect((await caller(other)).status).toBe(200)
      await expect(login()).rejects.toMatchObject({ code: "not-found" })
      await engine.authMethods.enable({ path: "approle", type: "approle" })
      await expect(login()).rejects.toMatchObject({ code: "not-found" })
    })
  },
)

test.each([
  { type: "approle", failing: (engine: Engine) => engine.appRoles("x").logins.logIn({ roleId: "no", secretId: "no" }) },
  { type: "cert", failing: (engine: Engine) => engine.certificateLogins("x").login({ name: "" }) },
  { type: "kubernetes", failing: (engine: Engine) => engine.kubernetesLogins("x").login({ role: "no", jwt: "no" }) },
  { type: "userpass", failing: (engine: Engine) => engine.userpass("x").logins.logIn({ name: "no", password: "no" }) },
] as const)("a login with wrong credentials of $type is counted", async ({ type, failing }) => {
  const metrics = recordedMetrics()
  await using world = await openTestEngine({ metrics })
  await world.engine.authMethods.enable({ path: "x", type })
  await expect(failing(world.engine)).rejects.toMatchObject({ name: "EngineError" })
  expect(metrics.series("chancery_logins_total").filter(({ value }) => value > 0)).toEqual([
    { labels: { method: type, outcome: "wrong_credentials" }, value: 1 },
  ])
})
