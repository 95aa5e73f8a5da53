import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { guardedFetch } from "../../engine/src/client/guarded-fetch.ts"
import { webhookPolicyClient } from "../../engine/src/client/policy-client.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { overlay, readPolicyTemplate } from "../../engine/src/pki/external-policy/overlay.ts"
import type { PolicyQuestion, PolicyService } from "../../engine/src/pki/external-policy/policy-client.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
} from "../../engine/src/x509/certification-request.ts"
import { encodeName, formatName } from "../../engine/src/x509/name.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../engine/src/x509/signature-algorithm.ts"
import { signingKey } from "../../engine/src/x509/signing-key.ts"
import { testKeyGenerator } from "../../engine/src/testing/test-keys.ts"
import { type RunningPolicyService, startPolicyService, tlsFile } from "./policy-service.ts"

let running: RunningPolicyService
beforeAll(async () => {
  running = await startPolicyService()
})
afterAll(() => running[Symbol.asyncDispose]())

const key = await testKeyGenerator.generate({ type: "ec", bits: 256 })

async function emptyRequest(): Promise<string> {
  const info = encodeCertificationRequestInfo({
    subject: encodeName([]),
    subjectPublicKeyInfo: key.publicKey.spki,
    extensions: [],
  })
  const signature = await signingKey(key).sign(info, "ECDSAWithSHA256")
  const identifier = signatureAlgorithmIdentifier("ECDSAWithSHA256")
  return writePem("CERTIFICATE REQUEST", assembleCertificationRequest(info, identifier, signature))
}

async function ask(parameters: Readonly<Record<string, unknown>>, change: Partial<PolicyQuestion> = {}) {
  await using guarded = guardedFetch({
    permitted: { kinds: ["loopback"], ranges: [] },
    digest: systemRuntime().digest,
  })
  const service: PolicyService = {
    url: running.url,
    timeoutMs: 10_000,
    trust: { kind: "pinned", certificates: await readFile(tlsFile("server"), "utf8") },
    identity: {
      certificates: await readFile(tlsFile("client"), "utf8"),
      privateKey: await readFile(tlsFile("client-key"), "utf8"),
    },
  }
  return await webhookPolicyClient(guarded.fetch)(service, {
    id: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
    mode: "issue",
    csr: await emptyRequest(),
    parameters: new Map(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)])),
    identity: undefined,
    policyName: "web",
    mountPath: "pki",
    issuer: undefined,
    defaultTtlMs: hourMs,
    maxTtlMs: dayMs,
    ...change,
  })
}

const asked = { common_name: "shop.svc.example", team: "payments" }

test("the example answers with a certificate that may be signed as it is", async () => {
  const answer = await ask(asked)
  expect(answer).toMatchObject({ kind: "allowed", store: true, warnings: [expect.stringContaining("web") as string] })
  const template = readPolicyTemplate(answer.kind === "allowed" ? answer.template : "")
  const content = overlay(template, { mode: "issue", publicKey: key.publicKey, issuer: {} })
  expect(formatName(template.certificate.subjectName)).toBe("OU=payments,CN=shop.svc.example")
  expect(template.values.subjectAltName).toEqual([{ kind: "dns", value: "shop.svc.example" }])
  expect(template.certificate.notAfter - template.certificate.notBefore).toBe(30 * dayMs)
  expect(content.extensions).toHaveLength(5)
})

test.each([
  { why: "a policy nobody wrote", change: { policyName: "toString" }, reason: 'There is no policy "toString".' },
  {
    why: "a host elsewhere",
    parameters: { common_name: "shop.example" },
    reason: "shop.example is not below svc.example.",
  },
  { why: "no team", parameters: { team: 7 }, reason: '"team" must be one of payments, search.' },
  { why: "no host name", parameters: { common_name: "*.svc.example" }, reason: '"common_name" must be a host name.' },
  { why: "an authority", change: { mode: "ica" as const }, reason: "This service makes no certificate authorities." },
])("the example refuses $why with a reason", async ({ change, parameters, reason }) => {
  expect(await ask({ ...asked, ...parameters }, change)).toEqual({ kind: "refused", reason, warnings: [] })
})
