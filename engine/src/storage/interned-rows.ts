// Answers that were given before. Most reads of a workspace find it as it was: then the very same rows are handed out
// again, and whatever was derived from them still holds (`derived`). The database is asked every time; only the making of
// objects is saved, which costs more than the query.

// Of each statement on each connection. With what is derived from it, a workspace that is remembered takes about 7.5 KB.
const rememberedMaximum = 500

interface Answer {
  readonly cells: readonly (readonly unknown[])[]
  readonly rows: readonly object[]
}

export class InternedRows {
  /** By statement text, then by parameters; the oldest are forgotten. */
  readonly #answers = new Map<string, Map<string, Answer>>()

  /** The rows of an answer, one array of cells each: those of the last time when every cell is the same. */
  rowsOf(
    text: string,
    values: readonly unknown[],
    columns: readonly string[],
    cells: readonly (readonly unknown[])[],
  ): readonly object[] {
    const answers = this.#answers.get(text) ?? new Map<string, Answer>()
    if (answers.size === 0) this.#answers.set(text, answers)
    const key = values.join("\0")
    const known = answers.get(key)
    if (known !== undefined && isSame(known.cells, cells)) return known.rows
    const rows = cells.map((row) => Object.freeze(rowOf(columns, row)))
    if (known === undefined && answers.size >= rememberedMaximum) {
      for (const oldest of answers.keys()) {
        answers.delete(oldest)
        break
      }
    }
    answers.set(key, { cells, rows: Object.freeze(rows) })
    return rows
  }
}

const templates = new WeakMap<readonly string[], Readonly<Record<string, unknown>>>()

/**
 * An object of many members, made by copying one of the same shape: built member by member it would be a dictionary,
 * several times slower to make and to read. `columns` is the same list for all rows of a statement.
 */
export function rowOf(columns: readonly string[], cells: readonly unknown[]): Record<string, unknown> {
  let template = templates.get(columns)
  if (template === undefined) {
    template = JSON.parse(JSON.stringify(Object.fromEntries(columns.map((column) => [column, null])))) as Record<
      string,
      unknown
    >
    templates.set(columns, template)
  }
  const row = { ...template }
  for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ""] = cells[index]
  return row
}

/** Bytes are never the same: comparing them would cost what is to be saved. */
function isSame(before: readonly (readonly unknown[])[], now: readonly (readonly unknown[])[]): boolean {
  if (before.length !== now.length) return false
  for (let row = 0; row < now.length; row += 1) {
    const a = before[row] ?? []
    const b = now[row] ?? []
    for (let column = 0; column < b.length; column += 1) if (a[column] !== b[column]) return false
  }
  return true
}
