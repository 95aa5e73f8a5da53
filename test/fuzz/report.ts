import type { FuzzReport } from "./fuzz.ts"

export const newSeed = (): number => Date.now() % 2 ** 31

/** Number of slow inputs that are listed individually. */
const maxSlow = 50

export function sentences({ seed, attempts, faults, slow }: FuzzReport): readonly string[] {
  const slowest = slow.toSorted((a, b) => b.ms - a.ms)
  return [
    `seed ${seed}`,
    ...[...attempts].map(([target, count]) => `${target}: ${count} inputs`),
    ...slowest
      .slice(0, maxSlow)
      .map(
        ({ target, ms, byteCount, file }) =>
          `slow: ${target} took ${Math.round(ms)} ms for ${byteCount} bytes, ${file}`,
      ),
    ...(slow.length > maxSlow ? [`slow: ${slow.length - maxSlow} more`] : []),
    ...faults.map(({ target, complaint, file }) => `FAULT: ${target} ${complaint}, ${file}`),
  ]
}
