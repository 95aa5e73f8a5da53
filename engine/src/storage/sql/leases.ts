// Each operation is one statement. A released lease keeps its row, because its fence must never decrease.
import { sql } from "kysely"
import type { Lease, LeaseRequest, Leases } from "../../core/leases.ts"
import { minuteMs } from "../../core/time.ts"
import type { Database } from "./database.ts"
import { type QueryRunner, statement } from "./query-runner.ts"

export const leasesOver = (database: Database): Leases => ({
  acquire: (request) => database.transact((session) => acquire(session, request)),
  async renew(lease, { now, ttlMs }) {
    const { name, holder, fence } = lease
    const expiresAt = now + ttlMs
    const renewed = await database.transact((session) =>
      session.execute(renew, { name, holder, fence, now, expiresAt }),
    )
    return renewed === 0 ? undefined : { ...lease, expiresAt }
  },
  async release({ name, holder, fence }, { doneAt }) {
    await database.transact((session) =>
      doneAt === undefined
        ? session.execute(release, { name, holder, fence })
        : session.execute(releaseDone, { name, holder, fence, doneAt }),
    )
  },
})

/** One minute more than the clocks of servers may differ. */
const toleranceMs = 2 * minuteMs

async function acquire(session: QueryRunner, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, holder, now, ttlMs, unlessDoneAfter = now } = request
  const expiresAt = now + ttlMs
  // A completion time later than this was written with a wrong clock. It must not suppress the task.
  const implausible = now + (now - unlessDoneAfter)
  // An expiry later than this was set with a wrong clock, so the lease can be taken over. A holder that still runs loses it at its next
  // renewal.
  const longestExpiry = expiresAt + toleranceMs
  const row = await session.queryOne(take, {
    name,
    holder,
    now,
    expiresAt,
    unlessDoneAfter,
    implausible,
    longestExpiry,
  })
  return row === undefined ? undefined : { name, holder, fence: row.fence, expiresAt }
}

interface Holding {
  readonly name: string
  readonly holder: string
  readonly fence: number
}

const take = statement<
  Omit<Holding, "fence"> & {
    now: number
    expiresAt: number
    unlessDoneAfter: number
    implausible: number
    longestExpiry: number
  },
  { fence: number }
>((db, { name, holder, now, expiresAt, unlessDoneAfter, implausible, longestExpiry }) =>
  db
    .insertInto("leases")
    .values({ name, holder, fence: 1, expires_at: expiresAt, done_at: null })
    .onConflict((taken) =>
      taken
        .column("name")
        .doUpdateSet({ holder, fence: sql<number>`leases.fence + 1`, expires_at: expiresAt })
        .where((where) =>
          where.or([where("leases.expires_at", "<=", now), where("leases.expires_at", ">", longestExpiry)]),
        )
        .where((where) =>
          where.or([
            where("leases.done_at", "is", null),
            where("leases.done_at", "<=", unlessDoneAfter),
            where("leases.done_at", ">", implausible),
          ]),
        ),
    )
    .returning("fence"),
)

const renew = statement<Holding & { now: number; expiresAt: number }, unknown>(
  (db, { name, holder, fence, now, expiresAt }) =>
    db
      .updateTable("leases")
      .set({ expires_at: expiresAt })
      .where("name", "=", name)
      .where("holder", "=", holder)
      .where("fence", "=", fence)
      .where("expires_at", ">", now),
)

const release = statement<Holding, unknown>((db, { name, holder, fence }) =>
  db
    .updateTable("leases")
    .set({ expires_at: 0 })
    .where("name", "=", name)
    .where("holder", "=", holder)
    .where("fence", "=", fence),
)

const releaseDone = statement<Holding & { doneAt: number }, unknown>((db, { name, holder, fence, doneAt }) =>
  db
    .updateTable("leases")
    .set({ expires_at: 0, done_at: doneAt })
    .where("name", "=", name)
    .where("holder", "=", holder)
    .where("fence", "=", fence),
)
