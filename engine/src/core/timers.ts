export interface Timers {
  /** Calls `work` once, after the delay. The answer takes that back. */
  after(delayMs: number, work: () => void): () => void
}

/** A longer delay overflows, and fires at once. */
const longestDelayMs = 2 ** 31 - 1

/** They keep no process alive. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, Math.min(delayMs, longestDelayMs))
    // Where there is no Node, a timer is a number.
    if (typeof timer === "object") timer.unref()
    return () => clearTimeout(timer)
  },
}

/** For whoever waits for what may never come: its process does not end meanwhile. The answer takes that back. */
export function stayAlive(): () => void {
  const timer = setInterval(() => {}, longestDelayMs)
  return () => clearInterval(timer)
}

/** What comes of it, unless that takes longer; it goes on all the same. */
export async function within<T>(timers: Timers, patienceMs: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = () => {}
  const late = new Promise<undefined>((resolve) => (cancel = timers.after(patienceMs, () => resolve(undefined))))
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}

/** The next turn, for all who ask during this one: what they wait for it with they do one after another. */
export function turnsShared(): () => Promise<void> {
  let sharing: Promise<void> | undefined
  async function begin(): Promise<void> {
    await nextTurn()
    sharing = undefined
  }
  return () => (sharing ??= begin())
}

/** For key operations, which take up to twice as long between other work, for want of their tables in the processor's caches. */
export const sharedTurn = turnsShared()

/** Lets everybody else have a turn, in the middle of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** What gathers longer is done in more than one go, so that nobody waits for all others. */
const longestGatheringMs = 10
/** From one look for those who came the last time to the next. */
const lookMs = 1

/** For what shares a flush. Those who make it do so in groups (`groupsShared`): few of them are late. */
export const flushPatienceMs = 1
/** For groups. Looked out for no longer, they were smaller; for longer, each answer was later by as much. */
const groupPatienceMs = 4

/** Of what comes bit by bit and is done together. */
export interface Gathering {
  /** How many there are by now. */
  readonly count: () => number
  /** How many were done together the last time. */
  readonly before: number
  /** For so long those are looked out for that do not come at once, where more were done the last time. */
  readonly patienceMs: number
  /** More of them than these are not waited for. */
  readonly enough?: number
  /** Any clock. */
  readonly nowMs: () => number
}

/**
 * Lets turns pass as long as each of them brings more, so that what comes together shares one flush of the disk, which takes as
 * much of the processor as several requests do. Where more came together the last time, they are looked out for a little longer.
 * Who comes alone waits for one turn.
 */
export async function gathered({
  count,
  before,
  patienceMs,
  enough = Number.POSITIVE_INFINITY,
  nowMs,
}: Gathering): Promise<void> {
  const began = nowMs()
  let looks = 0
  for (let seen = 0; count() > 0 && count() < enough && nowMs() - began < longestGatheringMs;) {
    if (count() > seen) {
      seen = count()
      await nextTurn()
    } else if (seen < before && looks < patienceMs / lookMs) {
      looks += 1
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    } else return
  }
}

/**
 * The end of a gathering of all who ask meanwhile; they go on one after another. What comes one by one finds the processor's caches
 * cold each time, and a server at half of its load then takes as long as one at all of it; a dozen at a time take two thirds of that.
 */
export function groupsShared(enough: number): () => Promise<void> {
  let waiting = 0
  let before = 0
  let gathering: Promise<void> | undefined
  async function begin(): Promise<void> {
    await gathered({
      count: () => waiting,
      before,
      patienceMs: groupPatienceMs,
      enough,
      nowMs: () => performance.now(),
    })
    before = waiting
    waiting = 0
    gathering = undefined
  }
  return () => {
    waiting += 1
    return (gathering ??= begin())
  }
}

/** For requests that make or prove a signature, once all of their body is there. */
export const signingGroup = groupsShared(12)
