/**
 * Returns the pause that `Retry-After` (RFC 9110, 10.2.3) requests, in milliseconds. A date is compared with the response's own `Date`, so
 * that the clocks of client and server need not agree. Returns undefined if the header is missing or invalid.
 */
export function retryAfterMs(retryAfter: string | undefined, date: string | undefined): number | undefined {
  const seconds = secondsOf(retryAfter)
  if (seconds !== undefined) return seconds * 1_000
  const pause = Date.parse(retryAfter ?? "") - Date.parse(date ?? "")
  return Number.isNaN(pause) ? undefined : Math.max(0, pause)
}

export function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
}
