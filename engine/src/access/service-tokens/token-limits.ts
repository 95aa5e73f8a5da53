import { secondMs } from "../../core/time.ts"

/** Maximum number of uses of a token, and of seconds in its lifetimes. */
export const maxTokenCount = 1_000_000_000
export const maxTokenTtlMs = maxTokenCount * secondMs
