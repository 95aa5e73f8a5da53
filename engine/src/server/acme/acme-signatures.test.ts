import { describe, expect, test } from "vitest"
import { AcmeTestClient, type AcmeKey, newAcmeKey } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { localhost, newAcmeEngine } from "../../../testing/acme-engine.ts"

const base = `${acmeCluster}/acme`

/** Returns a flattened JWS with exactly this protected header, even if `jose` would refuse to sign it. */
async function signedAnyhow({ privateKey }: AcmeKey, header: object, payload: object | undefined) {
  const [protectedPart, payloadPart] = [header, payload].map((part) =>
    part === undefined ? "" : Buffer.from(JSON.stringify(part)).toString("base64url"),
  )
  const input = Buffer.from(`${protectedPart}.${payloadPart}`)
  const algorithm = privateKey.algorithm.name === "HMAC" ? "HMAC" : { name: "ECDSA", hash: "SHA-256" }
  const signature = await crypto.subtle.sign(algorithm, privateKey, input)
  return { protected: protectedPart, payload: payloadPart, signature: Buffer.from(signature).toString("base64url") }
}

const unsupported: readonly (readonly [string, object])[] = [
  ["crit", { crit: ["x"], x: 1 }],
  ["crit behind another unknown parameter", { x: 1, crit: ["x"] }],
  ["crit of a parameter that is not there", { x: 1, crit: ["y"] }],
  ["crit that is empty", { x: 1, crit: [] }],
  ["crit that is null", { x: 1, crit: null }],
  ["b64 behind another unknown parameter", { x: 1, b64: false }],
]

describe("[F-A6] a JWS is rejected when its protected header has", () => {
  test.each(unsupported)("%s, as an account's request", async (_how, parameters) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const url = `${base}/new-order`
    const header = { alg: "ES256", url, kid: client.account, nonce: await client.nonce() }
    const body = await signedAnyhow(client.key, { ...header, ...parameters }, { identifiers: [localhost] })
    expect(await client.send(url, body)).toMatchObject({ status: 400, problem: "malformed" })
    const accepted = await signedAnyhow(
      client.key,
      { ...header, nonce: await client.nonce(), x: 1 },
      { identifiers: [localhost] },
    )
    expect((await client.send(url, accepted)).status).toBe(201)
  })

  test.each(unsupported)("%s, as a request signed by its jwk", async (_how, parameters) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    for (const path of ["new-account", "revoke-cert"]) {
      const url = `${base}/${path}`
      const header = { alg: "ES256", url, jwk: client.key.jwk, nonce: await client.nonce(), ...parameters }
      expect(await client.send(url, await signedAnyhow(client.key, header, {}))).toMatchObject({
        status: 400,
        problem: "malformed",
        body: { detail: expect.stringContaining("is not supported") },
      })
    }
  })

  test.each(unsupported)("%s, as the inner JWS of keyChange", async (_how, parameters) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const key = await newAcmeKey()
    const header = { alg: "ES256", url: `${base}/key-change`, jwk: key.jwk }
    const payload = { account: client.account, oldKey: client.key.jwk }
    const inner = await signedAnyhow(key, { ...header, ...parameters }, payload)
    expect(await client.post("/key-change", inner)).toMatchObject({ status: 400, problem: "malformed" })
    expect((await client.post("/key-change", await signedAnyhow(key, header, payload))).status).toBe(200)
  })

  test.each(unsupported)("%s, as an external account binding", async (_how, parameters) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    const { id, key } = (await world.pki("POST", "/pki/acme/new-eab")).body.data
    const privateKey = await crypto.subtle.importKey(
      "raw",
      Buffer.from(key, "base64url"),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    )
    const secret = { alg: "HS256", privateKey, jwk: {} }
    const header = { alg: "HS256", kid: id, url: `${base}/new-account` }
    const refused = await signedAnyhow(secret, { ...header, ...parameters }, client.key.jwk)
    expect(await client.register({ externalAccountBinding: refused })).toMatchObject({
      status: 400,
      problem: "malformed",
    })
    const accepted = await signedAnyhow(secret, header, client.key.jwk)
    expect((await client.register({ externalAccountBinding: accepted })).status).toBe(201)
  })
})

test.each(["ES256", "ES384", "ES512", "RS256", "EdDSA"])(
  "[F-A6] an account is created, signs and changes its key with %s",
  async (alg) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    client.key = await newAcmeKey(alg)
    expect((await client.register()).status).toBe(201)
    expect((await client.post("/new-order", { identifiers: [localhost] })).status).toBe(201)
    const forged = await client.signed(`${base}/new-order`, { identifiers: [localhost] })
    forged.payload = Buffer.from('{"identifiers":[]}').toString("base64url")
    expect(await client.send(`${base}/new-order`, forged)).toMatchObject({
      status: 400,
      problem: "malformed",
      body: { detail: expect.stringContaining("signature") },
    })
  },
)

/** Encodes the same bytes in base64url with nonzero pad bits (RFC 4648, section 3.5). */
function withSpareBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  return text.slice(0, -1) + alphabet.charAt(alphabet.indexOf(text.at(-1) ?? "") + 1)
}

const withLeadingZero = (text: string): string =>
  Buffer.concat([Buffer.of(0), Buffer.from(text, "base64url")]).toString("base64url")

describe("[F-A5] a key that is not encoded as RFC 7518 requires is rejected when", () => {
  const forms: readonly (readonly [string, string, (jwk: Record<string, string>) => object])[] = [
    ["RS256", "e has a leading zero", ({ e = "" }) => ({ e: withLeadingZero(e) })],
    ["RS256", "n has a leading zero", ({ n = "" }) => ({ n: withLeadingZero(n) })],
    ["RS256", "n has spare bits", ({ n = "" }) => ({ n: withSpareBits(n) })],
    ["ES256", "x has spare bits", ({ x = "" }) => ({ x: withSpareBits(x) })],
    ["ES256", "y has spare bits", ({ y = "" }) => ({ y: withSpareBits(y) })],
    ["ES256", "x has a leading zero", ({ x = "" }) => ({ x: withLeadingZero(x) })],
    ["ES384", "y has a leading zero", ({ y = "" }) => ({ y: withLeadingZero(y) })],
    ["ES512", "x has a leading zero", ({ x = "" }) => ({ x: withLeadingZero(x) })],
    ["EdDSA", "x has spare bits", ({ x = "" }) => ({ x: withSpareBits(x) })],
  ]
  test.each(forms)("%s: %s", async (alg, _how, change) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    client.key = await newAcmeKey(alg)
    expect((await client.register()).status).toBe(201)
    const account = client.account
    const jwk = { ...client.key.jwk, ...change(client.key.jwk as Record<string, string>) }
    const other = { ...client.key, jwk }
    const refused = { status: 400, problem: "badPublicKey" }
    expect(await client.post("/new-account", {}, { byKey: true, key: other })).toMatchObject(refused)
    // The other form bypasses neither the check for an existing account nor that of the old key in a key change.
    const changing = await AcmeTestClient.registered(world, base)
    const header = { url: `${base}/key-change` }
    const inner = async (header: object, oldKey: object) => {
      const { FlattenedSign } = await import("jose")
      return new FlattenedSign(Buffer.from(JSON.stringify({ account: changing.account, oldKey })))
        .setProtectedHeader({ alg, ...header })
        .sign(client.key.privateKey)
    }
    expect(await changing.post("/key-change", await inner({ ...header, jwk }, changing.key.jwk))).toMatchObject(refused)
    expect(
      await changing.post("/key-change", await inner({ ...header, jwk: client.key.jwk }, changing.key.jwk)),
    ).toMatchObject({ status: 409, problem: "malformed" })
    expect((await client.register({ onlyReturnExisting: true })).headers.get("location")).toBe(account)
  })

  test("a binding or a keyChange contains it", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    const jwk = { ...client.key.jwk, x: withSpareBits(client.key.jwk.x ?? "") }
    const key = await newAcmeKey()
    const inner = await signedAnyhow(
      key,
      { alg: "ES256", url: `${base}/key-change`, jwk: key.jwk },
      { account: client.account, oldKey: jwk },
    )
    expect(await client.post("/key-change", inner)).toMatchObject({ status: 400, problem: "badPublicKey" })
    const { id } = (await world.pki("POST", "/pki/acme/new-eab")).body.data
    const binding = await signedAnyhow(key, { alg: "HS256", kid: id, url: `${base}/new-account` }, jwk)
    expect(await client.register({ externalAccountBinding: binding })).toMatchObject({
      status: 400,
      problem: "badPublicKey",
    })
  })
})
