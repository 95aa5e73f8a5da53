import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { storeAway } from "../core/errors.ts"
import type { HeldLease, Leases } from "../core/leases.ts"
import { silentLog } from "../core/runtime.ts"
import { secondMs } from "../core/time.ts"
import { leasesOver } from "../storage/sql/leases.ts"
import { databaseKinds, temporaryDatabase } from "../../testing/temporary-database.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { recordedMetrics } from "../../testing/recorded-metrics.ts"
import { seededRandom } from "../../testing/seeded-random.ts"
import { exclusively } from "./exclusively.ts"
import type { Job } from "./job.ts"
import { startJobs } from "./runner.ts"

const everyMs = 60_000
const timeoutMs = 10_000

/** Clock and timers shared by the servers of one test. */
function testTime() {
  const clock = manualClock(1_000_000)
  return { clock, timers: manualTimers(clock) }
}

type WorldTime = ReturnType<typeof testTime>

function server(leases: Leases, { clock, timers }: WorldTime, job: Partial<Job>, seed = 1) {
  const stopping = new AbortController()
  const errors: unknown[] = []
  const asides: unknown[] = []
  const runtime = {
    clock,
    random: seededRandom(seed),
    log: {
      ...silentLog,
      error: (event: string, fields?: object) => void errors.push({ event, ...fields }),
      debug: (event: string, fields?: object) => void asides.push({ event, ...fields }),
    },
  }
  const stopped = stopping.signal
  const metrics = recordedMetrics()
  const task = exclusively({ leases, holder: `eng-${seed}`, runtime, timers, stopped })
  const whole: Job = { name: "tidy", everyMs, timeoutMs, run: async () => {}, ...job }
  const runner = startJobs([whole], { exclusively: task, runtime, timers, meter: metrics.meter, stopped })
  const activity = () => {
    const failureCount = metrics.value("chancery_job_runs_total", { job: whole.name, outcome: "failed" })
    const [lastSuccess] = metrics.series("chancery_job_last_success_timestamp_seconds")
    return {
      runCount: failureCount + metrics.value("chancery_job_runs_total", { job: whole.name, outcome: "done" }),
      failureCount,
      durationMs: metrics.value("chancery_job_duration_seconds_total", { job: whole.name }) * secondMs,
      lastSuccessAt: lastSuccess && lastSuccess.value * secondMs,
      running: metrics.value("chancery_job_running", { job: whole.name }) === 1,
    }
  }
  return {
    errors,
    asides,
    runner,
    activity,
    exclusively: task,
    stop: () => stopping.abort(new Error("the engine closes")),
    /** Advances the clock. Every run that starts ends before the next step. */
    pass: (milliseconds: number) => timers.advance(milliseconds, () => runner.idle()),
  }
}

/** Leases in memory. `lost` makes all of them lost. */
function fakeLeases(): Leases & { lost: boolean; failing: boolean; readonly calls: string[] } {
  const calls: string[] = []
  return {
    lost: false,
    failing: false,
    calls,
    async acquire({ name, holder, now, ttlMs }) {
      calls.push("acquire")
      if (this.failing) throw new Error("the store is away")
      return { name, holder, fence: 7, expiresAt: now + ttlMs }
    },
    async renew(lease, { now, ttlMs }) {
      calls.push("renew")
      if (this.failing) throw new Error("the store is away")
      return this.lost ? undefined : { ...lease, expiresAt: now + ttlMs }
    },
    async release(_lease, { doneAt }) {
      calls.push(doneAt === undefined ? "release" : "release done")
    },
  }
}

/** A run that lasts until the test ends it. */
function longRun() {
  const begun: HeldLease[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    end: () => ends.shift()?.(),
    run: (held: HeldLease) => {
      begun.push(held)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000 && !condition(); turn += 1) await nextTurn()
  expect(condition()).toBe(true)
}

describe.each(databaseKinds.filter(({ available }) => available))("on $name", (kind) => {
  test("12 servers run a job once per interval between them, not 12 times", async () => {
    await using temporary = await temporaryDatabase(kind)
    const leases = leasesOver(temporary.database)
    const time = testTime()
    const runs: number[] = []
    const run = async () => void runs.push(time.clock.now())
    const servers = Array.from({ length: 12 }, (_, index) => server(leases, time, { run }, index + 1))
    const settled = async () => void (await Promise.all(servers.map(({ runner }) => runner.idle())))
    await time.timers.advance(10 * everyMs, settled)
    expect(runs.length).toBeGreaterThanOrEqual(9)
    expect(runs.length).toBeLessThanOrEqual(10)
    const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(everyMs)
  })

  test("12 servers woken together run the job one after another, because one of them may know more", async () => {
    await using temporary = await temporaryDatabase(kind)
    const leases = leasesOver(temporary.database)
    const time = testTime()
    let [running, most, total] = [0, 0, 0]
    const run = async () => {
      running += 1
      most = Math.max(most, running)
      await nextTurn()
      running -= 1
      total += 1
    }
    const servers = Array.from({ length: 12 }, (_, index) => server(leases, time, { run }, index + 1))
    for (const { runner } of servers) runner.wake("tidy")
    const settled = async () => void (await Promise.all(servers.map(({ runner }) => runner.idle())))
    await time.timers.advance(30_000, settled)
    expect([most, total]).toEqual([1, 12])
  })

  test("a failure is logged, counted and retried with a growing delay until a success", async () => {
    await using temporary = await temporaryDatabase(kind)
    const time = testTime()
    let outcome: Error | undefined = new Error("the disk is full")
    const run = async () => {
      if (outcome !== undefined) throw outcome
    }
    const only = server(leasesOver(temporary.database), time, { run, everyMs: 3_600_000 })
    only.runner.wake("tidy")
    await only.pass(60_000)
    const failed = only.activity().failureCount
    expect(failed).toBeGreaterThanOrEqual(3)
    expect(failed).toBeLessThanOrEqual(5)
    expect(only.errors[0]).toMatchObject({ event: "job-failed", job: "tidy", error: outcome })
    expect(only.activity().lastSuccessAt).toBeUndefined()
    outcome = undefined
    await only.pass(120_000)
    expect(only.activity()).toMatchObject({ failureCount: failed, runCount: failed + 1, running: false })
    expect(only.activity().lastSuccessAt).toBeGreaterThan(1_000_000)
  })

  test("a failure of the database, which logs it itself, is counted and not logged again", async () => {
    await using temporary = await temporaryDatabase(kind)
    const time = testTime()
    const away = storeAway("The database cannot be reached.", new Error("connect ECONNREFUSED"))
    const run = async () => {
      throw new Error("the lease ran out", { cause: away })
    }
    const only = server(leasesOver(temporary.database), time, { run, everyMs: 3_600_000 })
    only.runner.wake("tidy")
    await only.pass(60_000)
    expect(only.activity().failureCount).toBeGreaterThanOrEqual(3)
    expect(only.errors).toEqual([])
    expect(only.asides).toHaveLength(only.activity().failureCount)
    expect(only.asides[0]).toMatchObject({ event: "job-failed", job: "tidy" })
  })

  test("work under a lease runs on one of 12 servers that request it at the same time", async () => {
    await using temporary = await temporaryDatabase(kind)
    const leases = leasesOver(temporary.database)
    const time = testTime()
    let [done, rejected] = [0, 0]
    const askers = Array.from({ length: 12 }, async (_, index) => {
      const asker = server(leases, time, {}, index + 1)
      const answer = await asker.exclusively({ name: "crl/iss-1/0", timeoutMs }, async () => {
        await until(() => rejected === 11)
        done += 1
      })
      if (!answer.held) rejected += 1
      return answer
    })
    const answers = await Promise.all(askers)
    expect([answers.filter(({ held }) => held).length, done]).toEqual([1, 1])
  })
})

test("the first run starts at random within half a minute, or within a shorter interval", async () => {
  const time = testTime()
  const first = async (seed: number, ms: number) => {
    const begun: number[] = []
    const started = time.clock.now()
    const only = server(
      fakeLeases(),
      time,
      { everyMs: ms, run: async () => void begun.push(time.clock.now() - started) },
      seed,
    )
    await only.pass(30_000)
    only.stop()
    return begun[0] ?? Number.NaN
  }
  const delays = [await first(1, everyMs), await first(2, everyMs), await first(3, everyMs)]
  expect(new Set(delays).size).toBe(3)
  expect(Math.max(...delays)).toBeLessThanOrEqual(30_000)
  expect(await first(4, 100)).toBeLessThanOrEqual(100)
})

test("a job does not run concurrently with itself: a wake during a run starts another run after it", async () => {
  const time = testTime()
  const long = longRun()
  const only = server(fakeLeases(), time, { run: long.run })
  only.runner.wake("tidy")
  await time.timers.advance(0)
  await until(() => long.begun.length === 1)
  for (let count = 0; count < 5; count += 1) only.runner.wake("tidy")
  await time.timers.advance(1_000)
  expect(long.begun).toHaveLength(1)
  expect(only.activity().running).toBe(true)
  long.end()
  await only.runner.idle()
  await time.timers.advance(0)
  await until(() => long.begun.length === 2)
  long.end()
  await only.runner.idle()
  await only.pass(30_000)
  expect(long.begun).toHaveLength(2)
})

test("an unknown name wakes no job", async () => {
  const time = testTime()
  const leases = fakeLeases()
  const only = server(leases, time, {})
  only.runner.wake("crl")
  await only.pass(0)
  expect(leases.calls).toEqual([])
})

test("a run that takes too long is aborted, and counts as failed", async () => {
  const time = testTime()
  const leases = fakeLeases()
  const long = longRun()
  const only = server(leases, time, { run: long.run })
  only.runner.wake("tidy")
  await time.timers.advance(0)
  await until(() => long.begun.length === 1)
  await time.timers.advance(timeoutMs)
  expect(long.begun[0]?.signal.reason).toEqual(new Error("tidy took longer than 10 seconds"))
  long.end()
  await only.runner.idle()
  expect(only.activity()).toMatchObject({ runCount: 1, failureCount: 1, durationMs: timeoutMs })
  expect(leases.calls).toEqual(["acquire", "release"])
})

test("a long run renews its lease, is aborted when it loses it, and receives its fence", async () => {
  const time = testTime()
  const leases = fakeLeases()
  const long = longRun()
  const only = server(leases, time, { run: long.run, timeoutMs: 600_000 })
  only.runner.wake("tidy")
  await time.timers.advance(0)
  await until(() => long.begun.length === 1)
  const [held] = long.begun
  await time.timers.advance(60_000, () => nextTurn())
  expect(leases.calls).toEqual(["acquire", "renew", "renew", "renew"])
  expect([held?.fence, held?.signal.aborted]).toEqual([7, false])
  leases.lost = true
  await time.timers.advance(20_000, () => nextTurn())
  expect(held?.signal.reason).toEqual(new Error("the lease tidy was lost"))
  long.end()
  await only.runner.idle()
  expect(only.activity()).toMatchObject({ failureCount: 1 })
})

test("a run keeps its lease through a short outage of the database, and loses it when it expires", async () => {
  const time = testTime()
  const leases = fakeLeases()
  const long = longRun()
  const only = server(leases, time, { run: long.run, timeoutMs: 600_000 })
  only.runner.wake("tidy")
  await time.timers.advance(0)
  await until(() => long.begun.length === 1)
  const signal = long.begun[0]?.signal
  leases.failing = true
  await time.timers.advance(40_000, () => nextTurn())
  expect(signal?.aborted).toBe(false)
  leases.failing = false
  await time.timers.advance(20_000, () => nextTurn())
  leases.failing = true
  await time.timers.advance(60_000, () => nextTurn())
  expect(signal?.reason).toMatchObject({ message: "the lease tidy expired" })
  long.end()
  await only.runner.idle()
})

test("stopping aborts and awaits the current run, starts no other, and leaves no timer", async () => {
  const time = testTime()
  const leases = fakeLeases()
  const long = longRun()
  const only = server(leases, time, { run: long.run })
  only.runner.wake("tidy")
  await time.timers.advance(0)
  await until(() => long.begun.length === 1)
  only.stop()
  expect(long.begun[0]?.signal.reason).toEqual(new Error("the engine closes"))
  let idle = false
  const drained = only.runner.idle().then(() => (idle = true))
  await nextTurn()
  expect(idle).toBe(false)
  long.end()
  await drained
  only.runner.wake("tidy")
  await only.pass(10 * everyMs)
  expect([long.begun.length, time.timers.pendingCount, only.errors]).toEqual([1, 0, []])
  expect(leases.calls).toEqual(["acquire", "release"])
})
