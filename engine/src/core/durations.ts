/** How long things took, counted by how long that was. */
export interface Durations {
  /** Each counts what took no longer, and longer than the one before; from small to large. */
  readonly boundsMs: readonly number[]
  /** One more than there are bounds: the last counts what took longer than all of them. */
  readonly counts: number[]
  sumMs: number
}

export const noDurations = (boundsMs: readonly number[]): Durations => ({
  boundsMs,
  counts: Array.from({ length: boundsMs.length + 1 }, () => 0),
  sumMs: 0,
})

export function recordDuration(durations: Durations, durationMs: number): void {
  const at = durations.boundsMs.findIndex((bound) => durationMs <= bound)
  const index = at === -1 ? durations.boundsMs.length : at
  durations.counts[index] = (durations.counts[index] ?? 0) + 1
  durations.sumMs += durationMs
}
