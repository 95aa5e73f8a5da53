import type { DialectName } from "../../sql/query-runner.ts"

/** How each dialect says the few types there are. */
export interface Words {
  readonly text: string
  readonly integer: string
  readonly flag: string
  readonly blob: string
  /** Ends a table that is looked up by its key and rarely scanned. */
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
