import type { Instant } from "../core/time.ts"

/** When something came that comes now: later than all the others, if by a millisecond, so that their order is that of coming. */
export function createdAfter(others: Iterable<{ readonly createdAt: Instant }>, now: Instant): Instant {
  let createdAt = now
  for (const other of others) createdAt = Math.max(createdAt, other.createdAt + 1)
  return createdAt
}
