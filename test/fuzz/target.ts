import type { Mutation } from "./mutations.ts"

/** A parser or endpoint that reads untrusted input. */
export interface FuzzTarget {
  readonly name: string
  /** Valid inputs, which are mutated before they are tried. */
  readonly corpus: readonly Uint8Array[]
  readonly mutations: readonly Mutation[]
  /** Milliseconds of one turn; default: 250. */
  readonly turnMs?: number
  /** Repairs a mutated input that would be refused early, such as by its signature; returns other input unchanged. */
  readonly repair?: (input: Uint8Array) => Uint8Array
  /** Returns a complaint if the input was handled wrongly; undefined if it was accepted or properly refused. */
  attempt(input: Uint8Array): string | undefined | Promise<string | undefined>
}

export interface OpenTargets extends AsyncDisposable {
  readonly targets: readonly FuzzTarget[]
}
