// Existing resources for the import, before and after they are read.
import type { Values } from "@chancery/engine/declared"
import type { KindName } from "../lifecycle/kind-name.ts"

export interface Existing {
  readonly kind: KindName
  /** Name in the program. */
  readonly name: string
  readonly id: string
  /** Inputs as a program declares them. */
  readonly inputs: Values
  /** State as Pulumi stores it. */
  readonly state: Values
}

/** Resource to read: its known members, and the members to declare whatever their value is. */
export interface Candidate extends Pick<Existing, "kind" | "name" | "id"> {
  readonly known: Values
  readonly always?: readonly string[]
}
