/** Plain JSON: no `undefined`, and instants as strings. */
export type Values = Readonly<Record<string, unknown>>

export interface Changes {
  /** Members of the spec that differ from the observation, and members of the observation that force a change under any spec. */
  readonly changed: readonly string[]
  /** Changed members that force replacement. */
  readonly mustReplace: readonly string[]
  /** The old resource must be removed first, because both cannot exist at once. */
  readonly removeFirst?: boolean
}
