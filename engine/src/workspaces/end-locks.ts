// Ends locks that have run out and that nobody has come upon: so that their end is told, and what they kept is there to be read.
import type { Held } from "../core/leases.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { minuteMs, secondMs } from "../core/time.ts"
import type { Stores } from "../stores.ts"
import { endLock } from "./lock-end.ts"

interface Context {
  readonly storage: Storage<Pick<Stores, "events" | "workspaces" | "stateVersions">>
  readonly runtime: Pick<Runtime, "clock" | "log">
}

/** The name of the job. */
export const endLocksJob = { name: "locks", everyMs: 5 * secondMs, timeoutMs: minuteMs } as const

/** In one run of the job; the rest waits for the next. */
const locksMaximum = 1_000

export async function endLocks({ storage, runtime }: Context, { signal }: Pick<Held, "signal">): Promise<void> {
  const { clock, log } = runtime
  const ids = await storage.read(({ workspaces }) => workspaces.ranOut(clock.now(), locksMaximum))
  for (const id of ids) {
    signal.throwIfAborted()
    if (await storage.transact((stores) => endLock(stores, id, clock.now())))
      log.info("lock-ran-out", { workspace: id })
  }
}
