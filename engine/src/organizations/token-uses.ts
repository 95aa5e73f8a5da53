// When a token was last used is written behind the request that used it, never before its answer.
import { logFailure } from "../core/failure-log.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import { untraced } from "../core/tracing.ts"
import type { TokenRepository } from "./token-store.ts"

/** More than this at once means that the store cannot keep up; a use that is not written down then harms nobody. */
const pendingMaximum = 1_000

export interface TokenUses {
  /** Returns at once. */
  record(tokenId: string, at: Instant): void
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>
}

export function tokenUses(
  storage: Storage<{ readonly tokens: Pick<TokenRepository, "recordUse"> }>,
  { log, tracer }: Pick<Runtime, "log" | "tracer">,
): TokenUses {
  const inFlight = new Set<Promise<void>>()
  return {
    record(tokenId, at) {
      if (inFlight.size >= pendingMaximum) return
      const write: Promise<void> = untraced(tracer, () =>
        storage.transact(({ tokens }) => tokens.recordUse(tokenId, at)),
      )
        .catch((error: unknown) => logFailure(log, "warn", "token use not recorded", { tokenId, error }))
        .finally(() => inFlight.delete(write))
      inFlight.add(write)
    },
    settled: async () => void (await Promise.allSettled(inFlight)),
  }
}
