import { describe, expect, test } from "vitest"
import { type AcmeAnswer, AcmeTestClient, newAcmeKey } from "../../../testing/acme-client.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { localhost, newAcmeEngine } from "../../../testing/acme-engine.ts"

const base = `${acmeCluster}/acme`

describe("an invalid request", () => {
  const identifiers = { identifiers: [localhost] }
  const cases: readonly (readonly [string, (client: AcmeTestClient) => Promise<AcmeAnswer>, number, string])[] = [
    [
      "with a nonce that was used",
      async (client) => {
        const nonce = await client.nonce()
        await client.post("/new-order", identifiers, { nonce })
        return client.post("/new-order", identifiers, { nonce })
      },
      400,
      "badNonce",
    ],
    [
      "with a nonce that was used by a request that was refused",
      async (client) => {
        const nonce = await client.nonce()
        await client.post("/new-order", { identifiers: [] }, { nonce })
        return client.post("/new-order", identifiers, { nonce })
      },
      400,
      "badNonce",
    ],
    [
      "with a nonce of another directory",
      async (client) => {
        const other = await client.get(`${acmeCluster}/roles/web/acme/new-nonce`, "HEAD")
        return client.post("/new-order", identifiers, { nonce: other.headers.get("replay-nonce") ?? "" })
      },
      400,
      "badNonce",
    ],
    [
      "with a nonce of its own making",
      async (client) => client.post("/new-order", identifiers, { nonce: "AAAA" }),
      400,
      "badNonce",
    ],
    [
      "with a nonce that goes on for long",
      async (client) => client.post("/new-order", identifiers, { nonce: "A".repeat(100_000) }),
      400,
      "badNonce",
    ],
    [
      "with a nonce that is not base64url [F-A8]",
      async (client) => client.post("/new-order", identifiers, { nonce: "a nonce!" }),
      400,
      "malformed",
    ],
    [
      "with a nonce of a length that base64url has not [F-A8]",
      async (client) => client.post("/new-order", identifiers, { nonce: "AAAAA" }),
      400,
      "malformed",
    ],
    [
      "with a nonce in base64url with padding [F-A8]",
      async (client) => client.post("/new-order", identifiers, { nonce: "AAA=" }),
      400,
      "malformed",
    ],
    [
      "with a nonce that is not a string [F-A8]",
      async (client) => unsigned(client, { alg: "ES256", nonce: 7 }),
      400,
      "malformed",
    ],
    [
      "without a nonce",
      async (client) => client.post("/new-order", identifiers, { header: { nonce: undefined } }),
      400,
      "badNonce",
    ],
    [
      "with another url",
      async (client) => client.post("/new-order", identifiers, { header: { url: `${base}/new-authz` } }),
      403,
      "unauthorized",
    ],
    [
      "without a url",
      async (client) => client.post("/new-order", identifiers, { header: { url: undefined } }),
      403,
      "unauthorized",
    ],
    [
      "with both jwk and kid",
      async (client) => client.post("/new-order", identifiers, { header: { jwk: client.key.jwk } }),
      400,
      "malformed",
    ],
    [
      "with neither jwk nor kid",
      async (client) => client.post("/new-order", identifiers, { header: { kid: undefined } }),
      400,
      "malformed",
    ],
    [
      "with a jwk where an account signs",
      async (client) => client.post("/new-order", identifiers, { byKey: true }),
      400,
      "malformed",
    ],
    [
      "with a kid that goes on for long",
      async (client) =>
        client.post("/new-order", identifiers, { header: { kid: `${base}/account/acct-${"1".repeat(100_000)}` } }),
      400,
      "accountDoesNotExist",
    ],
    [
      "with a kid that is not a string",
      async (client) => client.post("/new-order", identifiers, { header: { kid: { a: 1 } } }),
      400,
      "malformed",
    ],
    [
      "with an unknown algorithm",
      async (client) => unsigned(client, { alg: "constructor" }),
      400,
      "badSignatureAlgorithm",
    ],
    [
      "with an empty signature",
      async (client) => {
        const body = await client.signed(`${base}/new-order`, identifiers)
        return client.send(`${base}/new-order`, { ...body, signature: "" })
      },
      400,
      "malformed",
    ],
    [
      "with a member of the header twice",
      async (client) => {
        const header = `{"alg":"none","alg":"ES256","nonce":"${await client.nonce()}","url":"${base}/new-order"}`
        const { payload, signature } = await client.signed(`${base}/new-order`, identifiers)
        const encoded = Buffer.from(header).toString("base64url")
        return client.send(`${base}/new-order`, { protected: encoded, payload, signature })
      },
      400,
      "malformed",
    ],
    ["with a kid where a key signs", async (client) => client.post("/new-account", {}), 400, "malformed"],
    [
      "with an unknown kid",
      async (client) => client.post("/new-order", identifiers, { header: { kid: `${base}/account/acct-1` } }),
      400,
      "accountDoesNotExist",
    ],
    [
      "with a kid of elsewhere",
      async (client) =>
        client.post("/new-order", identifiers, { header: { kid: "https://elsewhere.example/account/acct-1" } }),
      400,
      "accountDoesNotExist",
    ],
    [
      "signed by another key",
      async (client) => client.post("/new-order", identifiers, { key: await newAcmeKey() }),
      400,
      "malformed",
    ],
    [
      "whose signature was changed",
      async (client) => {
        const body = await client.signed(`${base}/new-order`, identifiers)
        return client.send(`${base}/new-order`, { ...body, signature: `AAAA${body.signature.slice(4)}` })
      },
      400,
      "malformed",
    ],
    [
      "whose payload was changed",
      async (client) => {
        const body = await client.signed(`${base}/new-order`, identifiers)
        return client.send(`${base}/new-order`, { ...body, payload: "e30" })
      },
      400,
      "malformed",
    ],
    ["with no algorithm", async (client) => unsigned(client, { alg: "none" }), 400, "badSignatureAlgorithm"],
    [
      "with a MAC in the place of a signature",
      async (client) => unsigned(client, { alg: "HS256" }),
      400,
      "badSignatureAlgorithm",
    ],
    ["with an algorithm of another key", async (client) => unsigned(client, { alg: "RS256" }), 400, "malformed"],
    [
      "with a member that changes what it says",
      async (client) => unsigned(client, { alg: "ES256", crit: ["b64"], b64: false }),
      400,
      "malformed",
    ],
    [
      "with a member twice",
      async (client) => {
        const { protected: header, payload, signature } = await client.signed(`${base}/new-order`, identifiers)
        return client.send(
          `${base}/new-order`,
          `{"protected":"${header}","payload":"${payload}","payload":"e30","signature":"${signature}"}`,
        )
      },
      400,
      "malformed",
    ],
    [
      "with a member of its key twice",
      async (client) => {
        const key = JSON.stringify(client.key.jwk).replace("{", '{"kty":"oct",')
        const header = `{"alg":"ES256","jwk":${key},"nonce":"${await client.nonce()}","url":"${base}/new-account"}`
        const { payload, signature } = await client.signed(`${base}/new-account`, {}, { byKey: true })
        const encoded = Buffer.from(header).toString("base64url")
        return client.send(`${base}/new-account`, { protected: encoded, payload, signature })
      },
      400,
      "malformed",
    ],
    [
      "with a name of its order twice over",
      async (client) =>
        client.post("/new-order", '{"identifiers":[{"type":"dns","value":"a.example.com","value":"b.example.com"}]}'),
      400,
      "malformed",
    ],
    [
      "with several signatures",
      async (client) => {
        const body = await client.signed(`${base}/new-order`, identifiers)
        return client.send(`${base}/new-order`, { ...body, signatures: [] })
      },
      400,
      "malformed",
    ],
    [
      "with a header that nothing protects",
      async (client) => {
        const body = await client.signed(`${base}/new-order`, identifiers)
        return client.send(`${base}/new-order`, { ...body, header: { alg: "none" } })
      },
      400,
      "malformed",
    ],
    [
      "that is too long",
      async (client) => client.post("/new-order", { identifiers: [], padding: "x".repeat(300_000) }),
      413,
      "malformed",
    ],
    [
      "of another media type",
      async (client) => client.post("/new-order", identifiers, { contentType: "application/json" }),
      415,
      "malformed",
    ],
    ["that is not JSON", async (client) => client.send(`${base}/new-order`, "{"), 400, "malformed"],
    ["whose payload is no JSON", async (client) => client.post("/new-order", "{"), 400, "malformed"],
    ["whose payload is a list", async (client) => client.post("/new-order", "[]"), 400, "malformed"],
    ["with a payload where it reads", async (client) => client.post(`${client.account}/orders`, {}), 400, "malformed"],
  ]
  test.each(cases)("%s is rejected and changes nothing", async (how, ask, status, problem) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const answer = await ask(client)
    expect([answer.status, answer.problem, answer.body.status]).toEqual([status, problem, status])
    const nonce = answer.headers.get("replay-nonce") ?? ""
    expect(answer.headers.get("link")).toBe(`<${base}/directory>;rel="index"`)
    // The nonce of a refusal is as valid as any other.
    const orders = await client.post(`${client.account}/orders`, undefined, { nonce })
    expect(orders.status).toBe(200)
    expect(orders.body.orders).toHaveLength(how === "with a nonce that was used" ? 1 : 0)
    const found = await client.post(client.account ?? "")
    expect(found.body).toMatchObject({ status: "valid", contact: [] })
  })

  async function unsigned(client: AcmeTestClient, header: object) {
    const url = `${base}/new-order`
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const whole = { nonce: await client.nonce(), url, kid: client.account, ...header }
    return client.send(url, { protected: encoded(whole), payload: encoded(identifiers), signature: "AAAA" })
  }

  test("with an expired nonce is rejected with a new nonce", async () => {
    const clock = manualClock(Date.now())
    const world = await newAcmeEngine({ options: { runtime: { ...systemRuntime(), clock } } })
    const client = await AcmeTestClient.registered(world, base)
    const nonce = await client.nonce()
    clock.advance(hourMs)
    const refused = await client.post("/new-order", identifiers, { nonce })
    expect(refused).toMatchObject({ status: 400, problem: "badNonce" })
    expect((await client.post("/new-order", identifiers)).status).toBe(201)
  })

  test.each([
    ["on a weaker curve", { kty: "EC", crv: "P-192", x: "AA", y: "AA" }],
    ["with a member that goes on for long", { kty: "RSA", e: "AQAB", n: "A".repeat(5_000) }],
    ["that is not an object", "key"],
    ["of an unknown type", { kty: "XX" }],
    ["that is private", { kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }],
    ["that is a secret", { kty: "oct", k: "AAAA" }],
    ["on a curve that is not taken", { kty: "EC", crv: "secp256k1", x: "AA", y: "AA" }],
    [
      "that is not a point of its curve",
      {
        kty: "EC",
        crv: "P-256",
        x: Buffer.alloc(32, 1).toString("base64url"),
        y: Buffer.alloc(32, 1).toString("base64url"),
      },
    ],
    ["whose exponent changes nothing", { kty: "RSA", e: "AQ", n: Buffer.alloc(256, 0xff).toString("base64url") }],
    ["of the type that agrees on secrets", { kty: "OKP", crv: "X25519", x: Buffer.alloc(32, 9).toString("base64url") }],
    ["that is too long", { kty: "RSA", e: "AQAB", n: Buffer.alloc(2_049, 0xff).toString("base64url") }],
    ["that is too short", { kty: "RSA", e: "AQAB", n: Buffer.alloc(128, 0xff).toString("base64url") }],
  ])("with a key %s is rejected", async (_how, jwk) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    expect(await client.post("/new-account", {}, { byKey: true, header: { jwk } })).toMatchObject({
      status: 400,
      problem: "badPublicKey",
    })
  })
})

describe("a public resource", () => {
  test("is returned to an account by POST-as-GET", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const got = await client.get(`${base}/directory`)
    const asked = await client.post("/directory")
    expect(asked).toMatchObject({ status: 200, body: got.body })
    expect(asked.headers.get("replay-nonce")).not.toBeNull()
    const nonce = await client.nonce()
    const fresh = await client.post("/new-nonce", undefined, { nonce })
    expect(fresh.status).toBe(204)
    expect(fresh.headers.get("replay-nonce")).not.toBeNull()
    expect(await client.post("/new-nonce", undefined, { nonce })).toMatchObject({ status: 400, problem: "badNonce" })
    expect(await client.post("/directory", {})).toMatchObject({ status: 400, problem: "malformed" })
  })

  test("is not returned to a deactivated account", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    await client.post(client.account ?? "", { status: "deactivated" })
    for (const path of ["/directory", "/new-nonce"])
      expect(await client.post(path)).toMatchObject({ status: 401, problem: "unauthorized" })
  })
})

test("a null member is treated as absent", async () => {
  const world = await newAcmeEngine()
  const client = await AcmeTestClient.open(world, base)
  const nothing = { onlyReturnExisting: null, externalAccountBinding: null }
  const contact = ["mailto:ops@example.com"]
  expect(await client.register({ contact, ...nothing })).toMatchObject({ status: 201, body: { contact } })
  expect(await client.post(client.account ?? "", { contact: null })).toMatchObject({ status: 200, body: { contact } })
  const order = { notBefore: null, notAfter: null, profile: null, replaces: null }
  expect(await client.post("/new-order", { identifiers: [localhost], ...order })).toMatchObject({ status: 201 })
})
