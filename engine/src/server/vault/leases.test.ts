import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { dayMs, hourMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

const clock = manualClock(Date.UTC(2030, 0, 1))
let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
})
afterAll(() => world[Symbol.asyncDispose]())

let mounts = 0
async function newMount(path = `m${(mounts += 1)}`) {
  await world.engine.mounts.create({ path, config: { maxLeaseTtlMs: 3_650 * dayMs } })
  const pki = world.engine.pki(path)
  await pki.issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 3_000 * dayMs })
  const role = { allowAnyName: true, keyType: "ec", ttlMs: hourMs, maxTtlMs: 100 * dayMs } as const
  await pki.roles.save("leased", { ...role, generateLease: true })
  await pki.roles.save("plain", role)
  const issue = async (name = "leased", options: { ttl?: string; token?: string } = {}) => {
    const { token, ...more } = options
    const body = { common_name: "a.test", ...more }
    const answer = await world.pki("POST", `/${path}/issue/${name}`, {
      body,
      ...(token === undefined ? {} : { token }),
    })
    expect([answer.status, answer.body.errors]).toEqual([200, undefined])
    return { id: answer.body.lease_id as string, serial: answer.body.data.serial_number as string }
  }
  const revoked = async () => (await world.pki("LIST", `/${path}/certs/revoked`)).body.data?.keys ?? []
  return { path, pki, issue, revoked }
}
const write = (path: string, body: object = {}) => world.pki("PUT", `/sys/${path}`, { body })
const lookup = (lease_id: string) => write("leases/lookup", { lease_id })
const list = async (prefix: string) => (await world.pki("LIST", `/sys/leases/lookup/${prefix}`)).body.data?.keys ?? []

describe("a lease", () => {
  test("is found until its certificate expires, and not afterwards", async () => {
    const { path, issue } = await newMount()
    const { id } = await issue()
    expect(id).toMatch(new RegExp(`^${path}/issue/leased/[0-9a-f-]{36}$`))
    clock.advance(60_000)
    expect((await lookup(id)).body.data).toEqual({
      id,
      issue_time: new Date(clock.now() - 60_000).toISOString(),
      expire_time: new Date(clock.now() + hourMs - 60_000).toISOString(),
      last_renewal: null,
      renewable: false,
      ttl: 3_540,
    })
    clock.advance(hourMs)
    const gone = await lookup(id)
    expect([gone.status, gone.body]).toEqual([400, { errors: ["invalid lease"] }])
    expect(await list(`${path}/issue/leased`)).toEqual([])
  })

  test("exists only if the role generates leases", async () => {
    const { issue, path } = await newMount()
    const { id } = await issue("plain")
    expect(id).toContain(`${path}/issue/plain/`)
    expect((await lookup(id)).status).toBe(400)
    expect((await lookup("")).body.errors).toEqual(["lease_id must be specified"])
  })

  test("is never renewed", async () => {
    const { issue } = await newMount()
    const { id: lease_id } = await issue()
    for (const address of ["leases/renew", "renew"])
      for (const answer of [await write(address, { lease_id, increment: 60 }), await write(`${address}/${lease_id}`)])
        expect([answer.status, answer.body]).toEqual([400, { errors: ["lease is not renewable"] }])
    const unknown = await write("leases/renew", { lease_id: "none" })
    expect([unknown.status, unknown.body]).toEqual([400, { errors: ["lease not found"] }])
  })

  test.each(["leases/revoke", "revoke"])("is revoked at %s with its certificate, by body or path", async (address) => {
    const { issue, revoked } = await newMount()
    const [one, other, kept] = [await issue(), await issue(), await issue()]
    expect((await write(address, { lease_id: one.id, sync: true })).status).toBe(204)
    expect(await revoked()).toEqual([one.serial])
    expect((await write(`${address}/${other.id}`)).status).toBe(204)
    expect((await revoked()).toSorted()).toEqual([one.serial, other.serial].toSorted())
    expect((await lookup(one.id)).status).toBe(400)
    expect((await lookup(kept.id)).status).toBe(200)
    // Revoking an unknown lease succeeds, because it has ended already.
    expect((await write(address, { lease_id: one.id })).status).toBe(204)
    expect((await write(address, {})).status).toBe(400)
  })

  test("is not removed when only its certificate is revoked", async () => {
    const { issue, path, revoked } = await newMount()
    const { id, serial } = await issue()
    await world.pki("POST", `/${path}/revoke`, { body: { serial_number: serial } })
    expect((await lookup(id)).status).toBe(200)
    expect((await write("leases/revoke", { lease_id: id })).status).toBe(204)
    expect(await revoked()).toEqual([serial])
  })

  test("is deleted with its mount, and keeps its id when the mount moves", async () => {
    const { path, issue } = await newMount()
    const { id, serial } = await issue()
    await world.engine.mounts.move(path, "moved")
    expect((await lookup(id)).status).toBe(200)
    const other = await world.pki("POST", "/moved/issue/leased", { body: { common_name: "a.test" } })
    expect((await write("leases/revoke", { lease_id: id })).status).toBe(204)
    expect((await world.pki("LIST", "/moved/certs/revoked")).body.data.keys).toEqual([serial])
    await world.engine.mounts.delete("moved")
    expect((await lookup(other.body.lease_id)).status).toBe(400)
    expect(await list("moved")).toEqual([])
  })
})

describe("leases", () => {
  test("are listed by one path segment at a time", async () => {
    const { path, issue } = await newMount("team/web")
    await newMount("team/wide")
    const ids = [await issue(), await issue()].map(({ id }) => id)
    const wide = await world.pki("POST", "/team/wide/issue/leased", { body: { common_name: "a.test" } })
    expect(await list("")).toEqual(expect.arrayContaining(["team/"]))
    expect(await list("team/")).toEqual(["web/", "wide/"])
    expect(await list("team/web")).toEqual(["issue/"])
    expect(await list(`${path}/issue/`)).toEqual(["leased/"])
    const names = ids.map((id) => id.slice(`${path}/issue/leased/`.length)).toSorted()
    expect(await list(`${path}/issue/leased`)).toEqual(names)
    expect((await world.pki("LIST", "/sys/leases/lookup/team/we")).status).toBe(404)
    expect((await lookup(wide.body.lease_id)).status).toBe(200)
  })

  test.each(["leases/revoke-prefix", "revoke-prefix", "leases/revoke-force", "revoke-force"])(
    "below a path are revoked at %s, synchronously with sync",
    async (address) => {
      const { path, pki, issue, revoked } = await newMount()
      await pki.roles.save("leased2", { allowAnyName: true, keyType: "ec", ttlMs: hourMs, generateLease: true })
      const serials = [await issue(), await issue()].map(({ serial }) => serial)
      const kept = await issue("leased2")
      expect((await write(`${address}/${path}/issue/leased`, { sync: true })).status).toBe(204)
      expect((await revoked()).toSorted()).toEqual(serials.toSorted())
      expect((await lookup(kept.id)).status).toBe(200)
    },
  )

  test("are revoked asynchronously without sync, by path and by id", async () => {
    const { path, issue, revoked } = await newMount()
    const serials = []
    for (let index = 0; index < 60; index += 1) serials.push((await issue()).serial)
    const answer = await write(`leases/revoke-prefix/${path}`)
    expect([answer.status, answer.body.data]).toEqual([202, null])
    expect(answer.body.warnings).toContain("being revoked")
    await vi.waitFor(async () => expect(await revoked()).toHaveLength(60), 10_000)
    expect(await list(path)).toEqual([])
    const { id, serial } = await issue()
    await write(`leases/revoke-prefix/${id}`, { sync: "true" })
    expect(await revoked()).toContain(serial)
  })

  test("end with their token or its parent, together with their certificates", async () => {
    const { path, issue, revoked } = await newMount()
    const rules = { [`${path}/*`]: { capabilities: ["update"] }, "auth/token/create": { capabilities: ["update"] } }
    await world.pki("POST", `/sys/policies/acl/${path}`, { body: { policy: JSON.stringify({ path: rules }) } })
    const make = async (body: object, token = world.rootToken): Promise<string> =>
      (await world.pki("POST", "/auth/token/create", { token, body: { policies: [path], ...body } })).body.auth
        .client_token
    const parent = await make({ ttl: "2h" })
    const child = await make({ ttl: "2h" }, parent)
    const brief = await make({ ttl: "10m" })
    const of = { parent: await issue("leased", { token: parent }), child: await issue("leased", { token: child }) }
    const late = await issue("leased", { token: brief })
    const own = await issue()
    const wake = () => write("leases/revoke-prefix/none")
    await wake()
    expect(await revoked()).toEqual([])
    await world.pki("POST", "/auth/token/revoke", { body: { token: parent } })
    await wake()
    const both = [of.parent.serial, of.child.serial].toSorted()
    await vi.waitFor(async () => expect((await revoked()).toSorted()).toEqual(both), 10_000)
    clock.advance(10 * 60_000)
    await wake()
    await vi.waitFor(async () => expect(await revoked()).toContain(late.serial), 10_000)
    expect((await lookup(own.id)).status).toBe(200)
    expect((await lookup(of.child.id)).status).toBe(400)
  })

  test.each(["leases/revoke-prefix", "revoke-prefix"])(
    "of tokens are below their creation path, and end at %s",
    async (address) => {
      const make = async (path: string, body: object = {}, token = world.rootToken): Promise<string> =>
        (await world.pki("POST", `/auth/token/${path}`, { token, body })).body.auth.client_token
      const [made, orphan] = [await make("create"), await make("create-orphan")]
      const child = await make("create", {}, await make("create-orphan", { policies: ["root"], ttl: "1h" }))
      const works = async (token: string) =>
        (await world.pki("GET", "/auth/token/lookup-self", { token })).status === 200
      expect((await write(`${address}/auth/token/crea`)).status).toBe(204)
      expect(await Promise.all([made, orphan, child].map(works))).toEqual([true, true, true])
      expect((await write(`${address}/auth/token/create`)).status).toBe(204)
      expect(await Promise.all([made, orphan, child].map(works))).toEqual([false, true, false])
      const grandchild = await make("create", {}, await make("create-orphan", { policies: ["root"], ttl: "1h" }))
      expect((await write(`${address}/auth/`, { sync: true })).status).toBe(204)
      expect(await Promise.all([orphan, grandchild, world.rootToken].map(works))).toEqual([false, false, true])
    },
  )

  test("are listed and revoked by path only with sudo; looking one up and revoking it need rules for their paths", async () => {
    const { path, issue } = await newMount()
    const { id } = await issue()
    const token = async (name: string, rules: Readonly<Record<string, readonly string[]>>) => {
      const paths = Object.entries(rules).map(([rule, capabilities]) => [rule, { capabilities }])
      const policy = JSON.stringify({ path: Object.fromEntries(paths) })
      await world.pki("POST", `/sys/policies/acl/${name}`, { body: { policy } })
      return (await world.engine.serviceTokens.create({ policies: [name] })).secret
    }
    const plain = await token("plain", { "sys/leases/*": ["update", "list"] })
    const trusted = await token("trusted", { "sys/leases/*": ["update", "list", "sudo"] })
    const narrow = await token("narrow", { "sys/leases/lookup": ["update"] })
    const ask = async (method: string, below: string, as: string, body?: object) =>
      (await world.pki(method, `/sys/${below}`, { token: as, ...(body === undefined ? {} : { body }) })).status
    const body = { lease_id: id }
    expect(await ask("LIST", `leases/lookup/${path}`, plain)).toBe(403)
    expect(await ask("LIST", `leases/lookup/${path}`, trusted)).toBe(200)
    expect(await ask("PUT", `leases/revoke-prefix/${path}/none`, plain, {})).toBe(403)
    expect(await ask("PUT", `leases/revoke-force/${path}/none`, plain, {})).toBe(403)
    expect(await ask("PUT", "leases/revoke-prefix/auth/token/create", plain, {})).toBe(403)
    expect(await ask("PUT", `leases/revoke-prefix/${path}/none`, trusted, { sync: true })).toBe(204)
    expect(await ask("PUT", "leases/lookup", narrow, body)).toBe(200)
    expect(await ask("PUT", "leases/revoke", narrow, body)).toBe(403)
    expect(await ask("PUT", `leases/revoke/${id}`, narrow)).toBe(403)
    expect(await ask("PUT", "revoke", plain, body)).toBe(403)
    expect(await ask("PUT", `leases/revoke/${id}`, plain, {})).toBe(204)
  })
})
