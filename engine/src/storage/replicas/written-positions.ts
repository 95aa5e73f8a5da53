const maxPlaces = 600

/**
 * Recent positions of the primary's log with their times, from which the lag of a replica is computed. A replica of an idle primary does
 * not lag.
 */
export class WrittenPositions {
  #places: { readonly at: number; readonly position: number }[] = []

  get size(): number {
    return this.#places.length
  }

  /** Records a position; `at` is in milliseconds. Both only grow, but a new timeline may begin at an earlier position. */
  add(at: number, position: number): void {
    this.#places = this.#places.filter((one) => one.position <= position)
    this.#places.push({ at, position })
    // Halves the resolution. Long lags need less precision.
    if (this.#places.length > maxPlaces) this.#places = this.#places.filter((_, index) => index % 2 === 0)
  }

  /** Returns for how many milliseconds, at least, the replica has lagged. Returns 0 if it has replayed everything. */
  lagMs(now: number, replayed: number): number {
    const newest = this.#places.at(-1)
    if (newest === undefined || newest.position <= replayed) return 0
    const missed = this.#places.find(({ position }) => position > replayed)
    return missed === undefined ? 0 : now - missed.at
  }
}
