// What one mount does, end to end, and with which statuses: sections 1, 7 and 9 of the specification.
import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { openssl, verifiesStrictly } from "../../testing/openssl.ts"
import { type Answer, openWorld, origin, type World } from "../../testing/world.ts"
import { oids } from "../../x509/asn1/oids.ts"

let world: World
beforeAll(async () => {
  world = await openWorld()
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

  /** The chain from the certificate to the root that the answer names, as OpenSSL sees it. */
  function verified(answer: Answer): Answer {
    expect([answer.status, answer.body.errors]).toEqual([200, undefined])
    expect(verifiesStrictly(answer.body.data.certificate, answer.body.data.issuing_ca)).toBe(true)
    return answer
  }

  test("generates a key and a certificate for it, by any of them", async () => {
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

  test("signs a request by a role, and a request as it is", async () => {
    const csr = await csrOf("www.example.com")
    expect(subject(verified(await write("sign/web", { ...name, csr })))).toBe("CN=www.example.com")
    expect(subject(verified(await write("sign-verbatim", { csr: await csrOf("anything") })))).toBe("CN=anything")
  })

  test("signs an intermediate CA, and what is self-issued", async () => {
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

  test("revokes what any of them issued", async () => {
    for (const path of ["issue/web", "issuer/two/issue/web"]) {
      const { serial_number } = (await write(path, name)).body.data
      expect((await write("revoke", { serial_number })).status).toBe(200)
      expect((await world.pki("LIST", "/pki/certs/revoked")).body.data.keys).toContain(serial_number)
    }
  })
})

describe("[P-7-p1] an operation", () => {
  const role = { allow_any_name: true, key_type: "ec" }
  /** In order: later ones find what earlier ones leave. */
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
  test("answers with the status of its outcome, and where it is refused with why and no more", async () => {
    for (const [method, path, body, status] of operations) {
      const answer = await world.pki(method, `/pki/${path}`, body === undefined ? {} : { body })
      expect([method, path, answer.status]).toEqual([method, path, status])
      if (status < 400) continue
      expect(answer.headers.get("content-type")).toBe("application/json")
      expect(answer.body).toEqual({ errors: expect.any(Array) })
      for (const error of answer.body.errors) expect(error).toMatch(/\S/)
    }
  })

  test("without a token that is known answers 403, whatever else is wrong", async () => {
    // The list of what is revoked is everybody's to read.
    for (const [method, path, body] of operations.filter((operation) => operation[1] !== "crl"))
      for (const token of [null, "unknown"]) {
        const answer = await world.pki(method, `/pki/${path}`, { token, ...(body === undefined ? {} : { body }) })
        expect([method, path, answer.status]).toEqual([method, path, 403])
        expect(answer.body).toEqual(method === "HEAD" ? undefined : { errors: ["permission denied"] })
      }
  })

  test("that would be done for others answers 403 to whoever may not, and is not done", async () => {
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
  "[P-9-n2] a request that is signed with SHA-1 is refused by %s, and one with SHA-256 is not",
  async (path) => {
    const request = (digest: string) =>
      openssl([..."req -new -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=www.example.com".split(" "), digest])
    const ask = (digest: string) => write(path, { common_name: "www.example.com", csr: request(digest) })
    const refused = await ask("-sha1")
    expect([refused.status, refused.body]).toEqual([400, { errors: [expect.stringContaining("SHA-1")] }])
    expect((await ask("-sha256")).status).toBe(200)
  },
)
