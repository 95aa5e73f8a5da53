// Job that tidies. It begins the scheduled automatic runs, and advances all active runs one step at a time, so that a long run does
// not delay others. If a server dies, another continues its runs.
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { HeldLease } from "../../core/leases.ts"
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { nextTurn, type Timers } from "../../core/timers.ts"
import type { MountSnapshot } from "../mounts/mount-snapshot.ts"
import type { PkiContext, PkiRepositories } from "../pki-context.ts"
import type { FilingRange, FilingRanges } from "../issuance/certificate-partitions.ts"
import { refreshCrlsJob } from "../crl/refresh-crls.ts"
import type { Mount, MountId } from "../mounts/mount.ts"
import { isAutoTidyDue } from "./auto-tidy.ts"
import { rangesLeftToGo } from "./keep-ranges.ts"
import type { TidyMetrics } from "./tidy-metrics.ts"
import { resolvedTidyOptions } from "./tidy-options.ts"
import { nextPhase, noTidyCounts, type TidyCounts, type TidyEnd, type TidyRun } from "./tidy-run.ts"
import { type AcmeTidySteps, nextStep, type StepOutcome, type StepWrite } from "./tidy-steps.ts"

/** Name and schedule of the job. */
export const tidyJob = { name: "tidy", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** Maximum duration before the job ends and is woken again, on any server. It begins scheduled runs only at its start. */
const longestRunMs = 5 * minuteMs
/** Interval of checks for cancelled and new runs, while all runs pause. */
const pollPauseMs = 100
/** Pause after a step that failed because the database was busy. */
const busyPauseMs = secondMs

/** Time for which the ranges that will be dropped are cached. */
const lookHoldsMs = minuteMs

export type TidyContext<Repositories extends PkiRepositories> = Pick<
  PkiContext<Repositories>,
  "storage" | "runtime" | "mountDirectory" | "mountSnapshots" | "wakeJob"
> & {
  readonly acmeTidySteps: AcmeTidySteps<Repositories>
  readonly timers: Timers
  readonly filingRanges: FilingRanges
}

export class TidyWorker<Repositories extends PkiRepositories> {
  readonly #context: TidyContext<Repositories>
  readonly #metrics: TidyMetrics
  readonly #serverStartedAt: Instant
  /** Random number from 0 to 1 for the backoff. */
  readonly #chance: number
  /** Mounts whose runs pause. */
  readonly #resting = new Set<MountId>()
  readonly #leftToGo = new Map<MountId, { readonly seenAt: Instant; readonly ranges: readonly FilingRange[] }>()

  constructor(context: TidyContext<Repositories>, metrics: TidyMetrics) {
    this.#context = context
    this.#metrics = metrics
    this.#serverStartedAt = context.runtime.clock.now()
    this.#chance = (context.runtime.random.bytes(1)[0] ?? 0) / 255
  }

  async run({ signal }: HeldLease): Promise<void> {
    const { storage, mountDirectory, wakeJob, runtime } = this.#context
    const began = runtime.clock.now()
    const { mounts } = await mountDirectory.current()
    for (const mount of mounts) {
      signal.throwIfAborted()
      await this.#startIfDue(mount)
    }
    for (;;) {
      signal.throwIfAborted()
      const active = await storage.read(({ tidyRuns }) => tidyRuns.active())
      if (active.length === 0) return
      if (runtime.clock.now() - began > longestRunMs) return wakeJob(tidyJob.name)
      const ready = active.filter(({ mountId, state }) => state === "cancelling" || !this.#resting.has(mountId))
      for (const run of ready) {
        signal.throwIfAborted()
        await this.#move(run)
      }
      await (ready.length > 0 ? nextTurn() : this.#sleep(pollPauseMs))
    }
  }

  /** Begins an automatic run of the mount if one is scheduled. */
  async #startIfDue(mount: Mount): Promise<void> {
    const { settings } = await this.#snapshot(mount)
    if (!settings.autoTidy.enabled) return
    const { storage, runtime, mountDirectory } = this.#context
    const now = runtime.clock.now()
    const { lastAutomaticFinishedAt } = await storage.read(({ tidyRuns }) => tidyRuns.find(mount.id))
    const facts = {
      now,
      lastFinishedAt: lastAutomaticFinishedAt,
      serverStartedAt: this.#serverStartedAt,
      chance: this.#chance,
    }
    if (!isAutoTidyDue(settings.autoTidy, facts)) return
    const options = resolvedTidyOptions(settings.autoTidy)
    await storage.transact(async (repositories) => {
      // The mount may have been deleted since.
      const { mounts } = await mountDirectory.within(repositories)
      if (!mounts.some(({ id }) => id === mount.id)) return
      const run = { mountId: mount.id, automatic: true, options, progress: nextPhase(options), startedAt: now }
      await repositories.tidyRuns.begin(run)
    })
  }

  async #move(run: TidyRun): Promise<void> {
    const { mountDirectory, runtime } = this.#context
    const mount = (await mountDirectory.current()).mounts.find(({ id }) => id === run.mountId)
    // The mount was deleted together with its run.
    if (mount === undefined) return
    if (run.state === "cancelling") return this.#finish(mount, run, "cancelled")
    try {
      const context = { ...this.#context, leftToGo: (id: MountId) => this.#rangesLeftToGo(id) }
      const write = await nextStep(context, await this.#snapshot(mount), run, runtime.clock.now())
      if (write === undefined) return await this.#finish(mount, run, "finished")
      await this.#record(mount, run, write)
      if (run.options.pauseDurationMs > 0) this.#rest(run.mountId, run.options.pauseDurationMs)
    } catch (error) {
      if (error instanceof Superseded) return
      if (isEngineError(error, "busy")) return this.#rest(run.mountId, busyPauseMs)
      logFailure(runtime.log, "error", "tidy-failed", { mount: mount.path, error })
      const sentence = isEngineError(error) ? error.message : "internal error; see the server's log"
      await this.#finish(mount, run, "error", sentence)
    }
  }

  async #rangesLeftToGo(mountId: MountId): Promise<readonly FilingRange[]> {
    const now = this.#context.runtime.clock.now()
    const seen = this.#leftToGo.get(mountId)
    if (seen !== undefined && now >= seen.seenAt && now < seen.seenAt + lookHoldsMs) return seen.ranges
    const ranges = await rangesLeftToGo(this.#context, mountId)
    this.#leftToGo.set(mountId, { seenAt: now, ranges })
    return ranges
  }

  async #record(mount: Mount, run: TidyRun, write: StepWrite<Repositories>): Promise<void> {
    const { storage, runtime, wakeJob } = this.#context
    const { counts: removed, issuers = [] } = await storage.transact(async (repositories) => {
      const outcome = await write(repositories)
      const counts = sumOf(run.counts, outcome.counts)
      const message = messageOf(outcome)
      const isRecorded = await repositories.tidyRuns.advance(run, { progress: outcome.progress, counts, message })
      // Rolls back the removals.
      if (!isRecorded) throw new Superseded()
      return outcome
    })
    for (const name of ["certificates", "revocations", "metadata", "issuers"] as const)
      this.#metrics.removed.add(removed[name] ?? 0, { kind: name })
    for (const { id, name, keyId } of issuers)
      runtime.log.info("tidy-issuer-removed", { mount: mount.path, issuer: id, name, key: keyId })
    if ((removed.revocations ?? 0) + (removed.associated ?? 0) > 0) wakeJob(refreshCrlsJob.name)
  }

  async #finish(mount: Mount, run: TidyRun, state: TidyEnd["state"], error: string | null = null): Promise<void> {
    const { storage, runtime } = this.#context
    const { waiting } = run.counts
    const message =
      state === "finished" ? (waiting > 0 ? waitingMessage(waiting) : null) : state === "error" ? run.message : null
    const end: TidyEnd = { state, error, message, now: runtime.clock.now() }
    if (!(await storage.transact(({ tidyRuns }) => tidyRuns.finish(run, end)))) return
    this.#resting.delete(run.mountId)
    this.#leftToGo.delete(run.mountId)
    this.#metrics.runs.add(1, { outcome: state })
    const { automatic, counts, startedAt } = run
    runtime.log.info("tidy-ended", {
      mount: mount.path,
      state,
      automatic,
      ...counts,
      durationMs: end.now - startedAt,
    })
  }

  #snapshot(mount: Mount): Promise<MountSnapshot> {
    const { storage, mountSnapshots } = this.#context
    return mountSnapshots.read(storage, mount)
  }

  #rest(mountId: MountId, durationMs: number): void {
    this.#resting.add(mountId)
    this.#context.timers.after(durationMs, () => this.#resting.delete(mountId))
  }

  #sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => void this.#context.timers.after(durationMs, resolve))
  }
}

/** Another server has made the step, or the run is being cancelled. */
class Superseded extends Error {}

function sumOf(counts: TidyCounts, more: Partial<TidyCounts>): TidyCounts {
  const names = Object.keys(noTidyCounts) as (keyof TidyCounts)[]
  return Object.fromEntries(names.map((name) => [name, counts[name] + (more[name] ?? 0)])) as unknown as TidyCounts
}

const messageOf = ({ progress: { phase } }: StepOutcome): string | null =>
  phase === undefined ? null : `Tidying ${phase}`

const waitingMessage = (count: number): string =>
  `${count} revoked certificates stay until a revocation list issued after their expiry has contained them (RFC 5280, section 3.3)`
