import { execFile } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { guardedFetch } from "../../engine/src/client/outgoing/guarded-fetch.ts"
import { webhookPolicyClient } from "../../engine/src/client/outgoing/policy-client.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { overlay, readPolicyTemplate } from "../../engine/src/pki/external-policy/overlay.ts"
import { pathUnder } from "../../engine/testing/certification-path.ts"
import type { PolicyQuestion, PolicyService } from "../../engine/src/pki/external-policy/external-policy.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
} from "../../engine/src/x509/certification-request.ts"
import { encodeName, formatName } from "../../engine/src/x509/name.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../engine/src/x509/signature-algorithm.ts"
import { signingKey } from "../../engine/src/x509/signing-key.ts"
import { testKeyGenerator } from "../../engine/testing/test-keys.ts"
import { serve, temporaryFolder } from "../cli/chancery.ts"
import { type RunningPolicyService, startPolicyService, tlsFile } from "./policy-service.ts"

const shell = promisify(execFile)

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

const requestValues = { common_name: "shop.svc.example", team: "payments" }

test("the example answers with a certificate that can be signed unchanged", async () => {
  const answer = await ask(requestValues)
  expect(answer).toMatchObject({ kind: "allowed", store: true, warnings: [expect.stringContaining("web") as string] })
  const template = readPolicyTemplate(answer.kind === "allowed" ? answer.template : "")
  const { notBefore: now } = template.certificate
  const mountTtls = { defaultMs: 30 * dayMs, maximumMs: 30 * dayMs }
  const { content } = overlay(template, {
    mode: "issue",
    publicKey: key.publicKey,
    paths: pathUnder(undefined),
    validity: { mountTtls, issuer: undefined, now },
  })
  expect(formatName(template.certificate.subjectName)).toBe("OU=payments,CN=shop.svc.example")
  expect(template.values.subjectAltName).toEqual([{ kind: "dns", value: "shop.svc.example" }])
  expect(template.certificate.notAfter - template.certificate.notBefore).toBe(30 * dayMs)
  expect(content.extensions).toHaveLength(5)
})

test.each([
  { why: "an unknown policy", change: { policyName: "toString" }, reason: 'There is no policy "toString".' },
  {
    why: "a host of another domain",
    parameters: { common_name: "shop.example" },
    reason: "shop.example is not below svc.example.",
  },
  { why: "no team", parameters: { team: 7 }, reason: '"team" must be one of payments, search.' },
  { why: "no host name", parameters: { common_name: "*.svc.example" }, reason: '"common_name" must be a host name.' },
  {
    why: "a CA certificate",
    change: { mode: "ica" as const },
    reason: "This service makes no certificate authorities.",
  },
])("the example rejects $why with a reason", async ({ change, parameters, reason }) => {
  expect(await ask({ ...requestValues, ...parameters }, change)).toEqual({ kind: "refused", reason, warnings: [] })
})

test("its README, typed as written, issues a certificate for a team and rejects another", async () => {
  const readme = await readFile(new URL("../../examples/policy-service/README.md", import.meta.url), "utf8")
  const [prepare = "", ask = ""] = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block ?? "")
  const [makeCertificate = "", startService] = prepare.split(/^(?=npm start)/m)
  expect(startService).toBe(
    'npm start -w examples/policy-service -- --certificate "$PWD/server.pem" --key "$PWD/server-key.pem"\n',
  )
  await using folder = await temporaryFolder()
  const typed = async (script: string) => (await shell("sh", ["-e", "-c", script], { cwd: folder.path })).stdout
  await typed(makeCertificate)
  await using service = await startPolicyService({
    certificate: join(folder.path, "server.pem"),
    key: join(folder.path, "server-key.pem"),
  })
  await using served = await serve(["dev"], { folder: folder.path })
  // Only the ports differ from the written script.
  const script = ask.replace("http://127.0.0.1:8420", served.url).replace("https://localhost:8443/", service.url)

  const answers = (await typed(script)).split(/(?<=\})(?=\{"request_id)/).map((text) => JSON.parse(text) as Answered)
  expect(answers.map(({ data }) => data)).toMatchObject([
    { enabled: true, external_service_url: service.url, timeout: "15s" },
    { private_key_type: "ec", certificate: expect.stringContaining("BEGIN CERTIFICATE") as string },
  ])
  const { subject } = new X509Certificate(answers[1]?.data["certificate"] as string)
  expect(subject).toBe("CN=shop.svc.example\nOU=payments")
  expect(service.stderr()).toContain('"mode":"issue","policy":"web"')

  const refused = (await typed(script.replace("team=payments", "team=nobody"))).split(/(?<=\})(?=\{"errors)/)
  expect(JSON.parse(refused.at(-1) ?? "")).toEqual({ errors: ['"team" must be one of payments, search.'] })
})

interface Answered {
  readonly data: Readonly<Record<string, unknown>>
}
