import { expect, test } from "vitest"
import { openTestEngine } from "../../../testing/test-engine.ts"

test("GET /api/v2/openapi.json answers JSON with a token, and 401 without", async () => {
  await using testEngine = await openTestEngine()
  const { status, headers, body } = await testEngine.request("GET", "/openapi.json")
  expect({ status, type: headers.get("content-type"), version: body.openapi }).toEqual({
    status: 200,
    type: "application/json",
    version: "3.1.1",
  })
  expect((await testEngine.request("GET", "/openapi.json", { token: null })).status).toBe(401)
})

test("GET /v1/sys/internal/specs/openapi answers JSON without an envelope or a token, whatever the query", async () => {
  await using testEngine = await openTestEngine()
  const path = "/sys/internal/specs/openapi"
  const { status, headers, body } = await testEngine.pki("GET", path, { token: null })
  expect({ status, type: headers.get("content-type"), version: body.openapi }).toEqual({
    status: 200,
    type: "application/json",
    version: "3.1.1",
  })
  expect(Object.keys(body.paths)).toContain("/{mount}/roles/{name}")
  const asVaultClients = await testEngine.pki("GET", `${path}?generic_mount_paths=true`, {
    headers: { "x-vault-request": "true" },
  })
  expect(asVaultClients.body).toEqual(body)
})
