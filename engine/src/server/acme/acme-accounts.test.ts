import { X509Certificate } from "node:crypto"
import { describe, expect, test } from "vitest"
import { type AcmeAnswer, AcmeTestClient, newAcmeKey, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { localhost, newAcmeEngine } from "../../../testing/acme-engine.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import type { TestEngine } from "../../../testing/test-engine.ts"
import { dayMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"

const base = `${acmeCluster}/acme`

describe("an account", () => {
  test("is created once per key, found again, changed and deactivated", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ onlyReturnExisting: true })).toMatchObject({
      status: 400,
      problem: "accountDoesNotExist",
    })
    const made = await client.register({ contact: ["mailto:a@example.com"], termsOfServiceAgreed: true })
    expect(made).toMatchObject({ status: 201, body: { status: "valid", contact: ["mailto:a@example.com"] } })
    const url = made.headers.get("location") ?? ""
    expect(made.body.orders).toBe(`${url}/orders`)
    const again = await client.register({ onlyReturnExisting: true })
    expect([again.status, again.headers.get("location")]).toEqual([200, url])
    expect((await client.post(url)).body).toEqual(made.body)
    expect((await client.post(url, { contact: [] })).body.contact).toEqual([])
    expect(await client.post(url, { status: "revoked" })).toMatchObject({ status: 400, problem: "malformed" })
    expect((await client.post(url, { status: "deactivated" })).body.status).toBe("deactivated")
    expect(await client.post(url)).toMatchObject({ status: 401, problem: "unauthorized" })
    expect(await client.register()).toMatchObject({ status: 401, problem: "unauthorized" })
  })

  test.each<readonly [string, (client: AcmeTestClient, world: TestEngine) => Promise<AcmeAnswer>]>([
    ["be read", (client) => client.post(client.account ?? "")],
    ["become valid", (client) => client.post(client.account ?? "", { status: "valid" })],
    ["change its contact", (client) => client.post(client.account ?? "", { contact: [] })],
    ["be given up again", (client) => client.post(client.account ?? "", { status: "deactivated" })],
    ["list its orders", (client) => client.post(`${client.account}/orders`)],
    ["order", (client) => client.post("/new-order", { identifiers: [localhost] })],
    ["have names proved", (client) => client.post("/new-authz", { identifier: localhost })],
    ["be found", (client) => client.register({ onlyReturnExisting: true })],
    ["be made again", (client) => client.register()],
    [
      "get another key",
      async (client) => {
        const key = await newAcmeKey()
        const header = { alg: key.alg, jwk: key.jwk, url: `${base}/key-change` }
        return client.post(
          "/key-change",
          await signedBy(key, header, { account: client.account, oldKey: client.key.jwk }),
        )
      },
    ],
    [
      "revoke",
      async (client, world) => {
        const { body } = await world.pki("GET", "/pki/ca/pem")
        const certificate = new X509Certificate(body).raw.toString("base64url")
        return client.post("/revoke-cert", { certificate })
      },
    ],
  ])("[F-A8] that is deactivated, or disabled, cannot %s: 401 (RFC 8555, section 7.3.6)", async (_what, ask) => {
    const world = await newAcmeEngine()
    const [given, disabled] = [
      await AcmeTestClient.registered(world, base),
      await AcmeTestClient.registered(world, base),
    ]
    await given.post(given.account ?? "", { status: "deactivated" })
    const id = disabled.account?.split("/").at(-1)
    await world.pki("POST", `/pki/acme/mgmt/account/keyid/${id}`, { body: { status: "revoked" } })
    for (const client of [given, disabled])
      expect(await ask(client, world)).toMatchObject({ status: 401, problem: "unauthorized", body: { status: 401 } })
  })

  test.each([
    [["tel:+1"], "unsupportedContact"],
    [["nonsense"], "invalidContact"],
    [["mailto:a@example.com?subject=x"], "invalidContact"],
    [["mailto:a@example.com,b@example.com"], "invalidContact"],
    ["mailto:a@example.com", "malformed"],
  ])("with the contact %j is rejected: %s", async (contact, problem) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ contact })).toMatchObject({ status: 400, problem })
    expect(await client.register({ onlyReturnExisting: true })).toMatchObject({ problem: "accountDoesNotExist" })
  })

  test("must agree to the terms of service if there are any", async () => {
    const world = await newAcmeEngine({ settings: { terms_of_service: "https://ca.example/terms" } })
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register()).toMatchObject({ status: 403, problem: "userActionRequired" })
    expect((await client.register({ termsOfServiceAgreed: true })).status).toBe(201)
  })

  test("[P-4.1-n5] belongs to one directory", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const other = await AcmeTestClient.open(world, `${acmeCluster}/roles/web/acme`)
    other.key = client.key
    expect(await other.register({ onlyReturnExisting: true })).toMatchObject({ problem: "accountDoesNotExist" })
    other.account = client.account
    expect(await other.post("/new-order", { identifiers: [localhost] })).toMatchObject({
      status: 400,
      problem: "accountDoesNotExist",
    })
    other.account = client.account?.replace("/acme/", "/roles/web/acme/")
    expect(await other.post("/new-order", { identifiers: [localhost] })).toMatchObject({
      status: 400,
      problem: "accountDoesNotExist",
    })
  })

  test("signs only with its new key after a key change", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const taken = await AcmeTestClient.registered(world, base)
    const key = await newAcmeKey("ES384")
    const url = `${base}/key-change`
    const change = async (signer: typeof key, inner: object, header: object = {}) =>
      client.post("/key-change", await signedBy(signer, { alg: signer.alg, jwk: signer.jwk, url, ...header }, inner))
    const said = { account: client.account, oldKey: client.key.jwk }
    expect(await change(key, { ...said, oldKey: key.jwk })).toMatchObject({ status: 400, problem: "malformed" })
    expect(await change(key, { ...said, account: taken.account })).toMatchObject({ status: 400, problem: "malformed" })
    expect(await change(key, said, { url: `${base}/new-order` })).toMatchObject({ status: 400, problem: "malformed" })
    expect(await change(key, said, { nonce: "x" })).toMatchObject({ status: 400, problem: "malformed" })
    const conflict = await change(taken.key, said)
    expect(conflict).toMatchObject({ status: 409, problem: "malformed" })
    expect(conflict.headers.get("location")).toBe(taken.account)
    expect((await change(key, said)).status).toBe(200)
    expect(await client.post("/new-order", { identifiers: [localhost] })).toMatchObject({
      status: 400,
      problem: "malformed",
    })
    client.key = key
    expect((await client.post("/new-order", { identifiers: [localhost] })).status).toBe(201)
  })

  test("[F-A8] lists no orders that are invalid (RFC 8555, section 7.1.2.1)", async () => {
    const clock = manualClock(Date.now())
    const world = await newAcmeEngine({ options: { runtime: { ...systemRuntime(), clock } } })
    const client = await AcmeTestClient.registered(world, base)
    const order = (...names: readonly string[]) =>
      client.post("/new-order", { identifiers: names.map((value) => ({ type: "dns", value })) })
    const listed = async () =>
      (await client.post(`${client.account}/orders`, undefined, { nonce: await client.nonce() })).body.orders
    const given = await order("a.example", "b.example")
    clock.advance(1)
    const kept = await order("c.example")
    const url = kept.headers.get("location")
    expect(await listed()).toEqual([url, given.headers.get("location")])
    await client.post(given.body.authorizations[1], { status: "deactivated" })
    expect((await client.post(given.headers.get("location") ?? "")).body.status).toBe("invalid")
    expect(await listed()).toEqual([url])
    clock.advance(dayMs)
    expect(await listed()).toEqual([])
  })

  test("lists only its own orders", async () => {
    const world = await newAcmeEngine({ settings: { orders_per_name: 0 } })
    const client = await AcmeTestClient.registered(world, base)
    const other = await AcmeTestClient.registered(world, base)
    const urls: string[] = []
    for (let count = 0; count < 101; count += 1)
      urls.unshift((await client.post("/new-order", { identifiers: [localhost] })).headers.get("location") ?? "")
    const first = await client.post(`${client.account}/orders`)
    const [, next = ""] = /<([^>]+)>;rel="next"/.exec(first.headers.get("link") ?? "") ?? []
    const second = await client.post(next)
    expect(new Set([...first.body.orders, ...second.body.orders])).toEqual(new Set(urls))
    expect(second.headers.get("link")).not.toContain("next")
    expect((await other.post(`${other.account}/orders`)).body.orders).toEqual([])
    expect(await other.post(`${client.account}/orders`)).toMatchObject({ status: 403, problem: "unauthorized" })
  })
})
