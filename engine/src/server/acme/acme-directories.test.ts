import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, onTestFinished, test } from "vitest"
import { AcmeTestClient, newAcmeKey, signedBy } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { newAcmeEngine } from "../../../testing/acme-engine.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"

const base = `${acmeCluster}/acme`

describe("a directory", () => {
  test("[P-7-n4] [P-2.4-r1] [P-3-r1] answers 404 with all its resources until ACME is enabled", async () => {
    const world = await newAcmeEngine({ settings: { enabled: false } })
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

  test("contains URLs of the mount's cluster path for any Host header", async () => {
    const world = await newAcmeEngine({
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

  test("returns nonces for HEAD, GET and with every answer", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
    ] as const) {
      const answer = await client.get(`${base}/new-nonce`, method)
      expect(answer.status).toBe(status)
      expect(answer.headers.get("replay-nonce")).toMatch(/^[\w-]{64}$/)
      expect(answer.headers.get("cache-control")).toBe("no-store")
      expect(answer.headers.get("link")).toBe(`<${base}/directory>;rel="index"`)
    }
    const refused = await client.send(`${base}/new-order`, "{}")
    expect(refused).toMatchObject({ status: 400, problem: "malformed" })
    expect(refused.headers.get("replay-nonce")).toMatch(/^[\w-]{64}$/)
  })

  test("stores nothing when it returns a nonce", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chancery-"))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, "chancery.db")
    const world = await newAcmeEngine({ options: { url: `sqlite:${file}`, jobs: false } })
    const client = await AcmeTestClient.open(world, base)
    using beside = new DatabaseSync(file)
    // Changes whenever another connection has written.
    const version = () => beside.prepare("pragma data_version").get()
    const before = version()
    for (let count = 0; count < 50; count += 1) expect(await client.nonce()).toMatch(/^[\w-]{64}$/)
    expect(version()).toEqual(before)
    await client.register()
    expect(version()).not.toEqual(before)
  })

  test("answers GET of signed resources with 405", async () => {
    const world = await newAcmeEngine()
    const answer = await world.pki("GET", "/pki/acme/new-order", { token: null })
    expect(answer).toMatchObject({ status: 405, body: { type: "urn:ietf:params:acme:error:malformed", status: 405 } })
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    expect(answer.headers.get("allow")).toBe("POST")
  })

  test.each([
    ["directory", "GET, HEAD, POST"],
    ["new-nonce", "GET, HEAD, POST"],
    ["renewal-info/a.b", "GET, HEAD"],
    ["new-account", "POST"],
    ["new-order", "POST"],
    ["account/acct-1", "POST"],
    ["account/acct-1/orders", "POST"],
    ["order/order-1", "POST"],
    ["order/order-1/finalize", "POST"],
    ["order/order-1/cert", "POST"],
    ["new-authz", "POST"],
    ["authorization/authz-1", "POST"],
    ["challenge/authz-1/http-01", "POST"],
    ["revoke-cert", "POST"],
    ["key-change", "POST"],
  ])("[F-A8] answers PUT, PATCH and DELETE of %s with 405 and what it allows: %s", async (path, allow) => {
    const world = await newAcmeEngine()
    const key = await newAcmeKey()
    const url = `${base}/${path}`
    const { headers: found } = await world.request("HEAD", `${base}/new-nonce`, { token: null })
    const nonce = found.get("replay-nonce") ?? ""
    const body = JSON.stringify(await signedBy(key, { alg: "ES256", nonce, url, jwk: key.jwk }, {}))
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const headers = { "content-type": "application/jose+json" }
      const answer = await world.request(method, url, { token: null, headers, body })
      expect(answer).toMatchObject({
        status: 405,
        body: { type: "urn:ietf:params:acme:error:malformed", status: 405, detail: expect.any(String) },
      })
      expect(answer.headers.get("content-type")).toBe("application/problem+json")
      expect(answer.headers.get("allow")).toBe(allow)
    }
    // The refused requests changed nothing, and the nonce is still valid.
    const made = await world.request("POST", `${base}/new-account`, {
      token: null,
      headers: { "content-type": "application/jose+json" },
      body: JSON.stringify(await signedBy(key, { alg: "ES256", nonce, url: `${base}/new-account`, jwk: key.jwk }, {})),
    })
    expect(made.status).toBe(201)
  })

  test("[F-A8] new-eab, an endpoint of the API, accepts PUT as POST", async () => {
    const world = await newAcmeEngine()
    expect((await world.pki("PUT", "/pki/acme/new-eab", { body: {} })).status).toBe(200)
  })

  test("[F-A8] allows every origin in every answer (RFC 8555, section 6.1)", async () => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.open(world, base)
    const shared = (answer: { headers: Headers }) => {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*")
      const exposed = answer.headers.get("access-control-expose-headers")?.split(", ")
      expect(exposed).toEqual(["Link", "Location", "Replay-Nonce", "Retry-After"])
    }
    shared(await client.get(`${base}/directory`))
    shared(await client.get(`${base}/new-nonce`, "HEAD"))
    shared(await client.register())
    shared(await client.post("/new-order", { identifiers: [] }))
    shared(await client.get(`${base}/new-order`))
    shared(await client.get(`${base}/renewal-info/a`))
    for (const path of ["directory", "new-nonce", "new-account", "order/order-1/finalize"]) {
      const headers = {
        origin: "https://page.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      }
      const answer = await world.request("OPTIONS", `${base}/${path}`, { token: null, headers })
      expect([answer.status, answer.body]).toEqual([204, undefined])
      shared(answer)
      expect(answer.headers.get("allow")).toContain("POST")
      expect(answer.headers.get("access-control-allow-methods")).toBe(answer.headers.get("allow"))
      expect(answer.headers.get("access-control-allow-headers")).toBe("Content-Type")
      expect(Number(answer.headers.get("access-control-max-age"))).toBeGreaterThan(0)
    }
    await world.pki("POST", "/pki/config/acme", { body: { enabled: false } })
    shared(await client.get(`${base}/directory`))
  })

  test("[F-A8] other endpoints do not allow other origins", async () => {
    const world = await newAcmeEngine()
    for (const path of ["/pki/roles/web", "/pki/acme/new-eab", "/pki/eab", "/pki/acme/mgmt/order"]) {
      const preflight = await world.pki("OPTIONS", path, { token: null })
      expect(preflight.status).toBeGreaterThanOrEqual(400)
      expect(preflight.headers.has("access-control-allow-origin")).toBe(false)
      const answer = await world.pki("GET", path)
      expect(answer.headers.has("access-control-allow-origin")).toBe(false)
    }
  })
})

describe("[P-4.1-p1] an ACME directory issues by its policy and path:", () => {
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
    const world = await newAcmeEngine()
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

describe("[F-A12] a mount without a default issuer", () => {
  async function withoutIssuer() {
    const world = await newAcmeEngine()
    expect((await world.pki("DELETE", "/pki/issuer/root")).status).toBeLessThan(300)
    return world
  }
  const reason = { status: 404, problem: "malformed", body: { detail: expect.stringContaining("default issuer") } }

  test("answers 404 with the reason for its directory", async () => {
    const world = await withoutIssuer()
    const client = await AcmeTestClient.registered(world, base)
    expect(await client.get(`${base}/directory`)).toMatchObject(reason)
    expect(await client.post("/directory")).toMatchObject(reason)
    const identifier = { type: "dns", value: "www.example.com" }
    expect(await client.post("/new-order", { identifiers: [identifier] })).toMatchObject(reason)
    expect(await client.post("/new-authz", { identifier })).toMatchObject(reason)
    expect(await client.get(`${acmeCluster}/roles/web/acme/directory`)).toMatchObject(reason)
    const eab = await world.pki("POST", "/pki/acme/new-eab")
    expect([eab.status, eab.body.errors]).toEqual([400, [expect.stringContaining("default issuer")]])
    await world.pki("POST", "/pki/roles/gone", { body: { issuer_ref: "gone", allow_any_name: true } })
    expect(await client.get(`${acmeCluster}/roles/gone/acme/directory`)).toMatchObject({
      status: 404,
      problem: "malformed",
      body: { detail: expect.stringContaining("gone") },
    })
  })

  test.each([
    ["sign-verbatim", {}, /no default issuer/],
    ["its default issuer by a role", { default_directory_policy: "role:web" }, /no default issuer/],
    ["no issuer", { default_directory_policy: "forbid" }, /^$/],
  ])("warns when ACME is enabled with a directory that follows %s", async (_how, settings, warning) => {
    const world = await withoutIssuer()
    const { status, body } = await world.pki("POST", "/pki/config/acme", { body: { enabled: true, ...settings } })
    expect(status).toBe(200)
    expect(body.warnings).toMatch(warning)
    const off = await world.pki("POST", "/pki/config/acme", { body: { enabled: false } })
    expect(off.body.warnings).toBe("")
  })
})

test("[P-4.2-r4] [P-4.2-r5] [P-2.4-r1] the configuration is read as a whole and written in parts", async () => {
  const world = await openTestEngine()
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
