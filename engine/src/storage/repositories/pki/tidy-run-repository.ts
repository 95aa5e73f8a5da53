import { sql } from "kysely"
import type { Instant } from "../../../core/time.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import {
  type NewTidyRun,
  noTidyCounts,
  type TidyEnd,
  type TidyRecord,
  type TidyRun,
  type TidyRunRepository,
} from "../../../pki/tidy/tidy-run.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { TidyRunRow } from "../../schema/tables.ts"

export class SqlTidyRepository implements TidyRunRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(mountId: MountId): Promise<TidyRecord> {
    const row = await this.#session.queryOne(ofMount, { mountId })
    if (row === undefined) return { run: undefined, lastAutomaticFinishedAt: undefined }
    return { run: runOf(row), lastAutomaticFinishedAt: row.automatic_finished_at ?? undefined }
  }

  async active(): Promise<readonly TidyRun[]> {
    return (await this.#session.queryMany(allActive, {})).map(runOf)
  }

  async begin({ mountId, ...newRun }: NewTidyRun): Promise<boolean> {
    const run: StoredRun = { ...newRun, counts: noTidyCounts, finishedAt: null, message: null, error: null }
    return (await this.#session.execute(beginRun, { mountId, run: JSON.stringify(run) })) > 0
  }

  async cancel(mountId: MountId): Promise<boolean> {
    return (await this.#session.execute(cancelRun, { mountId })) > 0
  }

  async advance(seen: TidyRun, to: Pick<TidyRun, "progress" | "counts" | "message">): Promise<boolean> {
    const { mountId, number, step } = seen
    const run = JSON.stringify(toStoredRun({ ...seen, ...to }))
    return (await this.#session.execute(advanceRun, { mountId, number, step, run })) > 0
  }

  async finish(seen: TidyRun, { state, message, error, now }: TidyEnd): Promise<boolean> {
    const { mountId, number, step, automatic } = seen
    const run = JSON.stringify(toStoredRun({ ...seen, message, error, finishedAt: now }))
    if ((await this.#session.execute(finishRun, { mountId, number, step, state, run })) === 0) return false
    if (automatic) await this.#session.execute(recordAutomatic, { mountId, now })
    return true
  }
}

/** Members of a run that are stored as JSON. Members that queries filter by have columns. */
type StoredRun = Omit<TidyRun, "mountId" | "number" | "step" | "state">

const toStoredRun = ({ mountId: _mount, number: _number, step: _step, state: _state, ...stored }: TidyRun): StoredRun =>
  stored

const runOf = ({ mount_id, number, step, state, run }: TidyRunRow): TidyRun => ({
  mountId: mount_id as MountId,
  number,
  step,
  state: state as TidyRun["state"],
  ...keptIn(run),
})

/** Parses a stored run. Counters that were added after it was written are zero. */
function keptIn(run: string): StoredRun {
  const stored = JSON.parse(run) as StoredRun
  return { ...stored, counts: { ...noTidyCounts, ...stored.counts } }
}

const columns = ["mount_id", "number", "step", "state", "run", "automatic_finished_at"] as const

const ofMount = statement((db, { mountId }: { mountId: string }) =>
  db.selectFrom("tidy_runs").select(columns).where("mount_id", "=", mountId),
)

const allActive = statement<Record<string, never>, TidyRunRow>((db) =>
  db
    .selectFrom("tidy_runs")
    .select(columns)
    .where(sql<boolean>`state in ('running', 'cancelling')`)
    .orderBy("mount_id"),
)

const beginRun = statement((db, { mountId, run }: { mountId: string; run: string }) =>
  db
    .insertInto("tidy_runs")
    .values({ mount_id: mountId, number: 1, step: 0, state: "running", run, automatic_finished_at: null })
    .onConflict((known) =>
      known
        .column("mount_id")
        .doUpdateSet({ number: sql<number>`tidy_runs.number + 1`, step: 0, state: "running", run })
        .where(sql<boolean>`tidy_runs.state not in ('running', 'cancelling')`),
    ),
)

const cancelRun = statement((db, { mountId }: { mountId: string }) =>
  db
    .updateTable("tidy_runs")
    .set({ state: "cancelling" })
    .where("mount_id", "=", mountId)
    .where("state", "=", sql<string>`'running'`),
)

interface Seen {
  readonly mountId: string
  readonly number: number
  readonly step: number
  readonly run: string
}

const advanceRun = statement((db, { mountId, number, step, run }: Seen) =>
  db
    .updateTable("tidy_runs")
    .set({ run, step: sql<number>`step + 1` })
    .where("mount_id", "=", mountId)
    .where("number", "=", number)
    .where("step", "=", step)
    .where("state", "=", sql<string>`'running'`),
)

const finishRun = statement((db, { mountId, number, step, state, run }: Seen & { readonly state: string }) =>
  db
    .updateTable("tidy_runs")
    .set({ run, state })
    .where("mount_id", "=", mountId)
    .where("number", "=", number)
    .where("step", "=", step)
    .where(sql<boolean>`state in ('running', 'cancelling')`),
)

const recordAutomatic = statement((db, { mountId, now }: { mountId: string; now: Instant }) =>
  db.updateTable("tidy_runs").set({ automatic_finished_at: now }).where("mount_id", "=", mountId),
)
