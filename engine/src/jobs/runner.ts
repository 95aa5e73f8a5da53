// Runs jobs on every server of a store so that each is done by one of them at a time, and no more often than it asks.
import { logFailure } from "../core/failure-log.ts"
import type { JobActivities, JobActivity } from "../core/job-activity.ts"
import type { Exclusively } from "../core/leases.ts"
import type { Runtime } from "../core/runtime.ts"
import { secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import { apart, untraced } from "../core/tracing.ts"
import type { Job } from "./job.ts"

export interface JobRunner {
  readonly activities: JobActivities
  /** Starts the job of this name at once, or again when its present run has ended; nothing where no job runs. */
  wake(name: string): void
  /** Resolves when no job runs. */
  idle(): Promise<void>
}

export interface JobRunnerOptions {
  readonly exclusively: Exclusively
  readonly runtime: Pick<Runtime, "clock" | "random" | "log" | "tracer">
  readonly timers: Timers
  /** Ends it all: nothing is started any more, and what runs is told. */
  readonly stopped: AbortSignal
}

/** The first run comes within this time, so that servers that start together do not all reach for the same lease. */
const longestInitialDelayMs = 30 * secondMs
const firstRetryMs = 5 * secondMs
/** A failure doubles the delay this many times at most. */
const doublingMaximum = 10
/** While another server does what this one was asked to do: it may have looked before there was anything. */
const heldRetryMs = secondMs
const heldRetryMaximum = 120

export function startJobs(jobs: readonly Job[], options: JobRunnerOptions): JobRunner {
  const loops = new Map(jobs.map((job) => [job.name, startLoop(job, options)]))
  return {
    activities: new Map(Array.from(loops, ([name, { activity }]) => [name, activity])),
    wake: (name) => loops.get(name)?.wake(),
    idle: async () => void (await Promise.all(Array.from(loops.values(), (loop) => loop.idle()))),
  }
}

interface Loop {
  readonly activity: JobActivity
  wake(): void
  idle(): Promise<void>
}

/** Ticks of one job, one after another. */
function startLoop(job: Job, { exclusively, runtime, timers, stopped }: JobRunnerOptions): Loop {
  const { clock, log, tracer } = runtime
  const activity: JobActivity = {
    runCount: 0,
    failureCount: 0,
    durationMs: 0,
    lastSuccessAt: undefined,
    running: false,
  }
  let tick: Promise<void> | undefined
  /** How often the wish of a `wake` may still meet another server's lease. */
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
      // A request that woke it has no part in it.
      tick = untraced(tracer, run).then((nextMs) => {
        tick = undefined
        schedule(nextMs)
      })
    })
  }

  /** One tick; the answer is when the next is due. */
  const run = async (): Promise<number> => {
    const wish = wishes
    wishes = 0
    const began = clock.now()
    activity.running = true
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
        activity.runCount += 1
        activity.lastSuccessAt = clock.now()
      } else if (wish > 1 && wishes === 0) {
        wishes = wish - 1
        return heldRetryMs * (1 + chance())
      }
    } catch (error) {
      if (stopped.aborted) return 0
      activity.runCount += 1
      activity.failureCount += 1
      logFailure(log, "error", "job-failed", { job: job.name, error })
      const retryMs = firstRetryMs * 2 ** Math.min(failuresInARow, doublingMaximum)
      failuresInARow += 1
      return Math.min(job.everyMs, retryMs) * (1 + chance())
    } finally {
      activity.running = false
      activity.durationMs += clock.now() - began
    }
    return wishes > 0 ? 0 : job.everyMs * (1 + chance() / 10)
  }

  stopped.addEventListener("abort", () => cancel(), { once: true })
  schedule(chance() * Math.min(job.everyMs, longestInitialDelayMs))

  return {
    activity,
    wake() {
      wishes = heldRetryMaximum
      if (tick === undefined) schedule(0)
    },
    async idle() {
      await tick
    },
  }
}
