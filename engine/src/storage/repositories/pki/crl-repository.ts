import { sql } from "kysely"
import type { CrlListId } from "../../../pki/crl/crl-list.ts"
import type {
  CompleteCrl,
  CrlKey,
  CrlState,
  CrlRepository,
  DeltaCrl,
  KeyedCrlState,
  Segment,
} from "../../../pki/crl/crl-repository.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlCrlRepository implements CrlRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(key: CrlKey): Promise<CrlState | undefined> {
    const row = await this.#session.queryOne(crlAt, place(key))
    return row && stateOf(row)
  }

  async keys(mountId: MountId): Promise<readonly CrlKey[]> {
    const rows = await this.#session.queryMany(crlsOfMount, { mountId })
    return rows.map((row) => keyOf(mountId, row))
  }

  async states(mountId: MountId): Promise<readonly KeyedCrlState[]> {
    const rows = await this.#session.queryMany(statesOfMount, { mountId })
    return rows.map((row) => ({ key: keyOf(mountId, row), state: stateOf(row) }))
  }

  async begin(key: CrlKey, fence: number): Promise<CrlState | undefined> {
    const row = await this.#session.queryOne(beginBuild, { ...place(key), fence })
    return row && stateOf(row)
  }

  async writeSegments(key: CrlKey, fence: number, epoch: number, segments: readonly Segment[]): Promise<boolean> {
    if ((await this.#session.execute(confirmFence, { ...place(key), fence })) === 0) return false
    await this.#write(key, epoch, segments)
    return true
  }

  async publish(
    key: CrlKey,
    fence: number,
    crl: CompleteCrl,
    { head, tail, segments }: { head: Uint8Array; tail: Uint8Array; segments: readonly Segment[] },
  ): Promise<boolean> {
    const complete = JSON.stringify(crl)
    if ((await this.#session.execute(publishComplete, { ...place(key), fence, complete, head, tail })) === 0)
      return false
    await this.#write(key, crl.epoch, segments)
    return true
  }

  async publishDelta(key: CrlKey, fence: number, crl: DeltaCrl, der: Uint8Array): Promise<boolean> {
    const delta = JSON.stringify(crl)
    return (await this.#session.execute(publishDeltaAt, { ...place(key), fence, delta, der })) > 0
  }

  async frame(key: CrlKey): Promise<{ readonly head: Uint8Array; readonly tail: Uint8Array } | undefined> {
    const row = await this.#session.queryOne(frameOf, place(key))
    return row === undefined || row.head === null || row.tail === null ? undefined : { head: row.head, tail: row.tail }
  }

  async delta(key: CrlKey): Promise<Uint8Array | undefined> {
    return (await this.#session.queryOne(deltaOf, place(key)))?.delta_der ?? undefined
  }

  async segment(key: CrlKey, epoch: number, position: number): Promise<Uint8Array | undefined> {
    return (await this.#session.queryOne(segmentAt, { ...place(key), epoch, position }))?.entries
  }

  async dropSegments(key: CrlKey, fence: number, epoch: number, limit: number): Promise<number> {
    if ((await this.#session.execute(confirmFence, { ...place(key), fence })) === 0) return 0
    const found = await this.#session.queryMany(otherSegments, { ...place(key), epoch, limit })
    for (const segment of found)
      await this.#session.execute(dropSegment, { ...place(key), epoch: segment.epoch, position: segment.position })
    return found.length
  }

  async #write(key: CrlKey, epoch: number, segments: readonly Segment[]): Promise<void> {
    for (const { position, entries } of segments)
      await this.#session.execute(saveSegment, { ...place(key), epoch, position, entries })
  }
}

interface Place {
  readonly mountId: string
  readonly list: string
  readonly count: number
  readonly index: number
}

const place = ({ mountId, list, shard: { count, index } }: CrlKey): Place => ({ mountId, list, count, index })

interface KeyRow {
  readonly list: string
  readonly shard_count: number
  readonly shard_index: number
}

const keyOf = (mountId: MountId, { list, shard_count: count, shard_index: index }: KeyRow): CrlKey => ({
  mountId,
  list: list as CrlListId,
  shard: { count, index },
})

interface StateRow {
  readonly fence: number
  readonly removals: number
  readonly complete: string | null
  readonly delta: string | null
}

const stateOf = ({ fence, removals, complete, delta }: StateRow): CrlState => ({
  fence,
  removals,
  complete: complete === null ? undefined : (JSON.parse(complete) as CompleteCrl),
  delta: delta === null ? undefined : (JSON.parse(delta) as DeltaCrl),
})

const stateColumns = ["fence", "removals", "complete", "delta"] as const

const crlAt = statement((db, { mountId, list, count, index }: Place) =>
  db
    .selectFrom("crls")
    .select(stateColumns)
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index),
)

const crlsOfMount = statement((db, { mountId }: { mountId: string }) =>
  db.selectFrom("crls").select(["list", "shard_count", "shard_index"]).where("mount_id", "=", mountId),
)

const statesOfMount = statement((db, { mountId }: { mountId: string }) =>
  db
    .selectFrom("crls")
    .select(["list", "shard_count", "shard_index", ...stateColumns])
    .where("mount_id", "=", mountId),
)

const beginBuild = statement((db, { mountId, list, count, index, fence }: Place & { readonly fence: number }) =>
  db
    .insertInto("crls")
    .values({
      mount_id: mountId,
      list,
      shard_count: count,
      shard_index: index,
      fence,
      removals: 0,
      complete: null,
      head: null,
      tail: null,
      delta: null,
      delta_der: null,
    })
    .onConflict((known) =>
      known
        .columns(["mount_id", "list", "shard_count", "shard_index"])
        .doUpdateSet({ fence })
        .where("crls.fence", "<=", fence),
    )
    .returning(stateColumns),
)

const confirmFence = statement((db, { mountId, list, count, index, fence }: Place & { readonly fence: number }) =>
  db
    .updateTable("crls")
    .set({ fence })
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index)
    .where("fence", "=", fence),
)

interface Published extends Place {
  readonly fence: number
  readonly complete: string
  readonly head: Uint8Array
  readonly tail: Uint8Array
}

const publishComplete = statement((db, { mountId, list, count, index, fence, complete, head, tail }: Published) =>
  db
    .updateTable("crls")
    .set({ complete, head, tail })
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index)
    .where("fence", "=", fence),
)

const publishDeltaAt = statement(
  (db, { mountId, list, count, index, fence, delta, der }: Place & { fence: number; delta: string; der: Uint8Array }) =>
    db
      .updateTable("crls")
      .set({ delta, delta_der: der })
      .where("mount_id", "=", mountId)
      .where("list", "=", list)
      .where("shard_count", "=", count)
      .where("shard_index", "=", index)
      .where("fence", "=", fence),
)

const frameOf = statement((db, { mountId, list, count, index }: Place) =>
  db
    .selectFrom("crls")
    .select(["head", "tail"])
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index),
)

const deltaOf = statement((db, { mountId, list, count, index }: Place) =>
  db
    .selectFrom("crls")
    .select("delta_der")
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index),
)

interface SegmentPlace extends Place {
  readonly epoch: number
  readonly position: number
}

const segmentAt = statement((db, { mountId, list, count, index, epoch, position }: SegmentPlace) =>
  db
    .selectFrom("crl_segments")
    .select("entries")
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index)
    .where("epoch", "=", epoch)
    .where("position", "=", position),
)

const saveSegment = statement(
  (db, { mountId, list, count, index, epoch, position, entries }: SegmentPlace & { readonly entries: Uint8Array }) =>
    db
      .insertInto("crl_segments")
      .values({ mount_id: mountId, list, shard_count: count, shard_index: index, epoch, position, entries })
      .onConflict((known) =>
        known
          .columns(["mount_id", "list", "shard_count", "shard_index", "epoch", "position"])
          .doUpdateSet({ entries: sql<Uint8Array>`excluded.entries` }),
      ),
)

const otherSegments = statement(
  (db, { mountId, list, count, index, epoch, limit }: Omit<SegmentPlace, "position"> & { readonly limit: number }) =>
    db
      .selectFrom("crl_segments")
      .select(["epoch", "position"])
      .where("mount_id", "=", mountId)
      .where("list", "=", list)
      .where("shard_count", "=", count)
      .where("shard_index", "=", index)
      .where("epoch", "<>", epoch)
      .limit(limit),
)

const dropSegment = statement((db, { mountId, list, count, index, epoch, position }: SegmentPlace) =>
  db
    .deleteFrom("crl_segments")
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("shard_count", "=", count)
    .where("shard_index", "=", index)
    .where("epoch", "=", epoch)
    .where("position", "=", position),
)
