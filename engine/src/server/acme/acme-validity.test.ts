import { X509Certificate } from "node:crypto"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs, hourMs, type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import {
  csrFor,
  hurriedTime,
  issued,
  newAcmeEngine,
  newProvingEngine,
  readyOrder,
  renewalIdOf,
} from "../../../testing/acme-engine.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import type { TestEngine } from "../../../testing/test-engine.ts"

const base = `${acmeCluster}/acme`

const dns = (...values: readonly string[]) => ({ identifiers: values.map((value) => ({ type: "dns", value })) })
const iso = (instant: Instant) => new Date(instant).toISOString()
const ends = (leaf: X509Certificate) => [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)] as const

/** Creates a second root `brief` that expires after `ttl`, and makes it the default issuer. */
async function withBriefIssuer(world: TestEngine, ttl: string, settings: object = {}) {
  const { status, body } = await world.pki("POST", "/pki/root/generate/internal", {
    body: { common_name: "Brief", key_type: "ec", ttl, issuer_name: "brief" },
  })
  expect(status).toBe(200)
  await world.pki("POST", "/pki/config/issuers", { body: { default: "brief" } })
  if (Object.keys(settings).length > 0) await world.pki("PATCH", "/pki/issuer/brief", { body: settings })
  return new X509Certificate(body.data.certificate)
}

describe("[F-A3] a certificate begins", () => {
  test.each([
    ["in 2015", iso(Date.UTC(2015, 0, 1))],
    ["an hour ago", iso(Date.now() - hourMs)],
  ])("not %s, even if an order requests it", async (_how, notBefore) => {
    const world = await newAcmeEngine()
    const client = await AcmeTestClient.registered(world, base)
    for (const order of [{ notBefore }, { notBefore, notAfter: iso(Date.now() + hourMs) }])
      expect(await client.post("/new-order", { ...dns("a.example.com"), ...order })).toMatchObject({
        status: 400,
        problem: "malformed",
        body: { detail: expect.stringContaining("notBefore") },
      })
  })

  test("no earlier than its issuer, and is valid for max_ttl at most", async () => {
    const { world, responder } = await newProvingEngine({
      settings: { max_ttl: "2h" },
      role: { not_before_duration: "1h", ttl: "2h" },
    })
    const root = new X509Certificate((await world.pki("GET", "/pki/ca/pem")).body)
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const [notBefore, notAfter] = ends((await issued(client, responder)).leaf)
    expect(notBefore).toBeGreaterThanOrEqual(Date.parse(root.validFrom))
    expect(notAfter - notBefore).toBeLessThanOrEqual(2 * hourMs)
    expect(notAfter).toBeGreaterThan(Date.now() + hourMs)
  })

  test("at the requested time within the role's back-dating, even if it is finalized later", async () => {
    const runtime = systemRuntime()
    const clock = { aheadMs: 0, now: () => runtime.clock.now() + clock.aheadMs }
    const { world, responder } = await newProvingEngine({
      role: { not_before_duration: "10m" },
      options: { runtime: { ...runtime, clock }, timers: hurriedTime().timers },
    })
    // The issuer must be older than the requested notBefore.
    clock.aheadMs = 30 * minuteMs
    const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    const now = Math.floor(clock.now() / secondMs) * secondMs
    const [notBefore, notAfter] = [now - 9 * minuteMs, now + dayMs]
    const order = { notBefore: iso(notBefore), notAfter: iso(notAfter) }
    const { finalize, url } = await readyOrder(client, responder, order)
    clock.aheadMs += 20 * minuteMs
    await client.post(finalize, { csr: await csrFor(["localhost"]) })
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("valid")
    const finalized = await client.post(url)
    const leaf = new X509Certificate((await client.post(finalized.body.certificate)).body)
    expect(ends(leaf)).toEqual([notBefore, notAfter])
    expect([Date.parse(finalized.body.notBefore), Date.parse(finalized.body.notAfter)]).toEqual([notBefore, notAfter])
  })
})

describe("[F-A9] under an issuer that ends before the default lifetime", () => {
  test("a certificate ends with its issuer, which is counted and logged", async () => {
    const warned: [string, object][] = []
    const runtime = systemRuntime()
    const log = { ...runtime.log, warn: (event: string, fields = {}) => void warned.push([event, fields]) }
    const metrics = recordedMetrics()
    const { world, responder } = await newProvingEngine({ options: { runtime: { ...runtime, log }, metrics } })
    const issuer = await withBriefIssuer(world, "2h")
    const client = await AcmeTestClient.registered(world, base)
    const { leaf } = await issued(client, responder)
    expect(leaf.validTo).toBe(issuer.validTo)
    expect(metrics.value("chancery_acme_certificates_shortened_total")).toBe(1)
    expect(warned).toContainEqual([
      "acme-certificate-shortened",
      expect.objectContaining({ notAfter: expect.any(String), mount: "pki" }),
    ])
  })

  test("a requested notAfter is not changed", async () => {
    const world = await newAcmeEngine()
    await withBriefIssuer(world, "2h")
    const client = await AcmeTestClient.registered(world, base)
    const order = (notAfter: Instant) => client.post("/new-order", { ...dns("a.example.com"), notAfter: iso(notAfter) })
    expect((await order(Date.now() + hourMs)).status).toBe(201)
    expect(await order(Date.now() + 3 * hourMs)).toMatchObject({ status: 400, problem: "malformed" })
    await world.pki("PATCH", "/pki/issuer/brief", { body: { leaf_not_after_behavior: "truncate" } })
    expect(await order(Date.now() + 3 * hourMs)).toMatchObject({ status: 400, problem: "malformed" })
  })

  test("or has expired, an order fails without subproblems for its names", async () => {
    const runtime = systemRuntime()
    const clock = { aheadMs: 0, now: () => runtime.clock.now() + clock.aheadMs }
    const world = await newAcmeEngine({ options: { runtime: { ...runtime, clock } } })
    await withBriefIssuer(world, "2h")
    clock.aheadMs = 3 * hourMs
    const client = await AcmeTestClient.registered(world, base)
    const refused = { status: 500, problem: "serverInternal" }
    expect(await client.post("/new-order", dns("a.example.com"))).toMatchObject(refused)
    expect(await client.post("/new-authz", { identifier: dns("a.example.com").identifiers[0] })).toMatchObject(refused)
    const named = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
    expect(await named.post("/new-order", dns("a.example.com", "a.example.net"))).toMatchObject({
      status: 400,
      problem: "rejectedIdentifier",
      body: { subproblems: [{ identifier: { value: "a.example.net" } }] },
    })
  })

  test("and must not truncate, an order fails without subproblems for its names", async () => {
    const world = await newAcmeEngine()
    await withBriefIssuer(world, "2h", { leaf_not_after_behavior: "always_enforce_err" })
    const client = await AcmeTestClient.registered(world, base)
    expect(await client.post("/new-order", dns("a.example.com"))).toMatchObject({
      status: 500,
      problem: "serverInternal",
      body: { detail: expect.stringContaining("expiration of the CA certificate") },
    })
  })
})

test("[F-A11] renewal information of a certificate of one minute has a Retry-After below one minute", async () => {
  const { world, responder } = await newProvingEngine({ role: { ttl: "1m" } })
  const client = await AcmeTestClient.registered(world, `${acmeCluster}/roles/web/acme`)
  const { leaf } = await issued(client, responder)
  const info = await client.get(`${client.base}/renewal-info/${renewalIdOf(leaf)}`)
  const waitS = Number(info.headers.get("retry-after"))
  expect(waitS).toBeGreaterThanOrEqual(1)
  expect(waitS).toBeLessThanOrEqual(10)
  const { start, end } = info.body.suggestedWindow
  expect(Date.parse(start)).toBeGreaterThanOrEqual(ends(leaf)[0])
  expect(Date.parse(end)).toBeLessThanOrEqual(ends(leaf)[1])
})
