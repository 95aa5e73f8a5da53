// Operations of one mount, end to end, with their statuses (P-1, P-4.12, P-7 and P-9 of docs/conformance.md).
import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { certificateRequest } from "../../../testing/certificate-requests.ts"
import { openssl, verifiesStrictly } from "../../../testing/openssl.ts"
import { type Answer, openTestEngine, origin, type TestEngine } from "../../../testing/test-engine.ts"
import { oids } from "../../x509/asn1/oids.ts"

let world: TestEngine
beforeAll(async () => {
  world = await openTestEngine()
  await world.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  const { issuers } = world.engine.pki("pki")
  for (const issuerName of ["one", "two"])
    await issuers.generateRoot({ commonName: `Root ${issuerName}`, keyType: "ec", issuerName, ttlMs: 2_000_000_000 })
  const role = { allowed_domains: "example.com", allow_subdomains: true, ttl: "1h", issuer_ref: "one" }
  await world.pki("POST", "/pki/roles/web", { body: { ...role, key_type: "ec" } })
  await world.pki("POST", "/pki/roles/any-key", { body: { ...role, key_type: "any" } })
})
afterAll(() => world[Symbol.asyncDispose]())

const write = (path: string, body: object) => world.pki("POST", `/pki/${path}`, { body })
const csrOf = async (commonName: string) =>
  (await certificateRequest({ subject: [[{ type: oids.commonName, value: commonName }]] })).csr

describe("[P-1-n1] one mount with several issuers", () => {
  const name = { common_name: "www.example.com" }
  const subject = (answer: Answer) => new X509Certificate(answer.body.data.certificate).subject

  /** Verifies with OpenSSL the chain from the certificate to the root of the answer. */
  function verified(answer: Answer): Answer {
    expect([answer.status, answer.body.errors]).toEqual([200, undefined])
    expect(verifiesStrictly(answer.body.data.certificate, answer.body.data.issuing_ca)).toBe(true)
    return answer
  }

  test("issues with a new key from any issuer", async () => {
    for (const [path, issuer] of [
      ["issue/web", "CN=Root one"],
      ["issuer/two/issue/web", "CN=Root two"],
    ] as const) {
      const { data } = verified(await write(path, name)).body
      const certificate = new X509Certificate(data.certificate)
      expect(certificate.issuer).toBe(issuer)
      const publicKey = openssl(["pkey", "-in", "k.pem", "-pubout"], { "k.pem": data.private_key })
      expect(certificate.publicKey.export({ type: "spki", format: "pem" })).toBe(publicKey)
    }
  })

  test("signs a CSR by a role, and a CSR verbatim", async () => {
    const csr = await csrOf("www.example.com")
    expect(subject(verified(await write("sign/web", { ...name, csr })))).toBe("CN=www.example.com")
    expect(subject(verified(await write("sign-verbatim", { csr: await csrOf("anything") })))).toBe("CN=anything")
  })

  test("signs an intermediate CA and a self-issued certificate", async () => {
    const csr = await csrOf("Sub CA")
    const intermediate = verified(await write("root/sign-intermediate", { common_name: "Sub CA", csr }))
    expect(new X509Certificate(intermediate.body.data.certificate).ca).toBe(true)
    const other = await world.engine.pki("pki").issuers.generateRoot({ commonName: "Old", keyType: "ec" })
    const certificate = new X509Certificate(other.certificate).toString()
    const crossed = await write("root/sign-self-issued", { certificate })
    expect(crossed.status).toBe(200)
    expect(new X509Certificate(crossed.body.data.certificate).subject).toBe("CN=Old")
    expect(Object.keys(crossed.body.data).toSorted()).toEqual(["certificate", "issuing_ca"])
  })

  test("revokes certificates of any issuer", async () => {
    for (const path of ["issue/web", "issuer/two/issue/web"]) {
      const { serial_number } = (await write(path, name)).body.data
      expect((await write("revoke", { serial_number })).status).toBe(200)
      expect((await world.pki("LIST", "/pki/certs/revoked")).body.data.keys).toContain(serial_number)
    }
  })
})

describe("[P-7-p1] an operation", () => {
  const role = { allow_any_name: true, key_type: "ec" }
  /** Ordered: later operations use the results of earlier ones. */
  const operations: readonly [method: string, path: string, body: object | undefined, status: number][] = [
    ["POST", "roles/any", role, 200],
    ["PUT", "roles/any", role, 200],
    ["PATCH", "roles/any", { ttl: "1h" }, 200],
    ["GET", "roles/any", undefined, 200],
    ["HEAD", "roles/any", undefined, 200],
    ["LIST", "roles", undefined, 200],
    ["POST", "issue/any", { common_name: "a.test" }, 200],
    ["LIST", "certs", undefined, 200],
    ["POST", "config/crl", { expiry: "24h" }, 200],
    ["GET", "config/crl", undefined, 200],
    ["GET", "crl", undefined, 200],
    ["GET", "crl/rotate", undefined, 200],
    ["DELETE", "roles/any", undefined, 204],
    ["DELETE", "roles/any", undefined, 204],
    ["GET", "roles/any", undefined, 404],
    ["POST", "issue/any", { common_name: "a.test" }, 400],
    ["POST", "issuer/none/issue/web", { common_name: "www.example.com" }, 404],
    ["POST", "issue/web", { common_name: "www.example.org" }, 400],
    ["POST", "sign/web", { common_name: "www.example.com", csr: "no CSR" }, 400],
    ["POST", "sign-verbatim", {}, 400],
    ["POST", "root/sign-intermediate", { common_name: "Sub CA" }, 400],
    ["POST", "root/sign-self-issued", {}, 400],
    ["POST", "revoke", {}, 400],
    ["POST", "revoke-with-key", { serial_number: "0a:0b" }, 400],
    ["POST", "config/crl", { expiry: "soon" }, 400],
    ["LIST", "certs/none", undefined, 404],
    ["DELETE", "issue/web", undefined, 405],
    ["PATCH", "roles/none", { ttl: "1h" }, 400],
  ]
  test("answers with the status of its result, and with only the reason when it is rejected", async () => {
    for (const [method, path, body, status] of operations) {
      const answer = await world.pki(method, `/pki/${path}`, body === undefined ? {} : { body })
      expect([method, path, answer.status]).toEqual([method, path, status])
      if (status < 400) continue
      expect(answer.headers.get("content-type")).toBe("application/json")
      expect(answer.body).toEqual({ errors: expect.any(Array) })
      for (const error of answer.body.errors) expect(error).toMatch(/\S/)
    }
  })

  test("without a valid token answers 403 regardless of other faults", async () => {
    // The CRL is readable without a token.
    for (const [method, path, body] of operations.filter((operation) => operation[1] !== "crl"))
      for (const token of [null, "unknown"]) {
        const answer = await world.pki(method, `/pki/${path}`, { token, ...(body === undefined ? {} : { body }) })
        expect([method, path, answer.status]).toEqual([method, path, 403])
        expect(answer.body).toEqual(method === "HEAD" ? undefined : { errors: ["permission denied"] })
      }
  })

  test("without the right answers 403 and changes nothing", async () => {
    const { secret } = await world.engine.serviceTokens.create({ policies: ["default"] })
    const before = (await world.pki("LIST", "/pki/certs")).body.data
    for (const [method, path, body, status] of operations.filter((operation) => operation[1] !== "crl")) {
      if (status >= 300) continue
      const options = { token: secret, ...(body === undefined ? {} : { body }) }
      expect([path, (await world.pki(method, `/pki/${path}`, options)).status]).toEqual([path, 403])
    }
    expect((await world.pki("GET", "/pki/roles/any")).status).toBe(404)
    expect((await world.pki("LIST", "/pki/certs")).body.data).toEqual(before)
  })
})

describe("[P-4.12-p2] an operation without parameters", () => {
  const serialNumber = async () => {
    const issued = await write("issue/web", { common_name: "www.example.com", cert_metadata: "bm90ZQ==" })
    return issued.body.data.serial_number as string
  }
  const list = { crl_number: 7, format: "pem" }

  /** Ordered: later requests read the results of earlier ones. */
  const titled: readonly [title: string, method: string, path: string, body: object | undefined, data: object][] = [
    ["accessing authority information", "GET", "cert/ca", undefined, { certificate: expect.stringContaining("BEGIN") }],
    ["accessing the chain", "GET", "cert/ca_chain", undefined, { certificate: expect.stringContaining("BEGIN") }],
    [
      "listing issuers",
      "LIST",
      "issuers",
      undefined,
      { keys: expect.arrayContaining([expect.stringMatching(/^iss-/)]) },
    ],
    ["reading an issuer", "GET", "issuer/two", undefined, { issuer_name: "two" }],
    ["changing an issuer", "PATCH", "issuer/two", { manual_chain: [] }, { issuer_name: "two" }],
    ["generating a key", "POST", "keys/generate/internal", { key_type: "ec", key_name: "k" }, { key_name: "k" }],
    ["listing keys", "LIST", "keys", undefined, { keys: expect.arrayContaining([expect.stringMatching(/^key-/)]) }],
    ["reading a key", "GET", "key/k", undefined, { key_type: "ec" }],
    ["changing a key", "POST", "key/k", { key_name: "kk" }, { key_name: "kk" }],
    ["setting URLs", "POST", "config/urls", { ocsp_servers: "http://x.test" }, { ocsp_servers: ["http://x.test"] }],
    ["reading URLs", "GET", "config/urls", undefined, { ocsp_servers: ["http://x.test"] }],
    ["setting the issuers", "POST", "config/issuers", { default: "one" }, { default: expect.stringMatching(/^iss-/) }],
    ["reading the issuers' settings", "GET", "config/issuers", undefined, { default_follows_latest_issuer: false }],
    ["setting the keys", "POST", "config/keys", { default: "kk" }, { default: expect.stringMatching(/^key-/) }],
    ["reading the keys' settings", "GET", "config/keys", undefined, { default: expect.stringMatching(/^key-/) }],
    [
      "setting the cluster",
      "POST",
      "config/cluster",
      { path: "https://x.test/v1/pki" },
      { path: "https://x.test/v1/pki" },
    ],
    ["setting EST", "POST", "config/est", { audit_fields: "common_name" }, { audit_fields: ["common_name"] }],
    ["reading the settings of EST", "GET", "config/est", undefined, { enabled: false, audit_fields: ["common_name"] }],
    ["reading the cluster's settings", "GET", "config/cluster", undefined, { path: "https://x.test/v1/pki" }],
    ["configuring lists", "POST", "config/crl", { expiry: "24h" }, { expiry: "24h" }],
    ["reading what is configured", "GET", "config/crl", undefined, { expiry: "24h" }],
    ["rotating lists", "GET", "crl/rotate", undefined, { success: true }],
    ["rotating delta lists", "GET", "crl/rotate-delta", undefined, { success: true }],
    ["signing a list", "POST", "issuer/one/sign-revocation-list", list, { crl: expect.stringContaining("X509 CRL") }],
    ["automatic tidy", "POST", "config/auto-tidy", { enabled: true, tidy_cert_store: true }, { enabled: true }],
    ["reading automatic tidy", "GET", "config/auto-tidy", undefined, { tidy_cert_store: true, safety_buffer: 259_200 }],
    ["tidy status", "GET", "tidy-status", undefined, { state: "Inactive", cert_store_deleted_count: null }],
    ["cancelling what is not going on", "POST", "tidy-cancel", {}, { state: "Inactive" }],
  ]
  test("answers with its data", async () => {
    for (const [title, method, path, body, data] of titled) {
      const answer = await world.pki(method, `/pki/${path}`, body === undefined ? {} : { body })
      expect([title, answer.status, answer.body.errors]).toEqual([title, 200, undefined])
      expect(answer.body.data).toMatchObject(data)
    }
  })

  test("lists revoked certificates, and an empty list for other clusters", async () => {
    const serial_number = await serialNumber()
    await write("revoke", { serial_number })
    expect((await world.pki("LIST", "/pki/certs/revoked")).body.data.keys).toContain(serial_number)
    for (const path of ["certs/revocation-queue", "certs/unified-revoked"])
      expect((await world.pki("LIST", `/pki/${path}`)).body.data).toEqual({ keys: [], key_info: {} })
  })

  test("combines CRLs of the issuer", async () => {
    const { body } = await world.pki("GET", "/pki/cert/crl")
    const combined = await write("issuer/default/resign-crls", { ...list, crls: [body.data.certificate] })
    expect([combined.status, combined.body.errors]).toEqual([200, undefined])
    expect(openssl(["crl", "-in", "list.pem", "-noout", "-crlnumber"], { "list.pem": combined.body.data.crl })).toMatch(
      /7/,
    )
  })

  test("tidies, returns its progress, and is cancelled", async () => {
    for (const _ of [1, 2]) await serialNumber()
    const slow = { tidy_invalid_certs: true, page_size: 1, pause_duration: "1h" }
    const begun = await write("tidy", slow)
    expect([begun.status, begun.body.warnings]).toEqual([202, expect.stringContaining("successfully started")])
    const state = async () => (await world.pki("GET", "/pki/tidy-status")).body.data.state
    expect(await state()).toBe("Running")
    expect((await write("tidy-cancel", {})).body.data.state).toBe("Cancelling")
    await vi.waitFor(async () => expect(await state()).toBe("Cancelled"), 5_000)
  })

  test("serves EST, whose clients need other credentials than a token", async () => {
    expect((await write("config/est", { enabled: true, default_path_policy: "role:web" })).status).toBe(200)
    const statusOf = async (method: string, path: string) =>
      (await world.pki(method, `/pki/${path}`, method === "POST" ? { body: {} } : {})).status
    expect(await statusOf("GET", "est/cacerts")).toBe(200)
    expect(await statusOf("GET", "roles/web/est/cacerts")).toBe(200)
    // The mount has no auth method for clients with a password.
    for (const operation of ["simpleenroll", "simplereenroll", "serverkeygen"])
      expect([operation, await statusOf("POST", `est/${operation}`)]).toEqual([operation, 403])
  })

  test("is rejected with a reason for managed keys", async () => {
    for (const path of ["keys/generate/kms", "root/generate/kms", "intermediate/generate/kms"]) {
      const answer = await write(path, { common_name: "Managed", managed_key_name: "hsm" })
      expect([path, answer.status]).toEqual([path, 400])
      expect(answer.body.errors.join()).toContain("keys outside of this server are not supported")
    }
  })

  test("reads the metadata of a certificate", async () => {
    const { body } = await world.pki("GET", `/pki/cert-metadata/${await serialNumber()}`)
    expect(body.data).toMatchObject({ cert_metadata: "bm90ZQ==", role: "web" })
  })
})

describe("[P-9-p1] no version but the first", () => {
  const ask = (path: string, method = "GET") =>
    world.app.fetch(new Request(`${origin}${path}`, { method, headers: { "x-service-token": world.rootToken } }))

  test.each(["", "/v0", "/v2", "/v3", "/V1", "/v1.0", "/v01", "/v1beta1", "/v", "/1", "/api/v1", "/api/v2"])(
    "answers below %j",
    async (prefix) => {
      for (const path of ["/pki/roles/web", "/sys/health"]) expect((await ask(`${prefix}${path}`)).status).toBe(404)
      expect((await ask(`${prefix}/pki/roles/web`, "DELETE")).status).toBe(404)
      expect((await ask("/v1/pki/roles/web")).status).toBe(200)
    },
  )
})

test.each(["sign/any-key", "issuer/two/sign/any-key", "sign-verbatim", "sign-verbatim/web", "root/sign-intermediate"])(
  "[P-9-n2] a CSR that is signed with SHA-1 is rejected by %s, and one with SHA-256 is accepted",
  async (path) => {
    const request = (digest: string) =>
      openssl([..."req -new -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=www.example.com".split(" "), digest])
    const ask = (digest: string) => write(path, { common_name: "www.example.com", csr: request(digest) })
    const refused = await ask("-sha1")
    expect([refused.status, refused.body]).toEqual([400, { errors: [expect.stringContaining("SHA-1")] }])
    expect((await ask("-sha256")).status).toBe(200)
  },
)
