/** Plain JSON: no `undefined`, no instants but as text. */
export type Values = Readonly<Record<string, unknown>>

export interface Changes {
  /** Members of the spec that differ from what was observed, and members of that which no spec can leave as they are. */
  readonly changed: readonly string[]
  /** Those among them that are part of the identity: another thing has to take the place of this one. */
  readonly mustReplace: readonly string[]
  /** Both cannot exist at once. */
  readonly removeFirst?: boolean
}
