import type { Attributes, Counter, Gauge, Meter, UpDownCounter } from "@opentelemetry/api"
import { createCounter } from "../core/metrics.ts"

interface JobLabel extends Attributes {
  /** Name of the job. */
  readonly job: string
}

export interface JobMetrics {
  readonly runs: Counter<{ job: string; outcome: "done" | "failed" }>
  readonly durationSeconds: Counter<JobLabel>
  readonly lastSuccess: Gauge<JobLabel>
  readonly running: UpDownCounter<JobLabel>
}

export function createJobMetrics(meter: Meter, jobs: readonly string[]): JobMetrics {
  const running = meter.createUpDownCounter<JobLabel>("chancery_job_running", {
    description: "1 while this server runs the background job.",
  })
  for (const job of jobs) running.add(0, { job })
  return {
    runs: createCounter(
      meter,
      "chancery_job_runs_total",
      "Runs of background jobs by this server, by job and outcome (done, failed).",
      jobs.flatMap((job) => [
        { job, outcome: "done" },
        { job, outcome: "failed" },
      ]),
    ),
    durationSeconds: createCounter(
      meter,
      "chancery_job_duration_seconds_total",
      "Time spent on background jobs by this server, by job.",
      jobs.map((job) => ({ job })),
    ),
    lastSuccess: meter.createGauge("chancery_job_last_success_timestamp_seconds", {
      description:
        "Time of the last successful run of a background job by this server, by job; absent before the first.",
    }),
    running,
  }
}
