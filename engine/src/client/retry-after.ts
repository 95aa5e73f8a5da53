/**
 * What `Retry-After` (RFC 9110, 10.2.3) asks for, in milliseconds: seconds, or a date, which counts from the answer's own, so that the
 * clocks of the two sides need not agree. Undefined where it asks for nothing that can be read.
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
