// Text form of a feed position. It is opaque to clients, and it does not sort as text.
import { badRequest, EngineError } from "../../core/errors.ts"
import { type Instant, parseInstant } from "../../core/time.ts"
import type { EventPosition } from "./event.ts"

const radix = 36

export const formatCursor = ({ transaction, number }: EventPosition): string =>
  `c${transaction.toString(radix)}-${number.toString(radix)}`

/** Start of a query: a position or a time. */
export type Since = { readonly position: EventPosition } | { readonly instant: Instant }

/** Parses a cursor, or a time. Throws `bad-request` on `parameter` for any other text. */
export function parseSince(text: string, parameter = "since"): Since {
  const [, transaction, number] = /^c([0-9a-z]{1,10})-([0-9a-z]{1,10})$/.exec(text) ?? []
  if (transaction !== undefined && number !== undefined)
    return { position: { transaction: Number.parseInt(transaction, radix), number: Number.parseInt(number, radix) } }
  const instant = parseInstant(text)
  if (instant !== undefined) return { instant }
  const detail = `${parameter} must be the id of an event, the cursor of a page, or a time such as 2026-01-31T12:00:00Z`
  throw badRequest("The start of the query is not valid.", [{ detail, parameter }])
}

/** Returns the error for a start from which some events are already deleted. `oldest` is where the client can continue. */
export const eventsGone = (oldest: EventPosition): EngineError =>
  new EngineError(
    "gone",
    `Events after this start are already deleted. Read the resources again and continue from ${formatCursor(oldest)}.`,
    { facts: { oldest: formatCursor(oldest) } },
  )
