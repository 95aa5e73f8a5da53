import { expect, test } from "vitest"
import { noopMeter } from "../../core/metrics.ts"
import { createTidyMetrics } from "../../pki/tidy/tidy-metrics.ts"
import { endLeases, type EndLeasesContext, tokensPerWrite } from "./expire-leases.ts"

test("all expired tokens are deleted in one run", async () => {
  const now = Date.UTC(2030, 0, 1)
  let over = 3 * tokensPerWrite + 1
  const swept: number[] = []
  const repositories = {
    certificateLeases: {
      sweep: async () => 0,
      giveUpOfEndedTokens: async () => 0,
      givenUp: async () => [],
    },
    serviceTokens: {
      async sweep(at: number, limit: number) {
        expect(at).toBe(now)
        const count = Math.min(over, limit)
        over -= count
        swept.push(count)
        return count
      },
    },
  }
  const context = {
    storage: { transact: (work: (used: object) => Promise<unknown>) => work(repositories) },
    runtime: { clock: { now: () => now } },
    tidyMetrics: createTidyMetrics(noopMeter),
  } as unknown as EndLeasesContext
  await endLeases(context, { signal: new AbortController().signal } as Parameters<typeof endLeases>[1])
  expect(swept).toEqual([tokensPerWrite, tokensPerWrite, tokensPerWrite, 1])
})
