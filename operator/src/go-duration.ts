// Durations as Kubernetes writes them (Go's `time.ParseDuration`): `1h30m`, `45s`. Days are no unit of theirs.

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const lengthMaximum = 32

/** The pattern of a field that holds one. */
export const goDuration = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/

/** In milliseconds; undefined for anything else, a negative one too. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > lengthMaximum || !goDuration.test(text)) return undefined
  let total = 0
  for (const [, count, unit = ""] of text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g))
    total += Number(count) * (unitsMs[unit] ?? Number.NaN)
  const rounded = Math.round(total)
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
