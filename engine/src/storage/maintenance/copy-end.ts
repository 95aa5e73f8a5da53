import { type Migration, unfinishedCopy } from "../schema/migrate.ts"
import type { CopiedTable, Row, TableShape } from "./copied-table.ts"

/** One side of a copy: a store that nobody else uses as long as it is open here. */
export interface CopyEnd extends AsyncDisposable {
  shapes(): Promise<readonly TableShape[]>
  count(table: CopiedTable): Promise<number>
  /** At most a page of rows in the order of the key, beyond those of `after`; none when there are no more. */
  page(table: CopiedTable, after: Row | undefined): Promise<readonly Row[]>
}

/** Read in one snapshot, and changed by nobody until it is closed. */
export interface CopySource extends CopyEnd {
  /** The last number that the store gave to a row of a table that it numbers, also of rows that are gone. */
  lastNumbers(): Promise<ReadonlyMap<string, bigint>>
}

export interface CopyTarget extends CopyEnd {
  /** The last of those that were written, by the key. */
  lastRow(table: CopiedTable): Promise<Row | undefined>
  /** All of them or none. */
  write(table: CopiedTable, rows: readonly Row[]): Promise<void>
  /** Makes the copy a store: references hold again, numbers go on after the last, and what is derived is derived. */
  finish(lastNumbers: ReadonlyMap<string, bigint>): Promise<void>
}

/** The copy is not made; the sentence says why and what to do. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused"
  /** What is in the way may end by itself or can be stopped. */
  readonly isTemporary: boolean

  constructor(message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options)
    this.isTemporary = isTemporary
  }
}

/** Applied last, and taken out when the copy is a store. */
export const beginningCopy = (up: Migration["up"]): Migration => ({ name: unfinishedCopy, up })
