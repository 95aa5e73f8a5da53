// Leases spare replicas the effort of doing one thing twice; the fence number protects the write itself (architecture
// 2.8). Each verb is one statement. A released lease keeps its row, because its fence must never go back.
import { sql } from "kysely"
import type { Instant } from "../core/time.ts"
import { statement, type Session } from "./session.ts"

export interface Lease {
  readonly name: string
  readonly holder: string
  /** Grows with every new holder: a write made under an older one can be refused. */
  readonly fence: number
  readonly expiresAt: Instant
}

export interface LeaseRequest {
  readonly name: string
  readonly holder: string
  readonly now: Instant
  readonly ttlMs: number
}

/** Undefined while another holds it. */
export async function acquireLease(session: Session, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, holder, now, ttlMs } = request
  const expiresAt = now + ttlMs
  const row = await session.first(acquire, { name, holder, now, expiresAt })
  return row === undefined ? undefined : { name, holder, fence: row.fence, expiresAt }
}

/** Undefined when it ran out or was taken over: stop what it covered. */
export async function renewLease(
  session: Session,
  lease: Lease,
  { now, ttlMs }: { readonly now: Instant; readonly ttlMs: number },
): Promise<Lease | undefined> {
  const { name, holder, fence } = lease
  const expiresAt = now + ttlMs
  const renewed = await session.run(renew, { name, holder, fence, now, expiresAt })
  return renewed === 0 ? undefined : { ...lease, expiresAt }
}

export async function releaseLease(session: Session, { name, holder, fence }: Lease): Promise<void> {
  await session.run(release, { name, holder, fence })
}

const acquire = statement<{ name: string; holder: string; now: number; expiresAt: number }, { fence: number }>(
  (db, { name, holder, now, expiresAt }) =>
    db
      .insertInto("leases")
      .values({ name, holder, fence: 1, expires_at: expiresAt })
      .onConflict((taken) =>
        taken
          .column("name")
          .doUpdateSet({ holder, fence: sql<number>`leases.fence + 1`, expires_at: expiresAt })
          .where("leases.expires_at", "<=", now),
      )
      .returning("fence"),
)

const renew = statement<{ name: string; holder: string; fence: number; now: number; expiresAt: number }, unknown>(
  (db, { name, holder, fence, now, expiresAt }) =>
    db
      .updateTable("leases")
      .set({ expires_at: expiresAt })
      .where("name", "=", name)
      .where("holder", "=", holder)
      .where("fence", "=", fence)
      .where("expires_at", ">", now),
)

const release = statement<{ name: string; holder: string; fence: number }, unknown>((db, { name, holder, fence }) =>
  db
    .updateTable("leases")
    .set({ expires_at: 0 })
    .where("name", "=", name)
    .where("holder", "=", holder)
    .where("fence", "=", fence),
)
