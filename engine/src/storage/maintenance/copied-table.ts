// Common description of a table in two databases of either kind, and the order in which both return its rows.
import { createHash } from "node:crypto"
import { nameNumbers } from "../sql/name-search.ts"

export type Cell = string | bigint | Uint8Array | null
/** Cells in the order of the columns of its table. */
export type Row = readonly Cell[]

export interface CopiedColumn {
  readonly name: string
  readonly kind: "text" | "integer" | "blob"
  readonly isNullable: boolean
}

/** Table as the schema of one database describes it. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly CopiedColumn[]
  /** Unique lists of columns that are never null; the primary key first, if there is one. */
  readonly keys: readonly (readonly string[])[]
}

export interface CopiedTable {
  readonly name: string
  /** Identical in both databases. */
  readonly columns: readonly CopiedColumn[]
  /** Key by which this database finds rows. Ordered by their own keys, both databases return the rows in the same order. */
  readonly key: readonly CopiedColumn[]
}

/** Bounds of one page, which limit the use of memory. `bytes` is approximate. */
export const pageLimits = { rows: 1_000, bytes: 4 * 1024 * 1024 } as const

/** Tables that are not copied: each database has its own, or they exist only during a copy. */
export const ownTables: ReadonlySet<string> = new Set(["migrations", "unfinished_copy_references"])

/** Returns the columns without the one that each database numbers itself. */
export const copiedColumns = ({ name, columns }: TableShape): readonly CopiedColumn[] =>
  columns.filter((column) => name !== nameNumbers.table || column.name !== nameNumbers.column)

/** Describes a table by the columns that both databases share. Call `describeDifference` first, which checks that they exist. */
export function copiedTable(shape: TableShape, columns: readonly CopiedColumn[]): CopiedTable {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const usable = shape.keys.filter((key) => key.every((name) => byName.has(name)))
  // SQLite and PostgreSQL list unique keys in different orders. The shortest key is the same in both.
  const [primary] = shape.keys
  const shortest = usable.toSorted((one, other) => one.length - other.length)[0]
  const names = primary !== undefined && usable.includes(primary) ? primary : shortest
  const key = names?.flatMap((name) => byName.get(name) ?? []) ?? columns
  return { name: shape.name, columns, key }
}

/** Returns one sentence on the difference, or undefined if every row of `from` fits into `to`. */
export function describeDifference(from: TableShape, to: TableShape | undefined): string | undefined {
  if (to === undefined) return `The table ${from.name} is not a table of Chancery; move it out of the store first.`
  const kinds = new Map(copiedColumns(to).map(({ name, kind }) => [name, kind]))
  const columns = copiedColumns(from)
  const other = columns.find(({ name, kind }) => kinds.get(name) !== kind)
  if (other !== undefined)
    return `The column ${other.name} of the table ${from.name} is not a column of Chancery; remove it from the store first.`
  const missing = [...kinds.keys()].find((name) => !columns.some((column) => column.name === name))
  return missing === undefined ? undefined : `The table ${from.name} has no column ${missing}.`
}

/** Returns SQL terms that order by a key. Null sorts before all other values in both dialects. */
export const keyTerms = (key: readonly CopiedColumn[], emptyBlob: string): readonly string[] =>
  key.flatMap(({ name, kind, isNullable }) => {
    if (!isNullable) return [quoted(name)]
    const empty = { text: "''", integer: "0", blob: emptyBlob }[kind]
    return [`case when ${quoted(name)} is null then 0 else 1 end`, `coalesce(${quoted(name)}, ${empty})`]
  })

/** Returns the values of `keyTerms` for a row. */
export function keyValues({ columns, key }: CopiedTable, row: Row): readonly Cell[] {
  return key.flatMap(({ name, kind, isNullable }) => {
    const cell = row[columns.findIndex((column) => column.name === name)] ?? null
    if (!isNullable) return [cell]
    const empty = { text: "", integer: 0n, blob: new Uint8Array() }[kind]
    return cell === null ? [0n, empty] : [1n, cell]
  })
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const bytesOf = (cell: Cell): number => {
  if (typeof cell === "string") return cell.length
  return cell instanceof Uint8Array ? cell.byteLength : 8
}

/** Digest of rows in order. Equal values have equal digests in both dialects. */
export class RowDigest {
  readonly #hash = createHash("sha256")

  add(rows: readonly Row[]): void {
    for (const row of rows) for (const cell of row) this.#addCell(cell)
  }

  #addCell(cell: Cell): void {
    if (cell === null) {
      this.#hash.update("n;")
    } else if (cell instanceof Uint8Array) {
      this.#hash.update(`b${cell.byteLength};`).update(cell)
    } else {
      const text = String(cell)
      this.#hash.update(`${typeof cell === "bigint" ? "i" : "t"}${Buffer.byteLength(text)};${text}`)
    }
  }

  hex(): string {
    return this.#hash.digest("hex")
  }
}
