import { describe, expect, test } from "vitest"
import { AcmeTestClient, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { localhost, newAcmeEngine } from "../../../testing/acme-engine.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import type { TestEngine } from "../../../testing/test-engine.ts"
import { minuteMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"

const base = `${acmeCluster}/acme`

describe("[P-5-n2] [P-4.1-n6] an external account binding", () => {
  async function bindingFor(world: TestEngine, path = "acme", body: object = {}) {
    const { status, body: answer } = await world.pki("POST", `/pki/${path}/new-eab`, { body })
    expect(status).toBe(200)
    return answer.data as { id: string; key: string }
  }
  async function bound(client: AcmeTestClient, { id, key }: { id: string; key: string }, header: object = {}) {
    const secret = await crypto.subtle.importKey(
      "raw",
      Buffer.from(key, "base64url"),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    )
    const mac = { alg: "HS256", privateKey: secret as never, jwk: {} }
    return signedBy(mac, { alg: "HS256", kid: id, url: `${client.base}/new-account`, ...header }, client.key.jwk)
  }

  test("[P-2.3-r1] [P-2.3-r2] [P-2.3-r3] [P-2.3-r4] [P-2.3-r5] [P-4.2-r1] [P-3-r4] a binding token is created for one directory", async () => {
    const world = await newAcmeEngine()
    for (const path of ["acme", "issuer/root/acme", "roles/web/acme", "issuer/root/roles/web/acme"]) {
      const { body } = await world.pki("POST", `/pki/${path}/new-eab`)
      expect(body.data).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        key: expect.stringMatching(/^[\w-]{43}$/),
        key_type: "hs",
        created_on: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*Z$/),
        acme_directory: `${path}/directory`,
      })
    }
    expect(new Set((await world.pki("LIST", "/pki/eab")).body.data.keys).size).toBe(4)
  })

  test("[P-4.2-r2] [P-3-r2] a binding token is listed until it is used, once and in its directory", async () => {
    const world = await newAcmeEngine({ settings: { eab_policy: "new-account-required" } })
    const token = await bindingFor(world)
    const { body } = await world.pki("LIST", "/pki/eab")
    expect(body.data).toEqual({
      keys: [token.id],
      key_info: { [token.id]: { created_on: expect.any(String), key_type: "hs", acme_directory: "acme/directory" } },
    })
    const elsewhere = await AcmeTestClient.open(world, `${acmeCluster}/roles/web/acme`)
    expect(await elsewhere.register({ externalAccountBinding: await bound(elsewhere, token) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register()).toMatchObject({ status: 403, problem: "externalAccountRequired" })
    const binding = await bound(client, token)
    expect(await client.register({ externalAccountBinding: binding })).toMatchObject({
      status: 201,
      body: { externalAccountBinding: binding },
    })
    expect((await world.pki("LIST", "/pki/eab")).status).toBe(404)
    const second = await AcmeTestClient.open(world, base)
    expect(await second.register({ externalAccountBinding: await bound(second, token) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
  })

  test("[P-4.2-r3] [P-3-r3] a deleted binding token creates no account", async () => {
    const world = await newAcmeEngine()
    const token = await bindingFor(world)
    expect((await world.pki("DELETE", `/pki/eab/${token.id}`)).status).toBe(204)
    expect((await world.pki("DELETE", `/pki/eab/${token.id}`)).status).toBe(404)
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ externalAccountBinding: await bound(client, token) })).toMatchObject({ status: 403 })
  })

  test("a binding token expires after its ttl", async () => {
    const clock = manualClock(Date.now())
    const world = await newAcmeEngine({ options: { runtime: { ...systemRuntime(), clock } } })
    const token = await bindingFor(world, "acme", { ttl: "10m" })
    clock.advance(10 * minuteMs)
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ externalAccountBinding: await bound(client, token) })).toMatchObject({ status: 403 })
    expect((await world.pki("LIST", "/pki/eab")).status).toBe(404)
  })

  test.each([
    [
      "under another key",
      async (client: AcmeTestClient, token: { id: string; key: string }) =>
        bound(client, { ...token, key: Buffer.alloc(32).toString("base64url") }),
      403,
    ],
    [
      "for another address",
      async (client: AcmeTestClient, token: { id: string; key: string }) =>
        bound(client, token, { url: "https://elsewhere.example" }),
      400,
    ],
    [
      "with a nonce",
      async (client: AcmeTestClient, token: { id: string; key: string }) => bound(client, token, { nonce: "x" }),
      400,
    ],
    [
      "for another account's key",
      async (client: AcmeTestClient, token: { id: string; key: string }) => {
        const other = await AcmeTestClient.open(await newAcmeEngine(), client.base)
        return bound(other, token)
      },
      400,
    ],
    ["that is not an object", async () => "x", 400],
  ] as const)("[P-2.4-r7] a binding %s is refused even where none is needed", async (_how, make, status) => {
    const world = await newAcmeEngine()
    const token = await bindingFor(world)
    const client = await AcmeTestClient.open(world, base)
    expect((await client.register({ externalAccountBinding: await make(client, token) })).status).toBe(status)
    expect(await client.register({ onlyReturnExisting: true })).toMatchObject({ problem: "accountDoesNotExist" })
    expect((await world.pki("LIST", "/pki/eab")).body.data.keys).toEqual([token.id])
  })

  test("[P-2.4-r7] existing accounts work when only new accounts need a binding, and fail when all accounts need one", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    await world.pki("POST", "/pki/config/acme", { body: { eab_policy: "new-account-required" } })
    expect((await client.post("/new-order", { identifiers: [localhost] })).status).toBe(201)
    expect((await client.get(`${base}/directory`)).body.meta.externalAccountRequired).toBe(true)
    await world.pki("POST", "/pki/config/acme", { body: { eab_policy: "always-required" } })
    expect(await client.post("/new-order", { identifiers: [localhost] })).toMatchObject({
      status: 403,
      problem: "externalAccountRequired",
    })
  })

  test("the variable SERVICE_DISABLE_PUBLIC_ACME requires a binding everywhere", async () => {
    const world = await newAcmeEngine({ options: { acme: { requiresBinding: true } } })
    const client = await AcmeTestClient.open(world, base)
    expect((await client.get(`${base}/directory`)).body.meta.externalAccountRequired).toBe(true)
    expect(await client.register()).toMatchObject({ status: 403, problem: "externalAccountRequired" })
  })
})
