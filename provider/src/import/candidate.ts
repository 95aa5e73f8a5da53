// What is there already, before and after it was looked at.
import type { Values } from "@chancery/engine/declared"
import type { KindName } from "../lifecycle/kinds.ts"

export interface Existing {
  readonly kind: KindName
  /** In the program. */
  readonly name: string
  readonly id: string
  /** As declared. */
  readonly inputs: Values
  /** As a state keeps it. */
  readonly state: Values
}

/** Something to look at: what is known of it, and the members that are declared however they are. */
export interface Candidate extends Pick<Existing, "kind" | "name" | "id"> {
  readonly known: Values
  readonly always?: readonly string[]
}
