// Reads that may be long, by standbys of PostgreSQL. A standby lags, and nobody may notice: before such a read the primary is
// asked how far its log is written, and the standby answers once it has replayed as much. So the read shows whatever was
// committed when it began, by whichever server of ours, for whichever client. That a standby follows this primary, and not one
// that was left behind by a failover or belongs to others, shows a row that bears the primary's timeline: it was written there.
import { setTimeout as sleep } from "node:timers/promises"
import type { Counter, Meter } from "@opentelemetry/api"
import { sql } from "kysely"
import { isEngineError } from "../../core/errors.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Timers } from "../../core/timers.ts"
import type { Backend, BackendOptions, ReadReplicaOptions } from "../sql/backend.ts"
import { openStandby, type Standby } from "../postgres/postgres.ts"
import { faultOf, isRefusal } from "../postgres/postgres-errors.ts"
import { WrittenPositions } from "./written-positions.ts"
import { statement, type QueryRunner } from "../sql/query-runner.ts"
import { createReplicaMetrics, noStorageMetrics, type ReplicaState } from "../sql/storage-metrics.ts"
import type { TracedRun } from "../sql/traced-backend.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface ReadReplicas {
  /** Looks at all of them once, and from then on again and again; before, the primary answers. */
  follow(): Promise<void>
  /** By a replica, or by the primary where none is fit for it. */
  read<T>(work: Work<T>): Promise<T>
  close(): Promise<void>
}

type Work<T> = (session: QueryRunner) => Promise<T>

/** How far the primary's log was written when it was asked. */
interface WrittenPlace {
  /** In bytes since the log began. */
  readonly position: number
  /** A row that was written on the timeline of that log, and on no other. */
  readonly mark: { readonly family: string; readonly number: number | null }
}

interface Options extends BackendOptions {
  readonly primary: Backend
  readonly timers: Timers
  readonly meter: Meter
  readonly traced?: TracedRun
}

const defaultWaitMs = 250
/** How often each replica is looked at, whether it is used or not. */
const lookMs = 1_000

/** Throws `UnusableStore` for a replica of another database; one that does not answer is left out until it does. */
export async function openReadReplicas({ urls, waitMs }: ReadReplicaOptions, options: Options): Promise<ReadReplicas> {
  await using opening = new AsyncDisposableStack()
  const replicas = urls.map((url) => {
    const standby = openStandby(url, { ...options, metrics: noStorageMetrics })
    opening.defer(() => standby.close())
    return new Replica(nameOf(url), standby, { ...options, waitMs: waitMs ?? defaultWaitMs })
  })
  const opened = new FollowedReplicas(replicas, options)
  await opened.refuseOthers()
  opening.move()
  return opened
}

export interface ReplicaStanding {
  readonly name: string
  /** Why no server would read there; undefined where it would. */
  readonly fault: string | undefined
  /** With it no server starts. */
  readonly isOther: boolean
}

/** How replicas stand, for whoever looks at a store beside its servers. Nothing is written. */
export async function replicaStandings(
  { urls, waitMs }: ReadReplicaOptions,
  primary: Pick<Backend, "read">,
  options: Pick<BackendOptions, "random" | "log">,
): Promise<readonly ReplicaStanding[]> {
  const stopwatch = () => performance.now()
  const system = await primary.read((session) => session.queryOne(systemQuery, {}))
  const place = await primary.read((session) => session.queryOne(placeQuery, {}))
  if (system === undefined || place === undefined) throw untold()
  const { family, position, number } = place
  return Promise.all(
    urls.map(async (url) => {
      const standby = openStandby(url, { ...options, stopwatch, metrics: noStorageMetrics })
      try {
        const replica = new Replica(nameOf(url), standby, { ...options, stopwatch, waitMs: waitMs ?? defaultWaitMs })
        const isOther = await replica.isOther(system.identifier)
        // A mark that no server has made yet is on neither of them.
        const fault = await replica.fault({ position, mark: { family, number } })
        return { name: replica.name, fault, isOther }
      } finally {
        await standby.close()
      }
    }),
  )
}

class FollowedReplicas implements ReadReplicas {
  readonly #reads: Counter<{ target: "replica" | "primary" }>
  readonly #replicas: readonly Replica[]
  readonly #options: Options
  readonly #places = new WrittenPositions()
  readonly #inFlight = new Set<Promise<unknown>>()
  #turn = 0
  #cancelLook = () => {}
  #looking: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor(replicas: readonly Replica[], options: Options) {
    this.#replicas = replicas
    this.#options = options
    this.#reads = createReplicaMetrics(options.meter, replicas)
  }

  async refuseOthers(): Promise<void> {
    const system = await this.#options.primary
      .readSingle((session) => session.queryOne(systemQuery, {}))
      .catch(() => undefined)
    if (system === undefined) return
    const isOther = await Promise.all(this.#replicas.map((replica) => replica.isOther(system.identifier)))
    const other = this.#replicas.find((_, index) => isOther[index])
    if (other === undefined) return
    throw new UnusableStore(
      `The read replica ${other.name} is no standby of it, but a database server of its own; name a standby with --storage-read-replica or CHANCERY_STORAGE_READ_REPLICA, or none.`,
    )
  }

  follow(): Promise<void> {
    return (this.#looking ??= this.#look())
  }

  read<T>(work: Work<T>): Promise<T> {
    if (this.#closed !== undefined) return this.#options.primary.read(work)
    const answer = this.#read(work)
    this.#inFlight.add(answer)
    const ended = () => this.#inFlight.delete(answer)
    answer.then(ended, ended)
    return answer
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#cancelLook()
    // Those that fall back need the primary, which is closed after this.
    await Promise.allSettled([this.#looking, ...this.#inFlight])
    await Promise.all(this.#replicas.map((replica) => replica.close()))
  }

  async #read<T>(work: Work<T>): Promise<T> {
    const { primary } = this.#options
    const replica = this.#next()
    if (replica !== undefined) {
      try {
        const value = await replica.read(await this.#place(), work)
        this.#reads.add(1, { target: "replica" })
        return value
      } catch (error) {
        // Whatever ails a replica, no read fails for it; what the work itself has to say is the answer.
        if (isEngineError(error) && error.code !== "busy") {
          this.#reads.add(1, { target: "replica" })
          throw error
        }
      }
    }
    this.#reads.add(1, { target: "primary" })
    return primary.read(work)
  }

  /** One after another, of those that are fit. */
  #next(): Replica | undefined {
    const fit = this.#replicas.filter(({ isUp }) => isUp)
    this.#turn += 1
    return fit[this.#turn % fit.length]
  }

  async #place(): Promise<WrittenPlace> {
    const { primary, random } = this.#options
    const place = await primary.readSingle((session) => session.queryOne(placeQuery, {}))
    if (place === undefined) throw untold()
    const { family, position, number } = place
    if (number !== null) return { position, mark: { family, number } }
    // The first since the database was made, or since a standby became its primary.
    await primary.transact((session) => session.execute(markQuery, { family, number: markNumber(random) }))
    return this.#place()
  }

  async #look(): Promise<void> {
    const { stopwatch, timers } = this.#options
    const place = await this.#place().catch((error: unknown) => error)
    // A primary that is away says nothing of its replicas, and they are of no use without it.
    if (isPlace(place)) {
      this.#places.add(stopwatch(), place.position)
      await Promise.all(this.#replicas.map((replica) => replica.look(place, this.#places)))
    } else if (!isEngineError(place)) for (const replica of this.#replicas) replica.leaveOut(place)
    if (this.#closed !== undefined) return
    this.#cancelLook = timers.after(lookMs, () => void (this.#looking = this.#look()))
  }
}

const isPlace = (place: unknown): place is WrittenPlace => !(place instanceof Error)

/** Why a replica is not read from, though its server answers. */
class Unfit extends Error {}
class Behind extends Unfit {}

interface ReplicaOptions extends Pick<Options, "log" | "stopwatch" | "traced"> {
  readonly waitMs: number
}

/** One that is named; behind its address may be several servers, so that each connection is looked through for itself. */
class Replica implements ReplicaState {
  readonly name: string
  isUp = false
  lagMs: number | undefined
  readonly #standby: Standby
  readonly #options: ReplicaOptions
  /** What was last logged of it: that it is used, or why not. */
  #told: string | undefined

  constructor(name: string, standby: Standby, options: ReplicaOptions) {
    this.name = name
    this.#standby = standby
    this.#options = options
  }

  /** Whether the server answers, and its files are not those of the primary. */
  async isOther(system: string): Promise<boolean> {
    const found = await this.#standby.readSingle((session) => session.queryOne(systemQuery, {})).catch(() => undefined)
    return found !== undefined && found.identifier !== system
  }

  /** Why it would not answer a read that began now. */
  async fault(place: WrittenPlace): Promise<string | undefined> {
    try {
      await this.#standby.readWhen(this.#caughtUp(place), async () => {})
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  async read<T>(place: WrittenPlace, work: Work<T>): Promise<T> {
    const run = (work: Work<T>) => this.#standby.readWhen(this.#caughtUp(place), work)
    const { traced } = this.#options
    try {
      return await (traced === undefined
        ? run(work)
        : traced({ kind: "read", attributes: { "chancery.storage.replica": this.name } }, work, run))
    } catch (error) {
      if (isLost(error)) this.leaveOut(error)
      throw error
    }
  }

  /** Whether it would answer a read that began now. */
  async look(place: WrittenPlace, places: WrittenPositions): Promise<void> {
    const { stopwatch, log } = this.#options
    const began = stopwatch()
    let replayed: number | undefined
    try {
      await this.#standby.readWhen(
        this.#caughtUp(place, (position) => (replayed = position)),
        async () => {},
      )
      this.lagMs = stopwatch() - began
      this.isUp = true
      if (this.#told !== used) log.info("read-replica-used", { replica: this.name })
      this.#told = used
    } catch (error) {
      if (replayed !== undefined) this.lagMs = places.lagMs(stopwatch(), replayed)
      this.leaveOut(error)
    }
  }

  leaveOut(error: unknown): void {
    this.isUp = false
    if (!(error instanceof Unfit)) this.lagMs = undefined
    const reason = reasonOf(error)
    if (reason === this.#told) return
    this.#told = reason
    this.#options.log.warn("read-replica-left-out", { replica: this.name, reason })
  }

  close(): Promise<void> {
    return this.#standby.close()
  }

  /** Found once the server has replayed what was written at that place; `Unfit` when it takes too long, or never will. */
  #caughtUp({ position, mark }: WrittenPlace, seen: (position: number) => void = () => {}) {
    const { stopwatch, waitMs } = this.#options
    return {
      patienceMs: waitMs + silenceMs,
      async await(session: QueryRunner): Promise<void> {
        const deadline = stopwatch() + waitMs
        for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
          const facts = await session.queryOne(replayQuery, { family: mark.family })
          if (facts?.standby !== true || facts.position === null) throw new Unfit("the server is no standby")
          seen(facts.position)
          if (facts.position >= position) {
            if (facts.number === mark.number) return
            throw new Unfit("the server does not follow the primary")
          }
          const leftMs = deadline - stopwatch()
          if (leftMs <= 0) throw new Behind("the server is too far behind")
          await sleep(Math.min(pauseMs, leftMs))
        }
      },
    }
  }
}

const untold = () => new Error("the primary does not say how far its log is written")

const used = "used"
/** A server that has not said how far it is for so much longer than it is waited for is not there. */
const silenceMs = 1_000
const firstPauseMs = 2
const longestPauseMs = 50

/** Of the server, and not of one read: nobody else need find out by waiting for it. Who is behind now may not be the next time. */
function isLost(error: unknown): boolean {
  if (error instanceof Unfit) return !(error instanceof Behind)
  const cause = causeOf(error)
  return faultOf(cause) === "server-lost" || isRefusal(cause)
}

const causeOf = (error: unknown): unknown => (isEngineError(error) ? (error.cause ?? error) : error)

function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

/** Without who logs in there, and with which password. */
function nameOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return "unreadable"
  const host = parsed.searchParams.get("host") ?? parsed.hostname
  return `${host}${parsed.port === "" ? "" : `:${parsed.port}`}${parsed.pathname}`
}

/** 48 bits: another history of the same timeline does not have it by chance. */
const markNumber = (random: RandomSource): number => random.bytes(6).reduce((sum, byte) => sum * 256 + byte, 0)

const systemQuery = statement<Record<string, never>, { identifier: string }>(
  () => sql`select cast(system_identifier as text) as identifier from pg_control_system()`,
)

// What is acknowledged is flushed first, unless the server was told to answer before.
const placeQuery = statement<Record<string, never>, { family: string; position: number; number: number | null }>(
  () => sql`
    with written as (
      select case current_setting('synchronous_commit')
        when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn
    ), place as (
      select 'timeline/' || (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(lsn), 8) as family,
        cast(pg_wal_lsn_diff(lsn, '0/0') as bigint) as position
      from written
    )
    select place.family, place.position, g.number from place left join generations as g on g.family = place.family`,
)

const markQuery = statement<{ family: string; number: number }, unknown>((db, { family, number }) =>
  db
    .insertInto("generations")
    .values({ family, number })
    .onConflict((known) => known.doNothing()),
)

const replayQuery = statement<{ family: string }, { standby: boolean; position: number | null; number: number | null }>(
  (_db, { family }) => sql`
    select pg_is_in_recovery() as standby,
      cast(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') as bigint) as position,
      (select number from generations where family = ${family}) as number`,
)
