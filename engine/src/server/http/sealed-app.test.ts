import { expect, test } from "vitest"
import { manualClock } from "../../../testing/manual-clock.ts"
import { sealedApp } from "./sealed-app.ts"

const app = sealedApp({ clock: manualClock(1_700_000_000_000) })
const ask = async (method: string, path: string) => {
  const response = await app.fetch(new Request(`http://chancery.test${path}`, { method }))
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
}

test.each([
  ["POST", "/v1/pki/issue/web"],
  ["GET", "/v1/pki/crl"],
  ["GET", "/v1/pki/cert/ca"],
  ["DELETE", "/v1/pki/ocsp"],
  ["POST", "/v1/sys/ocsp"],
  ["POST", "/v1/sys/health"],
  ["LIST", "/v1/pki/roles"],
])("%s %s answers that the engine is sealed, in the format of its API", async (method, path) => {
  const { status, body, headers } = await ask(method, path)
  expect([status, body]).toEqual([503, { errors: ["The engine is sealed: the seal key is missing."] }])
  expect([headers.get("content-type"), headers.get("cache-control")]).toEqual(["application/json", "no-store"])
  expect(headers.get("retry-after")).toBe("1")
})

test.each([
  ["POST", "/v1/pki/ocsp"],
  ["POST", "/v1/team/pki/unified-ocsp"],
  ["GET", "/v1/pki/ocsp/MEUwQzBBMD8wPTAJBgUrDgMCGgUABBQ"],
])("%s %s answers tryLater, as an OCSP responder", async (method, path) => {
  const response = await app.fetch(new Request(`http://chancery.test${path}`, { method }))
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/ocsp-response"])
  expect(response.headers.get("cache-control")).toBe("no-store")
  // OCSPResponse with the responseStatus tryLater (3) and nothing else (RFC 6960, section 4.2.1).
  expect(Buffer.from(await response.arrayBuffer()).toString("hex")).toBe("30030a0103")
})

test("the workspace API answers with a JSON:API error document", async () => {
  const { status, body, headers } = await ask("GET", "/api/v2/organizations")
  expect(status).toBe(503)
  expect(body.errors).toMatchObject([{ status: "503", detail: expect.stringContaining("sealed") as string }])
  expect(headers.get("content-type")).toBe("application/vnd.api+json")
  expect(headers.get("retry-after")).toBe("1")
})

test("health answers 503 or the status that a load balancer requests, and seal-status answers 200", async () => {
  expect(await ask("GET", "/v1/sys/health")).toMatchObject({ status: 503, body: { initialized: true, sealed: true } })
  expect((await ask("GET", "/v1/sys/health?sealedcode=200")).status).toBe(200)
  expect(await ask("GET", "/v1/sys/health?sealedcode=204")).toMatchObject({ status: 204, body: undefined })
  expect(await ask("HEAD", "/v1/sys/health")).toMatchObject({ status: 503, body: undefined })
  expect(await ask("GET", "/v1/sys/health?sealedcode=x")).toMatchObject({
    status: 400,
    body: { errors: ['"sealedcode" must be an integer from 200 to 599'] },
  })
  const seal = await ask("GET", "/v1/sys/seal-status")
  expect(seal).toMatchObject({ status: 200, body: { sealed: true, version: expect.stringMatching(/^1\./) as string } })
  expect(await ask("GET", "/v1/sys/init")).toMatchObject({ status: 200, body: { initialized: true } })
  // The cluster id is sealed in the database, so a sealed server cannot know it.
  expect(seal.body).not.toHaveProperty("cluster_id")
})
