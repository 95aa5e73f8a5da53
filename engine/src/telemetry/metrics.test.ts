import { setTimeout as sleep } from "node:timers/promises"
import { request as dial } from "undici"
import { expect, test } from "vitest"
import { silentLog } from "../core/runtime.ts"
import { openEmbedded } from "../embedded.ts"
import { startServer } from "../server/server.ts"
import { defaultKind } from "../../testing/temporary-database.ts"
import { otlpAttributes, startOtlpReceiver } from "../../testing/otlp-receiver.ts"
import { createMetrics } from "./metrics.ts"
import { openOtlp } from "./otlp.ts"

/** Returns the value of each line `name{label="value",…} value` by its name and labels. */
const linesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
        const sorted = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([whole]) => whole).toSorted()
        return [`${name}{${sorted.join(",")}}`, Number(value)] as const
      }),
  )

const key = (name: string, labels: Readonly<Record<string, unknown>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${String(value)}"`)
    .toSorted()
    .join(",")}}`

/** Converts OTLP metrics to the series that a collector exports to Prometheus. */
// oxlint-disable-next-line typescript/no-explicit-any
function seriesOf(metrics: ReadonlyMap<string, any>): Map<string, number> {
  const series = new Map<string, number>()
  for (const [name, metric] of metrics) {
    for (const point of (metric.sum ?? metric.gauge)?.dataPoints ?? [])
      series.set(key(name, otlpAttributes(point.attributes)), Number(point.asDouble ?? point.asInt))
    for (const point of metric.histogram?.dataPoints ?? []) {
      const labels = otlpAttributes(point.attributes)
      let total = 0
      point.bucketCounts.forEach((count: unknown, index: number) => {
        total += Number(count)
        series.set(key(`${name}_bucket`, { ...labels, le: point.explicitBounds[index] ?? "+Inf" }), total)
      })
      series.set(key(`${name}_sum`, labels), Number(point.sum))
      series.set(key(`${name}_count`, labels), Number(point.count))
    }
  }
  return series
}

test("OTLP exports the same names, labels and values as /metrics", async () => {
  await using receiver = await startOtlpReceiver()
  await using place = await defaultKind.place()
  const metrics = createMetrics("0.0.0")
  await using engine = await openEmbedded(place.url, {
    metrics,
    sealKeys: { text: Buffer.alloc(32, "metrics").toString("base64") },
    jobs: false,
  })
  await engine.mounts.create({ path: "pki" })
  await engine.pki("pki").issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  const server = await startServer({ engine })
  await using telemetry = openOtlp({
    metrics: { url: `${receiver.url}/v1/metrics`, protocol: "http/json", intervalMs: 60_000 },
    resource: { "service.name": "chancery-test" },
    release: "0.0.0",
    log: silentLog,
  })
  expect(telemetry.tracer).toBe(undefined)
  const measuring = telemetry.measure(metrics)
  for (const path of ["/v1/pki/ca/pem", "/v1/pki/ca/pem", "/api/v2/account/details"])
    await (await dial(`${server.url}${path}`)).body.dump()
  // Figures of authorities are cached for a moment, and both exports happen within it.
  const found = linesOf(await (await dial(`${server.url}/metrics`)).body.text())
  await measuring[Symbol.asyncDispose]()
  await server.close()

  const sent = seriesOf(receiver.metrics())
  // Metrics of the process and of the scrape itself have changed between the exports.
  const isSteady = (name: string) => name.startsWith("chancery_") && !name.includes('route="/metrics"')
  const steady = (series: ReadonlyMap<string, number>) =>
    Object.fromEntries([...series].filter(([name]) => isSteady(name)))
  const expected = steady(found)
  expect(Object.keys(expected).length).toBeGreaterThan(50)
  expect(
    expected['chancery_http_request_duration_seconds_count{method="GET",route="/v1/:mount/ca/pem",status="200"}'],
  ).toBe(2)
  const inFlight = "chancery_http_requests_in_flight{}"
  // The scrape counts itself.
  expect([expected[inFlight], sent.get(inFlight)]).toEqual([1, 0])
  const ofTheStore = (name: string) => name.startsWith("chancery_storage_")
  const compared = (series: Record<string, number>) =>
    Object.fromEntries(Object.entries(series).filter(([name]) => name !== inFlight && !ofTheStore(name)))
  expect(compared(steady(sent))).toEqual(compared(expected))
  // The second export read the database for figures of authorities. Its series have the same names, and no counter decreased.
  for (const [name, value] of Object.entries(expected).filter(([name]) => ofTheStore(name)))
    expect([name, (sent.get(name) ?? -1) >= value]).toEqual([name, true])
  expect([...sent.keys()].filter((name) => name.startsWith("process_")).toSorted()).toEqual(
    [...found.keys()].filter((name) => name.startsWith("process_")).toSorted(),
  )
  const help = receiver.metrics().get("chancery_http_request_duration_seconds")
  expect([help.description, help.unit, help.histogram.aggregationTemporality]).toEqual([
    "Time from the last header of a request to its response, by method, route pattern and status.",
    "",
    2,
  ])
})

test("metrics are exported at intervals; unreadable metrics are logged and not sent", async () => {
  const found: string[] = []
  await using receiver = await startOtlpReceiver()
  await using telemetry = openOtlp({
    metrics: { url: `${receiver.url}/v1/metrics`, protocol: "http/json", intervalMs: 20 },
    resource: {},
    release: "0.0.0",
    log: { ...silentLog, warn: (event) => void found.push(event) },
  })
  const metrics = createMetrics()
  metrics.meter.createCounter("a_total").add(1)
  let count = 0
  const measuring = telemetry.measure({
    collect: () => {
      count += 1
      return count === 2 ? Promise.reject(new Error("the store does not answer")) : metrics.collect()
    },
  })
  await expect.poll(() => receiver.exports.length).toBeGreaterThan(2)
  await measuring[Symbol.asyncDispose]()
  const sent = receiver.exports.length
  await sleep(60)
  expect(receiver.exports.length).toBe(sent)
  expect(receiver.metrics().get("a_total").sum).toMatchObject({ isMonotonic: true })
  expect(found).toEqual(["metrics-not-read"])
})
