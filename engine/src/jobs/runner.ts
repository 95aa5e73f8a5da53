// Runs jobs on every server of a database. Each job runs on one server at a time, and no more often than its interval.
import type { Meter } from "@opentelemetry/api"
import { logFailure } from "../core/failure-log.ts"
import type { Exclusively } from "../core/leases.ts"
import { noopMeter } from "../core/metrics.ts"
import type { Runtime } from "../core/runtime.ts"
import { secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import { apart, untraced } from "../core/tracing.ts"
import type { Job } from "./job.ts"
import { createJobMetrics, type JobMetrics } from "./job-metrics.ts"

export interface JobRunner {
  /** Runs the job of this name now, or again after its current run. Does nothing if there is no such job. */
  wake(name: string): void
  /** Resolves when no job is running. */
  idle(): Promise<void>
}

export interface JobRunnerOptions {
  readonly exclusively: Exclusively
  readonly runtime: Pick<Runtime, "clock" | "random" | "log" | "tracer">
  readonly timers: Timers
  readonly meter?: Meter
  /** Stops all jobs: no run starts any more, and the signals of current runs abort. */
  readonly stopped: AbortSignal
}

/** The first run begins within this time, at a random moment, so that servers that start together do not compete for the same leases. */
const longestInitialDelayMs = 30 * secondMs
const firstRetryMs = 5 * secondMs
/** Maximum number of times that failures double the delay. */
const maxDoubling = 10
/** Interval of retries while another server runs a job that was woken here: that run may have begun before there was work. */
const leaseRetryMs = secondMs
const maxHeldRetry = 120

export function startJobs(jobs: readonly Job[], options: JobRunnerOptions): JobRunner {
  const names = jobs.map(({ name }) => name)
  const metrics = createJobMetrics(options.meter ?? noopMeter, names)
  const loops = new Map(jobs.map((job) => [job.name, startLoop(job, metrics, options)]))
  return {
    wake: (name) => loops.get(name)?.wake(),
    idle: async () => void (await Promise.all(Array.from(loops.values(), (loop) => loop.idle()))),
  }
}

interface Loop {
  wake(): void
  idle(): Promise<void>
}

/** Runs one job repeatedly, one run after another. */
function startLoop(job: Job, metrics: JobMetrics, { exclusively, runtime, timers, stopped }: JobRunnerOptions): Loop {
  const { clock, log, tracer } = runtime
  const label = { job: job.name }
  let tick: Promise<void> | undefined
  /** Number of times that a woken run may still find the lease held by another server. */
  let wishes = 0
  let failuresInARow = 0
  let cancel = () => {}

  const chance = (): number => {
    const [high = 0, low = 0] = runtime.random.bytes(2)
    return (high * 256 + low) / 65_536
  }
  const schedule = (delayMs: number) => {
    cancel()
    if (stopped.aborted) return
    cancel = timers.after(Math.ceil(delayMs), () => {
      // The run must not join the trace of the request that woke the job.
      tick = untraced(tracer, run).then((nextMs) => {
        tick = undefined
        schedule(nextMs)
      })
    })
  }

  /** Runs the job once. Returns the milliseconds until the next run. */
  const run = async (): Promise<number> => {
    const wish = wishes
    wishes = 0
    const began = clock.now()
    metrics.running.add(1, label)
    try {
      const { held } = await exclusively(
        { name: job.name, timeoutMs: job.timeoutMs, ...(wish > 0 ? {} : { unlessDoneAfter: began - job.everyMs }) },
        async (held) => {
          await apart(tracer, `job ${job.name}`, () => job.run(held))
          held.signal.throwIfAborted()
        },
      )
      failuresInARow = 0
      if (held) {
        metrics.runs.add(1, { ...label, outcome: "done" })
        metrics.lastSuccess.record(clock.now() / secondMs, label)
      } else if (wish > 1 && wishes === 0) {
        wishes = wish - 1
        return leaseRetryMs * (1 + chance())
      }
    } catch (error) {
      if (stopped.aborted) return 0
      metrics.runs.add(1, { ...label, outcome: "failed" })
      logFailure(log, "error", "job-failed", { job: job.name, error })
      const retryMs = firstRetryMs * 2 ** Math.min(failuresInARow, maxDoubling)
      failuresInARow += 1
      return Math.min(job.everyMs, retryMs) * (1 + chance())
    } finally {
      metrics.running.add(-1, label)
      // The clock may step back.
      metrics.durationSeconds.add(Math.max(0, clock.now() - began) / secondMs, label)
    }
    return wishes > 0 ? 0 : job.everyMs * (1 + chance() / 10)
  }

  stopped.addEventListener("abort", () => cancel(), { once: true })
  schedule(chance() * Math.min(job.everyMs, longestInitialDelayMs))

  return {
    wake() {
      wishes = maxHeldRetry
      if (tick === undefined) schedule(0)
    },
    async idle() {
      await tick
    },
  }
}
