// Prints the figures of a bench: absolute numbers, and ratios measured side by side in one run. `--write` saves the figures of a run to a
// file. `--against` prints each one next to that of an earlier run, such as one of the last release.
import { appendFileSync, readFileSync } from "node:fs"
import { basename } from "node:path"

/** Environment variables by which `run.ts` passes the two files. */
export const writtenFiguresVariable = "CHANCERY_BENCH_WRITE"
export const earlierFiguresVariable = "CHANCERY_BENCH_AGAINST"

const bench = basename(process.argv[1] ?? "", ".bench.ts")
const { [writtenFiguresVariable]: written, [earlierFiguresVariable]: earlier } = process.env
/** The file has one figure per line: `["issue/name", 1.5]`. */
const before = new Map<string, number>(
  earlier === undefined
    ? []
    : readFileSync(earlier, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as [string, number]),
)

let missed = 0

export function report(name: string, value: number, unit: string): void {
  console.log(`  ${name}: ${format(value)}${suffix(unit)}${compared(name, value)}`)
}

/**
 * Reports a figure with a bound that users rely on: a latency, a size, or a ratio to another program or to a smaller database. The bench
 * fails beyond it. Ratios to a raw operation have no bound, because they vary with the machine.
 */
export function target(
  name: string,
  value: number,
  bound: { readonly atLeast: number } | { readonly atMost: number },
  unit = "",
): void {
  const met = "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost
  const wanted = "atLeast" in bound ? `at least ${format(bound.atLeast)}` : `at most ${format(bound.atMost)}`
  if (!met) missed += 1
  console.log(`${met ? "✓" : "✗"} ${name}: ${format(value)}${suffix(unit)} (${wanted})${compared(name, value)}`)
  process.exitCode = missed === 0 ? 0 : 1
}

function compared(name: string, value: number): string {
  const key = `${bench}/${name}`
  if (written !== undefined) appendFileSync(written, `${JSON.stringify([key, value])}\n`)
  const known = before.get(key)
  if (known === undefined) return ""
  const change = Math.round((value / known - 1) * 100)
  return `, before ${format(known)} (${change >= 0 ? "+" : ""}${change} %)`
}

const suffix = (unit: string): string => (unit === "" ? "" : ` ${unit}`)

const format = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3)

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
