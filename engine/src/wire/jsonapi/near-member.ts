// Which member of a document was probably meant by one that is missing. Unknown members are ignored, as clients of the public API
// expect, so that a misspelt one shows only in what is missing instead.

export interface NearMember {
  /** As the document has it. */
  readonly given: string
  readonly meant: string
}

/** Members of one object that are compared; what has more is no slip of the hand. */
const membersMaximum = 100
const nameMaximum = 64

/** `pointer` (RFC 6901) is of a fault. Undefined where that member is there, or nothing beside its place is spelt nearly so. */
export function nearMember(document: unknown, pointer: string): NearMember | undefined {
  let place = document
  for (const segment of pointer.split("/").slice(1)) {
    const meant = segment.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof place !== "object" || place === null) return undefined
    if (!Object.hasOwn(place, meant)) return Array.isArray(place) ? undefined : nearest(Object.keys(place), meant)
    place = (place as Readonly<Record<string, unknown>>)[meant]
  }
  return undefined
}

function nearest(names: readonly string[], meant: string): NearMember | undefined {
  if (names.length > membersMaximum || meant.length > nameMaximum) return undefined
  const allowed = Math.max(1, Math.floor(meant.length / 4))
  let found: { readonly given: string; readonly distance: number } | undefined
  for (const given of names) {
    if (Math.abs(given.length - meant.length) > allowed + 2) continue
    const distance = distanceBetween(plain(given), plain(meant))
    if (distance <= allowed && distance < (found?.distance ?? Infinity)) found = { given, distance }
  }
  return found && { given: found.given, meant }
}

/** `workingDirectory`, `working_directory` and `working-directory` are one name. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, "")

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function distanceBetween(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1]
      const replaced = (last[column - 1] ?? 0) + (same ? 0 : 1)
      const least = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(isSwap ? Math.min(least, (beforeLast[column - 2] ?? 0) + 1) : least)
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}
