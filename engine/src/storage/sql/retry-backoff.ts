import { setTimeout as sleep } from "node:timers/promises"
import type { RandomSource } from "../../core/random.ts"

const firstMs = 2
const longestMs = 128

/**
 * Waits before retry `attempt`, counted from 1. Bounded exponential backoff with full jitter, so that colliding transactions do not collide
 * again.
 */
export async function backOff(attempt: number, random: RandomSource): Promise<void> {
  await sleep(delayMs(attempt, random))
}

export function delayMs(attempt: number, random: RandomSource): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16))
  const [chance = 0] = random.bytes(1)
  return 1 + Math.floor((chance / 256) * ceiling)
}
