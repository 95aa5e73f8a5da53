// How a bench tells what it found: absolute numbers, and ratios measured side by side in one run.

let missed = 0

export function report(name: string, value: number, unit: string): void {
  console.log(`  ${name}: ${format(value)} ${unit}`)
}

/** A figure that has a target; missing it fails the bench. */
export function target(
  name: string,
  value: number,
  bound: { readonly atLeast: number } | { readonly atMost: number },
  unit = "",
): void {
  const met = "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost
  const wanted = "atLeast" in bound ? `at least ${format(bound.atLeast)}` : `at most ${format(bound.atMost)}`
  if (!met) missed += 1
  console.log(`${met ? "✓" : "✗"} ${name}: ${format(value)}${unit === "" ? "" : ` ${unit}`} (${wanted})`)
  process.exitCode = missed === 0 ? 0 : 1
}

const format = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3)

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
