const unitsMs = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
])

/** Parses `90s`, `10m` or `1h30m` into milliseconds. Returns undefined for anything else. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^(\d{1,6}(ms|[smh])){1,4}$/.test(text)) return undefined
  let total = 0
  for (const [, count, unit = ""] of text.matchAll(/(\d+)(ms|[smh])/g))
    total += Number(count) * (unitsMs.get(unit) ?? 0)
  return total
}

/** Returns whether the value is a duration above zero and at most a day. */
export const isTimeout = (value: unknown): boolean => {
  const ms = durationMs(value)
  return ms !== undefined && ms > 0 && ms <= 24 * 3_600_000
}

/** Rejects when the time is over or the signal aborts. The work may still complete; `otherwise` describes what happens then. */
export function within<T>(
  ms: number,
  what: string,
  work: () => Promise<T>,
  signal: AbortSignal,
  otherwise = "the next `pulumi up` detects the result",
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = (how: string): void =>
    reject(new Error(`${what} ${how}; the operation may have completed; ${otherwise}`))
  // Plain timer and listener, because combined signals cost more than most of the awaited work.
  const late = setTimeout(() => giveUp(`took longer than ${ms / 1_000} s`), ms)
  const cancelled = (): void => giveUp("was cancelled")
  if (signal.aborted) cancelled()
  else signal.addEventListener("abort", cancelled)
  work()
    .then(resolve, reject)
    .finally(() => {
      clearTimeout(late)
      signal.removeEventListener("abort", cancelled)
    })
  return promise
}
