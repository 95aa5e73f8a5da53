import type { DialectName } from "../../sql/query-runner.ts"

/** SQL of each dialect for the few column types in use. */
export interface Words {
  readonly text: string
  readonly integer: string
  readonly flag: string
  readonly blob: string
  /** End of the definition of a table that is read by its key and rarely scanned. */
  readonly keyed: string
  readonly plain: string
}

export const words: Readonly<Record<DialectName, Words>> = {
  sqlite: {
    text: "text",
    integer: "integer",
    flag: "integer",
    blob: "blob",
    keyed: "strict, without rowid",
    plain: "strict",
  },
  postgres: {
    text: 'text collate "C"',
    integer: "bigint",
    flag: "smallint",
    blob: "bytea",
    keyed: "",
    plain: "",
  },
}
