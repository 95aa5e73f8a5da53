import { secondMs } from "../../core/time.ts"

/** Uses of a token, and the seconds of its lifetimes, as far as anybody may ask for them. */
export const tokenCountMaximum = 1_000_000_000
export const tokenTtlMaximumMs = tokenCountMaximum * secondMs
