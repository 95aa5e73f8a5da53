import { readFile } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type ServerOptions } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { EngineError } from "../../core/errors.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs } from "../../core/time.ts"
import type { PolicyQuestion, PolicyService } from "../../pki/external-policy/external-policy.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { webhookPolicyClient } from "./policy-client.ts"

const pem = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const authority = await pem("authority")
const server = { cert: await pem("server"), key: await pem("server-key") }
const identity = { certificates: await pem("client"), privateKey: await pem("client-key") }

const question: PolicyQuestion = {
  id: "0f5c2e0c-6f52-4a8b-9d8c-1f6f3b2a7c11",
  mode: "sign",
  csr: "-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n",
  parameters: new Map([
    ["csr", '"what the caller wrote"'],
    ["common_name", '"a.example"'],
    ["ticket", "12345678901234567890"],
    ["nested", '{ "a": [1.0, null] }'],
  ]),
  identity: { entityId: "user-1", entity: { id: "user-1", name: "alice" }, groups: [{ id: "team-1", name: "ops" }] },
  policyName: "web",
  mountPath: "pki/inner",
  issuer: {
    id: "iss-1",
    name: "blue",
    certificate: "-----BEGIN CERTIFICATE-----",
    urls: {
      issuingCertificates: ["http://ca.example/der"],
      crlDistributionPoints: [],
      deltaCrlDistributionPoints: [],
      ocspServers: ["http://ca.example/ocsp"],
    },
    leafNotAfterBehavior: "truncate",
  },
  defaultTtlMs: 32 * dayMs,
  maxTtlMs: 90 * 60_000 + 5_000,
}

type Seen = { headers: IncomingMessage["headers"]; method: string | undefined; text: string }

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

async function serving(answer: (response: ServerResponse, seen: Seen) => void, options: ServerOptions = {}) {
  const seen: Seen[] = []
  const policy = createServer({ ...server, ...options }, (request, response) => {
    let text = ""
    request.on("data", (piece) => (text += String(piece)))
    request.on("end", () => {
      const one = { headers: request.headers, method: request.method, text }
      seen.push(one)
      answer(response, one)
    })
  })
  policy.on("tlsClientError", () => undefined)
  await new Promise<void>((resolve) => policy.listen(0, "127.0.0.1", resolve))
  opened.push(() => {
    policy.closeAllConnections()
    policy.close()
  })
  const service: PolicyService = {
    url: `https://localhost:${(policy.address() as AddressInfo).port}/evaluate`,
    timeoutMs: 5_000,
    trust: { kind: "authorities", certificates: authority },
  }
  return { service, seen }
}

function client() {
  const guarded = guardedFetch({
    permitted: { kinds: ["loopback"], ranges: [] },
    digest: systemRuntime().digest,
  })
  opened.push(() => guarded[Symbol.asyncDispose]())
  return webhookPolicyClient(guarded.fetch)
}

const json =
  (document: unknown, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(document))

const allowed = { request_uuid: question.id, certificate: "template", issuer_ref: "blue" }

test("the request is sent by POST in the format of the webhook, with the caller's parameters unchanged", async () => {
  const { service, seen } = await serving(json(allowed))
  await client()(service, question)
  const [{ headers, method, text }] = seen as [Seen]
  expect([method, headers["content-type"]]).toEqual(["POST", "application/json"])
  expect(JSON.parse(text)).toEqual({
    request_version: 1,
    request_uuid: question.id,
    synchronous: true,
    user_request_key_values: {
      csr: question.csr,
      common_name: "a.example",
      ticket: 12345678901234567000,
      nested: { a: [1, null] },
    },
    identity_request_key_values: {
      entity_id: "user-1",
      entity: { id: "user-1", name: "alice" },
      groups: [{ id: "team-1", name: "ops" }],
    },
    vault_request_values: {
      policy_name: "web",
      mount: "pki/inner/",
      ns: "",
      namespace: "",
      vault_is_performance_standby: false,
      vault_is_performance_secondary: false,
      issuance_mode: "sign",
      vault_generated_private_key: false,
      requested_issuer_name: "blue",
      requested_issuer_id: "iss-1",
      requested_issuer_cert: "-----BEGIN CERTIFICATE-----",
      requested_issuance_config: {
        aia_values: {
          issuing_certificates: ["http://ca.example/der"],
          crl_distribution_points: [],
          delta_crl_distribution_points: [],
          ocsp_servers: ["http://ca.example/ocsp"],
        },
        leaf_not_after_behavior: "truncate",
        mount_default_ttl: "768h0m0s",
        mount_max_ttl: "1h30m5s",
      },
    },
  })
  expect(text).toContain('"ticket":12345678901234567890,"nested":{ "a": [1.0, null] }')
  expect(text.match(/"csr":/g)).toHaveLength(1)
})

test("absent members of the caller are omitted, and a mount without default issuer proposes none", async () => {
  const { service, seen } = await serving(json(allowed))
  await client()(service, { ...question, mode: "issue", identity: undefined, issuer: undefined })
  const { vault_request_values: trusted, ...rest } = JSON.parse(seen[0]?.text ?? "") as Record<string, object>
  expect(rest).not.toHaveProperty("identity_request_key_values")
  expect(trusted).toMatchObject({
    vault_generated_private_key: true,
    requested_issuer_name: "",
    requested_issuer_id: "",
    requested_issuer_cert: "",
  })
})

test.each([
  {
    why: "only a certificate",
    document: { request_uuid: question.id, certificate: "template" },
    decision: { kind: "allowed", template: "template", issuerRef: undefined, store: false, lease: false, warnings: [] },
  },
  {
    why: "all members",
    document: { ...allowed, error: "", warnings: ["old"], store_certificate: true, generate_lease: true },
    decision: { kind: "allowed", template: "template", issuerRef: "blue", store: true, lease: true, warnings: ["old"] },
  },
  {
    why: "the empty members of a Go service",
    document: { ...allowed, error: "", warnings: null, issuer_ref: "", store_certificate: false },
    decision: { kind: "allowed", template: "template", issuerRef: undefined, store: false, lease: false, warnings: [] },
  },
  {
    why: "a certificate and an error, which is a warning",
    document: { ...allowed, error: "nearly not", warnings: ["old"] },
    decision: {
      kind: "allowed",
      template: "template",
      issuerRef: "blue",
      store: false,
      lease: false,
      warnings: ["old", "nearly not"],
    },
  },
  {
    why: "an error",
    document: { request_uuid: question.id, error: "not on Fridays", certificate: "", warnings: ["old"] },
    decision: { kind: "refused", reason: "not on Fridays", warnings: ["old"] },
  },
])("a response with $why is decoded", async ({ document, decision }) => {
  const { service } = await serving(json(document))
  expect(await client()(service, question)).toEqual(decision)
})

const failing = async (service: PolicyService): Promise<EngineError> =>
  client()(service, question).then(
    () => {
      throw new Error("decided")
    },
    (error: EngineError) => error,
  )

describe("an invalid response gives no decision when it", () => {
  test.each([
    {
      why: "another id",
      answer: json({ ...allowed, request_uuid: "x" }),
      detail: 'its answer contains a "request_uuid" other than that of the request',
    },
    { why: "no id", answer: json({ certificate: "template" }), detail: 'its answer has an invalid "request_uuid"' },
    {
      why: "neither certificate nor error",
      answer: json({ request_uuid: question.id }),
      detail: 'its answer has neither "certificate" nor "error"',
    },
    {
      why: "an unknown member",
      answer: json({ ...allowed, store_certificat: true }),
      detail: "its answer contains an unknown member: store_certificat",
    },
    {
      why: "a member of the wrong type",
      answer: json({ ...allowed, store_certificate: "yes" }),
      detail: 'its answer has an invalid "store_certificate"',
    },
    { why: "an array as document", answer: json([allowed]), detail: "its answer is not a JSON object" },
    {
      why: "a body that is not JSON",
      answer: (response: ServerResponse) => void response.end("<html>"),
      detail: "its answer is not JSON",
    },
    { why: "the status 201", answer: json(allowed, 201), detail: "it answered with status 201 instead of 200" },
    {
      why: "the status 500 and a body with a secret",
      answer: json({ secret: "hunter2" }, 500),
      detail: "it answered with status 500 instead of 200",
    },
    {
      why: "a redirect as answer",
      answer: json(allowed, 307, { location: "/elsewhere" }),
      detail: "it answered with status 307 instead of 200",
    },
    {
      why: "a body over the limit",
      answer: (response: ServerResponse) => void response.end("x".repeat(1024 * 1024 + 1)),
      detail: "sent more than 1048576 bytes",
    },
  ])("has $why", async ({ answer, detail }) => {
    const { service, seen } = await serving(answer)
    const error = await failing(service)
    expect(error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`gave no decision: `) as string,
    })
    expect(error.message).toContain(detail)
    expect(error.message).not.toContain("hunter2")
    expect(seen).toHaveLength(1)
  })

  test("is a timeout", async () => {
    const { service } = await serving(() => undefined)
    expect(await failing({ ...service, timeoutMs: 200 })).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /^The external policy service gave no decision: https:.* did not answer within 200 ms\.$/,
      ) as string,
    })
  })

  test("has an untrusted certificate", async () => {
    const { service, seen } = await serving(json(allowed))
    const error = await failing({ ...service, trust: { kind: "pinned", certificates: authority } })
    expect(error).toMatchObject({ code: "unavailable" })
    expect(seen).toEqual([])
  })
})

test("a service that requires a client certificate receives the mount's, and rejects other clients", async () => {
  const { service, seen } = await serving(json(allowed), { ca: authority, requestCert: true, rejectUnauthorized: true })
  expect(await failing(service)).toMatchObject({ code: "unavailable" })
  expect(seen).toEqual([])
  expect(await client()({ ...service, identity }, question)).toMatchObject({ kind: "allowed" })
})
