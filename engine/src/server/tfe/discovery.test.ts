import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestEngine, origin, type TestEngine } from "../../../testing/test-engine.ts"

let testEngine: TestEngine
beforeAll(async () => {
  testEngine = await openTestEngine()
})
afterAll(() => testEngine[Symbol.asyncDispose]())

test("service discovery answers without a token, with every version of the service that clients request", async () => {
  const { status, headers, body } = await testEngine.request("GET", `${origin}/.well-known/terraform.json`, {
    token: null,
  })
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"])
  expect(body).toEqual({ "state.v2": "/api/v2/", "tfe.v2": "/api/v2/", "tfe.v2.1": "/api/v2/", "tfe.v2.2": "/api/v2/" })
})

test("ping answers without a token, with an API version that clients accept", async () => {
  const { status, headers, body } = await testEngine.request("GET", "/ping", { token: null })
  expect([status, body]).toEqual([204, undefined])
  expect(Number(headers.get("tfp-api-version"))).toBeGreaterThanOrEqual(2.5)
  // Terraform compares the first number.
  expect(Number(/^v(\d{6})-\d+$/.exec(headers.get("x-tfe-version") ?? "")?.[1])).toBeGreaterThanOrEqual(202302)
})
