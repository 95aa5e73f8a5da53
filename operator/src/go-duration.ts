// Durations in the format of Kubernetes (Go's `time.ParseDuration`), such as `1h30m` or `45s`. There is no unit for days.

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const maxLength = 32

/** Pattern of duration fields. */
export const goDuration = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/

/** Returns milliseconds, or undefined for anything else, including negative durations. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > maxLength || !goDuration.test(text)) return undefined
  let total = 0
  for (const [, count, unit = ""] of text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g))
    total += Number(count) * (unitsMs[unit] ?? Number.NaN)
  const rounded = Math.round(total)
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
