// The event feed. On SQLite there is one writer, and numbers are in commit order. On PostgreSQL, numbers are drawn before the commit, and
// transactions commit concurrently.
//
// A row is readable once no transaction that began before its own is still running. No event is therefore ever inserted before one that
// was read. Events are ordered by transaction. Of two transactions that touch the same rows, one waits for the other, or is retried and
// gets a later number.
import { type RawBuilder, sql } from "kysely"
import type { OrganizationId, TeamId, WorkspaceId } from "../../../core/ids.ts"
import type { Clock, Instant } from "../../../core/time.ts"
import {
  beginning,
  type Change,
  type EventKind,
  type EventOrigin,
  type EventPosition,
  type EventRepository,
  type EventTag,
  isBefore,
  type StoredEvent,
  type SweptEvents,
} from "../../../events/feed/event.ts"
import { type DialectName, type QueryRunner, statement, type BatchPart, batchPart } from "../../sql/query-runner.ts"

/** Facts that all events of a unit of work share. */
export interface EventRecording {
  readonly clock: Clock
  /** False if no feed is configured; no events are recorded then. */
  readonly isOn: boolean
  readonly origin: EventOrigin
  /** Called with the organization of each event. The transaction may still be rolled back. */
  readonly noted: (organizationId: OrganizationId) => void
}

export class SqlEventRepository implements EventRepository {
  readonly #session: QueryRunner
  readonly #recording: EventRecording

  constructor(session: QueryRunner, recording: EventRecording) {
    this.#session = session
    this.#recording = recording
  }

  async append(...changes: readonly Change[]): Promise<void> {
    const rows = this.#rowsOf(changes)
    const [only] = rows
    if (only === undefined) return
    if (rows.length === 1) await this.#session.execute(insertOne, only)
    else await this.#session.execute(insertMany, { rows: JSON.stringify(rows) })
  }

  /** Returns the insert as a part of a batch; empty if no feed is configured. */
  appending(change: Change): BatchPart<unknown>[] {
    return this.#rowsOf([change]).map((row) => batchPart(insertOne, row))
  }

  #rowsOf(changes: readonly Change[]): NewRow[] {
    const { clock, isOn, noted } = this.#recording
    if (!isOn || changes.length === 0) return []
    const at = clock.now()
    const rows = changes.map((change) => this.#rowOf(change, at))
    for (const { organizationId } of rows) noted(organizationId)
    return rows
  }

  #rowOf(change: Change, at: Instant): NewRow {
    const workspace = "workspace" in change ? change.workspace : undefined
    const { kind, changed = [], subject = null, formerTags = [] } = change
    const details: Details = {
      name: workspace?.name ?? "",
      changed,
      subject,
      origin: this.#recording.origin,
      ...(formerTags.length === 0 ? {} : { formerTags: formerTags.map(({ key, value }) => ({ key, value })) }),
    }
    return {
      organizationId: "workspace" in change ? change.workspace.organizationId : change.organizationId,
      workspaceId: workspace?.id ?? "",
      kind,
      at,
      details: JSON.stringify(details),
    }
  }

  async after(organizationId: OrganizationId, position: EventPosition, limit: number): Promise<readonly StoredEvent[]> {
    const rows = await this.#session.queryMany(rowsAfter, { organizationId, ...position, limit })
    return rows.map(eventOf)
  }

  async end(): Promise<EventPosition> {
    return (await this.#session.queryOne(lastReadable, {})) ?? (await this.swept())?.position ?? beginning
  }

  async newest(): Promise<EventPosition> {
    return (await this.#session.queryOne(lastCommitted, {})) ?? (await this.swept())?.position ?? beginning
  }

  async before(organizationId: OrganizationId, instant: Instant): Promise<EventPosition> {
    const found = await this.#session.queryOne(rowFrom, { organizationId, instant })
    // The position just before the row. Numbers are never reused.
    return found === undefined ? this.end() : { ...found, number: found.number - 1 }
  }

  async swept(): Promise<SweptEvents | undefined> {
    const row = await this.#session.queryOne(readSwept, {})
    return row && { position: { transaction: row.transaction_id, number: row.number }, at: row.at }
  }

  async sweep(before: Instant, limit: number): Promise<number> {
    const oldest = await this.#session.queryMany(oldestRows, { limit: limit + 1 })
    // The newest row stays, so that its number is not assigned again.
    const past = oldest.slice(0, Math.min(limit, oldest.length - 1))
    const firstRecent = past.findIndex(({ at }) => at >= before)
    const expired = firstRecent < 0 ? past : past.slice(0, firstRecent)
    const last = expired.at(-1)
    if (last === undefined) return 0
    const latest = Math.max(...expired.map(({ at }) => at))
    await this.#session.execute(removeRows, { transaction: last.transaction, number: last.number })
    const known = await this.swept()
    if (known === undefined || isBefore(known.position, last))
      await this.#session.execute(saveSwept, {
        transaction: last.transaction,
        number: last.number,
        at: Math.max(latest, known?.at ?? 0),
      })
    return expired.length
  }
}

interface NewRow {
  readonly organizationId: OrganizationId
  readonly workspaceId: string
  readonly kind: EventKind
  readonly at: Instant
  readonly details: string
}

/** Members of an event that no query filters by, stored as JSON. */
interface Details extends Pick<StoredEvent, "changed" | "subject" | "origin"> {
  readonly name: string
  readonly formerTags?: readonly EventTag[]
}

interface EventColumns {
  readonly transaction_id: number
  readonly number: number
  readonly organization_id: string
  readonly workspace_id: string
  readonly kind: string
  readonly at: number
  readonly details: string
  readonly tags: string | null
  readonly readers: string | null
}

function eventOf(row: EventColumns): StoredEvent {
  const { name, changed, subject, origin, formerTags = [] } = JSON.parse(row.details) as Details
  const tags = JSON.parse(row.tags ?? "[]") as readonly (readonly [string, string])[]
  return {
    position: { transaction: row.transaction_id, number: row.number },
    kind: row.kind as EventKind,
    at: row.at,
    organizationId: row.organization_id as OrganizationId,
    workspace: row.workspace_id === "" ? null : { id: row.workspace_id as WorkspaceId, name },
    changed,
    subject,
    origin,
    tags: tags.map(([key, value]) => ({ key, value })),
    formerTags,
    readers: row.readers === null ? null : (JSON.parse(row.readers) as TeamId[]),
  }
}

/** Builds the columns `tags` and `readers`: the workspace's current bindings, and the teams that had access to a deleted workspace. */
function surroundings(dialect: DialectName, workspaceId: unknown, kind: unknown) {
  const [list, pair] =
    dialect === "sqlite"
      ? [sql`json_group_array`, sql`json_array(b.key, b.value)`]
      : [sql`json_agg`, sql`json_build_array(b.key, b.value)`]
  const text = dialect === "sqlite" ? sql`` : sql`::text`
  return sql`
    (select ${list}(${pair})${text} from workspace_bindings as b where b.workspace_id = ${workspaceId}),
    case when ${kind} = 'workspace.deleted' then (
      select ${list}(g.team_id)${text} from (
        select team_id from team_workspaces where workspace_id = ${workspaceId}
        union
        select tp.team_id from workspaces as w join team_projects as tp on tp.project_id = w.project_id where w.id = ${workspaceId}
      ) as g
    ) end`
}

const columns = sql`organization_id, workspace_id, kind, at, details, tags, readers`

const insertOne = statement<NewRow, unknown>((_db, row, dialect) => {
  const text = dialect === "sqlite" ? sql`` : sql`::text`
  return sql`insert into events (${columns}) values
    (${row.organizationId}, ${row.workspaceId}, ${row.kind}, ${row.at}, ${row.details},
    ${surroundings(dialect, sql`${row.workspaceId}`, sql`${row.kind}${text}`)})`
})

const insertMany = statement<{ rows: string }, unknown>((_db, { rows }, dialect) => {
  const member = (name: string) => sql`r.value ->> ${sql.lit(dialect === "sqlite" ? `$.${name}` : name)}`
  const at = dialect === "sqlite" ? member("at") : sql`(${member("at")})::bigint`
  const source =
    dialect === "sqlite"
      ? sql`json_each(${rows}) as r order by r.key`
      : sql`json_array_elements(${rows}::json) with ordinality as r (value, place) order by r.place`
  return sql`insert into events (${columns})
    select ${member("organizationId")}, ${member("workspaceId")}, ${member("kind")}, ${at}, ${member("details")},
    ${surroundings(dialect, member("workspaceId"), member("kind"))}
    from ${source}`
})

/**
 * Builds the condition that no earlier transaction is still running. PostgreSQL numbers the transactions of all databases of a server
 * together; those of other databases are ignored. A database role that cannot see the sessions of other roles waits for them too.
 *
 * The sessions are read after the snapshot. A transaction of another database that ends in between is waited for as well, so that a
 * row can be unreadable for a moment after it was read.
 */
const readable = (dialect: DialectName) =>
  dialect === "sqlite"
    ? sql`true`
    : sql`transaction_id < (
        select coalesce(min(t.id::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
        from pg_snapshot_xip(pg_current_snapshot()) as t (id)
        where not exists (
          select 1 from pg_stat_activity as a
          where a.backend_xid = t.id::xid
          and a.datid <> (select oid from pg_database where datname = current_database())
        )
      )`

const beyond = (dialect: DialectName, transaction: number, number: number) =>
  dialect === "sqlite" ? sql`number > ${number}` : sql`(transaction_id, number) > (${transaction}, ${number})`

const inOrder = (dialect: DialectName) => (dialect === "sqlite" ? sql`number` : sql`transaction_id, number`)

const rowsAfter = statement<
  { organizationId: string; transaction: number; number: number; limit: number },
  EventColumns
>(
  (_db, { organizationId, transaction, number, limit }, dialect) => sql<EventColumns>`
    select transaction_id, number, ${columns} from events
    where organization_id = ${organizationId} and ${beyond(dialect, transaction, number)} and ${readable(dialect)}
    order by ${inOrder(dialect)} limit ${limit}`,
)

const lastRow = (condition: (dialect: DialectName) => RawBuilder<unknown>) =>
  statement<unknown, EventPosition>((_db, _parameters, dialect) => {
    const order = dialect === "sqlite" ? sql`number desc` : sql`transaction_id desc, number desc`
    return sql<EventPosition>`select transaction_id as "transaction", number from events
      where ${condition(dialect)} order by ${order} limit 1`
  })

const lastReadable = lastRow(readable)
const lastCommitted = lastRow(() => sql`true`)

const rowFrom = statement<{ organizationId: string; instant: number }, EventPosition>(
  (_db, { organizationId, instant }, dialect) => sql<EventPosition>`
    select transaction_id as "transaction", number from events
    where organization_id = ${organizationId} and at >= ${instant} and ${readable(dialect)}
    order by ${inOrder(dialect)} limit 1`,
)

const oldestRows = statement<{ limit: number }, EventPosition & { readonly at: number }>(
  (_db, { limit }, dialect) => sql<EventPosition & { readonly at: number }>`
    select transaction_id as "transaction", number, at from events
    where ${readable(dialect)} order by ${inOrder(dialect)} limit ${limit}`,
)

const removeRows = statement<{ transaction: number; number: number }, unknown>(
  (_db, { transaction, number }, dialect) =>
    dialect === "sqlite"
      ? sql`delete from events where number <= ${number}`
      : sql`delete from events where (transaction_id, number) <= (${transaction}, ${number})`,
)

const readSwept = statement<unknown, { transaction_id: number; number: number; at: number }>((db) =>
  db.selectFrom("swept_events").select(["transaction_id", "number", "at"]),
)

const saveSwept = statement<{ transaction: number; number: number; at: number }, unknown>(
  (db, { transaction, number, at }) =>
    db
      .insertInto("swept_events")
      .values({ id: 1, transaction_id: transaction, number, at })
      .onConflict((known) => known.column("id").doUpdateSet({ transaction_id: transaction, number, at })),
)
