import { X509Certificate } from "node:crypto"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { basicConstraints, keyUsage } from "../../x509/extensions.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import { encodeName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"
import { signingKey } from "../../x509/signing-key.ts"
import {
  type PolicyServer,
  type SeenQuestion,
  startPolicyServer,
  templateFor,
  testTlsPem,
} from "../../../testing/policy-server.ts"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"

let world: TestEngine
let server: PolicyServer
beforeAll(async () => {
  world = await openTestEngine({ outgoing: { kinds: ["loopback"], ranges: [] } })
  server = await startPolicyServer()
  await world.engine.mounts.create({ path: "pki" })
  const { issuers } = world.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Blue Root", keyType: "ec", issuerName: "blue" })
  await issuers.generateRoot({ commonName: "Green Root", keyType: "ec", issuerName: "green" })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const config = (body: object) => world.pki("POST", "/pki/config/external-policy", { body })
beforeEach(async () => {
  const answer = await config({
    enabled: "true",
    external_service_url: server.url,
    trusted_leaf_certificate_bundle: testTlsPem("server"),
    vault_client_cert_bundle: "",
    timeout: "",
  })
  expect(answer.status).toBe(200)
})
afterEach(() => server.answerWith(() => ({ error: "no answer was prepared" })))

const key = await testKeyGenerator.generate({ type: "ec", bits: 256 })
const info = encodeCertificationRequestInfo({
  subject: encodeName([]),
  subjectPublicKeyInfo: key.publicKey.spki,
  extensions: [],
})
const csr = writePem(
  "CERTIFICATE REQUEST",
  assembleCertificationRequest(
    info,
    signatureAlgorithmIdentifier("ECDSAWithSHA256"),
    await signingKey(key).sign(info, "ECDSAWithSHA256"),
  ),
)

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  world.pki("POST", `/pki${path}`, { body, headers })
const allowAll = (more: object = {}) =>
  server.answerWith((question) => ({ certificate: templateFor(question), ...more }))
const lastQuestion = (): SeenQuestion => {
  const last = server.seen.at(-1)
  if (last === undefined) throw new Error("nothing was asked")
  return last
}
const issuerOf = (answer: { body: { data: { issuing_ca: string } } }) =>
  new X509Certificate(answer.body.data.issuing_ca).subject

test("[P-1-n5] [P-4.3-p1] the settings are stored and returned without the private key", async () => {
  const set = await config({
    timeout: "20s",
    trusted_ca: testTlsPem("authority"),
    vault_client_cert_bundle: testTlsPem("client") + testTlsPem("client-key"),
    entity_jmespath: "@",
  })
  const expected = {
    enabled: true,
    external_service_url: server.url,
    timeout: "20s",
    trusted_ca: testTlsPem("authority"),
    trusted_leaf_certificate_bundle: "",
    vault_client_cert_bundle_no_keys: testTlsPem("client"),
    entity_jmespath: "@",
    group_jmespath: "",
    external_service_last_updated: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    external_service_validated: false,
    last_successful_request: expect.any(String) as string,
  }
  expect(set.body.data).toEqual(expected)
  const read = await world.pki("GET", "/pki/config/external-policy")
  expect([read.status, read.body.data]).toEqual([200, expected])
  expect(JSON.stringify(read.body)).not.toContain("PRIVATE")
  const vault = await world.pki("GET", "/pki/config/external-policy", { headers: { "x-vault-request": "true" } })
  expect(vault.body.data.timeout).toBe(20_000_000_000)
  await config({ entity_jmespath: "" })
})

test("the settings of a new mount are the defaults", async () => {
  await world.engine.mounts.create({ path: "bare" })
  const { body } = await world.pki("GET", "/bare/config/external-policy")
  expect(body.data).toEqual({
    enabled: false,
    external_service_url: "",
    timeout: "15s",
    trusted_ca: "",
    trusted_leaf_certificate_bundle: "",
    vault_client_cert_bundle_no_keys: "",
    entity_jmespath: "",
    group_jmespath: "",
    external_service_last_updated: "0001-01-01T00:00:00Z",
    external_service_validated: false,
    last_successful_request: "",
  })
})

test("[P-4.3-p1] invalid settings are rejected with their wire names and change nothing", async () => {
  const { status, body } = await config({
    external_service_url: "http://x",
    vault_client_cert_bundle: testTlsPem("client"),
    entity_jmespath: "a.b",
    timeout: "1h",
  })
  expect([status, body.errors]).toEqual([
    400,
    [
      "vault_client_cert_bundle: must contain exactly one private key; got 0",
      '"external_service_url" must be an https URL without user name, password or fragment',
      '"timeout" must be longer than 0s and not longer than 120s',
      'entity_jmespath: must be "" (send nothing) or "@" (send everything); other expressions are not supported',
    ],
  ])
  const { body: after } = await world.pki("GET", "/pki/config/external-policy")
  expect(after.data.external_service_url).toBe(server.url)
})

test("[P-4.5-r1] [P-4.5-r2] [P-4.5-p1] issue queries the service, which selects the issuer, on all forms of the path", async () => {
  const body = { key_type: "ec", key_bits: "256", ttl: 12, "any thing": { a: [1] } }
  for (const [path, policy, proposed, chosen, issuer] of [
    ["/external-policy/issue", "", "blue", undefined, "CN=Blue Root"],
    ["/external-policy/issue/web", "web", "blue", "green", "CN=Green Root"],
    ["/issuer/green/external-policy/issue", "", "green", undefined, "CN=Green Root"],
    ["/issuer/green/external-policy/issue/web", "web", "green", "blue", "CN=Blue Root"],
  ] as const) {
    allowAll(chosen === undefined ? {} : { issuer_ref: chosen })
    const answer = await post(path, body)
    expect([path, answer.status, issuerOf(answer)]).toEqual([path, 200, issuer])
    expect(answer.body).toMatchObject({ lease_id: "", lease_duration: 0, renewable: false, auth: null, warnings: "" })
    const { document } = lastQuestion()
    expect(document.vault_request_values).toMatchObject({
      policy_name: policy,
      requested_issuer_name: proposed,
      issuance_mode: "issue",
    })
    expect(document.user_request_key_values).toEqual({ ...body, csr: expect.stringContaining("REQUEST") as string })
    const { data } = answer.body
    const certificate = new X509Certificate(data.certificate)
    expect([data.expiration, data.private_key_type, data.serial_number.replaceAll(":", "").toUpperCase()]).toEqual([
      String(certificate.validToDate.getTime() / 1000),
      "ec",
      certificate.serialNumber,
    ])
    expect(data.private_key).toContain("EC PRIVATE KEY")
  }
})

test("unknown parameters are passed to the service unchanged, with every digit", async () => {
  allowAll()
  const text = `{ "key_type":"ec", "ticket": 12345678901234567890, "policy":"mine", "csr": "not this", "deep": {"x": [1.50, null]} }`
  const { status, body } = await post("/external-policy/issue/web", text)
  expect([status, body.warnings]).toEqual([200, ""])
  const { text: sent, document } = lastQuestion()
  expect(sent).toContain('"ticket":12345678901234567890,"policy":"mine"')
  expect(sent).toContain('"deep":{"x": [1.50, null]}')
  expect(document.user_request_key_values.csr).toContain("BEGIN CERTIFICATE REQUEST")
  await post("/external-policy/issue", "key_type=ec&team=a&team=b", {
    "content-type": "application/x-www-form-urlencoded",
  })
  expect(lastQuestion().document.user_request_key_values).toMatchObject({ key_type: "ec", team: ["a", "b"] })
})

test("keys are RSA unless another type is requested, and the formats are those of issue", async () => {
  allowAll()
  const usual = await post("/external-policy/issue", {})
  expect(usual.body.data).toMatchObject({
    private_key_type: "rsa",
    private_key: expect.stringContaining("RSA PRIVATE KEY") as string,
  })
  const der = await post("/external-policy/issue", { key_type: "ed25519", format: "der" })
  expect(new X509Certificate(Buffer.from(der.body.data.certificate, "base64")).publicKey.asymmetricKeyType).toBe(
    "ed25519",
  )
  const bundle = await post("/external-policy/issue", {
    key_type: "ec",
    format: "pem_bundle",
    private_key_format: "pkcs8",
    remove_roots_from_chain: true,
  })
  expect(bundle.body.data.certificate).toMatch(/^-----BEGIN EC PRIVATE KEY-----[^]+-----BEGIN CERTIFICATE-----/)
  expect([bundle.body.data.ca_chain, bundle.body.data.private_key]).toEqual([
    [],
    expect.stringContaining("BEGIN PRIVATE KEY") as string,
  ])
})

test("[P-4.7-p1] sign certifies the key of the CSR, on all forms of the path, without a private key", async () => {
  for (const [path, policy, issuer] of [
    ["/external-policy/sign", "", "CN=Blue Root"],
    ["/external-policy/sign/web", "web", "CN=Blue Root"],
    ["/issuer/green/external-policy/sign", "", "CN=Green Root"],
    ["/issuer/green/external-policy/sign/web", "web", "CN=Green Root"],
  ] as const) {
    allowAll()
    const answer = await post(path, { csr, common_name: "x" })
    expect([path, answer.status, issuerOf(answer)]).toEqual([path, 200, issuer])
    expect(answer.body).toMatchObject({ lease_id: "", lease_duration: 0 })
    expect(Object.keys(answer.body.data).toSorted()).toEqual([
      "ca_chain",
      "certificate",
      "expiration",
      "issuing_ca",
      "not_before",
      "serial_number",
    ])
    expect(new X509Certificate(answer.body.data.certificate).checkPrivateKey(key.keyObject())).toBe(true)
    const { document } = lastQuestion()
    expect(document.user_request_key_values).toEqual({ csr: `${csr}\n`, common_name: "x" })
    expect(document.vault_request_values).toMatchObject({ policy_name: policy, issuance_mode: "sign" })
  }
})

test("[P-4.9-p1] sign-intermediate certifies a CA, on all forms of the path", async () => {
  const extensions = [basicConstraints({ isCa: true }), keyUsage(["keyCertSign", "cRLSign"])]
  for (const path of ["/external-policy/sign-intermediate", "/issuer/green/external-policy/sign-intermediate/sub"]) {
    server.answerWith((question) => ({ certificate: templateFor(question, { extensions }) }))
    const answer = await post(path, { csr, private_key_format: "pem" })
    expect(answer.status).toBe(200)
    expect(new X509Certificate(answer.body.data.certificate).ca).toBe(true)
    expect(answer.body).toMatchObject({
      lease_id: "",
      lease_duration: 0,
      data: { expiration: expect.any(String) as string },
    })
    expect(lastQuestion().document.vault_request_values.issuance_mode).toBe("ica")
  }
})

test("the service decides if a certificate is stored, and stored ones can be read and revoked", async () => {
  const serialOf = async (store: boolean): Promise<string> => {
    allowAll({ store_certificate: store })
    return (await post("/external-policy/sign", { csr })).body.data.serial_number
  }
  const kept = await serialOf(true)
  expect((await world.pki("GET", `/pki/cert/${kept}`)).body.data.revocation_time).toBe(0)
  expect((await post("/revoke", { serial_number: kept })).body.data.revocation_time).toBeGreaterThan(0)
  expect((await world.pki("GET", `/pki/cert/${await serialOf(false)}`)).status).toBe(404)
})

describe("a rejected request", () => {
  test.each<{ why: string; answer: object; status: number; errors: readonly unknown[] }>([
    {
      why: "in the service's words is 400 with them",
      answer: { error: "not on Fridays" },
      status: 400,
      errors: ["not on Fridays"],
    },
    {
      why: "by no decision is 503",
      answer: {},
      status: 503,
      errors: ['The external policy service gave no decision: its answer has neither "certificate" nor "error".'],
    },
    {
      why: "because of what the service answered is 400",
      answer: { certificate: "hello" },
      status: 400,
      errors: [expect.stringMatching(/^The certificate from the external policy service is refused: /)],
    },
  ])("$why", async ({ answer, status, errors }) => {
    server.answerWith(() => answer)
    const refused = await post("/external-policy/sign", { csr })
    expect([refused.status, refused.body.errors]).toEqual([status, errors])
  })

  test("is not sent to the service", async () => {
    const before = server.seen.length
    for (const [path, body, status, error] of [
      ["/external-policy/sign", {}, 400, '"csr" is empty'],
      ["/external-policy/sign", { csr: "x" }, 400, "csr contains no data"],
      ["/external-policy/issue", { key_type: "dsa" }, 400, 'key_type: unknown key type "dsa"'],
      [
        "/external-policy/issue",
        { key_type: "ec", format: "jks" },
        400,
        '"format" must be "pem", "der" or "pem_bundle"',
      ],
      ["/issuer/red/external-policy/sign", { csr }, 404, "unable to find PKI issuer for reference: red"],
    ] as const) {
      const answer = await post(path, body)
      expect([path, answer.status, answer.body.errors]).toEqual([path, status, [error]])
    }
    await config({ enabled: false })
    const disabled = await post("/external-policy/sign", { csr })
    expect([disabled.status, disabled.body.errors]).toEqual([400, ["external policy is not enabled on this mount"]])
    expect(server.seen).toHaveLength(before)
  })

  test("includes one that is too long for the service", async () => {
    expect((await post("/external-policy/sign", { csr, padding: "x".repeat(1024 * 1024) })).status).toBe(413)
  })

  test("includes every request without a token", async () => {
    for (const path of ["/external-policy/sign", "/config/external-policy"])
      expect((await world.pki("POST", `/pki${path}`, { token: null, body: { csr } })).status).toBe(403)
  })
})
