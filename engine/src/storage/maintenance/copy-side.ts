import { type Migration, unfinishedCopy } from "../schema/migrate.ts"
import type { CopiedTable, Row, TableShape } from "./copied-table.ts"

/** One side of a copy: a database that has no other users while it is open here. */
export interface CopySide extends AsyncDisposable {
  shapes(): Promise<readonly TableShape[]>
  count(table: CopiedTable): Promise<number>
  /** Returns at most one page of rows in key order, after the row `after`. Returns none at the end. */
  page(table: CopiedTable, after: Row | undefined): Promise<readonly Row[]>
}

/** Side that is read in one snapshot. The database does not change until the side is closed. */
export interface CopySource extends CopySide {
  /** Returns the last assigned row number of each table that numbers its rows, including numbers of deleted rows. */
  lastNumbers(): Promise<ReadonlyMap<string, bigint>>
}

export interface CopyTarget extends CopySide {
  /** Returns the last written row in key order. */
  lastRow(table: CopiedTable): Promise<Row | undefined>
  /** Writes all of the rows or none. */
  write(table: CopiedTable, rows: readonly Row[]): Promise<void>
  /** Completes the copy: restores foreign keys, continues row numbers after the last ones, and fills derived tables. */
  finish(lastNumbers: ReadonlyMap<string, bigint>): Promise<void>
}

/** The copy was rejected. The message gives the reason and the remedy. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused"
  /** True if the obstacle is temporary or can be stopped. */
  readonly isTemporary: boolean

  constructor(message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options)
    this.isTemporary = isTemporary
  }
}

/** Returns the migration that marks a database as an unfinished copy. It is applied last and removed when the copy is complete. */
export const beginningCopy = (up: Migration["up"]): Migration => ({ name: unfinishedCopy, up })
