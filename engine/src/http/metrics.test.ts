import { expect, test } from "vitest"
import type { JobActivity } from "../core/job-activity.ts"
import { newTidyActivity } from "../core/tidy-activity.ts"
import { newWebhookActivity } from "../events/webhook-activity.ts"
import { createMetrics } from "./metrics.ts"

test("jobs are counted by name and outcome, and one that never succeeded claims no time of success", async () => {
  const tidy: JobActivity = {
    runCount: 5,
    failureCount: 2,
    durationMs: 1_500,
    lastSuccessAt: 1_700_000_000_000,
    running: true,
  }
  const crl: JobActivity = { ...tidy, runCount: 1, failureCount: 1, lastSuccessAt: undefined, running: false }
  const metrics = createMetrics({
    jobs: new Map([
      ["tidy", tidy],
      ["crl", crl],
    ]),
  })
  const samples = async () =>
    (await metrics.expose()).text.split("\n").filter((line) => line.startsWith("chancery_job"))
  expect(await samples()).toEqual([
    'chancery_job_runs_total{job="tidy",outcome="done"} 3',
    'chancery_job_runs_total{job="tidy",outcome="failed"} 2',
    'chancery_job_runs_total{job="crl",outcome="done"} 0',
    'chancery_job_runs_total{job="crl",outcome="failed"} 1',
    'chancery_job_duration_seconds_total{job="tidy"} 1.5',
    'chancery_job_duration_seconds_total{job="crl"} 1.5',
    'chancery_job_last_success_timestamp_seconds{job="tidy"} 1700000000',
    'chancery_job_running{job="tidy"} 1',
    'chancery_job_running{job="crl"} 0',
  ])
  tidy.running = false
  tidy.runCount += 1
  expect((await samples())[0]).toBe('chancery_job_runs_total{job="tidy",outcome="done"} 4')
})

test("what was tidied is counted by kind", async () => {
  const tidy = newTidyActivity()
  tidy.runs.finished += 2
  tidy.removed.certificates += 5
  const metrics = createMetrics({ tidy })
  const samples = async () =>
    (await metrics.expose()).text.split("\n").filter((line) => line.startsWith("chancery_tidy"))
  expect(await samples()).toEqual([
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

test("deliveries to webhooks are counted by outcome, and so is what was given up", async () => {
  const webhooks = { ...newWebhookActivity(), deliveredCount: 7, failedCount: 3, deadCount: 2 }
  const metrics = createMetrics({ webhooks })
  const samples = async () =>
    (await metrics.expose()).text.split("\n").filter((line) => line.startsWith("chancery_webhook"))
  expect(await samples()).toEqual([
    'chancery_webhook_deliveries_total{outcome="delivered"} 7',
    'chancery_webhook_deliveries_total{outcome="failed"} 3',
    "chancery_webhook_dead_letters_total 2",
    "chancery_webhooks_disabled_total 0",
  ])
  webhooks.disabledCount += 1
  expect((await samples()).at(-1)).toBe("chancery_webhooks_disabled_total 1")
})
