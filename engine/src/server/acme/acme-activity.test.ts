import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { AcmeTestClient } from "../../../testing/acme-client.ts"
import { acmeCluster } from "../../../testing/acme-mount.ts"
import { hurriedTime, issued, localhost, newProvingEngine, readyOrder } from "../../../testing/acme-engine.ts"
import { type RecordedMetrics, recordedMetrics } from "../../../testing/recorded-metrics.ts"

test.each([
  ["is not on record", false],
  ["is on record where that is asked for", true],
])("a request that only reads an order %s", async (_what, auditOpenReads) => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const auditFile = join(folder, "audit.log")
  const { world, responder } = await newProvingEngine({ options: { auditFile, auditOpenReads } })
  const client = await AcmeTestClient.registered(world, `${acmeCluster}/acme`)
  const { url } = await issued(client, responder)
  await client.post(`${client.account}/orders`)
  const below = (address: string) => new URL(address).pathname
  const recorded = async () => {
    const lines = (await readFile(auditFile, "utf8")).trimEnd().split("\n")
    const paths = new Set(lines.map((line) => (JSON.parse(line) as { readonly path?: string }).path))
    return [`${url}/finalize`, url, `${url}/cert`, `${client.account}/orders`].filter((one) => paths.has(below(one)))
  }
  const told = auditOpenReads ? [url, `${url}/cert`, `${client.account}/orders`] : []
  await expect.poll(recorded).toEqual([`${url}/finalize`, ...told])
})

const ordersOf = (metrics: RecordedMetrics) => {
  const count = (status: string) => metrics.value("chancery_acme_orders_total", { status })
  return { made: count("made"), valid: count("valid"), invalid: count("invalid") }
}

test("an order and its validation are counted, and the key use is recorded with order and account", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const auditFile = join(folder, "audit.log")
  const metrics = recordedMetrics()
  const { world, responder } = await newProvingEngine({ options: { auditFile, metrics } })
  const client = await AcmeTestClient.registered(world, `${acmeCluster}/acme`)
  const { url, leaf } = await issued(client, responder)
  expect(ordersOf(metrics)).toEqual({ made: 1, valid: 1, invalid: 0 })
  expect(metrics.value("chancery_acme_order_duration_seconds")).toBe(1)
  const validations = (result: string) => metrics.value("chancery_acme_validations_total", { type: "http-01", result })
  expect(["valid", "retried", "invalid"].map(validations)).toEqual([1, 0, 0])
  const uses = (await readFile(auditFile, "utf8"))
    .split("\n")
    .filter((line) => line.includes("acme_order"))
    .map((line): unknown => JSON.parse(line))
  expect(uses).toEqual([
    expect.objectContaining({
      type: "key-use",
      mount: "pki",
      purpose: "certificate",
      serial_number: leaf.serialNumber.toLowerCase().match(/../g)?.join(":"),
      acme_order: url.split("/").at(-1),
      acme_account: client.account?.split("/").at(-1),
    }),
  ])
})

test("an order that fails with a name is counted once", async () => {
  const metrics = recordedMetrics()
  const { world, responder } = await newProvingEngine({ options: { ...hurriedTime(), metrics } })
  const client = await AcmeTestClient.registered(world, `${acmeCluster}/acme`)
  const made = await client.post("/new-order", { identifiers: [localhost, { type: "dns", value: "absent.invalid" }] })
  for (const url of made.body.authorizations) {
    const { body } = await client.post(url)
    await client.post(body.challenges.find(({ type }: { type: string }) => type === "http-01").url, {})
  }
  const order = made.headers.get("location") ?? ""
  await expect.poll(() => ordersOf(metrics).invalid, { timeout: 10_000 }).toBe(1)
  for (const url of made.body.authorizations)
    await expect.poll(async () => (await client.post(url)).body.status, { timeout: 10_000 }).toBe("invalid")
  expect((await client.post(order)).body.status).toBe("invalid")
  expect(ordersOf(metrics)).toEqual({ made: 1, valid: 0, invalid: 1 })
  const { authorizations } = await readyOrder(client, responder)
  for (let time = 0; time < 2; time += 1) await client.post(authorizations[0] ?? "", { status: "deactivated" })
  expect(ordersOf(metrics)).toEqual({ made: 2, valid: 0, invalid: 2 })
})
