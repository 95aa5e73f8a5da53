// How much one process asks of one engine at a time. Pulumi starts as many operations at once as the machine has cores for.
import { setTimeout as sleep } from "node:timers/promises"

export interface Limits {
  /** Starts, evenly spread; undefined for no limit. */
  readonly perSecond: number | undefined
  readonly atOnce: number
}

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

export function createLimiter({ perSecond, atOnce }: Limits): Limiter {
  // Bounded by what Pulumi has under way.
  const waiting: (() => void)[] = []
  let running = 0
  let nextStart = 0

  const enter = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    if (perSecond === undefined) return
    const now = performance.now()
    const start = Math.max(now, nextStart)
    nextStart = start + 1_000 / perSecond
    if (start > now) await sleep(start - now)
  }
  // Whoever waits longest takes the place over; it is never free in between.
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
