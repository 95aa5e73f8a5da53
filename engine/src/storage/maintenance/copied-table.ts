// What is the same of a table in two stores, whatever database each of them is, and the order in which both tell its rows.
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

/** A table as the schema of one store describes it. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly CopiedColumn[]
  /** Lists of columns that are never null and tell rows apart: the primary key first, where there is one. */
  readonly keys: readonly (readonly string[])[]
}

export interface CopiedTable {
  readonly name: string
  /** The same in both stores. */
  readonly columns: readonly CopiedColumn[]
  /** What this store finds rows by; in each store the rows are in the same order by its key. */
  readonly key: readonly CopiedColumn[]
}

/** Rows of one page, and about how many bytes: what is held in memory at once. */
export const pageLimits = { rows: 1_000, bytes: 4 * 1024 * 1024 } as const

/** Of tables that are there in one store because of how it does things, or while a copy is made. */
export const ownTables: ReadonlySet<string> = new Set(["migrations", "unfinished_copy_references"])

/** Without what the store numbers for itself. */
export const copiedColumns = ({ name, columns }: TableShape): readonly CopiedColumn[] =>
  columns.filter((column) => name !== nameNumbers.table || column.name !== nameNumbers.column)

/** Throws where the shape has no column that is asked for: `describeDifference` is asked before. */
export function copiedTable(shape: TableShape, columns: readonly CopiedColumn[]): CopiedTable {
  const byName = new Map(columns.map((column) => [column.name, column]))
  const usable = shape.keys.filter((key) => key.every((name) => byName.has(name)))
  // Of several keys each store names others first; the shortest is the same in all of them.
  const [primary] = shape.keys
  const shortest = usable.toSorted((one, other) => one.length - other.length)[0]
  const names = primary !== undefined && usable.includes(primary) ? primary : shortest
  const key = names?.flatMap((name) => byName.get(name) ?? []) ?? columns
  return { name: shape.name, columns, key }
}

/** One sentence, or undefined when every row of the one fits into the other. */
export function describeDifference(from: TableShape, to: TableShape | undefined): string | undefined {
  if (to === undefined) return `The table ${from.name} is none of Chancery's; move it out of the store first.`
  const kinds = new Map(copiedColumns(to).map(({ name, kind }) => [name, kind]))
  const columns = copiedColumns(from)
  const other = columns.find(({ name, kind }) => kinds.get(name) !== kind)
  if (other !== undefined)
    return `The column ${other.name} of the table ${from.name} is none of Chancery's; take it out of the store first.`
  const missing = [...kinds.keys()].find((name) => !columns.some((column) => column.name === name))
  return missing === undefined ? undefined : `The table ${from.name} has lost its column ${missing}.`
}

/** SQL that orders by a key, with the null of a column before everything else in both dialects. */
export const keyTerms = (key: readonly CopiedColumn[], emptyBlob: string): readonly string[] =>
  key.flatMap(({ name, kind, isNullable }) => {
    if (!isNullable) return [quoted(name)]
    const empty = { text: "''", integer: "0", blob: emptyBlob }[kind]
    return [`case when ${quoted(name)} is null then 0 else 1 end`, `coalesce(${quoted(name)}, ${empty})`]
  })

/** The values that `keyTerms` have in a row. */
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

/** Of rows in their order; the same for the same values in both dialects. */
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
