import { nextTurn } from "./timers.ts"

/** Transactions of one run of a job. The rest waits for the next run. */
const maxWrites = 2_000

/** Calls `sweep`, which deletes at most `perWrite` rows in a transaction and returns their number, until it deletes fewer. */
export async function sweepInParts(
  perWrite: number,
  { signal }: { readonly signal: AbortSignal },
  sweep: () => Promise<number>,
): Promise<void> {
  for (let writes = 0; writes < maxWrites; writes += 1) {
    signal.throwIfAborted()
    if ((await sweep()) < perWrite) return
    await nextTurn()
  }
}
