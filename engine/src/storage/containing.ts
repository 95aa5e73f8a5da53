import { sql, type Expression, type RawBuilder } from "kysely"
import type { DialectName } from "./session.ts"

/** Rows whose column contains the text. No pattern is involved, so nothing needs escaping and no length is too much. */
export const containing = (dialect: DialectName, column: Expression<unknown>, text: string): RawBuilder<boolean> =>
  dialect === "sqlite" ? sql<boolean>`instr(${column}, ${text}) > 0` : sql<boolean>`strpos(${column}, ${text}) > 0`
