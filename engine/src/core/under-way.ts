/**
 * What is being done, where it comes and goes all the time; in no order. A `Set` gives itself a new table every few dozen of those
 * that come and go, and V8 has each table know the one that followed it: once one of them is old, all after it are kept, with
 * everything that was in them, until the old are collected. A server under load had to do that every few seconds for this alone,
 * and kept everybody waiting meanwhile.
 */
export class UnderWay<T> {
  readonly #places: { readonly value: T; index: number }[] = []

  get size(): number {
    return this.#places.length
  }

  /** The answer takes it out; asked again, it does nothing. */
  add(value: T): () => void {
    const place = { value, index: this.#places.length }
    this.#places.push(place)
    return () => {
      if (this.#places[place.index] !== place) return
      const last = this.#places.pop()
      if (last === undefined || last === place) return
      last.index = place.index
      this.#places[place.index] = last
    }
  }

  /** Those of this moment: who goes through them may end them. */
  [Symbol.iterator](): Iterator<T> & Iterable<T> {
    return this.#places.map(({ value }) => value).values()
  }
}
