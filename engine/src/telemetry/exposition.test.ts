import { expect, test } from "vitest"
import { createWebhookMetrics } from "../events/webhooks/webhook-metrics.ts"
import { createJobMetrics } from "../jobs/job-metrics.ts"
import { createTidyMetrics } from "../pki/tidy/tidy-metrics.ts"
import { createMetrics, type ServerMetrics } from "./metrics.ts"

const samplesOf = async (metrics: ServerMetrics, prefix: string): Promise<string[]> =>
  (await metrics.expose()).text.split("\n").filter((line) => line.startsWith(prefix))

test("jobs are counted by name and outcome, without a time of success before the first success", async () => {
  const metrics = createMetrics()
  const { runs, durationSeconds, lastSuccess, running } = createJobMetrics(metrics.meter, ["tidy", "crl"])
  runs.add(3, { job: "tidy", outcome: "done" })
  runs.add(2, { job: "tidy", outcome: "failed" })
  runs.add(1, { job: "crl", outcome: "failed" })
  durationSeconds.add(1.5, { job: "tidy" })
  durationSeconds.add(1.5, { job: "crl" })
  lastSuccess.record(1_700_000_000, { job: "tidy" })
  running.add(1, { job: "tidy" })
  const samples = () => samplesOf(metrics, "chancery_job")
  expect((await samples()).toSorted()).toEqual(
    [
      'chancery_job_runs_total{job="tidy",outcome="done"} 3',
      'chancery_job_runs_total{job="tidy",outcome="failed"} 2',
      'chancery_job_runs_total{job="crl",outcome="done"} 0',
      'chancery_job_runs_total{job="crl",outcome="failed"} 1',
      'chancery_job_duration_seconds_total{job="tidy"} 1.5',
      'chancery_job_duration_seconds_total{job="crl"} 1.5',
      'chancery_job_last_success_timestamp_seconds{job="tidy"} 1700000000',
      'chancery_job_running{job="tidy"} 1',
      'chancery_job_running{job="crl"} 0',
    ].toSorted(),
  )
  running.add(-1, { job: "tidy" })
  runs.add(1, { job: "tidy", outcome: "done" })
  expect(await samples()).toEqual(
    expect.arrayContaining([
      'chancery_job_runs_total{job="tidy",outcome="done"} 4',
      'chancery_job_running{job="tidy"} 0',
    ]),
  )
})

test("tidied entries are counted by kind", async () => {
  const metrics = createMetrics()
  const { runs, removed } = createTidyMetrics(metrics.meter)
  runs.add(2, { outcome: "finished" })
  removed.add(5, { kind: "certificates" })
  expect(await samplesOf(metrics, "chancery_tidy")).toEqual([
    'chancery_tidy_runs_total{outcome="finished"} 2',
    'chancery_tidy_runs_total{outcome="error"} 0',
    'chancery_tidy_runs_total{outcome="cancelled"} 0',
    'chancery_tidy_removed_total{kind="certificates"} 5',
    'chancery_tidy_removed_total{kind="revocations"} 0',
    'chancery_tidy_removed_total{kind="metadata"} 0',
    'chancery_tidy_removed_total{kind="issuers"} 0',
    'chancery_tidy_removed_total{kind="leases"} 0',
  ])
})

test("webhook deliveries are counted by outcome, and dead letters too", async () => {
  const metrics = createMetrics()
  const { deliveries, deadLetters, disabled } = createWebhookMetrics(metrics.meter)
  deliveries.add(7, { outcome: "delivered" })
  deliveries.add(3, { outcome: "failed" })
  deadLetters.add(2)
  const samples = () => samplesOf(metrics, "chancery_webhook")
  expect(await samples()).toEqual([
    'chancery_webhook_deliveries_total{outcome="delivered"} 7',
    'chancery_webhook_deliveries_total{outcome="failed"} 3',
    "chancery_webhook_dead_letters_total 2",
    "chancery_webhooks_disabled_total 0",
  ])
  disabled.add(1)
  expect((await samples()).at(-1)).toBe("chancery_webhooks_disabled_total 1")
})

test("metrics of the process have the names and types that Prometheus gives them", async () => {
  const { contentType, text } = await createMetrics().expose()
  expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8")
  expect(text).toMatch(/^# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total \d/m)
  expect(text).toMatch(/^# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes \d/m)
  expect(text).toMatch(/^nodejs_heap_space_size_used_bytes\{space="new"\} \d/m)
  expect(text).not.toMatch(/nan|otel_|target_info/i)
})

test("concurrent readers get the same series of observable gauges, and later responses omit removed series", async () => {
  const metrics = createMetrics()
  let issuers = ["one", "two"]
  metrics.meter.createObservableGauge("chancery_test_issuers").addCallback(async (result) => {
    await Promise.resolve()
    for (const issuer of issuers) result.observe(1, { issuer })
  })
  const samples = () => samplesOf(metrics, "chancery_test")
  const both = ['chancery_test_issuers{issuer="one"} 1', 'chancery_test_issuers{issuer="two"} 1']
  expect(await Promise.all([samples(), samples(), samples()])).toEqual([both, both, both])
  issuers = ["two"]
  expect(await samples()).toEqual(both.slice(1))
})
