// Start of a server whose database has sealed values and whose seal key is missing. The server answers that it is sealed, and serves as
// soon as the key exists. A wrong key still ends the start.
import { setTimeout as sleep } from "node:timers/promises"
import type { Metrics } from "../core/metrics.ts"
import type { Runtime } from "../core/runtime.ts"
import type { ServedEngine } from "../engine.ts"
import { type ServerOptions, startSealedServer } from "../server/server.ts"
import { SealedStore } from "../storage/sealing/seal-keys.ts"
import { CommandError } from "./exit-code.ts"
import { listening } from "./listening.ts"
import type { Settings } from "./settings.ts"
import { openStore } from "./store.ts"

const sealKeyCheckMs = 1_000

/**
 * Opens the engine, and waits for the seal key if necessary. Returns undefined if the process is stopped while the database is still
 * sealed.
 */
export async function openUnsealed(
  settings: Settings,
  options: Omit<ServerOptions, "engine"> & { readonly runtime: Runtime; readonly metrics: Metrics },
  stopped: Promise<unknown>,
): Promise<ServedEngine | undefined> {
  const { runtime, metrics } = options
  const open = () => openStore(settings, runtime, { server: true, metrics })
  const opened = await open().catch((error: unknown) => {
    if (error instanceof CommandError && error.cause instanceof SealedStore) return error
    throw error
  })
  if (!(opened instanceof CommandError)) return opened

  let reason = opened.message
  runtime.log.error("sealed", { reason })
  const server = await listening(() => startSealedServer({ ...options, shutdownGraceMs: sealKeyCheckMs }))
  try {
    while (!(await Promise.race([stopped.then(() => true), sleep(sealKeyCheckMs, false, { ref: false })]))) {
      // A wrong key, or a database that does not answer, may also be corrected.
      const again = await open().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      if (!(again instanceof Error)) {
        runtime.log.info("unsealed")
        return again
      }
      if (again.message !== reason) runtime.log.error("still sealed", { reason: again.message })
      reason = again.message
    }
    return undefined
  } finally {
    await server.close()
  }
}
