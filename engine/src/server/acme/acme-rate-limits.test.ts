import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, hourMs } from "../../core/time.ts"
import { newTestAccount } from "../../../testing/acme-account.ts"
import { type AcmeAnswer, AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { hurriedTime, issued, newAcmeEngine, newProvingEngine, renewalIdOf } from "../../../testing/acme-engine.ts"

const base = `${acmeCluster}/acme`

/** Returns a clock that tests advance by setting `aheadMs`. */
function adjustable() {
  const runtime = systemRuntime()
  const clock = { aheadMs: 0, now: () => runtime.clock.now() + clock.aheadMs }
  return { clock, options: { runtime: { ...runtime, clock }, timers: hurriedTime().timers } }
}

async function order(client: AcmeTestClient, ...names: readonly string[]): Promise<AcmeAnswer> {
  const payload = { identifiers: names.map((value) => ({ type: "dns", value })) }
  const answer = await client.post("/new-order", payload)
  // The nonce has expired if the clock was advanced too far.
  return answer.problem === "badNonce" ? client.post("/new-order", payload) : answer
}

const limited = (member: string) => ({
  status: 429,
  problem: "rateLimited",
  body: { detail: expect.stringContaining(member) },
})

describe("a rate limit answers with Retry-After and ends at that time:", () => {
  test("orders of one account", async () => {
    const { clock, options } = adjustable()
    const world = await newAcmeEngine({ settings: { orders_per_account: 2 }, options })
    const [client, other] = [await AcmeTestClient.registered(world, base), await AcmeTestClient.registered(world, base)]
    expect((await order(client, "a.example.com")).status).toBe(201)
    clock.aheadMs = hourMs
    expect((await order(client, "b.example.com")).status).toBe(201)
    const refused = await order(client, "c.example.com")
    expect(refused).toMatchObject(limited("orders_per_account"))
    const waitS = Number(refused.headers.get("retry-after"))
    expect(waitS).toBeGreaterThan(7_100)
    expect(waitS).toBeLessThanOrEqual(7_200)
    expect((await order(other, "c.example.com")).status).toBe(201)
    clock.aheadMs += waitS * 1_000
    expect((await order(client, "c.example.com")).status).toBe(201)
    expect(await order(client, "d.example.com")).toMatchObject(limited("orders_per_account"))
  })

  test("[F-P15] orders from a time when the clock was ahead do not count", async () => {
    const { clock, options } = adjustable()
    const world = await newAcmeEngine({ settings: { orders_per_account: 1 }, options })
    const client = await AcmeTestClient.registered(world, base)
    clock.aheadMs = 400 * dayMs
    expect((await order(client, "a.example.com")).status).toBe(201)
    clock.aheadMs = 0
    expect((await order(client, "b.example.com")).status).toBe(201)
    expect(await order(client, "c.example.com")).toMatchObject(limited("orders_per_account"))
  })

  test("authorizations of one account without an order", async () => {
    const { clock, options } = adjustable()
    const world = await newAcmeEngine({ settings: { orders_per_account: 2 }, options })
    const [client, other] = [await AcmeTestClient.registered(world, base), await AcmeTestClient.registered(world, base)]
    const authorize = async (by: AcmeTestClient, value: string) => {
      const payload = { identifier: { type: "dns", value } }
      const answer = await by.post("/new-authz", payload)
      return answer.problem === "badNonce" ? by.post("/new-authz", payload) : answer
    }
    expect((await authorize(client, "a.example.com")).status).toBe(201)
    clock.aheadMs = hourMs
    expect((await authorize(client, "a.example.com")).status).toBe(201)
    const refused = await authorize(client, "b.example.com")
    expect(refused).toMatchObject(limited("orders_per_account"))
    const waitS = Number(refused.headers.get("retry-after"))
    expect(waitS).toBeGreaterThan(7_100)
    expect(waitS).toBeLessThanOrEqual(7_200)
    expect((await order(client, "b.example.com")).status).toBe(201)
    expect((await authorize(other, "b.example.com")).status).toBe(201)
    clock.aheadMs += waitS * 1_000
    expect((await authorize(client, "b.example.com")).status).toBe(201)
    expect(await authorize(client, "c.example.com")).toMatchObject(limited("orders_per_account"))
  })

  test("[F-A1] certificates of all accounts for one name and its wildcard", async () => {
    const { clock, options } = adjustable()
    const { world, responder } = await newProvingEngine({ settings: { orders_per_name: 2 }, options })
    const [client, other] = [await AcmeTestClient.registered(world, base), await AcmeTestClient.registered(world, base)]
    await issued(client, responder)
    expect((await order(other, "localhost")).status).toBe(201)
    await issued(other, responder)
    for (const by of [client, other, await AcmeTestClient.registered(world, base)]) {
      const refused = await order(by, "c.example.com", "localhost")
      expect(refused).toMatchObject(limited("2 certificates were issued for localhost"))
      const waitS = Number(refused.headers.get("retry-after"))
      expect(waitS).toBeGreaterThan((7 * dayMs - hourMs) / 1_000)
      expect(waitS).toBeLessThanOrEqual((7 * dayMs) / 1_000)
      expect(await order(by, "*.localhost")).toMatchObject(limited("orders_per_name"))
      expect((await order(by, "c.example.com")).status).toBe(201)
    }
    clock.aheadMs = 7 * dayMs
    expect((await order(await AcmeTestClient.registered(world, base), "localhost")).status).toBe(201)
  })

  test("[F-A1] orders for a name without a valid authorization count only for their account", async () => {
    const { world, responder } = await newProvingEngine({ settings: { orders_per_name: 1, orders_per_account: 4 } })
    const stranger = await AcmeTestClient.registered(world, base)
    expect((await order(stranger, "localhost")).status).toBe(201)
    expect((await order(stranger, "localhost", "*.localhost")).status).toBe(201)
    const given = await order(stranger, "localhost")
    await stranger.post(given.body.authorizations[0], { status: "deactivated" })
    expect((await order(stranger, "localhost")).status).toBe(201)
    expect(await order(stranger, "localhost")).toMatchObject(limited("orders_per_account"))
    const owner = await AcmeTestClient.registered(world, base)
    await issued(owner, responder)
    expect(await order(owner, "localhost")).toMatchObject(limited("orders_per_name"))
  })

  test("[F-A1] certificates count after their orders and authorizations are deleted", async () => {
    const { world, responder } = await newProvingEngine({ settings: { orders_per_name: 1 } })
    const client = await AcmeTestClient.registered(world, base)
    const { url } = await issued(client, responder)
    const { authorizations } = (await client.post(url)).body
    await client.post(authorizations[0], { status: "deactivated" })
    await world.pki("DELETE", `/pki/acme/mgmt/order/${url.split("/").at(-1)}`)
    await world.pki("DELETE", `/pki/acme/mgmt/account/keyid/${client.account?.split("/").at(-1)}`)
    expect(await order(await AcmeTestClient.registered(world, base), "localhost")).toMatchObject(
      limited("orders_per_name"),
    )
  })

  test("accounts of one address", async () => {
    const { clock, options } = adjustable()
    const world = await newAcmeEngine({ settings: { accounts_per_address: 2 }, options })
    const register = (address?: string) => newTestAccount(world.engine, "pki", address === undefined ? {} : { address })
    const first = await register("192.0.2.1")
    await register("192.0.2.1")
    await expect(register("192.0.2.1")).rejects.toMatchObject({ problem: { type: "rateLimited" }, status: 429 })
    await register("192.0.2.2")
    await register()
    await world.pki("DELETE", `/pki/acme/mgmt/account/keyid/${first.id}`)
    await expect(register("192.0.2.1")).rejects.toMatchObject({ problem: { type: "rateLimited" } })
    clock.aheadMs = 3 * hourMs
    await register("192.0.2.1")
  })

  test("failed validations of one name", async () => {
    const { clock, options } = adjustable()
    const { world } = await newProvingEngine({ settings: { failed_validations: 1 }, options })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await order(client, "localhost")
    const authorization = await client.post(ordered.body.authorizations[0])
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    await client.post(challenge.url, {})
    const status = async () => {
      clock.aheadMs += 2_000
      return (await client.post(ordered.body.authorizations[0])).body.status as string
    }
    await expect.poll(status, { timeout: 30_000 }).toBe("invalid")
    expect(await order(client, "localhost")).toMatchObject(limited("failed_validations"))
    const asked = { identifier: { type: "dns", value: "localhost" } }
    expect(await client.post("/new-authz", asked)).toMatchObject(limited("localhost"))
    expect((await order(client, "a.example.com")).status).toBe(201)
    expect((await order(await AcmeTestClient.registered(world, base), "localhost")).status).toBe(201)
    clock.aheadMs += hourMs
    expect((await order(client, "localhost")).status).toBe(201)
  }, 60_000)
})

test("directory_limits replace the limits of the mount", async () => {
  const directory_limits = [
    "roles/*/acme orders_per_account=2 accounts_per_address=1",
    "roles/big/acme orders_per_account=0",
  ]
  const world = await newAcmeEngine({ settings: { orders_per_account: 1, directory_limits } })
  await world.pki("POST", "/pki/roles/big", { body: { allow_any_name: true } })
  await world.pki("POST", "/pki/roles/small", { body: { allow_any_name: true } })
  const [ofMount, ofRole, ofBig] = await Promise.all(
    ["acme", "roles/small/acme", "roles/big/acme"].map((path) =>
      AcmeTestClient.registered(world, `${acmeCluster}/${path}`),
    ),
  )
  const until429 = async (client: AcmeTestClient | undefined, tries: number) => {
    for (let made = 0; made < tries; made += 1)
      if (client === undefined || (await order(client, `n${made}.example.com`)).status !== 201) return made
    return "never"
  }
  expect([await until429(ofMount, 4), await until429(ofRole, 4), await until429(ofBig, 4)]).toEqual([1, 2, "never"])
  expect((await world.pki("GET", "/pki/config/acme")).body.data).toMatchObject({ directory_limits })
  const refused = await world.pki("POST", "/pki/config/acme", {
    body: { directory_limits: ["roles/web orders_per_account=1"] },
  })
  expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringContaining('"directory_limits" has')]])
})

test("renewals by renewal information are not limited", async () => {
  const { world, responder } = await newProvingEngine({ settings: { orders_per_account: 1, orders_per_name: 1 } })
  const client = await AcmeTestClient.registered(world, base)
  const { leaf } = await issued(client, responder)
  expect(await order(client, "localhost")).toMatchObject(limited("orders_per_account"))
  const { leaf: renewed } = await issued(client, responder, { replaces: renewalIdOf(leaf) })
  expect(renewed.serialNumber).not.toBe(leaf.serialNumber)
})

test("an abandoned renewal counts like any order", async () => {
  const { world, responder } = await newProvingEngine({ settings: { orders_per_account: 2 } })
  const client = await AcmeTestClient.registered(world, base)
  const { leaf } = await issued(client, responder)
  const renew = () =>
    client.post("/new-order", {
      identifiers: [{ type: "dns", value: "localhost" }],
      replaces: renewalIdOf(leaf),
    })
  const given = await renew()
  expect(given.status).toBe(201)
  await client.post(given.body.authorizations[0], { status: "deactivated" })
  expect(await renew()).toMatchObject(limited("orders_per_account"))
})

test("limits have defaults", async () => {
  const world = await newAcmeEngine()
  expect((await world.pki("GET", "/pki/config/acme")).body.data).toMatchObject({
    orders_per_account: 3_000,
    orders_per_name: 100,
    accounts_per_address: 500,
    failed_validations: 60,
  })
})
