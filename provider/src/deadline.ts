import { setTimeout as sleep } from "node:timers/promises"

const unitsMs = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
])

/** `90s`, `10m`, `1h30m`; undefined for anything else. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^(\d{1,6}(ms|[smh])){1,4}$/.test(text)) return undefined
  let total = 0
  for (const [, count, unit = ""] of text.matchAll(/(\d+)(ms|[smh])/g))
    total += Number(count) * (unitsMs.get(unit) ?? 0)
  return total
}

/** Of no length nothing could be done in; longer than a day a timer would not wait. */
export const isTimeout = (value: unknown): boolean => {
  const ms = durationMs(value)
  return ms !== undefined && ms > 0 && ms <= 24 * 3_600_000
}

/** Whoever waits is told in time; what was asked for may come to pass all the same, and `otherwise` says what of it then. */
export async function within<T>(
  ms: number,
  what: string,
  work: () => Promise<T>,
  signal: AbortSignal,
  otherwise = "the next `pulumi up` finds out",
): Promise<T> {
  const waiting = new AbortController()
  const late = sleep(ms, undefined, { signal: AbortSignal.any([waiting.signal, signal]) }).then(
    () => {
      throw new Error(`${what} took longer than ${ms / 1_000} s; it may have been done: ${otherwise}`)
    },
    () => {
      if (signal.aborted) throw new Error(`${what} was cancelled; it may have been done: ${otherwise}`)
    },
  )
  // Only the loser of the race; that it was called off is no news.
  late.catch(() => undefined)
  try {
    return (await Promise.race([work(), late])) as T
  } finally {
    waiting.abort()
  }
}
