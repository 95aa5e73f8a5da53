import { newUuid } from "../core/ids.ts"
import type { RandomSource } from "../core/random.ts"

const sane = /^[A-Za-z0-9._:+/=-]{1,128}$/

/** The caller's own id where it is harmless in a log line and a header; else a fresh one. */
export function requestIdOf(given: string | null, random: RandomSource): string {
  return given !== null && sane.test(given) ? given : newUuid(random)
}
