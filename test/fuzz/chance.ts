import { seededRandom } from "../../engine/testing/index.ts"

/** Random choices that are the same for the same seed. */
export interface Chance {
  /** Returns an integer from 0 to `count` - 1. */
  below(count: number): number
  /** Returns true with a probability of 1 / `count`. */
  oneIn(count: number): boolean
  of<Item>(items: readonly Item[]): Item
  bytes(count: number): Uint8Array
}

export function chance(...seeds: readonly number[]): Chance {
  // Mixes the seeds, so that similar seeds give different sequences.
  const seed = seeds.reduce((mixed, each) => Math.imul(mixed ^ each, 0x9e37_79b1) ^ (mixed >>> 15), 0x6a09_e667)
  const random = seededRandom(seed)
  const below = (count: number) => {
    const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4)
    return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) % count
  }
  return {
    below,
    oneIn: (count) => below(count) === 0,
    of<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new RangeError("there is nothing to choose from")
      return items[below(items.length)] as Item
    },
    bytes: (count) => random.bytes(count),
  }
}
