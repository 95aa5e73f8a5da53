import { execFileSync } from "node:child_process"
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sql } from "kysely"
import { describe, expect, onTestFinished, test } from "vitest"
import { openDatabase } from "../../storage/sql/database.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { parseSigned } from "../../x509/signed.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "../../../testing/test-engine.ts"

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-audit-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function auditedEngine(options: TestEngineOptions = {}) {
  const auditFile = join(await temporaryFolder(), "audit.log")
  const testEngine = await openTestEngine({ ...options, auditFile })
  onTestFinished(() => testEngine[Symbol.asyncDispose]())
  const text = () => readFileSync(auditFile, "utf8")
  // oxlint-disable-next-line typescript/no-explicit-any
  const entries = (): any[] =>
    text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
  return { ...testEngine, text, entries }
}

/** Creates a database with an authority, without an audit log, and returns its URL. */
async function preparedStore(): Promise<string> {
  const place = await defaultSharedKind.place()
  onTestFinished(() => place[Symbol.asyncDispose]())
  const { url } = place
  await using testEngine = await openTestEngine({ url })
  await prepare(testEngine)
  return url
}

async function prepare({ pki, engine }: TestEngine): Promise<void> {
  expect((await pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })).status).toBe(204)
  await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
  expect(
    (await pki("POST", "/pki/roles/web", { body: { allow_any_name: true, key_type: "ec", ttl: "1h" } })).status,
  ).toBe(200)
}

/** Counts the stored certificates. A mount that has signed nothing else has one, the root. */
async function certificateCount(url: string): Promise<number> {
  await using database = await openDatabase(url)
  const query = sql<{ count: number }>`select count(*) as count from certificates`
  return (await database.read((session) => session.queryOne(query)))?.count ?? 0
}

async function serviceToken({ engine }: TestEngine): Promise<{ readonly private: string }> {
  return { private: (await engine.serviceTokens.create({ policies: ["root"] })).secret }
}

const generateKey = (): string => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return privateKey.export({ type: "pkcs8", format: "pem" })
}

function csrOf(privateKey: string, commonName: string): string {
  const folder = mkdtempSync(join(tmpdir(), "chancery-csr-"))
  try {
    const file = join(folder, "key.pem")
    writeFileSync(file, privateKey)
    return execFileSync("openssl", ["req", "-new", "-key", file, "-subj", `/CN=${commonName}`], { encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const form = { "content-type": "application/x-www-form-urlencoded" }

describe("a request of the certificate API", () => {
  test("is recorded with hashed data before its response, and so is its outcome", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    const role = { allowed_domains: "secret.example.com", max_ttl: 3600, metadata: { owner: "carol" } }
    await testEngine.pki("POST", "/pki/roles/api", { body: role })
    const [request, response] = testEngine.entries().slice(-2)
    expect(request).toMatchObject({
      type: "request",
      method: "POST",
      path: "/v1/pki/roles/api",
      operation: "write",
      mount: "pki",
      caller: { kind: "user", policies: ["root"] },
      data: { allowed_domains: testEngine.engine.audit.hash("secret.example.com"), max_ttl: 3600 },
    })
    expect(response).toMatchObject({ type: "response", request_id: request.request_id, status: 200 })
    for (const secret of ["secret.example.com", "carol", testEngine.rootToken])
      expect(testEngine.text()).not.toContain(secret)
  })

  test("is recorded in plain text for the keys that its mount exempts", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    const config = { audit_non_hmac_request_keys: ["allowed_domains"] }
    await testEngine.pki("POST", "/sys/mounts/pki/tune", { body: config })
    await testEngine.pki("POST", "/pki/roles/api", {
      body: { allowed_domains: "plain.example.com", issuer_ref: "hidden" },
    })
    expect(testEngine.text()).toContain('"allowed_domains":"plain.example.com"')
    expect(testEngine.text()).not.toContain('"hidden"')
  })

  test("is recorded with the reason when it is rejected, and an unknown token as its hash", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    await testEngine.pki("POST", "/pki/roles/web", { token: "s.sesame", body: {} })
    await expect.poll(() => testEngine.entries().at(-1)).toMatchObject({ status: 403, errors: ["permission denied"] })
    expect(testEngine.entries().at(-2)).toMatchObject({
      caller: { kind: "anonymous" },
      token: testEngine.engine.audit.hash("s.sesame"),
    })
    expect(testEngine.text()).not.toContain("sesame")
  })

  test("is not recorded when it needs no token, unless that is configured", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    const before = testEngine.entries().length
    expect((await testEngine.pki("GET", "/sys/seal-status", { token: null })).status).toBe(200)
    await testEngine.pki("GET", "/pki/roles/web")
    expect(
      testEngine
        .entries()
        .slice(before)
        .map(({ type, path }) => [type, path]),
    ).toEqual([
      ["request", "/v1/pki/roles/web"],
      ["response", undefined],
    ])
    const all = await auditedEngine({ auditOpenReads: true })
    await all.pki("GET", "/sys/seal-status", { token: null })
    await expect.poll(() => all.entries().length).toBe(2)
  })
})

const issue = (testEngine: TestEngine, body: object = {}) =>
  testEngine.pki("POST", "/pki/issue/web", { body: { common_name: "issued.example.com", ...body } })

describe("a certificate", () => {
  test("is recorded with issuer, key and signed content, between its request and its response", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    const { body } = await issue(testEngine)
    const [request, use, response] = testEngine.entries().slice(-3)
    expect([request.type, use.type, response.type]).toEqual(["request", "key-use", "response"])
    expect(new Set([request.request_id, use.request_id, response.request_id]).size).toBe(1)
    const { body: signed } = parseSigned(
      new X509Certificate(body.data.certificate).raw,
      "certificate",
      "tbsCertificate",
    )
    expect(use).toMatchObject({
      mount: "pki",
      issuer_id: expect.any(String) as string,
      key_id: expect.any(String) as string,
      purpose: "certificate",
      serial_number: body.data.serial_number,
      to_be_signed_sha256: createHash("sha256").update(signed).digest("hex"),
    })
    expect(response.status).toBe(200)
  })

  test("is recorded without its private key, CSR and token in any encoding", async () => {
    const testEngine = await auditedEngine()
    await prepare(testEngine)
    const { body } = await issue(testEngine, { private_key_format: "pkcs8" })
    const { private: scoped } = await serviceToken(testEngine)
    const csr = csrOf(body.data.private_key, "signed.example.com")
    const signed = await testEngine.pki("POST", "/pki/sign/web", { body: { csr, common_name: "signed.example.com" } })
    expect(signed.status).toBe(200)
    expect((await testEngine.pki("POST", "/pki/sign/web", { body: `-----BEGIN\n${csr}`, token: scoped })).status).toBe(
      400,
    )
    expect((await testEngine.pki("POST", "/auth/token/lookup", { body: { token: scoped } })).status).toBe(200)
    await testEngine.pki("POST", "/pki/roles/web", { body: body.data.private_key, headers: form })
    await testEngine.engine[Symbol.asyncDispose]()
    const text = testEngine.text()
    const octets = (pem: string) => pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"))
    const secrets = [
      testEngine.rootToken,
      scoped,
      ...octets(body.data.private_key),
      ...octets(csr),
      "issued.example.com",
    ]
    for (const secret of secrets)
      for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")])
        expect(text.includes(form)).toBe(false)
  })
})

describe("while the log cannot be written", () => {
  test("every request with a token gets 503 and changes nothing; unauthenticated reads continue", async () => {
    const url = await preparedStore()
    {
      await using testEngine = await openTestEngine({ url, auditFile: "/dev/full" })
      const requests: readonly [method: string, path: string, body?: object][] = [
        ["POST", "/pki/issue/web", { common_name: "web.example.com" }],
        ["POST", "/pki/sign-verbatim", { csr: csrOf(generateKey(), "web.example.com") }],
        ["POST", "/pki/roles/other", { allow_any_name: true }],
        ["DELETE", "/pki/roles/web"],
        ["GET", "/pki/roles/web"],
        ["LIST", "/pki/roles"],
        ["POST", "/auth/token/create", { policies: ["default"] }],
        ["DELETE", "/sys/mounts/pki"],
      ]
      for (const [method, path, body] of requests) {
        const answer = await testEngine.pki(method, path, body === undefined ? {} : { body })
        expect([path, answer.status, answer.body]).toEqual([
          path,
          503,
          { errors: ["The audit log cannot be written; requests that it must record are rejected."] },
        ])
      }
      expect((await testEngine.pki("GET", "/sys/seal-status", { token: null })).status).toBe(200)
    }
    expect(await certificateCount(url)).toBe(1)
    await using after = await openTestEngine({ url })
    expect((await after.pki("LIST", "/pki/roles")).body.data.keys).toEqual(["web"])
  })
})
