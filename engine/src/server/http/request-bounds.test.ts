// Bounds on request bodies at every endpoint. They apply before a body is parsed, and before it is read if the path alone decides.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { newAcmeEngine } from "../../../testing/acme-engine.ts"
import { stateEngine } from "../../../testing/state-engine.ts"
import { openTestEngine, origin, type TestEngine, type TestEngineOptions } from "../../../testing/test-engine.ts"
import { decodePolicyAnswer } from "../../contracts/vault/format/policy-webhook.ts"
import { decodeTokenReview } from "../../contracts/kubernetes/token-review.ts"

async function opened(options: TestEngineOptions = {}): Promise<TestEngine> {
  const testEngine = await openTestEngine(options)
  onTestFinished(() => testEngine[Symbol.asyncDispose]())
  await testEngine.pki("POST", "/sys/mounts/pki", { body: { type: "pki" } })
  await testEngine.engine.authMethods.enable({ path: "approle", type: "approle" })
  return testEngine
}

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)
const members = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"member-${index}":1`).join(",")}}`

/** Creates a body that records when its first byte is read. */
function watchedBody() {
  const seen = { isRead: false }
  const body = new ReadableStream(
    {
      pull(controller) {
        seen.isRead = true
        controller.enqueue(new TextEncoder().encode("{}"))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, seen }
}

describe("a document of the certificate API", () => {
  test.each([
    ["deep", `{"role_id":${nested(301)}}`, "the body nests values deeper than 300 levels (at byte 310)"],
    ["of many members", members(10_001), "the body has an object with more than 10000 members"],
    [
      "of many elements",
      `{"role_id":[${"1,".repeat(10_000)}1]}`,
      "the body has an array with more than 10000 elements",
    ],
    [
      "of a long string",
      `{"role_id":"${"a".repeat(2 * 1024 * 1024 + 1)}"}`,
      "the body has a string longer than 2097152 bytes",
    ],
  ])("[F-S1] that is %s is rejected before it is parsed", async (_, body, problem) => {
    const testEngine = await opened()
    const answer = await testEngine.pki("POST", "/pki/roles/web", { body })
    expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringContaining(problem)]])
    expect((await testEngine.pki("GET", "/pki/roles/web")).status).toBe(404)
  })

  test("[F-S1] in form encoding has the same kind of bounds", async () => {
    const testEngine = await opened()
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const many = await testEngine.pki("POST", "/pki/roles/web", { body: "a=1&".repeat(10_001), headers })
    expect([many.status, many.body.errors[0]]).toEqual([400, expect.stringContaining("more than 10000 members")])
    const long = await testEngine.pki("POST", "/pki/roles/web", { body: `a=${"1".repeat(2 * 1024 * 1024)}`, headers })
    expect([long.status, long.body.errors[0]]).toEqual([400, expect.stringContaining("member longer than 2097152")])
    expect((await testEngine.pki("POST", "/pki/roles/web", { body: "ttl=1h&max_ttl=2h", headers })).status).toBe(200)
  })

  test("[F-S1] is limited to 64 KiB for logins and on sys paths", async () => {
    const testEngine = await opened()
    const body = `{"role_id":"${"a".repeat(64 * 1024)}"}`
    const statuses: number[] = []
    for (const path of ["/auth/approle/login", "/auth/token/create", "/sys/mounts/other", "/auth/approle/role/web"])
      statuses.push((await testEngine.pki("POST", path, { body })).status)
    expect(statuses).toEqual([413, 413, 413, 413])
    const short = await testEngine.pki("POST", "/auth/approle/login", {
      body: `{"role_id":${nested(301)}}`,
      token: null,
    })
    expect([short.status, short.body.errors[0]]).toEqual([400, expect.stringContaining("deeper than 300 levels")])
    const policy = `path "pki/${"a".repeat(60)}" { capabilities = ["read"] } # ${"é".repeat(30_000)}`
    expect((await testEngine.pki("POST", "/sys/policies/acl/long", { body: { policy } })).status).toBe(204)
  })

  test("[F-S1] is not read when the token may not change anything at the path", async () => {
    const testEngine = await opened()
    await testEngine.engine.policies.put("reader", 'path "pki/*" { capabilities = ["read", "list"] }')
    await testEngine.engine.policies.put("web", 'path "pki/roles/web" { capabilities = ["update"] }')
    const tokens: Readonly<Record<string, string>> = Object.fromEntries(
      await Promise.all(
        ["default", "reader", "web"].map(
          async (name) => [name, (await testEngine.engine.serviceTokens.create({ policies: [name] })).secret] as const,
        ),
      ),
    )
    const send = async (path: string, token: string, method = "POST") => {
      const { body, seen } = watchedBody()
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
      const sent = { method, headers: { "x-vault-token": token, "content-type": type }, body, duplex: "half" as const }
      const request = new Request(`${origin}/v1${path}`, sent)
      const { status } = await testEngine.app.fetch(request)
      return [status, seen.isRead]
    }
    const { default: nobody = "", reader = "", web = "" } = tokens
    expect(await send("/pki/roles/web", nobody)).toEqual([403, false])
    expect(await send("/pki/roles/web", reader)).toEqual([403, false])
    expect(await send("/pki/roles/web", reader, "PATCH")).toEqual([403, false])
    expect(await send("/pki/issue/web", web)).toEqual([403, false])
    expect(await send("/auth/approle/role/web", nobody)).toEqual([403, false])
    expect(await send("/pki/roles/web", "chy_unknown")).toEqual([403, false])
    expect(await send("/pki/roles/web", web)).toEqual([200, true])
  })

  test("[F-S1] is audited without its content when it is rejected", async () => {
    const folder = mkdtempSync(join(tmpdir(), "chancery-bounds-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const auditFile = join(folder, "audit.log")
    const testEngine = await opened({ auditFile })
    await testEngine.pki("POST", "/pki/roles/web", { body: `{"a-member":${nested(5_000)}}` })
    await testEngine.pki("POST", "/pki/roles/web", { body: members(10_001) })
    await testEngine[Symbol.asyncDispose]()
    const entries = readFileSync(auditFile, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly type: string; readonly path?: string; readonly data?: unknown })
    const requests = entries.filter(({ type, path }) => type === "request" && path === "/v1/pki/roles/web")
    expect(requests.map(({ data }) => data)).toEqual([undefined, undefined])
    expect(JSON.stringify(entries)).not.toMatch(/a-member|member-1/)
  })

  test("[F-S1] has the same bounds for JSON inside strings", async () => {
    const testEngine = await opened()
    const deep = nested(5_000)
    const { status } = await testEngine.pki("POST", "/pki/roles/web", { body: { policy_identifiers: deep } })
    expect(status).toBe(400)
    await testEngine.pki("POST", "/auth/approle/role/web", { body: {} })
    const answer = await testEngine.pki("POST", "/auth/approle/role/web/secret-id", { body: { metadata: deep } })
    expect(answer.status).toBe(400)
  })
})

describe("a document of the workspace API", () => {
  test.each([
    ["deep", `{"data":${nested(301)}}`, "The body nests values deeper than 300 levels (at byte 307)."],
    ["of many members", members(10_001), "The body has an object with more than 10000 members"],
    ["of many elements", `{"data":[${"1,".repeat(10_000)}1]}`, "The body has an array with more than 10000 elements"],
    [
      "of a long string",
      `{"data":"${"a".repeat(2 * 1024 * 1024 + 1)}"}`,
      "The body has a string longer than 2097152 bytes",
    ],
  ])("[F-S1] that is %s is rejected before it is parsed", async (_, body, problem) => {
    const testEngine = await opened()
    const answer = await testEngine.request("POST", "/organizations", { body })
    expect([answer.status, answer.body.errors[0].detail]).toEqual([400, expect.stringContaining(problem)])
  })

  test("[F-S1] for a token, an account or a lock is limited to 64 KiB", async () => {
    await using testEngine = await stateEngine()
    const body = JSON.stringify({ data: { type: "x", attributes: { description: "a".repeat(64 * 1024) } } })
    const statuses: number[] = []
    for (const [method, path] of [
      ["POST", "/organizations/acme/authentication-token"],
      ["PATCH", "/account/update"],
      ["POST", `/workspaces/${testEngine.id}/actions/lock`],
    ] as const)
      statuses.push((await testEngine.request(method, path, { body })).status)
    expect(statuses).toEqual([413, 413, 413])
  })

  test("[F-S1] may contain a state whose base64 is longer than other strings", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const value = "a".repeat(3 * 1024 * 1024)
    const answer = await testEngine.announce({ outputs: { long: { value, type: "string" } } }, { inline: true })
    expect(answer.status).toBe(201)
  })

  test("[F-S1] with a state nested too deep is rejected", async () => {
    await using testEngine = await stateEngine()
    await testEngine.lock()
    const state = Buffer.from(
      `{"version":4,"serial":1,"lineage":"l","resources":[],"outputs":{},"more":${nested(2_000)}}`,
    )
    const attributes = { serial: 1, lineage: "l", md5: "0".repeat(32), state: state.toString("base64") }
    const body = { data: { type: "state-versions", attributes } }
    const answer = await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, { body })
    expect([answer.status, answer.body.errors[0].detail]).toEqual([
      422,
      expect.stringMatching(/^state nests values deeper than 1000 levels/),
    ])
  })
})

describe("ACME", () => {
  test("[F-S1] rejects a body, protected header or payload nested too deep before it is parsed", async () => {
    await using testEngine = await newAcmeEngine()
    const client = await AcmeTestClient.open(testEngine, `${acmeCluster}/acme`)
    const deepPayload = await client.post("/new-account", `{"contact":${nested(17)}}`)
    const deepHeader = await client.post("/new-account", {}, { header: { more: JSON.parse(nested(17)) } })
    const many = await client.post("/new-account", `{"contact":[${'"",'.repeat(1_000)}""]}`)
    for (const [answer, words] of [
      [deepPayload, "The payload nests values deeper than 16 levels"],
      [deepHeader, "nests values deeper than 16 levels"],
      [many, "The payload has an array with more than 1000 elements"],
    ] as const)
      expect([answer.status, answer.problem, answer.body.detail]).toEqual([
        400,
        "malformed",
        expect.stringContaining(words),
      ])
    const body = await testEngine.pki("POST", "/pki/acme/new-account", {
      token: null,
      body: `{"payload":${nested(17)}}`,
      headers: { "content-type": "application/jose+json" },
    })
    expect([body.status, body.body.detail]).toEqual([400, expect.stringContaining("The body nests values deeper")])
  })
})

describe("responses of other servers", () => {
  test("[F-S1] have bounds for policy services and Kubernetes API servers", () => {
    expect(decodePolicyAnswer(Buffer.from(`{"error":${nested(5_000)}}`), "1")).toBe("is not JSON")
    expect(decodeTokenReview(Buffer.from(`{"kind":"TokenReview","status":{},"more":${nested(5_000)}}`))).toBeUndefined()
    expect(decodeTokenReview(Buffer.from('{"kind":"TokenReview","status":{}}'))).toBeDefined()
  })
})
