// AppRole logins over the database, on every kind: stored secret ids, their expiry, and the conditions of a login.
import { sql } from "kysely"
import { describe, expect, onTestFinished, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { type DatabaseKind, databaseKinds, defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import type { AppRoleInput } from "./app-role.ts"
import type { SecretIdInput } from "./secret-id.ts"
import { secretIdsPerWrite, sweepSecretIds } from "./delete-expired-secret-ids.ts"

const refusedLogin = { code: "unprocessable", message: "invalid role or secret ID" }
const missing = { code: "not-found" }

async function opened(kind: DatabaseKind = defaultSharedKind) {
  const clock = manualClock()
  const runtime = { ...systemRuntime(), clock }
  const place = await kind.place()
  const testEngine = await openTestEngine({ url: place.url, runtime, jobs: false })
  onTestFinished(async () => {
    await testEngine[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })
  const { engine } = testEngine
  await engine.policies.put("web", 'path "pki/issue/web" { capabilities = ["update"] }')
  await engine.authMethods.enable({ path: "approle", type: "approle" })
  const appRoles = engine.appRoles("approle")
  const made = async (name: string, role: AppRoleInput = {}, input: SecretIdInput = {}) => {
    await appRoles.roles.save(name, { terms: { policies: ["web"] }, ...role })
    const roleId = await appRoles.roles.getRoleId(name)
    const { secretId, accessor } = await appRoles.secretIds.create(name, input)
    return { roleId, secretId, accessor }
  }
  return { engine, appRoles, clock, runtime, url: place.url, made }
}

describe.each(databaseKinds.filter(({ available }) => available))("on $name", (kind) => {
  test("a role is written, read, listed and deleted with a case-insensitive name", async () => {
    const { appRoles } = await opened(kind)
    expect(await appRoles.roles.list()).toEqual([])
    expect(await appRoles.roles.save("Web", { secretIdNumUses: 3, terms: { policies: ["web", "none"] } })).toEqual([
      expect.stringContaining('"none"'),
    ])
    const roleId = await appRoles.roles.getRoleId("web")
    expect(await appRoles.roles.save("WEB", { terms: { ttlMs: hourMs, policies: ["web"] } })).toEqual([])
    expect(await appRoles.roles.get("wEb")).toMatchObject({
      name: "web",
      bindSecretId: true,
      secretIdNumUses: 3,
      terms: { ttlMs: hourMs, maxTtlMs: null, policies: ["web"] },
    })
    expect(await appRoles.roles.getRoleId("web")).toBe(roleId)
    await appRoles.roles.save("api", {})
    await appRoles.roles.save("job", {})
    expect(await appRoles.roles.list()).toEqual(["api", "job", "web"])
    expect(await appRoles.roles.list({ after: "api", limit: 1 })).toEqual(["job"])
    await appRoles.roles.delete("JOB")
    await appRoles.roles.delete("job")
    expect(await appRoles.roles.list()).toEqual(["api", "web"])
    await expect(appRoles.roles.get("job")).rejects.toMatchObject(missing)
  })

  test("a part of a role is changed and reset without changing the other parts", async () => {
    const { appRoles } = await opened(kind)
    await appRoles.roles.save("web", { secretIdNumUses: 3 })
    await appRoles.roles.changePart("web", "token-ttl", { terms: { ttlMs: hourMs } })
    expect(await appRoles.roles.getPart("web", "token-ttl")).toEqual({ terms: { ttlMs: hourMs } })
    expect(await appRoles.roles.get("web")).toMatchObject({ secretIdNumUses: 3, terms: { ttlMs: hourMs } })
    await appRoles.roles.resetPart("web", "secret-id-num-uses")
    expect(await appRoles.roles.getPart("web", "secret-id-num-uses")).toEqual({ secretIdNumUses: 0 })
    await expect(appRoles.roles.changePart("web", "period", {})).rejects.toMatchObject({ code: "invalid" })
    await expect(appRoles.roles.changePart("none", "period", { terms: { periodMs: hourMs } })).rejects.toMatchObject(
      missing,
    )
  })

  test("a role id is unique, and secret ids outlive its change", async () => {
    const { appRoles, made } = await opened(kind)
    const { roleId, secretId } = await made("web")
    await appRoles.roles.changeRoleId("web", "chosen")
    await expect(appRoles.logins.logIn({ roleId, secretId })).rejects.toMatchObject(refusedLogin)
    await appRoles.logins.logIn({ roleId: " chosen ", secretId: `${secretId}\n` })
    const taken = { code: "invalid", faults: [{ field: ["roleId"], detail: "role_id already in use" }] }
    await expect(appRoles.roles.save("api", { roleId: "chosen" })).rejects.toMatchObject(taken)
    await appRoles.roles.save("api", {})
    await expect(appRoles.roles.changeRoleId("api", "chosen")).rejects.toMatchObject(taken)
    expect(await appRoles.roles.getRoleId("api")).not.toBe("chosen")
  })

  test("two methods share no roles and no secret ids", async () => {
    const { engine, appRoles, made } = await opened(kind)
    await engine.authMethods.enable({ path: "team/ci", type: "approle" })
    const other = engine.appRoles("team/ci")
    await appRoles.roles.save("web", { roleId: "same" })
    await other.roles.save("web", { roleId: "same" })
    const { secretId } = await made("web")
    await expect(other.logins.logIn({ roleId: "same", secretId })).rejects.toMatchObject(refusedLogin)
    const { token } = await appRoles.logins.logIn({ roleId: "same", secretId })
    expect(token).toMatchObject({ displayName: "approle", path: "auth/approle/login" })
    const own = await other.secretIds.create("web", {})
    expect((await other.logins.logIn({ roleId: "same", secretId: own.secretId })).token).toMatchObject({
      displayName: "team-ci",
      path: "auth/team/ci/login",
    })
  })

  test("a secret id is returned once, and then found by its accessor", async () => {
    const { appRoles, clock } = await opened(kind)
    await appRoles.roles.save("web", { secretIdTtlMs: hourMs, secretIdNumUses: 2 })
    const created = await appRoles.secretIds.create("web", { metadata: { job: "7" }, numUses: 1 })
    expect(created).toEqual({
      secretId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ttlMs: hourMs,
      usesLeft: 1,
      warnings: [],
    })
    const { secretId, accessor } = created
    const expected = {
      accessor,
      usesLeft: 1,
      ttlMs: hourMs,
      createdAt: clock.now(),
      updatedAt: clock.now(),
      expiresAt: clock.now() + hourMs,
      metadata: { job: "7" },
      cidrList: [],
      tokenBoundCidrs: [],
    }
    expect(await appRoles.secretIds.get("web", { secretId })).toEqual(expected)
    expect(await appRoles.secretIds.get("web", { accessor })).toEqual(expected)
    const second = await appRoles.secretIds.create("WEB", { secretId: "chosen" })
    expect(await appRoles.secretIds.list("web")).toEqual([accessor, second.accessor].toSorted())
    expect(await appRoles.secretIds.list("web", { limit: 1 })).toHaveLength(1)
    await expect(appRoles.secretIds.create("web", { secretId: "chosen" })).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: ["secretId"] }],
    })

    await appRoles.roles.save("api", {})
    await expect(appRoles.secretIds.get("api", { secretId })).rejects.toMatchObject(missing)
    await expect(appRoles.secretIds.get("api", { accessor })).rejects.toMatchObject(missing)
    await expect(appRoles.secretIds.destroy("api", { accessor })).rejects.toMatchObject(missing)
    await appRoles.secretIds.destroy("api", { secretId })
    expect(await appRoles.secretIds.get("web", { accessor })).toEqual(expected)

    await appRoles.secretIds.destroy("web", { secretId })
    await appRoles.secretIds.destroy("web", { secretId })
    await appRoles.secretIds.destroy("web", { accessor: second.accessor })
    await expect(appRoles.secretIds.get("web", { accessor })).rejects.toMatchObject(missing)
    await expect(appRoles.secretIds.destroy("web", { accessor })).rejects.toMatchObject(missing)
    expect(await appRoles.secretIds.list("web")).toEqual([])
    await expect(appRoles.secretIds.list("none")).rejects.toMatchObject(missing)
  })

  test("a login returns a token with the terms of the role and the metadata of the login", async () => {
    const { engine, appRoles, made, clock } = await opened(kind)
    const terms = { policies: ["web"], ttlMs: minuteMs, maxTtlMs: hourMs, numUses: 5 }
    const { roleId, secretId } = await made("Web", { terms }, { metadata: { job: "7", role_name: "other" } })
    const { secret, token, warnings } = await appRoles.logins.logIn({ roleId, secretId })
    expect(warnings).toEqual([])
    expect(token).toMatchObject({
      displayName: "approle",
      policies: ["default", "web"],
      meta: { job: "7", role_name: "web" },
      orphan: true,
      path: "auth/approle/login",
      expiresAt: clock.now() + minuteMs,
      renewable: true,
      usesLeft: 5,
    })
    const self = engine.as(await engine.authenticate(secret))
    expect(await self.serviceTokens.lookup("self")).toMatchObject({ meta: { job: "7", role_name: "web" }, usesLeft: 4 })
  })

  test("a token can be renewed while its role exists", async () => {
    const { engine, appRoles, made, clock } = await opened(kind)
    const { roleId, secretId } = await made("web", { terms: { periodMs: hourMs } })
    const { secret } = await appRoles.logins.logIn({ roleId, secretId })
    const self = async () => engine.as(await engine.authenticate(secret))
    clock.advance(hourMs - secondMs)
    const { token } = await (await self()).serviceTokens.renew("self")
    expect(token.remainingMs).toBe(hourMs)
    await appRoles.roles.delete("web")
    await expect((await self()).serviceTokens.renew("self")).rejects.toMatchObject({ code: "unprocessable" })
    await expect(engine.serviceTokens.renew({ secret })).rejects.toMatchObject({ code: "unprocessable" })
    expect(await (await self()).serviceTokens.lookup("self")).toMatchObject({ remainingMs: hourMs })
    clock.advance(hourMs)
    await expect(self()).rejects.toMatchObject({ code: "unauthenticated" })
  })

  test("every rejected login has the same error", async () => {
    const { appRoles, made, clock } = await opened(kind)
    const one = await made("one", { secretIdTtlMs: hourMs })
    const other = await made("other")
    const deleted = await made("gone")
    await appRoles.roles.delete("gone")
    await appRoles.roles.save("open", { bindSecretId: false, secretIdBoundCidrs: ["10.0.0.0/8"], roleId: "open" })
    for (const credentials of [
      { roleId: "none", secretId: one.secretId },
      { roleId: one.roleId, secretId: "none" },
      { roleId: one.roleId, secretId: "" },
      { roleId: one.roleId },
      { roleId: one.roleId, secretId: other.secretId },
      { roleId: one.roleId, secretId: one.accessor },
      { roleId: one.roleId.toUpperCase(), secretId: one.secretId },
      { roleId: deleted.roleId, secretId: deleted.secretId },
      { roleId: "open" },
    ])
      await expect(appRoles.logins.logIn(credentials)).rejects.toMatchObject(refusedLogin)
    await expect(appRoles.logins.logIn({ roleId: "open" }, "192.0.2.7")).rejects.toMatchObject(refusedLogin)
    await appRoles.logins.logIn({ roleId: "open" }, "10.1.2.3")
    await expect(appRoles.logins.logIn({ roleId: " ", secretId: one.secretId })).rejects.toMatchObject({
      code: "invalid",
      faults: [{ field: ["roleId"] }],
    })
    clock.advance(hourMs - secondMs)
    await appRoles.logins.logIn(one)
    clock.advance(secondMs)
    await expect(appRoles.logins.logIn(one)).rejects.toMatchObject(refusedLogin)
    await expect(appRoles.secretIds.get("one", one)).rejects.toMatchObject(missing)
    expect(await appRoles.secretIds.list("one")).toEqual([])
    await appRoles.logins.logIn(other)
  })

  test("the addresses that may show a secret id and those that may use its tokens are bound separately", async () => {
    const { engine, appRoles, made } = await opened(kind)
    const bounded = await made(
      "web",
      { secretIdBoundCidrs: ["10.0.0.0/8"], terms: { policies: ["web"], boundCidrs: ["192.0.2.0/24"] } },
      { cidrList: ["10.1.0.0/16"], tokenBoundCidrs: ["192.0.2.7"], numUses: 2 },
    )
    await expect(appRoles.logins.logIn(bounded)).rejects.toMatchObject(refusedLogin)
    await expect(appRoles.logins.logIn(bounded, "10.2.0.1")).rejects.toMatchObject(refusedLogin)
    expect(await appRoles.secretIds.get("web", bounded)).toMatchObject({ usesLeft: 2 })
    const { secret } = await appRoles.logins.logIn(bounded, "10.1.2.3")
    await engine.authenticate(secret, { remoteAddress: "192.0.2.7" })
    await expect(engine.authenticate(secret, { remoteAddress: "192.0.2.8" })).rejects.toMatchObject({
      code: "unauthenticated",
    })
    await appRoles.roles.save("web", { secretIdBoundCidrs: ["10.2.0.0/16"] })
    await expect(appRoles.logins.logIn(bounded, "10.1.2.3")).rejects.toMatchObject(refusedLogin)
  })

  test("concurrent logins with a secret id succeed as often as it has uses left", async () => {
    const { engine, appRoles, made, runtime, url } = await opened(kind)
    // A database in memory has no second replica.
    await using replica =
      kind.name === "SQLite memory" ? undefined : await openTestEngine({ url, runtime, jobs: false })
    const { roleId, secretId, accessor } = await made("web", {}, { numUses: 3 })
    const engines = [engine, replica?.engine ?? engine]
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => engines[at % 2]!.appRoles("approle").logins.logIn({ roleId, secretId })),
    )
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled")
    expect(won).toHaveLength(3)
    const lost = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason as unknown)
    expect(lost).toEqual(Array.from({ length: 9 }, () => expect.objectContaining(refusedLogin)))
    for (const { value } of won) await engine.authenticate(value.secret)
    await expect(appRoles.secretIds.get("web", { accessor })).rejects.toMatchObject(missing)
    await expect(appRoles.logins.logIn({ roleId, secretId })).rejects.toMatchObject(refusedLogin)
  })

  test("a login counts one use and updates the secret id", async () => {
    const { appRoles, made, clock } = await opened(kind)
    const created = await made("web", {}, { numUses: 3 })
    const before = await appRoles.secretIds.get("web", created)
    clock.advance(minuteMs)
    await appRoles.logins.logIn(created)
    expect(await appRoles.secretIds.get("web", created)).toEqual({ ...before, usesLeft: 2, updatedAt: clock.now() })
  })

  test("the sweep deletes expired secret ids only", async () => {
    const { appRoles, clock, url } = await opened(kind)
    await appRoles.roles.save("web", {})
    const count = secretIdsPerWrite + 20
    for (let at = 0; at < count; at += 1) await appRoles.secretIds.create("web", { ttlMs: minuteMs })
    const kept = [await appRoles.secretIds.create("web", { ttlMs: hourMs }), await appRoles.secretIds.create("web", {})]
    clock.advance(minuteMs)
    const left: number[] = []
    await using database = kind.name === "SQLite memory" ? undefined : await openDatabase(url)
    for (let round = 0; round < 2; round += 1) {
      expect(await appRoles.secretIds.tidy()).toEqual([expect.stringContaining("started")])
      const rows = await database?.read((session) => session.queryMany(sql`select 1 from app_role_secret_ids`))
      if (rows !== undefined) left.push(rows.length)
    }
    // A database in memory cannot be read by a second connection.
    expect(left).toEqual(database === undefined ? [] : [20 + kept.length, kept.length])
    expect(await appRoles.secretIds.list("web")).toEqual(kept.map(({ accessor }) => accessor).toSorted())
  }, 30_000)

  test("disabling the method deletes its roles, secret ids and tokens", async () => {
    const { engine, appRoles, made } = await opened(kind)
    const { roleId, secretId } = await made("web")
    const { secret } = await appRoles.logins.logIn({ roleId, secretId })
    await engine.authMethods.disable("approle")
    await expect(engine.authenticate(secret)).rejects.toMatchObject({ code: "unauthenticated" })
    await expect(appRoles.logins.logIn({ roleId, secretId })).rejects.toMatchObject(missing)
    await engine.authMethods.enable({ path: "approle", type: "approle" })
    expect(await appRoles.roles.list()).toEqual([])
    await appRoles.roles.save("web", { roleId })
    await expect(appRoles.logins.logIn({ roleId, secretId })).rejects.toMatchObject(refusedLogin)
  })
})

test("the database contains no secret id", async () => {
  const { appRoles, made, url } = await opened()
  const { secretId, accessor } = await made("web")
  await appRoles.secretIds.create("web", { secretId: "chosen by somebody" })
  await using database = await openDatabase(url)
  const rows = await database.read((session) => session.queryMany(sql`select * from app_role_secret_ids`))
  const text = JSON.stringify(rows)
  expect(text).toContain(accessor)
  expect(text).not.toContain(secretId)
  expect(text).not.toContain("chosen by somebody")
})

test("the job sweeps until no expired secret id is left", async () => {
  const now = Date.UTC(2030, 0, 1)
  let over = 2 * secretIdsPerWrite + 1
  const swept: number[] = []
  const secretIds = {
    async sweep(at: number, limit: number) {
      expect(at).toBe(now)
      const count = Math.min(over, limit)
      over -= count
      swept.push(count)
      return count
    },
  }
  const storage = { transact: (work: (repositories: object) => Promise<unknown>) => work({ secretIds }) }
  const context = { storage, runtime: { clock: { now: () => now } } } as unknown as Parameters<typeof sweepSecretIds>[0]
  await sweepSecretIds(context, { signal: new AbortController().signal })
  expect(swept).toEqual([secretIdsPerWrite, secretIdsPerWrite, 1])
})
