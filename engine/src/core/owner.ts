// Whoever writes may say in whose name: a stack, an object in a cluster, a script. It is a name that the writer gives itself and
// no proof of anything; it keeps tools that share a workspace out of each other's way.
import { invalid } from "./errors.ts"

export interface Writer {
  /** Nobody in particular when left out. */
  readonly owner?: string | undefined
}

export const ownerMaximum = 128

/** Of ASCII, so that a header can say it as well as a document. */
const printable = /^[\x20-\x7e]*$/

/** What is wrong with the name of an owner; undefined when nothing is. */
export function ownerProblem(owner: string): string | undefined {
  if (owner.trim() === "") return "can't be blank"
  if (owner.length > ownerMaximum) return `is too long (maximum is ${ownerMaximum} characters)`
  if (!printable.test(owner)) return "can only include printable ASCII characters"
  return owner === owner.trim() ? undefined : "can't begin or end with a space"
}

/** As a service takes it; throws `invalid`. */
export function ownerOf({ owner }: Writer): string | undefined {
  const problem = owner === undefined ? undefined : ownerProblem(owner)
  if (problem !== undefined) throw invalid([{ detail: `owner ${problem}`, field: ["owner"] }])
  return owner
}
