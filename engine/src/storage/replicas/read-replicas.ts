// Reads that may be long, answered by PostgreSQL standbys without visible lag. Before such a read, the server queries the position of the
// primary's write-ahead log. The standby answers once it has replayed the log up to there. The read therefore shows everything that was
// committed when it began, by any server for any client.
// A row with the primary's timeline proves that a standby follows this primary. A server without it was left behind by a failover, or
// belongs to another database.
import { setTimeout as sleep } from "node:timers/promises"
import type { Counter, Meter } from "@opentelemetry/api"
import { sql } from "kysely"
import { isEngineError } from "../../core/errors.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Timers } from "../../core/timers.ts"
import type { Backend, BackendOptions, ReadReplicaOptions } from "../sql/backend.ts"
import { openStandby, type Standby } from "../postgres/postgres.ts"
import { faultOf, isPermanentError } from "../postgres/postgres-errors.ts"
import { WrittenPositions } from "./written-positions.ts"
import { statement, type QueryRunner } from "../sql/query-runner.ts"
import { createReplicaMetrics, noStorageMetrics, type ReplicaState } from "../sql/storage-metrics.ts"
import type { TracedRun } from "../sql/traced-backend.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface ReadReplicas {
  /** Checks all replicas once, then at intervals. Before the first check, the primary answers all reads. */
  follow(): Promise<void>
  /** Reads from a replica, or from the primary if no replica is usable. */
  read<T>(work: Work<T>): Promise<T>
  close(): Promise<void>
}

type Work<T> = (session: QueryRunner) => Promise<T>

/** Position of the primary's write-ahead log. */
interface WrittenPlace {
  /** LSN, in bytes since the log began. */
  readonly position: number
  /** Row that was written on the timeline of that log and on no other. */
  readonly mark: { readonly family: string; readonly number: number | null }
}

interface Options extends BackendOptions {
  readonly primary: Backend
  readonly timers: Timers
  readonly meter: Meter
  readonly traced?: TracedRun
}

const defaultWaitMs = 250
/** Interval of the checks of each replica, whether it is in use or not. */
const lookMs = 1_000

/**
 * Opens the replicas. Throws `UnusableStore` for a replica of another database. A replica that does not answer is left out until it does.
 */
export async function openReadReplicas({ urls, waitMs }: ReadReplicaOptions, options: Options): Promise<ReadReplicas> {
  await using opening = new AsyncDisposableStack()
  const replicas = urls.map((url) => {
    const standby = openStandby(url, { ...options, metrics: noStorageMetrics })
    opening.defer(() => standby.close())
    return new Replica(nameOf(url), standby, { ...options, waitMs: waitMs ?? defaultWaitMs })
  })
  const opened = new FollowedReplicas(replicas, options)
  await opened.rejectOthers()
  opening.move()
  return opened
}

export interface ReplicaStatus {
  readonly name: string
  /** Reason why servers would not read from the replica; undefined if they would. */
  readonly fault: string | undefined
  /** True for a server that is no standby of the primary. No server starts with such a replica. */
  readonly isOther: boolean
}

/** Checks the replicas independently of running servers, for diagnostics. Writes nothing. */
export async function replicaStatuses(
  { urls, waitMs }: ReadReplicaOptions,
  primary: Pick<Backend, "read">,
  options: Pick<BackendOptions, "random" | "log">,
): Promise<readonly ReplicaStatus[]> {
  const stopwatch = () => performance.now()
  const system = await primary.read((session) => session.queryOne(systemQuery, {}))
  const place = await primary.read((session) => session.queryOne(placeQuery, {}))
  if (system === undefined || place === undefined) throw unknownPosition()
  const { family, position, number } = place
  return Promise.all(
    urls.map(async (url) => {
      const standby = openStandby(url, { ...options, stopwatch, metrics: noStorageMetrics })
      try {
        const replica = new Replica(nameOf(url), standby, { ...options, stopwatch, waitMs: waitMs ?? defaultWaitMs })
        const isOther = await replica.isOther(system.identifier)
        // A mark that no server has written yet is missing on both of them.
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

  async rejectOthers(): Promise<void> {
    const system = await this.#options.primary
      .readSingle((session) => session.queryOne(systemQuery, {}))
      .catch(() => undefined)
    if (system === undefined) return
    const isOther = await Promise.all(this.#replicas.map((replica) => replica.isOther(system.identifier)))
    const other = this.#replicas.find((_, index) => isOther[index])
    if (other === undefined) return
    throw new UnusableStore(
      `The read replica ${other.name} is a separate database server, not a standby of the store; set --storage-read-replica or CHANCERY_STORAGE_READ_REPLICA to a standby, or omit it.`,
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
    // Reads that fall back need the primary, which is closed after this.
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
        // A failing replica fails no read: the primary answers instead. Other errors come from the unit of work itself.
        if (isEngineError(error) && error.code !== "busy") {
          this.#reads.add(1, { target: "replica" })
          throw error
        }
      }
    }
    this.#reads.add(1, { target: "primary" })
    return primary.read(work)
  }

  /** Returns the usable replicas in turn. */
  #next(): Replica | undefined {
    const fit = this.#replicas.filter(({ isUp }) => isUp)
    this.#turn += 1
    return fit[this.#turn % fit.length]
  }

  async #place(): Promise<WrittenPlace> {
    const { primary, random } = this.#options
    const place = await primary.readSingle((session) => session.queryOne(placeQuery, {}))
    if (place === undefined) throw unknownPosition()
    const { family, position, number } = place
    if (number !== null) return { position, mark: { family, number } }
    // There is no mark if the database is new or a standby has just been promoted.
    await primary.transact((session) => session.execute(markQuery, { family, number: markNumber(random) }))
    return this.#place()
  }

  async #look(): Promise<void> {
    const { stopwatch, timers } = this.#options
    const place = await this.#place().catch((error: unknown) => error)
    // While the primary is unreachable, its replicas cannot be checked and are of no use.
    if (isPlace(place)) {
      this.#places.add(stopwatch(), place.position)
      await Promise.all(this.#replicas.map((replica) => replica.look(place, this.#places)))
    } else if (!isEngineError(place)) for (const replica of this.#replicas) replica.leaveOut(place)
    if (this.#closed !== undefined) return
    this.#cancelLook = timers.after(lookMs, () => void (this.#looking = this.#look()))
  }
}

const isPlace = (place: unknown): place is WrittenPlace => !(place instanceof Error)

/** Reason why a reachable replica is not used. */
class Unfit extends Error {}
class Behind extends Unfit {}

interface ReplicaOptions extends Pick<Options, "log" | "stopwatch" | "traced"> {
  readonly waitMs: number
}

/** Replica of one URL. Several servers may be behind the URL, so each connection is checked. */
class Replica implements ReplicaState {
  readonly name: string
  isUp = false
  lagMs: number | undefined
  readonly #standby: Standby
  readonly #options: ReplicaOptions
  /** State that was logged last: used, or the reason why not. */
  #loggedState: string | undefined

  constructor(name: string, standby: Standby, options: ReplicaOptions) {
    this.name = name
    this.#standby = standby
    this.#options = options
  }

  /** Returns true if the server answers and its system identifier is not that of the primary. */
  async isOther(system: string): Promise<boolean> {
    const found = await this.#standby.readSingle((session) => session.queryOne(systemQuery, {})).catch(() => undefined)
    return found !== undefined && found.identifier !== system
  }

  /** Returns the reason why the replica could not answer a read that begins now, or undefined. */
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

  /** Checks whether the replica could answer a read that begins now, and logs a change. */
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
      if (this.#loggedState !== used) log.info("read-replica-used", { replica: this.name })
      this.#loggedState = used
    } catch (error) {
      if (replayed !== undefined) this.lagMs = places.lagMs(stopwatch(), replayed)
      this.leaveOut(error)
    }
  }

  leaveOut(error: unknown): void {
    this.isUp = false
    if (!(error instanceof Unfit)) this.lagMs = undefined
    const reason = reasonOf(error)
    if (reason === this.#loggedState) return
    this.#loggedState = reason
    this.#options.log.warn("read-replica-left-out", { replica: this.name, reason })
  }

  close(): Promise<void> {
    return this.#standby.close()
  }

  /**
   * Makes the readiness check of a read. It waits until the server has replayed the log up to `position`. It throws `Unfit` if that takes
   * too long or the server does not follow the primary.
   */
  #caughtUp({ position, mark }: WrittenPlace, seen: (position: number) => void = () => {}) {
    const { stopwatch, waitMs } = this.#options
    return {
      timeoutMs: waitMs + silenceMs,
      async await(session: QueryRunner): Promise<void> {
        const deadline = stopwatch() + waitMs
        for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
          const facts = await session.queryOne(replayQuery, { family: mark.family })
          if (facts?.standby !== true || facts.position === null) throw new Unfit("the server is not a standby")
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

const unknownPosition = () => new Error("the primary does not report its log position")

const used = "used"
/** Time beyond the wait after which a server without an answer counts as unreachable. */
const silenceMs = 1_000
const firstPauseMs = 2
const longestPauseMs = 50

/**
 * Returns true if the error concerns the server and not this read alone, so that other reads need not wait for it. A replica that is behind
 * may have caught up by the next read.
 */
function isLost(error: unknown): boolean {
  if (error instanceof Unfit) return !(error instanceof Behind)
  const cause = causeOf(error)
  return faultOf(cause) === "server-lost" || isPermanentError(cause)
}

const causeOf = (error: unknown): unknown => (isEngineError(error) ? (error.cause ?? error) : error)

function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

/** Returns host, port and database of a URL, without user and password. */
function nameOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return "unreadable"
  const host = parsed.searchParams.get("host") ?? parsed.hostname
  return `${host}${parsed.port === "" ? "" : `:${parsed.port}`}${parsed.pathname}`
}

/** Returns 48 random bits: another history with the same timeline number will not have the same value by chance. */
const markNumber = (random: RandomSource): number => random.bytes(6).reduce((sum, byte) => sum * 256 + byte, 0)

const systemQuery = statement<Record<string, never>, { identifier: string }>(
  () => sql`select cast(system_identifier as text) as identifier from pg_control_system()`,
)

// An acknowledged commit is flushed, unless `synchronous_commit` is off.
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
