import type { Mutation } from "./mutations.ts"

/** Something that reads what strangers send. */
export interface FuzzTarget {
  readonly name: string
  /** Valid inputs, which are changed before they are tried. */
  readonly corpus: readonly Uint8Array[]
  readonly mutations: readonly Mutation[]
  /** How long it is tried before it is the next one's turn; a quarter of a second unless given. */
  readonly turnMs?: number
  /** Makes a changed input whole again where it would be refused at the door; gives it back where it cannot. */
  readonly mend?: (input: Uint8Array) => Uint8Array
  /** What is wrong with how it took the input; undefined where it accepted or refused it in order. */
  attempt(input: Uint8Array): string | undefined | Promise<string | undefined>
}

export interface OpenTargets extends AsyncDisposable {
  readonly targets: readonly FuzzTarget[]
}
