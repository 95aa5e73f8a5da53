// Seals values again under the current seal key, while servers read and write them. It works in batches, each a short transaction that
// searches for values under other keys. After an interruption, a new run finds the rest.
import { setTimeout as sleep } from "node:timers/promises"
import { sql } from "kysely"
import type { RandomSource } from "../../core/random.ts"
import type { Sealer } from "../../core/sealing.ts"
import type { Database } from "../sql/database.ts"
import { keySealer, type KeyRing, sealHeader, tryOpen } from "./key-sealing.ts"
import { type SealedColumn, sealedPlaces } from "./sealed-columns.ts"
import type { QueryRunner } from "../sql/query-runner.ts"
import { type Rewrapped, rewrapSiteSecrets, siteSecretKeyIds } from "./site-secret.ts"

export interface RewrapOptions {
  readonly ring: KeyRing
  readonly random: RandomSource
  readonly progress?: (rewrapped: number) => void
  /** Aborts between two batches; `rewrap` then throws the reason. */
  readonly signal?: AbortSignal
}

/** Pause between two batches, so that servers on the embedded database get the single writer. */
const pauseMs = 5

export async function rewrap(database: Database, options: RewrapOptions): Promise<Rewrapped> {
  const sealer = keySealer(options.ring, options.random)
  const header = sealHeader(options.ring.current)
  let report: Rewrapped = { rewrapped: 0, unopened: 0, firstProblem: undefined }
  const count = (batch: Rewrapped) => {
    report = {
      rewrapped: report.rewrapped + batch.rewrapped,
      unopened: report.unopened + batch.unopened,
      firstProblem: report.firstProblem ?? batch.firstProblem,
    }
    options.progress?.(report.rewrapped)
  }

  count(await database.transact((session) => rewrapSiteSecrets(session, sealer, header)))
  for (const place of sealedPlaces) {
    let after: Key | undefined
    for (;;) {
      options.signal?.throwIfAborted()
      const batch = await database.transact((session) => rewrapBatch(session, place, after, { sealer, header }))
      count(batch)
      if (batch.last === undefined) break
      after = batch.last
      await sleep(pauseMs)
    }
  }
  return report
}

/** Returns the number of values under each key, by key id. */
export async function sealedValueCounts(database: Pick<Database, "read">): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const add = (keyId: string, count: number) => counts.set(keyId, (counts.get(keyId) ?? 0) + count)
  await database.read(async (session) => {
    for (const keyId of await siteSecretKeyIds(session)) add(keyId, 1)
    for (const { table, column } of sealedPlaces) {
      const id = sql`substr(${sql.ref(column)}, 2, 8)`
      const text = session.dialect === "sqlite" ? sql<string>`lower(hex(${id}))` : sql<string>`encode(${id}, 'hex')`
      const query = sql<{ id: string; count: number }>`
        select ${text} as id, count(*) as count from ${sql.table(table)}
        where ${sql.ref(column)} is not null group by 1`
      for (const row of await session.queryMany(query)) add(row.id, row.count)
    }
  })
  return counts
}

type Key = readonly (string | number)[]

async function rewrapBatch(
  session: QueryRunner,
  { table, column, key, batch, extra, path }: SealedColumn,
  after: Key | undefined,
  { sealer, header }: { readonly sealer: Sealer; readonly header: Uint8Array },
): Promise<Rewrapped & { readonly last: Key | undefined }> {
  const keyColumns = sql.join(key.map((name) => sql.ref(name)))
  const beyond = after === undefined ? sql`` : sql`and (${keyColumns}) > (${sql.join(after)})`
  const rows = await session.queryMany(sql<Record<string, string | number> & { sealed: Uint8Array }>`
    select ${keyColumns}, ${extra ?? sql`0`} as extra, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where substr(${sql.ref(column)}, 1, ${header.length}) <> ${header} ${beyond}
    order by ${keyColumns} limit ${batch}`)
  let [rewrapped, unopened, firstProblem] = [0, 0, undefined as string | undefined]
  for (const { sealed, ...row } of rows) {
    const of = path(row)
    const opened = tryOpen(sealer, of, sealed)
    // Damaged values, and values under a lost key, must not prevent the others from being sealed again.
    if (opened instanceof Error) {
      unopened += 1
      firstProblem ??= opened.message
      continue
    }
    const same = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    )
    await session.execute(
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealer.seal(of, opened)} where ${same}`,
    )
    rewrapped += 1
  }
  const last = rows.length < batch ? undefined : rows.at(-1)
  return { rewrapped, unopened, firstProblem, last: last && key.map((name) => last[name] ?? "") }
}
