// The signature identifies an ACME client. A token in the same request has no effect.
import { beforeAll, afterAll, expect, test } from "vitest"
import { pkiRoutes } from "../../../../engine/src/server/vault/vault-routes.ts"
import { callers, openPkiUsers, type PkiUsers } from "./users.ts"

let testUsers: PkiUsers
beforeAll(async () => {
  testUsers = await openPkiUsers()
})
afterAll(() => testUsers[Symbol.asyncDispose]())

/** Statuses of directories and nonces, and of requests that are unsigned, name a missing certificate, or use a disabled policy. */
const expected = new Set([200, 204, 400, 403])

const endpoints = pkiRoutes
  .filter(({ problems }) => problems === true)
  .map(({ operation, path }) => [operation === "read" ? "GET" : "POST", path] as const)

test("every endpoint of every directory answers all callers alike", async () => {
  expect(endpoints.length).toBeGreaterThan(100)
  const { mount, root } = await testUsers.newSubject()
  await root("POST", `/sys/mounts/${mount}/tune`, { allowed_response_headers: ["Location", "Replay-Nonce", "Link"] })
  await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec", issuer_name: "main" })
  await root("POST", `/${mount}/roles/web`, { allow_any_name: true })
  await root("POST", `/${mount}/config/cluster`, { path: `https://chancery.test/v1/${mount}` })
  await root("POST", `/${mount}/config/acme`, { enabled: true })
  const names: Readonly<Record<string, string>> = { issuer_ref: "main", role: "web", policy: "any" }
  for (const [method, path] of endpoints) {
    const address = `/${mount}${path.replaceAll(/:(\w+)/g, (_match, name: string) => names[name] ?? "any")}`
    const headers = { "content-type": "application/jose+json" }
    const answers: { readonly status: number; readonly body: unknown }[] = []
    for (const caller of callers) {
      const token = testUsers.tokens[caller]
      const { status, body } = await testUsers.testEngine.pki(method, address, {
        token,
        headers,
        ...(method === "POST" ? { body: "{}" } : {}),
      })
      answers.push({ status, body })
    }
    expect({ address, answers }).toEqual({ address, answers: callers.map(() => answers[0]) })
    expect([address, answers[0]?.status]).toEqual([address, expect.toSatisfy((status) => expected.has(status))])
  }
})
