// Storage: the database, the keys that seal its secrets, the repositories, and the event feed.
import type { CacheVersions } from "../core/cache-versions.ts"
import type { OrganizationId } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Sealer } from "../core/sealing.ts"
import type { Storage } from "../core/storage.ts"
import { dayMs, secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import { EventFeed } from "../events/feed/event-feed.ts"
import type { EventOrigin } from "../events/feed/event.ts"
import { createFeedMetrics } from "../events/feed/feed-metrics.ts"
import { currentCacheVersions } from "../storage/sql/cache-versions.ts"
import { type Database, openDatabase } from "../storage/sql/database.ts"
import { followSealKeys } from "../storage/sealing/follow-seal-keys.ts"
import { defaultSealKeySources, findSealKeys } from "../storage/sealing/seal-keys.ts"
import { type Repositories, repositoriesOver } from "../storage/repositories/repositories.ts"
import { tracedSealer } from "../telemetry/traced-keys.ts"
import type { Parts } from "./options.ts"

export interface StorageContext {
  readonly runtime: Runtime
  readonly timers: Timers
  readonly database: Database
  readonly sealer: Sealer
  readonly storage: Storage<Repositories>
  /** Returns a storage that attributes changes to this origin. */
  readonly storageOf: (origin: EventOrigin) => Storage<Repositories>
  /** Undefined if events are disabled. */
  readonly eventFeed: EventFeed | undefined
  readonly eventRetentionMs: number
  /** Calls `wake` after each commit that adds events. */
  readonly onEvents: (wake: () => void) => void
  readonly cacheVersions: CacheVersions
  readonly checkRoom: () => Promise<void>
}

/** Opens the database and migrates it. */
export async function openStorage(
  url: string,
  { options, runtime, timers, meter, opening }: Parts,
): Promise<StorageContext> {
  const { random, log, tracer } = runtime
  const { connections, storageLimits: limits, readReplicas } = options
  const database = opening.use(
    await openDatabase(url, {
      ...runtime,
      meter,
      connections,
      limits,
      readReplicas,
      timers,
      logThread: options.jobs !== false,
      image: options.image,
      freePages: options.freePages,
    }),
  )
  await database.migrate()
  const sealKeys = options.sealKeys ?? defaultSealKeySources(url, random)
  const found = await findSealKeys(database, sealKeys, random)
  if (found.createdFile !== undefined) {
    log.warn("seal-key-created", {
      file: found.createdFile,
      advice: "keep a copy elsewhere; sealed data cannot be read without it",
    })
  }
  const { sealer: ownSealer } = opening.use(followSealKeys(database, sealKeys, found, { random, log, timers }))
  const sealer = tracer === undefined ? ownSealer : tracedSealer(ownSealer, tracer)
  const { events = {} } = options
  const wakers: (() => void)[] = []
  const feed =
    events.on === false
      ? undefined
      : {
          committed: (ids: ReadonlySet<OrganizationId>) => {
            eventFeed?.wake(ids)
            for (const wake of wakers) wake()
          },
        }
  const storage = repositoriesOver(database, sealer, runtime.clock, feed)
  const feedMetrics = createFeedMetrics(meter)
  const eventFeed =
    feed && new EventFeed({ storage, runtime, timers, metrics: feedMetrics, pollMs: pollMs[database.dialect] })
  if (eventFeed !== undefined) opening.defer(() => eventFeed.end())
  return {
    runtime,
    timers,
    database,
    sealer,
    storage,
    storageOf: (origin) => repositoriesOver(database, sealer, runtime.clock, feed, origin),
    eventFeed,
    eventRetentionMs: events.retentionMs ?? 7 * dayMs,
    onEvents: (wake) => void wakers.push(wake),
    cacheVersions: currentCacheVersions(database),
    checkRoom: () => database.checkRoom(),
  }
}

/** Other servers do not announce their writes, so they must be polled for. Other processes rarely write a SQLite file. */
const pollMs = { sqlite: secondMs, postgres: 100 } as const
