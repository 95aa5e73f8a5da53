const placesMaximum = 600

/** Where the primary was at times, so that where a replica is tells since when it lags: an idle primary makes none lag. */
export class WrittenPositions {
  #places: { readonly at: number; readonly position: number }[] = []

  get size(): number {
    return this.#places.length
  }

  /** Times, in milliseconds, and positions only grow; a new timeline may go back. */
  add(at: number, position: number): void {
    this.#places = this.#places.filter((one) => one.position <= position)
    this.#places.push({ at, position })
    // Long stretches of time may be told less exactly.
    if (this.#places.length > placesMaximum) this.#places = this.#places.filter((_, index) => index % 2 === 0)
  }

  /** For so long, at least, the replica has not got what was written. 0 where it has all of it. */
  lagMs(now: number, replayed: number): number {
    const newest = this.#places.at(-1)
    if (newest === undefined || newest.position <= replayed) return 0
    const missed = this.#places.find(({ position }) => position > replayed)
    return missed === undefined ? 0 : now - missed.at
  }
}
