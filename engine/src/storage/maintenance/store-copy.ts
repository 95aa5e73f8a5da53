// Copies one database into another, of either kind. The source is locked while it is read, so that the copy is of one moment.
// The target gets the schema of the source. Until all tables have been compared, it also has a migration that no release knows, so that no
// server serves half a copy.
// Every table is written in key order, so an interrupted copy is resumed after its last row. Sealed values are copied unchanged: they are
// bound to their record and not to the database.
import { existsSync, realpathSync } from "node:fs"
import { systemRuntime } from "../../core/runtime.ts"
import { missingRanges } from "../../pki/issuance/certificate-partitions.ts"
import {
  copiedColumns,
  type CopiedTable,
  copiedTable,
  describeDifference,
  ownTables,
  type Row,
  RowDigest,
  type TableShape,
} from "./copied-table.ts"
import { type CopySide, CopyRefused, type CopySource, type CopyTarget } from "./copy-side.ts"
import { appliedInSqlite, beginSqliteCopy, openSqliteSource, openSqliteTarget } from "./copy-sqlite.ts"
import { type Database, openDatabase, sqliteFile } from "../sql/database.ts"
import { filingRangesOver } from "../partitions/certificate-partitions.ts"
import { rejectNewer, unfinishedCopy } from "../schema/migrate.ts"
import { migrations } from "../schema/migrations/index.ts"
import { rememberedKeyIds } from "../sealing/seal-keys.ts"

export interface StoreCopyOptions {
  /** `sqlite:PATH` or `postgres://…` of a database that no server uses. */
  readonly from: string
  /** URL of an empty database, a new file, or an interrupted copy. */
  readonly to: string
  readonly progress?: StoreCopyProgress | undefined
}

export type StoreCopyProgress = (step: {
  readonly name: "copy" | "compare"
  readonly doneRows: number
  readonly totalRows: number
}) => void

export interface CopiedRows {
  readonly rows: number
  /** SHA-256 of all values in key order, equal in both databases. */
  readonly digest: string
}

export interface StoreCopyReport {
  readonly tables: Readonly<Record<string, CopiedRows>>
  /** Number of rows that an earlier, interrupted copy had already written. */
  readonly resumedRows: number
  /** Ids of the keys that sealed the secrets in the database. */
  readonly sealKeyIds: readonly string[]
}

/** One of the two databases failed. The cause is the original error. */
export class CopySideFailed extends Error {
  override readonly name = "CopySideFailed"
  readonly url: string
  /** True while rows are copied: the written rows stay, and the next copy continues after them. */
  readonly isInFlight: boolean

  constructor(url: string, { cause, isInFlight = false }: { readonly cause: unknown; readonly isInFlight?: boolean }) {
    super("a store cannot be copied", { cause })
    this.url = url
    this.isInFlight = isInFlight
  }
}

/** Copies a database. Throws `CopyRefused`, or `CopySideFailed` for a database that cannot be used. */
export async function copyStore({ from, to, progress }: StoreCopyOptions): Promise<StoreCopyReport> {
  rejectSame(from, to)
  const schema = await about(from, () => sourceSchema(from))
  await using source = await about(from, () => openSource(from))
  await about(to, () => begin(to, schema))
  const copied = await copyRows(source, { from, to, progress })
  // Applies the migrations that the source lacks, as the start of a server does.
  await using target = await about(to, () => openDatabase(to))
  await about(to, () => target.migrate())
  return { ...copied, sealKeyIds: await rememberedKeyIds(target) }
}

async function about<T>(url: string, work: () => T | Promise<T>, isInFlight = false): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof CopyRefused ? cause : new CopySideFailed(url, { cause, isInFlight })
  }
}

function rejectSame(from: string, to: string): void {
  if (placeOf(from) !== placeOf(to)) return
  throw new CopyRefused("Both stores are the same; give another store to copy to.")
}

function placeOf(url: string): string {
  const file = sqliteFile(url)
  if (file !== undefined) return existsSync(file) ? realpathSync(file) : file
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port === "" ? "5432" : port}${pathname}`
}

const appliedIn = async (url: string): Promise<readonly string[]> => {
  const file = sqliteFile(url)
  if (file !== undefined) return appliedInSqlite(file)
  return (await postgres()).appliedInPostgres(url)
}

// Imported on demand, with its driver, which SQLite does not need.
const postgres = () => import("./copy-postgres.ts")

async function sourceSchema(url: string): Promise<readonly string[]> {
  const applied = await appliedIn(url)
  if (applied.length === 0) throw new CopyRefused("The store to copy does not exist.")
  if (applied.includes(unfinishedCopy))
    throw new CopyRefused("The store to copy is itself an unfinished copy; copy its source instead.")
  rejectNewer(applied, migrations)
  return applied
}

async function openSource(url: string): Promise<CopySource> {
  const file = sqliteFile(url)
  return file === undefined ? (await postgres()).openPostgresSource(url) : openSqliteSource(file)
}

async function openTarget(url: string): Promise<CopyTarget> {
  const file = sqliteFile(url)
  return file === undefined ? (await postgres()).openPostgresTarget(url) : openSqliteTarget(file)
}

/** Creates the schema of the source in an empty target, or checks that of an unfinished copy. */
async function begin(url: string, schema: readonly string[]): Promise<void> {
  const applied = await appliedIn(url)
  const isUnfinished = applied.at(-1) === unfinishedCopy
  if (applied.length > 0 && !isUnfinished)
    throw new CopyRefused("The target already contains a store; give an empty database or a new file.")
  if (isUnfinished && applied.slice(0, -1).join() !== schema.join())
    throw new CopyRefused(
      "The store was upgraded after its copy began; remove the unfinished copy or give another target, and start again.",
    )
  const beginning = sqliteFile(url) === undefined ? (await postgres()).beginPostgresCopy : beginSqliteCopy
  await using database = await openDatabase(url, { migrations: [...migrations.slice(0, schema.length), beginning] })
  await database.migrate()
  await makeRanges(database)
}

/** Creates the certificate partitions first, so that rows are inserted into their final partition and none must be moved later. */
async function makeRanges(database: Database): Promise<void> {
  const ranges = filingRangesOver(database)
  const known = await ranges.list()
  if (known === undefined) return
  for (const range of missingRanges(systemRuntime().clock.now(), known)) await ranges.make(range)
}

/** Table in one of the two databases. */
interface Side<End extends CopySide = CopySide> {
  readonly url: string
  readonly end: End
  readonly table: CopiedTable
}

interface Pair {
  readonly source: Side
  readonly target: Side<CopyTarget>
}

interface Sides {
  readonly from: string
  readonly to: string
  readonly progress: StoreCopyProgress | undefined
}

async function copyRows(
  source: CopySource,
  { from, to, progress }: Sides,
): Promise<Omit<StoreCopyReport, "sealKeyIds">> {
  await using target = await about(to, () => openTarget(to))
  const shapes = await about(from, () => source.shapes())
  const pairs = pairsOf(shapes, await about(to, () => target.shapes())).map((tables) => ({
    source: { url: from, end: source, table: tables.source },
    target: { url: to, end: target, table: tables.target },
  }))
  let totalRows = 0
  for (const pair of pairs) totalRows += await countOf(pair.source)

  let resumedRows = 0
  let doneRows = 0
  for (const pair of pairs) {
    const written = await countOf(pair.target)
    resumedRows += written
    doneRows += written
    progress?.({ name: "copy", doneRows, totalRows })
    for await (const rows of pagesOf(pair.source, written === 0 ? undefined : await lastRowOf(pair.target))) {
      await about(to, () => target.write(pair.target.table, rows), true)
      doneRows += rows.length
      progress?.({ name: "copy", doneRows, totalRows })
    }
  }

  const tables = await compare(pairs, totalRows, progress)
  const lastNumbers = await about(from, () => source.lastNumbers(), true)
  await about(to, () => target.finish(lastNumbers), true)
  return { tables, resumedRows }
}

async function compare(
  pairs: readonly Pair[],
  totalRows: number,
  progress: StoreCopyProgress | undefined,
): Promise<Record<string, CopiedRows>> {
  const tables: Record<string, CopiedRows> = {}
  let doneRows = 0
  for (const { source, target } of pairs) {
    const [expected, found] = [await contentOf(source), await contentOf(target)]
    const { name } = source.table
    if (expected.rows !== found.rows || expected.digest !== found.digest)
      throw new CopyRefused(
        `The table ${name} of the copy (${found.rows} rows) differs from the table of the store (${expected.rows} rows): ` +
          "the store changed after the copy began. Remove the unfinished copy or give another target, and start again.",
      )
    tables[name] = expected
    doneRows += expected.rows
    progress?.({ name: "compare", doneRows, totalRows })
  }
  return tables
}

const countOf = ({ url, end, table }: Side): Promise<number> => about(url, () => end.count(table), true)

const lastRowOf = ({ url, end, table }: Side<CopyTarget>): Promise<Row | undefined> =>
  about(url, () => end.lastRow(table), true)

async function contentOf(side: Side): Promise<CopiedRows> {
  const digest = new RowDigest()
  let count = 0
  for await (const rows of pagesOf(side, undefined)) {
    digest.add(rows)
    count += rows.length
  }
  return { rows: count, digest: digest.hex() }
}

async function* pagesOf({ url, end, table }: Side, after: Row | undefined): AsyncGenerator<readonly Row[]> {
  let last = after
  for (;;) {
    const rows = await about(url, () => end.page(table, last), true)
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)
  }
}

interface TablePair {
  readonly source: CopiedTable
  readonly target: CopiedTable
}

function pairsOf(from: readonly TableShape[], to: readonly TableShape[]): readonly TablePair[] {
  const targets = new Map(to.map((shape) => [shape.name, shape]))
  return from
    .filter(({ name }) => !ownTables.has(name))
    .map((shape) => {
      const other = targets.get(shape.name)
      const difference = describeDifference(shape, other)
      if (other === undefined || difference !== undefined) throw new CopyRefused(difference ?? "")
      const columns = copiedColumns(shape)
      // The two databases may differ in which columns are nullable, but both must order by the same terms.
      const nullable = new Set(other.columns.flatMap(({ name, isNullable }) => (isNullable ? [name] : [])))
      const shared = columns.map((column) => ({
        ...column,
        isNullable: column.isNullable || nullable.has(column.name),
      }))
      return { source: copiedTable(shape, shared), target: copiedTable(other, shared) }
    })
}
