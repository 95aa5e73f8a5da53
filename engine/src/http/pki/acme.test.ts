import { X509Certificate } from "node:crypto"
import { describe, expect, onTestFinished, test } from "vitest"
import { AcmeTestClient, newAcmeKey, signedBy } from "../../testing/acme-client.ts"
import { acmeCluster, newAcmeMount, openChallengeServer } from "../../testing/acme-mount.ts"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { startPolicyServer, templateFor, testTlsPem } from "../../testing/policy-server.ts"
import { openWorld, type World, type WorldOptions } from "../../testing/world.ts"
import { dayMs, hourMs, minuteMs } from "../../core/time.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { basicConstraints, subjectAltName } from "../../x509/extensions.ts"
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"

const base = `${acmeCluster}/acme`

interface Setup {
  readonly settings?: object
  readonly role?: object
  readonly options?: WorldOptions
}

async function newWorld({ settings = {}, role = {}, options = {} }: Setup = {}): Promise<World> {
  const world = await openWorld(options)
  onTestFinished(() => world[Symbol.asyncDispose]())
  await newAcmeMount(world, settings, role)
  return world
}

/** With a server on this machine that answers the challenges for `localhost`. */
async function newProvingWorld(setup: Setup = {}) {
  const responder = await openChallengeServer()
  onTestFinished(() => responder[Symbol.asyncDispose]())
  const acme = { httpPort: responder.port, permitted: { kinds: ["loopback"], ranges: [] } } as const
  const world = await newWorld({ ...setup, options: { ...setup.options, acme: { ...acme, ...setup.options?.acme } } })
  return { world, responder }
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64")

async function csrFor(names: readonly string[], more: Parameters<typeof certificateRequest>[0] = {}): Promise<string> {
  const alternative = names.map((value): GeneralName => ({ kind: "dns", value }))
  const extensions = [
    ...(names.length === 0 ? [] : [subjectAltName(alternative, { critical: false })]),
    ...(more.extensions ?? []),
  ]
  const { csr } = await certificateRequest({ ...more, extensions })
  return derOf(csr).toString("base64url")
}

const localhost = { type: "dns", value: "localhost" }

/** An order for `localhost` that can be finalized. */
async function readyOrder(client: AcmeTestClient, responder: { answers: Map<string, string> }, order: object = {}) {
  const ordered = await client.post("/new-order", { identifiers: [localhost], ...order })
  if (ordered.status !== 201) throw new Error(JSON.stringify(ordered.body))
  const url = ordered.headers.get("location") ?? ""
  const authorization = await client.post(ordered.body.authorizations[0])
  if (authorization.body.status === "pending") {
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    responder.answers.set(challenge.token, `${challenge.token}.${client.thumbprint}`)
    await client.post(challenge.url, {})
  }
  await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("ready")
  return { url, ...ordered.body } as { url: string; finalize: string; authorizations: string[] }
}

/** What is issued for `localhost`. */
async function issued(client: AcmeTestClient, responder: { answers: Map<string, string> }, order: object = {}) {
  const { finalize, url } = await readyOrder(client, responder, order)
  const finalized = await client.post(finalize, { csr: await csrFor(["localhost"]) })
  expect(finalized).toMatchObject({ status: 200, body: { status: "valid" } })
  const downloaded = await client.post(finalized.body.certificate)
  return { leaf: new X509Certificate(downloaded.body), downloaded, url, finalized }
}

describe("a directory", () => {
  test("[P-7-n4] [P-2.4-r1] [P-3-r1] is not there until ACME is enabled, nor is anything below it", async () => {
    const world = await newWorld({ settings: { enabled: false } })
    const client = await AcmeTestClient.open(world, base)
    for (const path of ["/directory", "/new-nonce", "/renewal-info/a.b"]) {
      const answer = await client.get(`${base}${path}`)
      expect(answer).toMatchObject({ status: 404, problem: "malformed" })
      expect(answer.headers.has("replay-nonce")).toBe(false)
    }
    const key = await newAcmeKey()
    const body = await signedBy(key, { alg: "ES256", nonce: "x", url: `${base}/new-account`, jwk: key.jwk }, {})
    expect(await client.send(`${base}/new-account`, body)).toMatchObject({ status: 404, problem: "malformed" })
    await world.pki("POST", "/pki/config/acme", { body: { enabled: true } })
    expect((await client.get(`${base}/directory`)).status).toBe(200)
  })

  test("names every address by the mount's own, whatever host was asked", async () => {
    const world = await newWorld({
      settings: {
        terms_of_service: "https://ca.example/terms",
        website: "https://ca.example",
        caa_identities: "ca.example",
      },
    })
    const { status, body, headers } = await world.pki("GET", "/pki/acme/directory", { token: null })
    expect(status).toBe(200)
    expect(headers.get("content-type")).toBe("application/json")
    expect(body).toEqual({
      newNonce: `${base}/new-nonce`,
      newAccount: `${base}/new-account`,
      newOrder: `${base}/new-order`,
      newAuthz: `${base}/new-authz`,
      revokeCert: `${base}/revoke-cert`,
      keyChange: `${base}/key-change`,
      renewalInfo: `${base}/renewal-info`,
      meta: {
        termsOfService: "https://ca.example/terms",
        website: "https://ca.example",
        caaIdentities: ["ca.example"],
        externalAccountRequired: false,
        profiles: { web: "Certificates of the role web" },
      },
    })
  })

  test("gives out nonces, with HEAD and GET and every answer", async () => {
    const world = await newWorld()
    const client = await AcmeTestClient.open(world, base)
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
    ] as const) {
      const answer = await client.get(`${base}/new-nonce`, method)
      expect(answer.status).toBe(status)
      expect(answer.headers.get("replay-nonce")).toMatch(/^[\w-]{60,}$/)
      expect(answer.headers.get("cache-control")).toBe("no-store")
      expect(answer.headers.get("link")).toBe(`<${base}/directory>;rel="index"`)
    }
    const refused = await client.send(`${base}/new-order`, "{}")
    expect(refused).toMatchObject({ status: 400, problem: "malformed" })
    expect(refused.headers.get("replay-nonce")).toMatch(/^[\w-]{60,}$/)
  })

  test("is read with POST alone where it is signed for", async () => {
    const world = await newWorld()
    const answer = await world.pki("GET", "/pki/acme/new-order", { token: null })
    expect(answer).toMatchObject({ status: 405, body: { type: "urn:ietf:params:acme:error:malformed", status: 405 } })
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    expect(answer.headers.get("allow")).toBe("POST, PUT")
  })
})

describe("[P-4.1-p1] which directories issue, and what by:", () => {
  const order = { identifiers: [{ type: "dns", value: "www.example.com" }] }
  const elsewhere = { identifiers: [{ type: "dns", value: "www.example.net" }] }
  const cases: readonly (readonly [string, string, object, "any name" | "names of the role" | "nothing"])[] = [
    ["[P-4.1-r1] sign-verbatim", "acme", {}, "any name"],
    ["[P-4.1-r1] a role", "acme", { default_directory_policy: "role:web" }, "names of the role"],
    ["[P-2.4-r5] forbid", "acme", { default_directory_policy: "forbid" }, "nothing"],
    ["[P-4.1-r2] an issuer, sign-verbatim", "issuer/root/acme", {}, "any name"],
    ["[P-4.1-r2] an issuer, a role", "issuer/root/acme", { default_directory_policy: "role:web" }, "names of the role"],
    [
      "an issuer, an external policy by default",
      "issuer/root/acme",
      { default_directory_policy: "external-policy" },
      "nothing",
    ],
    ["[P-2.4-r2] an issuer that is not allowed", "issuer/root/acme", { allowed_issuers: "other" }, "nothing"],
    ["[P-4.1-r3] a role in the path", "roles/web/acme", { default_directory_policy: "forbid" }, "names of the role"],
    ["[P-2.4-r3] a role that is not allowed", "roles/web/acme", { allowed_roles: "other" }, "nothing"],
    ["[P-4.1-n1] a role that stores nothing", "roles/unstored/acme", {}, "nothing"],
    ["a role that is not there", "roles/absent/acme", {}, "nothing"],
    [
      "[P-2.4-r2] a role whose issuer is not in the list of issuers",
      "roles/web/acme",
      { allowed_issuers: "other" },
      "names of the role",
    ],
    [
      "[P-4.1-r4] an issuer and a role",
      "issuer/root/roles/web/acme",
      { default_directory_policy: "forbid" },
      "names of the role",
    ],
    ["an external policy that is not enabled", "external-policy/acme", {}, "nothing"],
  ]
  test.each(cases)("%s", async (_how, path, settings, outcome) => {
    const world = await newWorld()
    await world.pki("POST", "/pki/roles/other", { body: {} })
    await world.pki("POST", "/pki/roles/unstored", { body: { no_store: true } })
    await world.pki("POST", "/pki/root/generate/internal", {
      body: { common_name: "Other", key_type: "ec", issuer_name: "other" },
    })
    await world.pki("POST", "/pki/config/issuers", { body: { default: "root" } })
    expect((await world.pki("POST", "/pki/config/acme", { body: settings })).status).toBe(200)
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/${path}`)
    const directory = await client.get(`${client.base}/directory`)
    const statuses = [
      (await client.post("/new-order", order)).status,
      (await client.post("/new-order", elsewhere)).status,
    ]
    expect([directory.status, ...statuses]).toEqual(
      { "any name": [200, 201, 201], "names of the role": [200, 201, 400], nothing: [403, 403, 403] }[outcome],
    )
  })
})

describe("an account", () => {
  test("is made once for a key, found again, changed and given up", async () => {
    const world = await newWorld()
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
    expect(await client.post(url)).toMatchObject({ status: 403, problem: "unauthorized" })
    expect(await client.register()).toMatchObject({ status: 403, problem: "unauthorized" })
  })

  test.each([
    [["tel:+1"], "unsupportedContact"],
    [["nonsense"], "invalidContact"],
    [["mailto:a@example.com?subject=x"], "invalidContact"],
    [["mailto:a@example.com,b@example.com"], "invalidContact"],
    ["mailto:a@example.com", "malformed"],
  ])("with the contact %j is refused: %s", async (contact, problem) => {
    const world = await newWorld()
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ contact })).toMatchObject({ status: 400, problem })
    expect(await client.register({ onlyReturnExisting: true })).toMatchObject({ problem: "accountDoesNotExist" })
  })

  test("agrees to terms where there are any", async () => {
    const world = await newWorld({ settings: { terms_of_service: "https://ca.example/terms" } })
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register()).toMatchObject({ status: 403, problem: "userActionRequired" })
    expect((await client.register({ termsOfServiceAgreed: true })).status).toBe(201)
  })

  test("[P-4.1-n5] belongs to one directory", async () => {
    const world = await newWorld()
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

  test("gets another key, with which alone it signs from then on", async () => {
    const world = await newWorld()
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

  test("lists its orders, and no other account's", async () => {
    const world = await newWorld()
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

describe("a request that is not as it should be", () => {
  const identifiers = { identifiers: [localhost] }
  const cases: readonly (readonly [
    string,
    (client: AcmeTestClient) => Promise<{ status: number; problem: string | undefined }>,
    number,
    string,
  ])[] = [
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
    ["with a kid where a key signs", async (client) => client.post("/new-account", {}), 400, "malformed"],
    [
      "with the kid of nobody",
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
    ["that is no JSON", async (client) => client.send(`${base}/new-order`, "{"), 400, "malformed"],
    ["whose payload is no JSON", async (client) => client.post("/new-order", "{"), 400, "malformed"],
    ["whose payload is a list", async (client) => client.post("/new-order", "[]"), 400, "malformed"],
    ["with a payload where it reads", async (client) => client.post(`${client.account}/orders`, {}), 400, "malformed"],
  ]
  test.each(cases)("%s is refused, and changes nothing", async (_how, ask, status, problem) => {
    const world = await newWorld()
    const client = await AcmeTestClient.registered(world, base)
    const before = (await client.post(`${client.account}/orders`)).body.orders.length
    const answer = await ask(client)
    expect([answer.status, answer.problem]).toEqual([status, problem])
    const orders = (await client.post(`${client.account}/orders`)).body.orders.length
    expect(orders - before).toBeLessThanOrEqual(1)
  })

  async function unsigned(client: AcmeTestClient, header: object) {
    const url = `${base}/new-order`
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const whole = { nonce: await client.nonce(), url, kid: client.account, ...header }
    return client.send(url, { protected: encoded(whole), payload: encoded(identifiers), signature: "AAAA" })
  }

  test.each([
    ["of a kind that nobody knows", { kty: "XX" }],
    ["that is private", { kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }],
    ["that is a secret", { kty: "oct", k: "AAAA" }],
    ["on a curve that is not taken", { kty: "EC", crv: "secp256k1", x: "AA", y: "AA" }],
    [
      "that is no point of its curve",
      {
        kty: "EC",
        crv: "P-256",
        x: Buffer.alloc(32, 1).toString("base64url"),
        y: Buffer.alloc(32, 1).toString("base64url"),
      },
    ],
    ["that is too short", { kty: "RSA", e: "AQAB", n: Buffer.alloc(128, 0xff).toString("base64url") }],
  ])("with a key %s is refused", async (_how, jwk) => {
    const world = await newWorld()
    const client = await AcmeTestClient.open(world, base)
    expect(await client.post("/new-account", {}, { byKey: true, header: { jwk } })).toMatchObject({
      status: 400,
      problem: "badPublicKey",
    })
  })
})

describe("an order", () => {
  test.each([
    ["no identifiers", { identifiers: [] }, "malformed"],
    ["what is no list", { identifiers: "example.com" }, "malformed"],
    [
      "too many",
      { identifiers: Array.from({ length: 101 }, (_, at) => ({ type: "dns", value: `n${at}.example.com` })) },
      "malformed",
    ],
    ["another kind of name", { identifiers: [{ type: "email", value: "a@example.com" }] }, "unsupportedIdentifier"],
    ["letters that are not ASCII", { identifiers: [{ type: "dns", value: "bücher.example" }] }, "rejectedIdentifier"],
    ["a wildcard in the middle", { identifiers: [{ type: "dns", value: "www.*.example.com" }] }, "rejectedIdentifier"],
    ["a time that is none", { identifiers: [localhost], notAfter: "tomorrow" }, "malformed"],
    ["an end that has passed", { identifiers: [localhost], notAfter: "2001-01-01T00:00:00Z" }, "malformed"],
    [
      "an end beyond max_ttl",
      { identifiers: [localhost], notAfter: new Date(Date.now() + 100 * dayMs).toISOString() },
      "malformed",
    ],
    ["a profile that is not offered", { identifiers: [localhost], profile: "absent" }, "invalidProfile"],
    ["to replace what is no certificate", { identifiers: [localhost], replaces: "x" }, "malformed"],
  ])("for %s is refused", async (_how, order, problem) => {
    const world = await newWorld()
    const client = await AcmeTestClient.registered(world, base)
    expect(await client.post("/new-order", order)).toMatchObject({ status: 400, problem })
  })

  test("is refused with every name that its role does not allow", async () => {
    const world = await newWorld()
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const identifiers = ["www.example.com", "a.example.net", "b.example.net"].map((value) => ({ type: "dns", value }))
    const refused = await client.post("/new-order", { identifiers })
    expect(refused).toMatchObject({ status: 400, problem: "rejectedIdentifier" })
    expect(refused.body.subproblems.map(({ identifier }: { identifier: object }) => identifier)).toEqual(
      identifiers.slice(1),
    )
    expect(refused.body.subproblems[0].type).toBe("urn:ietf:params:acme:error:rejectedIdentifier")
  })

  test("[P-2.4-r4] becomes a certificate for servers, with the chain to its root", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf, downloaded, finalized } = await issued(client, responder)
    expect(downloaded.headers.get("content-type")).toBe("application/pem-certificate-chain")
    expect(downloaded.body.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    expect(leaf.subjectAltName).toBe("DNS:localhost")
    expect(leaf.keyUsage).toEqual([serverAuth])
    expect(new Date(leaf.validTo).getTime() - Date.now()).toBeLessThanOrEqual(90 * dayMs)
    expect(finalized.body.error).toBeUndefined()
  })

  test("[P-2.4-r4] of a role whose key usages are allowed has them", async () => {
    const { world, responder } = await newProvingWorld({ settings: { allow_role_ext_key_usage: true } })
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const { leaf } = await issued(client, responder)
    expect(leaf.keyUsage).toEqual([serverAuth, "1.3.6.1.5.5.7.3.2"])
  })

  test("[P-2.4-r8] is valid for max_ttl at most, and until when its client asked", async () => {
    const { world, responder } = await newProvingWorld({ settings: { max_ttl: "48h" }, role: { ttl: "720h" } })
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const until = ({ leaf }: { leaf: X509Certificate }) => new Date(leaf.validTo).getTime()
    expect(until(await issued(client, responder))).toBeLessThanOrEqual(Date.now() + 48 * hourMs)
    const notAfter = new Date(Math.floor(Date.now() / 1_000) * 1_000 + hourMs)
    expect(until(await issued(client, responder, { notAfter: notAfter.toISOString() }))).toBe(notAfter.getTime())
  })

  test("says why it has failed", async () => {
    const { world } = await newProvingWorld({ options: { timers: impatient() } })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    const authorization = await client.post(ordered.body.authorizations[0])
    const challenge = authorization.body.challenges.find(({ type }: { type: string }) => type === "http-01")
    await client.post(challenge.url, {})
    const url = ordered.headers.get("location") ?? ""
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 30_000 }).toBe("invalid")
    const { body } = await client.post(url)
    expect(body.error).toMatchObject({ type: "urn:ietf:params:acme:error:unauthorized" })
    const failed = await client.post(ordered.body.authorizations[0])
    expect(failed.body).toMatchObject({
      status: "invalid",
      challenges: [
        { type: "http-01", status: "invalid", error: { type: "urn:ietf:params:acme:error:incorrectResponse" } },
      ],
    })
    expect(await client.post(body.finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "orderNotReady",
    })
  })

  test("uses what is proved again, until it is given up", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { authorizations } = await readyOrder(client, responder)
    const again = await client.post("/new-order", { identifiers: [localhost] })
    expect(again.body).toMatchObject({ status: "ready", authorizations })
    const other = await AcmeTestClient.registered(world, base)
    expect((await other.post("/new-order", { identifiers: [localhost] })).body.status).toBe("pending")
    expect(await other.post(authorizations[0] ?? "")).toMatchObject({ status: 404, problem: "malformed" })
    expect((await client.post(authorizations[0] ?? "", { status: "deactivated" })).body.status).toBe("deactivated")
    expect((await client.post(again.headers.get("location") ?? "")).body.status).toBe("invalid")
    expect((await client.post("/new-order", { identifiers: [localhost] })).body.status).toBe("pending")
  })

  test("may find its names proved before it", async () => {
    const world = await newWorld()
    const client = await AcmeTestClient.registered(world, base)
    const made = await client.post("/new-authz", { identifier: localhost })
    expect(made).toMatchObject({ status: 201, body: { status: "pending", identifier: localhost } })
    expect(made.headers.get("location")).toMatch(/\/authorization\/authz-/)
    expect(await client.post("/new-authz", { identifier: { type: "dns", value: "*.example.com" } })).toMatchObject({
      status: 400,
    })
  })

  const finalizing: readonly (readonly [string, () => Promise<string>])[] = [
    ["another name", () => csrFor(["www.example.com"])],
    ["one name too many", () => csrFor(["localhost", "www.example.com"])],
    ["no name", () => csrFor([])],
    [
      "another common name",
      () => csrFor(["localhost"], { subject: [[{ type: oids.commonName, value: "www.example.com" }]] }),
    ],
    [
      "a name of another kind",
      () =>
        csrFor([], { extensions: [subjectAltName([{ kind: "email", value: "a@localhost" }], { critical: false })] }),
    ],
    ["an authority", () => csrFor(["localhost"], { extensions: [basicConstraints({ isCa: true })] })],
    ["what is none", async () => "AAAA"],
    ["what is not in base64url", async () => "a b"],
  ]
  test.each(finalizing)("is not finalized with a CSR for %s, and can be all the same afterwards", async (_how, csr) => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: await csr() })).toMatchObject({ status: 400, problem: "badCSR" })
    expect((await client.post(finalize, { csr: await csrFor(["localhost"]) })).body.status).toBe("valid")
  })

  test("is finalized once, and tells the same again", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const [one, other] = [await csrFor(["localhost"]), await csrFor(["localhost"])]
    const first = await client.post(finalize, { csr: one })
    const again = await client.post(finalize, { csr: one })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.certificate).toBe(first.body.certificate)
    expect(await client.post(finalize, { csr: other })).toMatchObject({ status: 403, problem: "orderNotReady" })
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toHaveLength(2)
  })

  test("follows the profile that it names", async () => {
    const { world, responder } = await newProvingWorld()
    await world.pki("POST", "/pki/roles/short", {
      body: { allow_any_name: true, key_type: "any", require_cn: false, ttl: "1h" },
    })
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder, { profile: "short" })
    expect(new Date(leaf.validTo).getTime()).toBeLessThanOrEqual(Date.now() + hourMs)
  })

  test("expires", async () => {
    const clock = manualClock(Date.now())
    const world = await newWorld({ options: { runtime: { ...systemRuntime(), clock } } })
    const client = await AcmeTestClient.registered(world, base)
    const ordered = await client.post("/new-order", { identifiers: [localhost] })
    clock.advance(dayMs)
    const found = await client.post(ordered.headers.get("location") ?? "", undefined, { nonce: await client.nonce() })
    expect(found.body).toMatchObject({ status: "invalid", error: { detail: "The order has expired." } })
  })
})

describe("where an external policy service decides", () => {
  const names = (values: readonly string[]) => [
    subjectAltName(
      values.map((value) => ({ kind: "dns", value })),
      { critical: false },
    ),
  ]
  async function newDecidedWorld() {
    const policy = await startPolicyServer()
    onTestFinished(() => policy[Symbol.asyncDispose]())
    policy.answerWith((question) => ({
      certificate: templateFor(question, { commonName: "localhost", extensions: names(["localhost"]) }),
      store_certificate: false,
    }))
    const outgoing = { kinds: ["loopback"], ranges: [] } as const
    const setup = await newProvingWorld({
      settings: { default_directory_policy: "external-policy:web" },
      options: { outgoing },
    })
    const { status } = await setup.world.pki("POST", "/pki/config/external-policy", {
      body: { enabled: true, external_service_url: policy.url, trusted_leaf_certificate_bundle: testTlsPem("server") },
    })
    expect(status).toBe(200)
    return { ...setup, policy }
  }

  test.each([
    ["[P-4.1-r1] acme", "web"],
    ["[P-4.1-r5] external-policy/acme", ""],
    ["[P-4.1-r5] external-policy/strict/acme", "strict"],
    ["[P-4.1-r6] issuer/root/external-policy/acme", ""],
    ["[P-4.1-r6] issuer/root/external-policy/strict/acme", "strict"],
  ])("the directory %s asks it by the policy %j, and the certificate is kept whatever it says", async (path, asked) => {
    const { world, responder, policy } = await newDecidedWorld()
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/${path.replace(/^\S+ /, "")}`)
    const { leaf } = await issued(client, responder)
    expect(leaf.subject).toBe("CN=localhost")
    expect(policy.seen.map(({ document }) => document.vault_request_values.policy_name)).toEqual([asked])
    const serial = leaf.serialNumber.match(/../g)?.join(":").toLowerCase()
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toContain(serial)
  })

  test.each([
    ["another name", { commonName: "localhost", extensions: names(["localhost", "www.example.com"]) }],
    ["another common name", { commonName: "www.example.com", extensions: names(["localhost"]) }],
    ["fewer names", { commonName: "", subject: [], extensions: [] }],
    [
      "a life beyond max_ttl",
      {
        commonName: "localhost",
        extensions: names(["localhost"]),
        notAfter: Math.floor(Date.now() / 1_000) * 1_000 + 100 * dayMs,
      },
    ],
  ])("nothing is issued of what it decides with %s", async (_how, template) => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith((question) => ({ certificate: templateFor(question, template), store_certificate: true }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    const before = (await world.pki("LIST", "/pki/certs")).body.data.keys
    expect(await client.post(finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
    expect((await world.pki("LIST", "/pki/certs")).body.data.keys).toEqual(before)
  })

  test("nothing is issued where it refuses, and its reason is told", async () => {
    const { world, responder, policy } = await newDecidedWorld()
    policy.answerWith(() => ({ error: "not on a Sunday" }))
    const client = await AcmeTestClient.registered(world, base)
    const { finalize } = await readyOrder(client, responder)
    expect(await client.post(finalize, { csr: await csrFor(["localhost"]) })).toMatchObject({
      status: 403,
      problem: "unauthorized",
      body: { detail: expect.stringContaining("not on a Sunday") },
    })
  })
})

describe("a certificate", () => {
  test("is revoked by who ordered it, with the reason that is given", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const certificate = leaf.raw.toString("base64url")
    for (const reason of [6, 7, 8, 11, "1"])
      expect(await client.post("/revoke-cert", { certificate, reason })).toMatchObject({
        status: 400,
        problem: "badRevocationReason",
      })
    expect((await client.post("/revoke-cert", { certificate, reason: 4 })).status).toBe(200)
    expect(await client.post("/revoke-cert", { certificate })).toMatchObject({ status: 400, problem: "alreadyRevoked" })
  })

  test("is revoked by who has its key, or has proved its names, and by nobody else", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const stranger = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const certificate = leaf.raw.toString("base64url")
    expect(await stranger.post("/revoke-cert", { certificate })).toMatchObject({ status: 403, problem: "unauthorized" })
    expect(await stranger.post("/revoke-cert", { certificate }, { byKey: true })).toMatchObject({
      status: 403,
      problem: "unauthorized",
    })
    await readyOrder(stranger, responder)
    expect((await stranger.post("/revoke-cert", { certificate })).status).toBe(200)
  })

  test("tells when to renew it, sooner when it is revoked, and is replaced once", async () => {
    const { world, responder } = await newProvingWorld()
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    const id = `${authorityKeyIdentifierOf(leaf)}.${Buffer.from(leaf.serialNumber, "hex").toString("base64url")}`
    const info = await client.get(`${base}/renewal-info/${id}`)
    expect(info.status).toBe(200)
    expect(info.headers.get("retry-after")).toBe("21600")
    const { start, end } = info.body.suggestedWindow
    expect(Date.parse(start)).toBeGreaterThan(Date.now())
    expect(Date.parse(end)).toBeLessThan(new Date(leaf.validTo).getTime())
    const replacing = await client.post("/new-order", { identifiers: [localhost], replaces: id })
    expect(replacing).toMatchObject({ status: 201, body: { replaces: id } })
    expect(await client.post("/new-order", { identifiers: [localhost], replaces: id })).toMatchObject({
      status: 409,
      problem: "alreadyReplaced",
    })
    await client.post("/revoke-cert", { certificate: leaf.raw.toString("base64url") })
    const due = await client.get(`${base}/renewal-info/${id}`)
    expect(Date.parse(due.body.suggestedWindow.end)).toBeLessThan(Date.now())
    expect(await client.get(`${base}/renewal-info/${id.slice(0, -4)}AAAA`)).toMatchObject({ problem: "malformed" })
  })
})

describe("[P-5-n2] [P-4.1-n6] an account is bound to who has a token", () => {
  async function bindingFor(world: World, path = "acme", body: object = {}) {
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

  test("[P-2.3-r1] [P-2.3-r2] [P-2.3-r3] [P-2.3-r4] [P-2.3-r5] [P-4.2-r1] [P-3-r4] a token is made for one directory", async () => {
    const world = await newWorld()
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

  test("[P-4.2-r2] [P-3-r2] a token is listed until it is used, once and in its directory", async () => {
    const world = await newWorld({ settings: { eab_policy: "new-account-required" } })
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

  test("[P-4.2-r3] [P-3-r3] a token that is deleted lets nobody in", async () => {
    const world = await newWorld()
    const token = await bindingFor(world)
    expect((await world.pki("DELETE", `/pki/eab/${token.id}`)).status).toBe(204)
    expect((await world.pki("DELETE", `/pki/eab/${token.id}`)).status).toBe(404)
    const client = await AcmeTestClient.open(world, base)
    expect(await client.register({ externalAccountBinding: await bound(client, token) })).toMatchObject({ status: 403 })
  })

  test("a token ends when it was said to", async () => {
    const clock = manualClock(Date.now())
    const world = await newWorld({ options: { runtime: { ...systemRuntime(), clock } } })
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
        const other = await AcmeTestClient.open(await newWorld(), client.base)
        return bound(other, token)
      },
      400,
    ],
    ["that is no object", async () => "x", 400],
  ] as const)("[P-2.4-r7] a binding %s is refused even where none is needed", async (_how, make, status) => {
    const world = await newWorld()
    const token = await bindingFor(world)
    const client = await AcmeTestClient.open(world, base)
    expect((await client.register({ externalAccountBinding: await make(client, token) })).status).toBe(status)
    expect(await client.register({ onlyReturnExisting: true })).toMatchObject({ problem: "accountDoesNotExist" })
    expect((await world.pki("LIST", "/pki/eab")).body.data.keys).toEqual([token.id])
  })

  test("[P-2.4-r7] existing accounts keep working where only new ones need a binding, and not where all do", async () => {
    const world = await newWorld()
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

  test("the variable of the specification requires a binding everywhere", async () => {
    const world = await newWorld({ options: { acme: { requiresBinding: true } } })
    const client = await AcmeTestClient.open(world, base)
    expect((await client.get(`${base}/directory`)).body.meta.externalAccountRequired).toBe(true)
    expect(await client.register()).toMatchObject({ status: 403, problem: "externalAccountRequired" })
  })
})

test("[P-4.2-r4] [P-4.2-r5] [P-2.4-r1] the configuration is read whole, and written in parts", async () => {
  const world = await openWorld()
  onTestFinished(() => world[Symbol.asyncDispose]())
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  const defaults = {
    enabled: false,
    allowed_issuers: ["*"],
    allowed_roles: ["*"],
    allow_role_ext_key_usage: false,
    default_directory_policy: "sign-verbatim",
    dns_resolver: "",
    eab_policy: "not-required",
    max_ttl: 0,
  }
  expect((await world.pki("GET", "/pki/config/acme")).body.data).toMatchObject(defaults)
  const written = await world.pki("POST", "/pki/config/acme", { body: { max_ttl: "720h", dns_resolver: "10.0.0.53" } })
  expect(written.body.data).toEqual({
    allowed_issuers: ["*"],
    allowed_roles: ["*"],
    default_directory_policy: "sign-verbatim",
    dns_resolver: "10.0.0.53",
    eab_policy: "not-required",
    enabled: false,
  })
  expect((await world.pki("GET", "/pki/config/acme")).body.data).toMatchObject({
    max_ttl: 2_592_000,
    dns_resolver: "10.0.0.53",
  })
  const refused = await world.pki("POST", "/pki/config/acme", {
    body: { max_ttl: "90d", eab_policy: "sometimes", enabled: true },
  })
  expect(refused.status).toBe(400)
  expect(refused.body.errors).toEqual([expect.stringContaining("max_ttl"), expect.stringContaining("eab_policy")])
  expect((await world.pki("POST", "/pki/config/acme", { body: { enabled: true } })).body.errors).toEqual([
    expect.stringContaining("config/cluster"),
  ])
})

const serverAuth = "1.3.6.1.5.5.7.3.1"

/** Retries at once, so that what fails has failed soon. */
const impatient = () => ({
  after(delayMs: number, work: () => void) {
    const timer = setTimeout(work, Math.min(delayMs, 20))
    timer.unref()
    return () => clearTimeout(timer)
  },
})

/** RFC 9773 names a certificate by it; Node shows it as text. */
function authorityKeyIdentifierOf(leaf: X509Certificate): string {
  const marker = Buffer.from("0603551d23041830168014", "hex")
  const at = leaf.raw.indexOf(marker)
  return leaf.raw.subarray(at + marker.length, at + marker.length + 20).toString("base64url")
}
