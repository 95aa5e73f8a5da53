/** What works of one transaction have read of them, until one of them changes one. */
export class GenerationsSeen {
  #numbers = new Map<string, number>()

  get(family: string): number | undefined {
    return this.#numbers.get(family)
  }

  forget(): void {
    // Another one, so that whoever is reading notes what he finds where nobody looks any more.
    this.#numbers = new Map()
  }

  /** To be called before they are read: what is noted after somebody has forgotten them is forgotten, too. */
  noting(): (family: string, number: number) => void {
    const numbers = this.#numbers
    return (family, number) => void numbers.set(family, number)
  }
}
