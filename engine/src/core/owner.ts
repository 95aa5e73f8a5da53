// Writers may name an owner: a stack, an object in a cluster, a script. The name is not authenticated. It keeps tools that share a
// workspace from overwriting each other's tags.
import { invalid } from "./errors.ts"

export interface Writer {
  /** Absent if the write has no owner. */
  readonly owner?: string | undefined
}

export const maxOwner = 128

/** ASCII, so that a header can contain it as well as a document. */
const printable = /^[\x20-\x7e]*$/

/** Returns the problem of an owner's name, or undefined if it is valid. */
export function ownerProblem(owner: string): string | undefined {
  if (owner.trim() === "") return "can't be blank"
  if (owner.length > maxOwner) return `is too long (maximum is ${maxOwner} characters)`
  if (!printable.test(owner)) return "can only include printable ASCII characters"
  return owner === owner.trim() ? undefined : "can't begin or end with a space"
}

/** Returns the owner of a write. Throws `invalid` if its name is. */
export function ownerOf({ owner }: Writer): string | undefined {
  const problem = owner === undefined ? undefined : ownerProblem(owner)
  if (problem !== undefined) throw invalid([{ detail: `owner ${problem}`, field: ["owner"] }])
  return owner
}
