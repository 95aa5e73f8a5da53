import { X509Certificate } from "node:crypto"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { fullAccess } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { hourMs } from "../../core/time.ts"
import { oids } from "../../x509/asn1/oids.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../../x509/certification-request.ts"
import {
  authorityKeyIdentifier,
  basicConstraints,
  keyUsage,
  parseExtensionValues,
  subjectAltName,
} from "../../x509/extensions.ts"
import { encodeName, formatName } from "../../x509/name.ts"
import { writePem } from "../../x509/pem.ts"
import { readSigningRequest } from "../issuance/issue-request.ts"
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
import { PolicyPending, type PolicyRequest } from "./external-policy.ts"

const loopback = { kinds: ["loopback"], ranges: [] } as const

let testEngine: TestEngine
let server: PolicyServer
beforeAll(async () => {
  testEngine = await openTestEngine({ outgoing: loopback })
  server = await startPolicyServer({ clients: true })
  await testEngine.engine.mounts.create({
    path: "pki",
    config: { defaultLeaseTtlMs: hourMs, maxLeaseTtlMs: 2 * hourMs },
  })
  const { issuers } = testEngine.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Blue Root", keyType: "ec", issuerName: "blue", ttlMs: 2 * hourMs })
  await issuers.generateRoot({ commonName: "Green Root", keyType: "ec", issuerName: "green", ttlMs: 2 * hourMs })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await testEngine[Symbol.asyncDispose]()
})

const pki = () => testEngine.engine.pki("pki").externalPolicy

beforeEach(() =>
  pki().configure({
    enabled: true,
    externalServiceUrl: server.url,
    trustedCa: testTlsPem("authority"),
    clientCertBundle: testTlsPem("client") + testTlsPem("client-key"),
    timeoutMs: 0,
    entityJmespath: "",
    groupJmespath: "",
  }),
)
afterEach(() => server.answerWith(() => ({ error: "no answer was prepared" })))

const questions = (change: Partial<PolicyRequest> = {}): PolicyRequest => ({
  parameters: new Map([["common_name", '"a.example"']]),
  ...change,
})
const lastQuestion = (): SeenQuestion => {
  const last = server.seen.at(-1)
  if (last === undefined) throw new Error("nothing was asked")
  return last
}
const read = (der: Uint8Array) => {
  const certificate = parseCertificate(der)
  return { ...certificate, values: parseExtensionValues(certificate.extensions) }
}
const common = (der: Uint8Array) => formatName(read(der).subjectName)

const key = await testKeyGenerator.generate({ type: "ec", bits: 256 })

async function request(): Promise<string> {
  const info = encodeCertificationRequestInfo({
    subject: encodeName([[{ type: oids.commonName, value: "asked.example" }]]),
    subjectPublicKeyInfo: key.publicKey.spki,
    extensions: [],
  })
  const signature = await signingKey(key).sign(info, "ECDSAWithSHA256")
  return writePem(
    "CERTIFICATE REQUEST",
    assembleCertificationRequest(info, signatureAlgorithmIdentifier("ECDSAWithSHA256"), signature),
  )
}

test("issue generates the key, sends the service an empty CSR and signs the returned certificate", async () => {
  server.answerWith((question) => ({
    certificate: templateFor(question, {
      extensions: [authorityKeyIdentifier(Uint8Array.of(1)), keyUsage(["digitalSignature"])],
    }),
    store_certificate: true,
    warnings: ["think twice"],
  }))
  const issued = await pki().issue({ ...questions({ policy: "web" }), keyType: "ec" })
  const { document, client } = lastQuestion()
  const { request: csr } = readSigningRequest(document.user_request_key_values.csr)
  expect([csr.subjectName, csr.extensions, client]).toEqual([[], [], "chancery test client"])
  expect(document.vault_request_values).toMatchObject({
    policy_name: "web",
    mount: "pki/",
    issuance_mode: "issue",
    vault_generated_private_key: true,
    requested_issuer_name: "blue",
    requested_issuance_config: { leaf_not_after_behavior: "err", mount_default_ttl: "1h0m0s", mount_max_ttl: "2h0m0s" },
  })

  const certificate = new X509Certificate(issued.certificate)
  const root = new X509Certificate(issued.issuingCa)
  expect([certificate.verify(root.publicKey), certificate.checkIssued(root)]).toEqual([true, true])
  expect(issued.privateKey && certificate.checkPrivateKey(issued.privateKey.keyObject())).toBe(true)
  expect(common(issued.issuingCa)).toBe("CN=Blue Root")
  const { values, serialNumber } = read(issued.certificate)
  expect(values.authorityKeyIdentifier?.keyIdentifier).toEqual(read(issued.issuingCa).values.subjectKeyIdentifier)
  expect(serialNumber.length).toBeGreaterThan(8)
  expect(issued.warnings).toContain("think twice")
})

test("sign certifies the key of the CSR and sends the CSR to the service", async () => {
  server.answerWith((question) => ({
    certificate: templateFor(question, {
      commonName: "decided.example",
      extensions: [subjectAltName([{ kind: "dns", value: "decided.example" }], { critical: false })],
    }),
  }))
  const issued = await pki().sign({ ...questions(), csr: await request() })
  expect(lastQuestion().document.vault_request_values).toMatchObject({
    issuance_mode: "sign",
    vault_generated_private_key: false,
    policy_name: "",
  })
  const { request: csr } = readSigningRequest(lastQuestion().document.user_request_key_values.csr)
  expect(formatName(csr.subjectName)).toBe("CN=asked.example")
  expect(common(issued.certificate)).toBe("CN=decided.example")
  expect(Buffer.compare(read(issued.certificate).subjectPublicKeyInfo, key.publicKey.spki)).toBe(0)
  expect(issued.privateKey).toBeUndefined()
})

test("only sign-intermediate issues CA certificates", async () => {
  const extensions = [basicConstraints({ isCa: true }), keyUsage(["keyCertSign", "cRLSign"])]
  server.answerWith((question) => ({ certificate: templateFor(question, { extensions }) }))
  const issued = await pki().signIntermediate({ ...questions(), csr: await request() })
  expect(read(issued.certificate).values.basicConstraints).toEqual({ isCa: true })
  expect(lastQuestion().document.vault_request_values.issuance_mode).toBe("ica")
  await expect(pki().sign({ ...questions(), csr: await request() })).rejects.toMatchObject({
    code: "unprocessable",
    message: expect.stringContaining("use sign-intermediate") as string,
  })
})

describe("the issuer", () => {
  test.each([
    {
      why: "is the default when neither the path nor the service names one",
      path: undefined,
      answer: undefined,
      proposed: "blue",
      issuer: "Blue Root",
    },
    {
      why: "of the path is sent to the service, and signs",
      path: "green",
      answer: undefined,
      proposed: "green",
      issuer: "Green Root",
    },
    {
      why: "of the response signs, whatever the path names",
      path: "green",
      answer: "blue",
      proposed: "green",
      issuer: "Blue Root",
    },
    {
      why: 'of the response may be "default"',
      path: "green",
      answer: "default",
      proposed: "green",
      issuer: "Blue Root",
    },
  ])("$why", async ({ path, answer, proposed, issuer }) => {
    server.answerWith((question) => ({
      certificate: templateFor(question),
      ...(answer === undefined ? {} : { issuer_ref: answer }),
    }))
    const issued = await pki().sign({
      ...questions(path === undefined ? {} : { issuerRef: path }),
      csr: await request(),
    })
    expect(lastQuestion().document.vault_request_values.requested_issuer_name).toBe(proposed)
    expect(common(issued.issuingCa)).toBe(`CN=${issuer}`)
  })

  test("that does not exist is rejected when the service names it, and before the service is called when the path names it", async () => {
    server.answerWith((question) => ({ certificate: templateFor(question), issuer_ref: "red" }))
    const refused = pki().sign({ ...questions(), csr: await request() })
    await expect(refused).rejects.toMatchObject({
      code: "unprocessable",
      message: expect.stringContaining("red") as string,
    })
    const before = server.seen.length
    const unknown = pki().sign({ ...questions({ issuerRef: "red" }), csr: await request() })
    await expect(unknown).rejects.toMatchObject({ code: "not-found" })
    expect(server.seen).toHaveLength(before)
  })
})

test("a certificate that would outlive its issuer is rejected by the default leaf_not_after_behavior", async () => {
  const notAfter = Date.now() + 3 * hourMs
  server.answerWith((question) => ({ certificate: templateFor(question, { notAfter }) }))
  await expect(pki().sign({ ...questions(), csr: await request() })).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("beyond the expiration of the CA certificate") as string,
  })
})

test("a rejection by the service has the text of the service, and a certificate for another key is rejected", async () => {
  server.answerWith(() => ({ error: "not on Fridays" }))
  await expect(pki().sign({ ...questions(), csr: await request() })).rejects.toMatchObject({
    code: "unprocessable",
    message: "not on Fridays",
  })
  const other = await testKeyGenerator.generate({ type: "ed25519" })
  server.answerWith((question) => ({ certificate: templateFor(question, { publicKey: other.publicKey.spki }) }))
  await expect(pki().sign({ ...questions(), csr: await request() })).rejects.toMatchObject({
    message: expect.stringContaining("its public key differs from that of the request") as string,
  })
})

test("a request that the service has not decided fails with the time to repeat it", async () => {
  server.answerWith(() => ({ decision: "pending", retry_after: 90 }))
  const refused = pki().sign({ ...questions(), csr: await request() })
  await expect(refused).rejects.toBeInstanceOf(PolicyPending)
  await expect(refused).rejects.toMatchObject({ code: "pending", retryAfterMs: 90_000 })
  const answer = await testEngine.pki("POST", "/pki/external-policy/sign", { body: { csr: await request() } })
  expect(answer).toMatchObject({ status: 503, body: { errors: [expect.stringContaining("has not decided yet")] } })
  expect(answer.headers.get("retry-after")).toBe("90")
})

test("requests fail when the service is disabled or unreachable", async () => {
  await pki().configure({ externalServiceUrl: "https://127.0.0.1:1/" })
  await expect(pki().sign({ ...questions(), csr: await request() })).rejects.toMatchObject({
    code: "unavailable",
    message: "The external policy service gave no decision: https://127.0.0.1:1 cannot be reached (ECONNREFUSED).",
  })
  await pki().configure({ enabled: false })
  const before = server.seen.length
  await expect(pki().issue(questions())).rejects.toMatchObject({
    code: "unprocessable",
    message: "external policy is not enabled on this mount",
  })
  expect(server.seen).toHaveLength(before)
})

test.each([
  { why: "an unknown type of key", input: { keyType: "dsa" }, field: "keyType" },
  { why: "an unsupported key size", input: { keyType: "ec", keyBits: 300 }, field: "keyBits" },
  { why: "a key too small", input: { keyType: "rsa", keyBits: 1024 }, field: "keyBits" },
])("$why is rejected before the service is called", async ({ input, field }) => {
  const before = server.seen.length
  await expect(pki().issue({ ...questions(), ...input })).rejects.toMatchObject({
    code: "invalid",
    faults: [{ field: [field] }],
  })
  expect(server.seen).toHaveLength(before)
})

describe("the identity of the caller", () => {
  const identityOf = async (engine = testEngine.engine as { pki: TestEngine["engine"]["pki"] }) => {
    server.answerWith(() => ({ error: "no" }))
    await engine
      .pki("pki")
      .externalPolicy.sign({ ...questions(), csr: await request() })
      .catch(() => undefined)
    return lastQuestion().document.identity_request_key_values
  }
  const user = () => {
    const { caller } = testEngine.engine
    if (caller.kind !== "user") throw new Error("not a user")
    return caller
  }

  test("is sent as an id only unless the mount sends more", async () => {
    const { userId } = user()
    expect(await identityOf()).toEqual({ entity_id: userId })
    await pki().configure({ entityJmespath: "@", groupJmespath: "@" })
    expect(await identityOf()).toEqual({
      entity_id: userId,
      entity: { id: userId, name: "root", metadata: {}, aliases: {} },
      groups: [],
    })
  })

  test("is sent with the teams of a user, and as the team for a team token", async () => {
    await pki().configure({ entityJmespath: "@", groupJmespath: "@" })
    await testEngine.engine.organizations.create({ name: "acme", email: "a@example.com" })
    const team = await testEngine.engine.teams.create("acme", { name: "ops" })
    const group = { id: team.id, name: "ops" }
    const { id: organizationId } = await testEngine.engine.organizations.get("acme")
    const membership = { owner: false, teams: [team.id], access: team.access }
    const member = { ...user(), memberships: new Map([[organizationId, membership]]) } as unknown as Caller
    expect((await identityOf(testEngine.engine.as(member))).groups).toEqual([group])
    const ofTeam = {
      kind: "team",
      tokenId: "at-1",
      teamId: team.id,
      organizationId,
      membership,
      acl: fullAccess,
    } as unknown as Caller
    expect(await identityOf(testEngine.engine.as(ofTeam))).toMatchObject({
      entity_id: team.id,
      entity: group,
      groups: [group],
    })
  })

  test("is empty for a service token", async () => {
    const caller: Caller = { kind: "service", tokenId: "at-1", acl: fullAccess }
    expect(await identityOf(testEngine.engine.as(caller))).toBeUndefined()
  })
})

test("the settings show whether a request succeeded, and reset it when they change", async () => {
  expect(await pki().get()).toMatchObject({ validated: false })
  server.answerWith(() => ({ error: "no" }))
  await pki()
    .sign({ ...questions(), csr: await request() })
    .catch(() => undefined)
  const worked = await pki().get()
  expect(worked).toMatchObject({ validated: true, lastSuccessfulRequest: expect.any(Number) as number })
  await new Promise((resolve) => setTimeout(resolve, 2))
  expect(await pki().configure({ timeoutMs: 5_000 })).toMatchObject({
    validated: false,
    lastSuccessfulRequest: worked.lastSuccessfulRequest,
    settings: { timeoutMs: 5_000, updatedAt: expect.any(Number) as number },
  })
})

test("each path requires its own capability", async () => {
  const engine = testEngine.engine.as({
    kind: "service",
    tokenId: "at-1",
    acl: {
      kind: "paths",
      policies: [],
      patterns: [],
      exact: new Map([["pki/external-policy/sign/web", new Set(["update"] as const)]]),
    },
  })
  const { externalPolicy } = engine.pki("pki")
  const csr = await request()
  server.answerWith((question) => ({ certificate: templateFor(question) }))
  await expect(externalPolicy.sign({ ...questions({ policy: "web" }), csr })).resolves.toMatchObject({
    privateKey: undefined,
  })
  for (const forbidden of [
    externalPolicy.sign({ ...questions(), csr }),
    externalPolicy.sign({ ...questions({ policy: "db" }), csr }),
    externalPolicy.sign({ ...questions({ policy: "web", issuerRef: "blue" }), csr }),
    externalPolicy.issue(questions({ policy: "web" })),
    externalPolicy.signIntermediate({ ...questions({ policy: "web" }), csr }),
    externalPolicy.get(),
    externalPolicy.configure({}),
  ])
    await expect(forbidden).rejects.toMatchObject({ code: "forbidden" })
})
