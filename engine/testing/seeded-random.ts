import type { RandomSource } from "../src/core/random.ts"

/** Returns the same bytes for the same seed (mulberry32). Never for secrets. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return (word ^ (word >>> 14)) >>> 0
  }
  return { bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff) }
}
